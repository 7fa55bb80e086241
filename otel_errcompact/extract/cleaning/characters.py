"""Remove what terminals and platforms add to a text, and bound it."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.cleaning.colours import mark_changes
from otel_errcompact.extract.cleaning.console import strip_console
from otel_errcompact.extract.statements import indentation
from otel_errcompact.runtime.lazy import lazy_pattern

LEFT_OUT: Final = "characters not looked at"
"""What stands between head and tail of a very long text."""

_ENDS_OF_CUT: Final = (".", "]", ">", ")", "d", "t", "n", "\u2026")
WINDOW: Final = 32_768
"""Characters that are looked at from either end of a very long text; the whole of it stays in the trajectory."""

MAX_LINES: Final = 1_000
"""Lines that are looked at from either end."""

_CUT: Final = lazy_pattern(
    r"\W{0,12}[0-9][0-9,.]{0,12} ?[kK]?(?:characters|chars|lines|bytes|tokens) (?:(?:were )?(?:truncated"
    r"|omitted|elided|hidden|removed"
    r"|skipped|cut)\b|not looked at)|\W{0,12}truncated lines [0-9]"
)
_FRAGMENT: Final = lazy_pattern(
    r"(?m)^(\W{0,12}[0-9][0-9,.]{0,12} ?[kK]?(?:characters|chars|bytes|tokens) (?:truncated|omitted|elided|cut)\b"
    r"[^\n]*\n\s*)[^\s/\\]+(?![^\s])"
)
"""A cut between two characters, and the end of a word behind it; that of a path still ends with a whole name."""

_ANSI: Final = lazy_pattern(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,99}(?:\x07|\x1b\\)?"
    r"|[(-/][\"%&]?[0-?A-Z]|#[3-68]|%[@G]|[@-Z\\-_78=>])?"
)
_CONTROL: Final = (*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F)
_CONTROL_BYTES: Final = bytes(_CONTROL)
_CONTROL_CHARACTERS: Final = dict.fromkeys([*_CONTROL, *range(0x80, 0xA0), 0xFEFF])


def clean(text: str) -> str:
    """Return `text` bounded, without control characters and ends of cut words."""
    for _, strip in CLEANING:
        text = strip(text)
    return text


def is_cut(line: str) -> bool:
    """Tell whether a line stands for a part that was cut out of a text: what follows belongs to something else."""
    return line[-1:] in _ENDS_OF_CUT and _CUT.match(line) is not None


def strip_blanks(text: str) -> str:
    """Take off blank lines at both ends, and trailing spaces."""
    if " \n" in text or ("\t" in text and "\t\n" in text):
        text = "\n".join(map(str.rstrip, text.split("\n")))
    return text.rstrip().lstrip("\n")


def dedent(text: str) -> str:
    """Take off what indentation all lines have in common."""
    if text[:1] not in (" ", "\t"):
        return text
    lines = text.split("\n")
    common = min(indentation(line) for line in lines if line)
    return "\n".join(line[common:] for line in lines)


def _cut_middle(text: str) -> str:
    if len(text) <= 2 * WINDOW and text.count("\n") <= 2 * MAX_LINES:
        return text
    half = min(WINDOW, len(text) // 2)
    head = "\n".join(text[:half].split("\n", MAX_LINES)[:MAX_LINES])
    tail = "\n".join(text[-half:].rsplit("\n", MAX_LINES)[-MAX_LINES:])
    head = head[: head.rfind("\n")] if "\n" in head else head
    tail = tail[tail.find("\n") + 1 :]
    return f"{head}\n    ... {len(text) - len(head) - len(tail)} {LEFT_OUT}\n{tail}"


def _strip_colours(text: str) -> str:
    return _ANSI.sub("", mark_changes(text)) if "\x1b" in text else text


def _unify_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _strip_fragments(text: str) -> str:
    return _FRAGMENT.sub(r"\1", text) if " truncated" in text or " omitted" in text else text


def _strip_control(text: str) -> str:
    if text.isascii():  # Bytes are translated five times as fast.
        written = text.encode("ascii")
        kept = written.translate(None, _CONTROL_BYTES)
        return text if len(kept) == len(written) else kept.decode("ascii")
    return text.translate(_CONTROL_CHARACTERS)


CLEANING: Final = (
    ("middle of a very long text", _cut_middle),
    ("records of a console", strip_console),
    ("colours", _strip_colours),
    ("carriage returns", _unify_ends),
    ("ends of cut words", _strip_fragments),
    ("control characters", _strip_control),
)
"""The steps of `clean` in their order, each with the name of what it takes off."""
