"""Differences that only colours show, in signs that stay when colours go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re

_END: Final = r"\x1b\[(?:0|39|49)?m"
_MIXED: Final = lazy_pattern(
    rf"\x1b\[(?:[0-9]{{1,2}};)?(?P<ground>[34])1m[^\x1b\n]{{0,400}}{_END}\x1b\[(?:[0-9]{{1,2}};)?(?P=ground)2m\w"
    rf"|\w\x1b\[(?:[0-9]{{1,2}};)?4[12]m\w|\x1b\[(?:[0-9]{{1,2}};)?4[12]m[^\x1b\n]{{0,400}}?\w{_END}\w"
)
"""Red that green adjoins, and a background that begins or ends in a word: no title is written so."""

_SPAN: Final = lazy_pattern(
    rf"\x1b\[(?:[0-9]{{1,2}};)?(?P<ground>[34])(?P<side>[12])m(?P<said>[^\x1b\n]{{1,400}}){_END}"
)
_PAIR: Final = lazy_pattern(r"(?m)^([ \t]*)-([^\n]*\x1b[^\n]*)\n\1\+([^\n]*\x1b[^\n]*)$")
_CODE: Final = lazy_pattern(r"\x1b\[[0-9;]*m")


def mark_changes(text: str) -> str:
    """
    Return a text with both sides apart where only colour parts them.

    A change within a line is written as `git diff --word-diff` does: `[-old-]{+new+}`. Two lines of a difference that
    are equal but for their colours show these.
    """
    if "\x1b[" not in text:
        return text
    if _MIXED.search(text) is not None:
        text = "\n".join(map(_mark_sides, text.split("\n")))
    return _PAIR.sub(_show_codes, text)


def _mark_sides(line: str) -> str:
    found = _MIXED.search(line)
    if found is None:
        return line
    ground = found["ground"] or "4"
    return _SPAN.sub(lambda span: _write_side(span) if span["ground"] == ground else span[0], line)


def _write_side(span: re.Match[str]) -> str:
    return f"[-{span['said']}-]" if span["side"] == "1" else f"{{+{span['said']}+}}"


def _show_codes(pair: re.Match[str]) -> str:
    old, new = (_CODE.sub("", side) for side in (pair[2], pair[3]))
    return pair[0].replace("\x1b", "\\x1b") if old == new and pair[2] != pair[3] else pair[0]
