"""Make untrusted text harmless: no line breaks, cursor moves or forged marks."""

from __future__ import annotations

import re
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.letters import plain_letters
from otel_errcompact.runtime.strings import has_any

CUT: Final = "..."

# Characters beside which joiners and selectors of variants have a meaning: letters and signs of scripts that join, and
# pictures. UAX #31 (section 2.3) lists where joiners are legitimate, UTS #51 what emoji are made of.
_JOINED: Final = (
    "\u0370-\u061b\u061d-\u115e\u1161-\u17b3\u17b6-\u180a\u180f-\u1fff\u2190-\u27ff\u2801-\u2bff\u2e80-\u3163\u3165-\ud7ff"
    "\uf900-\ufdff\ufe70-\ufefc\U00010000-\U000dffff"
)
_PICTURES: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27ff\u2900-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_IDEOGRAPHS: Final = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"

# C0 and C1 controls, line and paragraph separators, bidirectional, zero-width and filling characters, selectors of
# variants, tags, the byte order mark; joiners and selectors where they have no meaning.
_UNPRINTABLE: Final = lazy_pattern(
    "(?:[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u17b4\u17b5\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    f"|(?<![{_JOINED}])(?<![{_PICTURES}]\ufe0f)[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
    f"|(?<![{_JOINED}{_PICTURES}])(?<![0-9#*](?=\ufe0f\u20e3))[\ufe00-\ufe0f]"
    f"|(?<![{_IDEOGRAPHS}])[\U000e0100-\U000e01ef]"
    "|(?<![\u1820-\u18aa])[\u180b-\u180f]|(?<![\u1100-\u115f])\u1160|\u115f(?![\u1160-\u11a7])"
    "|(?<![\u2801-\u28ff])\u2800)+"
)
_ANSI: Final = lazy_pattern(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)"
    r"|[(-/][\"%&]?[0-?A-Z]|#[3-68]|%[@G]|[@-Z\\-_78=>])"
)
_CONTROL: Final = lazy_pattern("[\x00-\x08\x0b-\x1f\x7f]")
_FORGED_DELIMITER: Final = lazy_pattern(r"\[(?=\s{0,8}/?\s{0,8}(?i:RECENT\s{1,8}ERRORS))")
_FORGED_LINE: Final = lazy_pattern(
    r"^(?=[\W_]{0,8}(?:[O0]PERAT[O0]R|N[O0]TICE|N[O0]T[ ]{1,3}EXECUTED)[\W_]{0,3}:"
    r"|[\W_]{0,8}(?:ESCALATED\b|Raw output \()"
    r"|\s{0,8}(?:hint: |\[errcompact(?: |: )\w|#[0-9a-f]{4,16} (?:again|with new details) \())",
    re.MULTILINE,
)
"""Where a line begins like one of ours."""

_MARKS_OF_FORGERY: Final = (
    "PERAT", "TICE", "EXECUTED", "ESCALATED", "hint: ", "[errcompact", "Raw output (", " again (",
    " with new details (",
)  # fmt: skip
"""Strings of which each such text has one."""

_FORGED_COUNT: Final = lazy_pattern(r"\(x(?=\d)(?!(?:86|64)\))")
"""A count in our manner; `(x86)` is part of the names of folders."""


def one_line(text: str, limit: int = 400) -> str:
    """
    Return untrusted text as one harmless line of at most `limit` characters.

    It is without ANSI sequences, control and bidirectional characters, cannot forge the block's delimiters or a
    count, and UTF-8 can hold it.
    """
    if len(text) <= limit and _is_harmless(text):
        return text
    # A line is never cut by more than what the removals below can take away, so most of a huge text is never looked at.
    text = text[: 8 * limit]
    joined = " ".join(text.split())
    if not (joined.isascii() and joined.isprintable()):
        joined = encodable(" ".join(_UNPRINTABLE.sub(" ", _ANSI.sub("", text)).split()))
    text = _FORGED_DELIMITER.sub("(", joined) if "[" in joined else joined
    if "(x" in text:
        text = _FORGED_COUNT.sub("(x ", text)
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT


def quote(text: str) -> str:
    """Return untrusted text as one line in quotation marks."""
    line = one_line(text).replace('"', "'")
    return f'"{line}"'


def plain_lines(text: str) -> str:
    """Return harmless lines of a text, without forged delimiters or terminal codes."""
    if text.isascii() and _CONTROL.search(text) is None:
        if " \n" in text or "\t\n" in text or text[-1:] in (" ", "\t"):
            text = "\n".join(map(str.rstrip, text.split("\n")))
        return (_FORGED_DELIMITER.sub("(", text) if "[" in text else text).rstrip("\n")
    text = _ANSI.sub("", text.replace("\r\n", "\n")).replace("\r", "\n")
    # Most lines are plain in such a text too, and the pattern is slow.
    lines = (row if row.isascii() and row.isprintable() else _UNPRINTABLE.sub(" ", row) for row in text.split("\n"))
    return encodable(_FORGED_DELIMITER.sub("(", "\n".join(map(str.rstrip, lines))).rstrip("\n"))


def quoted_lines(text: str) -> str:
    """Return harmless lines, with a quote mark before imitations of ours."""
    text = plain_lines(text)
    if not text.isascii():
        text = "\n".join(map(_quote_look_alike, text.split("\n")))
    return _FORGED_LINE.sub("> ", text) if has_any(text, _MARKS_OF_FORGERY) else text


def _quote_look_alike(line: str) -> str:
    # What a model reads as one of our lines is one to it, in whichever letters it is written.
    begin = line[:MAX_BEGIN]
    if begin.isascii():
        return line
    plain = plain_letters(begin)
    return f"> {line}" if plain != begin and _FORGED_LINE.match(plain) else line


MAX_BEGIN: Final = 64
"""Characters of a line in which an imitation of ours would begin."""


def cut_middle(text: str, limit: int, note: str = "") -> str:
    """
    Return a text without its middle if it exceeds `limit`.

    The cut shows its size and `note`.
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters cut{note} ...\n{text[-half:]}"


def encodable(text: str) -> str:
    """
    Write what UTF-8 cannot hold, lone surrogates, as backslash escapes.

    Python makes them of file names and of output that are no UTF-8. One of them in a span's status makes an exporter
    fail on the whole batch.
    """
    if text.isascii():  # known of each text, without a look at it
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def _is_harmless(text: str) -> bool:
    """Return whether a text is one clean line already, as most are."""
    return (
        text.isascii()
        and text.isprintable()
        and "[" not in text
        and "(x" not in text
        and "  " not in text
        and text == text.strip(" ")
    )
