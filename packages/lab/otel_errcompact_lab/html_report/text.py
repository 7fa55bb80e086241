"""Untrusted text in a page: whole, as data, with every character visible."""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

from otel_errcompact.runtime.lazy import lazy_pattern

_BIDIRECTIONAL: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SPECIAL: Final = lazy_pattern(
    # Of CRLF the parser would make LF, and an ampersand form of it is kept; any other carriage return is a mark.
    rf"\r\n|([\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDIRECTIONAL}\ufeff\ud800-\udfff])\1*"
)
_DIFF: Final = lazy_pattern(r"^(?:@@ |--- .*\n\+\+\+ |\*\*\* (?:Begin|Update|Add) )", re.MULTILINE)
_LATIN: Final = 0xFF


def mark_special(text: str) -> Markup:
    """
    Return a text as HTML that shows every character of it.

    What HTML cannot hold (NUL, lone surrogates, control characters) or what turns the direction of text around stands
    as an element with its number, `data-c`, and how often it comes in a row, `data-n`. The page's script puts the
    characters back when a text is copied.
    """
    pieces: list[str] = []
    end = 0
    for special in _SPECIAL.finditer(text):
        pieces += (_escape_text(text[end : special.start()]), _mark_character(special))
        end = special.end()
    pieces.append(_escape_text(text[end:]))
    return Markup("".join(pieces))  # noqa: S704 - all of it is escaped


def mark_code(text: str) -> Markup:
    """Return an argument as HTML; added and removed lines stand out."""
    if not _DIFF.search(text):
        return mark_special(text)
    return Markup("\n").join(_diff_line(line) for line in text.split("\n"))


def _diff_line(line: str) -> Markup:
    kind = {"+": "plus", "-": "minus", "@": "hunk"}.get(line[:1])
    shown = mark_special(line)
    return Markup('<span class="{}">{}</span>').format(kind, shown) if kind is not None else shown


def _escape_text(text: str) -> str:
    return str(escape(text))


def _mark_character(special: re.Match[str]) -> str:
    char = special[1]
    if char is None:
        return "&#13;\n"
    code = ord(char)
    name = f"\\x{code:02x}" if code <= _LATIN else f"\\u{code:04x}"
    count = special.end() - special.start()
    repeated, shown = (f' data-n="{count}"', f"{name} x{count}") if count > 1 else ("", name)
    return f'<i data-c="{code:x}"{repeated}>{shown}</i>'
