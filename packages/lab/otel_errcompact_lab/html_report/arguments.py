"""Arguments of calls: JSON indented, code and diffs as lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.digest import one_line
from otel_errcompact_lab.html_report.steps import Argument
from otel_errcompact_lab.transcripts.records import is_list, is_object, items_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_PARSED: Final = 1_000_000
"""Characters beyond which arguments are not read as JSON."""

MAX_ARGUMENT: Final = 4_000
"""Characters of one argument."""

MAX_ARGUMENTS: Final = 24
MAX_PREVIEW: Final = 140
MAX_PREVIEWED: Final = 6
_MAX_NAME: Final = 120
_VALUE: Final = 2_000
_INLINE: Final = 80


def read_arguments(text: str, hide_secrets: Callable[[str], str]) -> tuple[tuple[Argument, ...], int]:
    """Return the arguments in lines, and how many more there are."""
    read = _parse_arguments(text)
    if not read:
        return (), 0
    leaves: list[tuple[str, str]] = []
    more = 0
    for name, value in _list_leaves("", read):
        if len(leaves) < MAX_ARGUMENTS:
            leaves.append((name, value))
        else:
            more += 1
    return tuple(_build_argument(name, value, hide_secrets) for name, value in leaves), more


def preview(text: str, hide_secrets: Callable[[str], str]) -> str:
    """Return arguments in one short line."""
    value = _parse_arguments(text)
    if not value:
        return ""
    if not is_object(value):
        return _clip_preview(_compact_value(value, hide_secrets))
    # Flags and numbers say least of what a call is about.
    named = sorted(value.items(), key=lambda item: isinstance(item[1], (bool, int, float)))[:MAX_PREVIEWED]
    pieces = [(name, _compact_value(each, hide_secrets)) for name, each in named]
    if len(pieces) == 1 and isinstance(named[0][1], str):
        return _clip_preview(pieces[0][1])
    return _clip_preview(hide_secrets(", ".join(f"{one_line(name)}={each}" for name, each in pieces)))


def _parse_arguments(text: str) -> object:
    if not text.strip():
        return ""
    if len(text) > MAX_PARSED or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return text


def _list_leaves(name: str, value: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif is_object(value) and depth < _DEPTH and (not depth or _has_lines(value)):
        for key, each in value.items():
            yield from _list_leaves(f"{name}.{key}".lstrip("."), each, depth + 1)
    elif is_list(value) and depth < _DEPTH and _has_lines(value):
        for index, each in enumerate(value):
            yield from _list_leaves(f"{name}[{index}]", each, depth + 1)
    else:
        yield name, _indent_value(value)


_DEPTH: Final = 6


def _has_lines(value: object, depth: int = 0) -> bool:
    # Only what holds lines is taken apart: JSON would write them as escapes.
    if isinstance(value, str):
        return "\n" in value
    inner = value.values() if is_object(value) else items_of(value)
    return depth < _DEPTH and any(_has_lines(each, depth + 1) for each in inner)


def _indent_value(value: object) -> str:
    # What is short stays on one line.
    compact = _dump_json(value, None)
    return compact if len(compact) <= _INLINE else _dump_json(value, 2)


def _dump_json(value: object, indent: int | None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent)
    except RecursionError:
        return "..."


def _build_argument(name: str, value: str, hide_secrets: Callable[[str], str]) -> Argument:
    shown = hide_secrets(value)
    return Argument(
        name=hide_secrets(name[:_MAX_NAME]), text=shown[:MAX_ARGUMENT], cut=max(0, len(shown) - MAX_ARGUMENT)
    )


def _compact_value(value: object, hide_secrets: Callable[[str], str]) -> str:
    # Secrets go before the text is cut: half of one is known by no rule.
    text = value if isinstance(value, str) else _dump_json(value, None)
    return one_line(hide_secrets(text[:_VALUE]), limit=MAX_PREVIEW)


def _clip_preview(text: str) -> str:
    return text if len(text) <= MAX_PREVIEW else f"{text[: MAX_PREVIEW - 3]}..."
