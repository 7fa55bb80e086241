"""Records that Windows PowerShell makes of standard error, and lines it wrapped."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

_SIGN: Final = "    + CategoryInfo"
_WIDTHS: Final = range(60, 251)
"""Columns of consoles that do not wrap the record itself, so that only the lines tell how wide they are."""

_RECORD: Final = lazy_pattern(
    r"(?m)^(?:(?:[A-Za-z]:)?[^\s:+][^\n:]{0,200}? : (?P<said>[^\n]{0,4000}(?:\n[^\n]{0,300}){0,3}?\n))?"
    r"(?:[^\n+][^\n]{0,400}[0-9] ?\n(?:\+ [^\n]{0,2000}\n){1,12})?"  # `At line:1 char:1` in any language
    r" {4}\+ CategoryInfo[^\n]{1,2000}\n(?: {0,4}[^\s+][^\n]{0,300}\n){0,4} {4}\+ FullyQualified[^\n]{0,40}:"
    r"[^\S\n]{0,20}N[^\n]{0,6}a[^\n]{0,6}t[^\n]{0,6}i[^\n]{0,6}v[^\n]{0,6}e[^\n]{0,6}C[^\n]{7,60}(?:\n *(?=\n|\Z))?\n?"
)


def strip_console(text: str) -> str:
    """Return what programs wrote into such records, its lines whole."""
    if _SIGN not in text:
        return text
    joined = "".join(_join_wrapped_lines(text.replace("\r\n", "\n").split("\n")))
    said, records = _RECORD.subn(lambda record: record["said"] or "", joined)
    return said.replace("System.Management.Automation.RemoteException\n", "\n") if records else text


def _join_wrapped_lines(lines: list[str]) -> list[str]:
    # A line continues in the next one if it fills the width of the console, or leaves no room for the next word.
    width = _find_width(lines)
    joined = [lines[0]]
    for before, line in pairwise(lines):
        room, word = width - len(before), line.partition(" ")[0]
        is_cut = len(word) >= room if before[-1:] == " " else word and not room
        joined.append(joined.pop() + line if width and before.strip() and line.strip() and is_cut else f"\n{line}")
    return joined


def _find_width(lines: list[str]) -> int:
    sign = next((line for line in lines if line.startswith(_SIGN)), ":")
    if ":" not in sign:
        return len(sign)
    return max((len(line) for line in lines if len(line) in _WIDTHS and line[-1] == " "), default=0)
