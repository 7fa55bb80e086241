"""Values beside the words of an error: retry data, context, names."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otel_errcompact.extract.payload import roles
from otel_errcompact.extract.payload.values import MAX_DEPTH, MAX_FIELDS, in_line, is_list, is_object, is_scalar
from otel_errcompact.runtime.forks import FORKS_WAIT
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

_MAX_LEAVES: Final = 16
_MAX_WORDS: Final = 8
_MAX_ITEMS: Final = 10
_WORD: Final = lazy_pattern(r"[A-Za-z][A-Za-z_.:/-]{2,60}")


class Beside(NamedTuple):
    """What an error carries besides its words."""

    retry: tuple[str, ...] = ()
    """When, how often or whether to repeat what failed."""

    context: tuple[str, ...] = ()
    """Other names and values."""

    words: tuple[str, ...] = ()
    """Words among the context that tell one failure from another."""


def read_beside(values: Mapping[str, tuple[str, Any]], used: Container[str]) -> Beside:
    """
    Return what stands beside the words of an error.

    Names are plain; those in `used` are the fields that its words are in.
    """
    retry: list[str] = []
    context: list[str] = []
    words: list[str] = []
    for name, (said, value) in values.items():
        if name in used:
            continue
        for leaf, at, found in _list_leaves(name, said, value):
            if roles.is_retry(leaf):
                retry.append(f"{at}: {in_line(found)}")
            elif len(context) < _MAX_LEAVES and _is_telling(leaf, found):
                context.append(f"{at}: {in_line(found)}")
                words += [found] if isinstance(found, str) and _WORD.fullmatch(found) and _NAMING.search(leaf) else []
    return Beside(tuple(retry[:_MAX_LEAVES]), tuple(context), tuple(words[:_MAX_WORDS]))


_NAMING: Final = lazy_pattern(
    r"(?:code|type|reason|status|param|parameter|field|path|category|kind|scope|policy|constraint|rule|needed|column|table"
    r"|keyword|permission|action|limit|provided)s?\Z"
)
"""Names of fields whose words tell one failure from another."""


def _list_leaves(name: str, said: str, value: object, depth: int = 0) -> Iterator[tuple[str, str, object]]:
    if depth > MAX_DEPTH:
        return
    if is_object(value):
        for inner, found in islice(value.items(), MAX_FIELDS):
            plain = roles.plain_name(str(inner))
            if not roles.is_echo(name) or roles.is_retry(plain) or is_object(found):
                yield from _list_leaves(plain, str(inner) if depth > 1 else f"{said}.{inner}", found, depth + 1)
    elif is_list(value):
        if value and all(map(is_scalar, value)) and not roles.is_echo(name):
            yield name, said, ", ".join(map(str, value[:_MAX_ITEMS]))
        for item in value[:_MAX_ITEMS]:
            if is_object(item):
                yield from _list_leaves(name, said, item, depth + 1)
    else:
        yield name, said, value


def _is_telling(name: str, value: object) -> bool:
    if value is None or value is False or value == "" or roles.is_noise(name):
        return False
    if value is True:
        return name not in roles.CODES and name != "failure"
    if name in roles.STATUSES and roles.is_status(value):
        return False
    return not isinstance(value, str) or not (value.startswith(_LINKS) or "\n" in value.strip() or _is_empty(value))


_LINKS: Final = ("http://", "https://")
_EMPTY: Final = frozenset({
    "error", "failed", "failure", "fail", "null", "none", "about:blank", "undefined", "status", "sender", "receiver",
    "text", "diagnostic", "safe",
})  # fmt: skip


def _is_empty(value: str) -> bool:
    lowered = value.lower()
    return lowered in _EMPTY or lowered in _list_status_phrases()


@cache
def _list_status_phrases() -> frozenset[str]:
    # Return what statuses of HTTP say, in small letters.
    with FORKS_WAIT:
        from http import HTTPStatus
    return frozenset(status.phrase.lower() for status in HTTPStatus)
