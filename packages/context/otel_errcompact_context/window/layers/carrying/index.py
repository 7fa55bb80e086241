"""The index below a marker: what went, within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

from otel_errcompact.digest import one_line
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from otel_errcompact.digest.tokens import TokenCounter

Section = Literal["open errors", "answers", "files written", "files read", "commands", "calls", "names"]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
"""In the order in which they stand below the marker."""

_TITLES: Final[dict[str, Section]] = {section: section for section in SECTIONS}

Sections = dict[Section, list[str]]
"""The entries of each section, those first that must not go."""

_SHARES: Final[Mapping[Section, float]] = {
    "open errors": 0.2,
    "answers": 0.1,
    "files written": 0.2,
    "files read": 0.15,
    "commands": 0.2,
    "calls": 0.2,
    "names": 1.0,
}
"""What part of the budget that is left a section may take; what it does not take is left to those after it."""

_BETWEEN: Final = " | "
_BETWEEN_NAMES: Final = ", "
_MORE: Final = lazy_pattern(r"\+[0-9,]{1,12} more\Z")
_MAX_ENTRY: Final = 600
_LEAST_TOKENS: Final = 24
"""An index that may cost less says nothing."""

_LEAST_ENTRY: Final = 2
"""Tokens that the shortest entry costs with what separates it from the next one."""

_FRAME_TOKENS: Final = 12
"""A section's title, and what it says of entries that found no place."""


def render_index(sections: Mapping[Section, Sequence[str]], budget: int, count_tokens: TokenCounter) -> str:
    """
    Return the index, a line for each section that has entries.

    It is empty if the budget is too small.
    """
    lines: list[str] = []
    left = budget
    for section in SECTIONS:
        entries = sections.get(section, ())
        if entries and left >= _LEAST_TOKENS:
            line = _render_section(section, entries, int(left * _SHARES[section]), count_tokens)
            if line:
                lines.append(line)
                left -= count_tokens(line) + 1
    return "\n".join(lines)


def _render_section(section: Section, entries: Sequence[str], budget: int, count_tokens: TokenCounter) -> str:
    between = _separator_of(section)
    shown: list[str] = []
    left = budget - _FRAME_TOKENS
    for entry in entries:
        if left < _LEAST_ENTRY:
            break
        clean = one_line(entry, _MAX_ENTRY).replace(_BETWEEN, " / ")
        cost = count_tokens(clean) + 1
        if cost <= left:
            shown.append(clean)
            left -= cost
    if not shown:
        return ""
    missing = len(entries) - len(shown)
    return f"{section}: {between.join([*shown, f'+{missing:,} more'] if missing else shown)}"


def _separator_of(section: Section) -> str:
    return _BETWEEN_NAMES if section == "names" else _BETWEEN


def read_index(lines: Iterable[str]) -> Sections:
    """Return the entries of an index, up to the first other line."""
    found: Sections = {}
    for line in lines:
        title, colon, rest = line.partition(": ")
        section = _TITLES.get(title)
        if section is None or not colon:
            break
        entries = rest.split(_separator_of(section))
        found[section] = entries[:-1] if _MORE.match(entries[-1]) else entries
    return found
