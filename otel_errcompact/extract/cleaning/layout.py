"""Lay out a printed document so that each line tells something."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.extract.payload.values import is_list, is_object
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DOCUMENT: Final = 65_536
"""Characters of a document that are laid out."""

_MAX_LINE: Final = 160
_MAX_DEPTH: Final = 24
_OPENINGS: Final = ("{\n", "[\n")
_CLOSINGS: Final = ("}", "]")
_HALF: Final = lazy_pattern(r"\\u[dD][89a-fA-F]")
_VERDICTS: Final = ("success", "passed", "ok", "valid")
"""Names under which an item of a list says whether it is right."""


def fold_document(text: str) -> str:
    """
    Return indented JSON with as much of it in a line as fits: a name and its value are read together.

    Of a list of which items say that they failed, those that say the contrary are left out.
    """
    if not text.startswith(_OPENINGS) or len(text) > MAX_DOCUMENT or not text.endswith(_CLOSINGS):
        return text
    if _HALF.search(text) is not None:
        return text  # perhaps half a character, which no output takes
    try:
        value = cast("object", json.loads(text))
        return "\n".join(_fold_value(value, "", "", "", 0))
    except (ValueError, RecursionError):
        return text


def _fold_value(value: object, indent: str, before: str, behind: str, depth: int) -> Iterator[str]:
    line = f"{indent}{before}{_write_json(value)}{behind}"
    if len(line) <= _MAX_LINE or depth >= _MAX_DEPTH or not (is_object(value) or is_list(value)):
        yield line
        return
    items = _list_items(value)
    opening, closing = "{}" if is_object(value) else "[]"
    yield f"{indent}{before}{opening}"
    for number, (name, held) in enumerate(items, 1):
        yield from _fold_value(held, f"{indent}  ", name, "," if number < len(items) else "", depth + 1)
    yield f"{indent}{closing}{behind}"


def _list_items(value: object) -> list[tuple[str, object]]:
    if is_object(value):
        return [(f"{_write_json(name)}: ", held) for name, held in value.items()]
    items = cast("list[Any]", value)
    failed = any(_is_judged(item, verdict=False) for item in items)
    return [("", item) for item in items if not (failed and _is_judged(item, verdict=True))]


def _is_judged(item: object, *, verdict: bool) -> bool:
    return is_object(item) and any(item.get(name) is verdict for name in _VERDICTS)


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
