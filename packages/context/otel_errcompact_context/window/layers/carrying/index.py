"""The index below a marker: what went, within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

from otel_errcompact.digest import one_line
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.memory.markers import is_marked
from otel_errcompact_context.window.layers.carrying.names import names_in, split_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Message

Section = Literal[
    "statements of the user", "answered by calls", "answers", "answered requests",
    "open errors", "resolved errors", "files written", "files read", "commands", "calls", "names",
]  # fmt: skip
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
"""In the order in which they stand below the marker."""

OF_WORDS: Final = SECTIONS[:4]
"""What users said, as far as nothing of it waits for an answer."""

_TITLES: Final[dict[str, Section]] = {section: section for section in SECTIONS}

Sections = dict[Section, list[str]]
"""The entries of each section, those first that must not go."""

_SHARES: Final[Mapping[Section, float]] = {
    "statements of the user": 0.75,
    "answered by calls": 0.3,
    "answers": 0.3,
    "answered requests": 1.0,
    "open errors": 0.2,
    "resolved errors": 0.1,
    "files written": 0.2,
    "files read": 0.15,
    "commands": 0.2,
    "calls": 0.2,
    "names": 1.0,
}
"""What part of the budget that is left a section may take; the last one takes what all others leave."""

_BETWEEN: Final = " | "
_BETWEEN_NAMES: Final = ", "
THEN: Final = " -> "
"""Stands between what was said and what was answered."""

ASKED: Final = "asked: "
"""Stands before what the user was asked for; the answer is the user's word then."""

_SIZES: Final = ((2_000, 30), (600, 30), (200, 30), (80, 30), (2_000, 120), (2_000, 60))
"""Characters of what was said, and of each answer to it: the words of the user come first."""

_LEAST_SIZES: Final = (40, 30)
_SHORTEST_WITH_END: Final = 120
_CUT: Final = " ... "
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
    present = [section for section in SECTIONS if sections.get(section)]
    for section in present:
        if left >= _LEAST_TOKENS:
            share = 1 if section == present[-1] else _SHARES[section]
            entries = _find_new(sections[section], lines) if section == "names" else sections[section]
            line = _render_section(section, entries, int(left * share), count_tokens)
            if line:
                lines.append(line)
                left -= count_tokens(line) + 1
    return "\n".join(lines)


def _find_new(names: Sequence[str], lines: Sequence[str]) -> list[str]:
    said = {name for piece in split_text("\n".join(lines)) for name in names_in(piece)}
    return [name for name in names if name not in said]


def _render_section(section: Section, entries: Sequence[str], budget: int, count_tokens: TokenCounter) -> str:
    between = _separator_of(section)
    left = budget - _FRAME_TOKENS
    fit = _fit_words if section in OF_WORDS else _fit_entries
    shown = fit(entries, left, count_tokens)
    if not shown:
        return ""
    missing = len(entries) - len(shown)
    return f"{section}: {between.join([*shown, f'+{missing:,} more'] if missing else shown)}"


def _fit_entries(entries: Sequence[str], left: int, count_tokens: TokenCounter) -> list[str]:
    shown: list[str] = []
    for entry in entries:
        if left < _LEAST_ENTRY:
            break
        clean = one_line(entry, _MAX_ENTRY).replace(_BETWEEN, " / ")
        cost = count_tokens(clean) + 1
        if cost <= left:
            shown.append(clean)
            left -= cost
    return shown


def join_pieces(*pieces: str) -> str:
    """Return as an entry what was said and what was answered."""
    return THEN.join([cut_line(piece, _SIZES[0][0]).replace(THEN, " > ") for piece in pieces if piece])


def _fit_words(entries: Sequence[str], left: int, count_tokens: TokenCounter) -> list[str]:
    # All as short as can be, as far as they fit; then what was said grows, the newest first, and then the answers.
    shown: list[str] = []
    for entry in entries:
        short = _cut_pieces(entry, *_LEAST_SIZES)
        cost = count_tokens(short) + 1
        if cost > left:
            break
        left -= cost
        shown.append(short)
    for sizes in _SIZES:
        for number, short in enumerate(shown):
            longer = _cut_pieces(entries[number], *sizes)
            if len(longer) > len(short):
                left -= (cost := count_tokens(longer) - count_tokens(short))
                if left < 0:
                    left += cost
                    break
                shown[number] = longer
    return shown


def _cut_pieces(entry: str, size: int, answer_size: int) -> str:
    pieces = entry.replace(_BETWEEN, " / ").split(THEN)
    of_user = 1 if len(pieces) > 1 and pieces[0].startswith(ASKED) else 0
    return THEN.join([cut_line(piece, size if at == of_user else answer_size) for at, piece in enumerate(pieces)])


def cut_line(text: str, size: int) -> str:
    """Return a text as one line of at most about a size."""
    if len(text) > size >= _SHORTEST_WITH_END:
        text = f"{text[: size * 3 // 4]}{_CUT}{text[-(size // 4) :]}"
        size += len(_CUT)
    return one_line(text, size)


def _separator_of(section: Section) -> str:
    return _BETWEEN_NAMES if section == "names" else _BETWEEN


def read_index(message: Message) -> Sections:
    """Return the entries of the index below a marker."""
    found: Sections = {}
    text = message.parts[0].text if message.role == "user" and message.parts else ""
    for line in text.split("\n")[1:] if is_marked(text) else ():
        title, colon, rest = line.partition(": ")
        section = _TITLES.get(title)
        if section is None or not colon:
            break
        entries = rest.split(_separator_of(section))
        found[section] = entries[:-1] if _MORE.match(entries[-1]) else entries
    return found
