"""Decoded values: their kind, their fields, and their form in a line."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.payload.literals import parse
from otel_errcompact.extract.payload.roles import plain_name

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_FIELDS: Final = 80
"""Fields of one object that are looked at."""

MAX_VALUE: Final = 120
"""Characters of a value in a line."""

MAX_DEPTH: Final = 8
"""Values inside values that are looked at."""

_MAX_NESTED_TEXT: Final = 16_384
_MAX_ITEMS: Final = 20


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a decoded value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a decoded value is a list."""
    return isinstance(value, list)


def is_scalar(value: object) -> bool:
    """Tell whether a decoded value has no others inside it."""
    return value is None or isinstance(value, str | int | float | bool)


def in_line(value: object) -> str:
    """Return a value in one line."""
    if value is None or value == "":
        return ""
    if is_list(value):
        return clip(", ".join(map(str, value[:_MAX_ITEMS])), MAX_VALUE)
    if isinstance(value, bool):
        return str(value).lower()
    return clip(" ".join(str(value).split()), MAX_VALUE)


def open_text(value: object) -> object:
    """Return the data inside a text; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "[") or len(value) > _MAX_NESTED_TEXT:
        return value
    found = parse(value) if value[-1:] in ("}", "]") else None
    if found is not None and found.end == len(value) and (is_object(found.value) or is_list(found.value)):
        return found.value
    return value


def fields_of(fields: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return names and values of an object, with its extensions, by plain name."""
    found: dict[str, tuple[str, Any]] = {}
    for name, value in islice(fields.items(), MAX_FIELDS):
        plain = plain_name(str(name))
        if plain == "extensions" and is_object(value):
            for inner, extension in islice(value.items(), MAX_FIELDS):
                found.setdefault(plain_name(str(inner)), (str(inner), open_text(extension)))
        else:
            found[plain] = (str(name), open_text(value))
    return found
