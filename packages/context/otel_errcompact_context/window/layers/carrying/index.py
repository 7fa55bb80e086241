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
    "statements of the user", "worked on", "answers", "replied to",
    "open errors", "files written", "files read", "commands", "calls", "names",
]  # fmt: skip
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
"""In the order in which they stand below the marker."""

OF_WORDS: Final = SECTIONS[:4]
"""What users said, as far as nothing of it waits for an answer, in the order of its worth."""

_TITLES: Final[dict[str, Section]] = {section: section for section in SECTIONS}

Sections = dict[Section, list[str]]
"""The entries of each section, those first that must not go."""

_SHARES: Final[Mapping[Section, float]] = {
    "open errors": 0.2,
    "files written": 0.2,
    "files read": 0.15,
    "commands": 0.2,
    "calls": 0.2,
    "names": 1.0,
}
"""What part of the budget that is left a section may take; the last one takes what all others leave."""

_LEGIBLE: Final[Mapping[Section, int]] = dict(zip(OF_WORDS, (4, 3, 3, 1), strict=True))
"""How many of the sizes what is worth more has before what is worth less has a place."""

_SHARE_OF_OTHERS: Final = 5
"""One part in so many of the words' room that the most worthy leave to the others."""

_BETWEEN: Final = " | "
_BETWEEN_NAMES: Final = ", "
THEN: Final = " -> "
"""Stands between what was said and what was answered."""

ANSWERED: Final = "answered: "
ASKED: Final = "asked: "
"""Stands before what the user was asked for; the answer is the user's word then."""

_SIZES: Final = ((40, 30), (80, 40), (120, 60), (200, 60), (300, 60), (300, 120), (2_000, 120))
"""Characters of what was said, and of each answer to it: all entries of a section grow together."""

_SHORTEST_WITH_END: Final = 80
_SHORTEST_WITH_QUESTION: Final = 120
_CUT: Final = " ... "
_MORE: Final = lazy_pattern(r"\+[0-9,]{1,12} more\Z")
_MAX_ENTRY: Final = 600
_LEAST_TOKENS: Final = 24
"""An index that may cost less says nothing."""

_LEAST_ENTRY: Final = 2
"""Tokens that the shortest entry costs with what separates it from the next one."""

_FRAME_TOKENS: Final = 12
"""A section's title, and what it says of entries that found no place."""


def render_index(
    sections: Mapping[Section, Sequence[str]], budget: int, count_tokens: TokenCounter, said: str = ""
) -> str:
    """
    Return the index, a line for each section that has entries.

    It is empty if the budget is too small, and repeats no names of what is said above.
    """
    lines: list[str] = []
    left = budget
    words = _fit_words(sections, left, count_tokens)
    present = [section for section in SECTIONS if sections.get(section)]
    for section in present:
        if left >= _LEAST_TOKENS:
            share = int(left * (1 if section == present[-1] else _SHARES.get(section, 1))) - _FRAME_TOKENS
            is_said, entries = section in OF_WORDS, sections[section]
            entries = _find_new(entries, (said, *lines)) if section == "names" else entries
            shown = words.get(section, []) if is_said else _fit_entries(entries, share, count_tokens)
            if shown:
                more = [f"+{len(entries) - len(shown):,} more"] if len(entries) > len(shown) else []
                lines.append(f"{section}: {_separator_of(section).join([*shown, *more])}")
                left -= count_tokens(lines[-1]) + 1
    return "\n".join(lines)


def _find_new(names: Sequence[str], lines: Sequence[str]) -> list[str]:
    said = {name for piece in split_text("\n".join(lines)) for name in names_in(piece)}
    return [name for name in names if name not in said]


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
    return THEN.join([cut_line(piece, _SIZES[-1][0]).replace(THEN, " > ") for piece in pieces if piece])


def _fit_words(sections: Mapping[Section, Sequence[str]], left: int, count_tokens: TokenCounter) -> Sections:
    # What is worth more has its place first, and half of what is left then to be read well; a part is for the others.
    shown: Sections = {}
    for number, section in enumerate(OF_WORDS, 1):
        entries = sections.get(section, ())
        left -= _FRAME_TOKENS if entries else 0
        reserved = left // _SHARE_OF_OTHERS if any(map(sections.get, OF_WORDS[number:])) else 0
        short = shown[section] = []
        for entry in entries:
            least = _cut_pieces(entry, *_SIZES[0])
            if left - (cost := count_tokens(least) + 1) < reserved:
                break
            left -= cost
            short.append(least)
        rest = left - left // 2
        for sizes in _SIZES[1 : _LEGIBLE[section]]:
            rest = _grow(short, entries, sizes, rest, count_tokens)
        left = left // 2 + rest
    for sizes in _SIZES[1:]:
        for section, short in shown.items():
            left = _grow(short, sections.get(section, ()), sizes, left, count_tokens)
    return shown


def _grow(
    shown: list[str], entries: Sequence[str], sizes: tuple[int, int], left: int, count_tokens: TokenCounter
) -> int:
    # Show more of entries, the newest first, as far as there is room; return what is left of it.
    for number, short in enumerate(shown):
        longer = _cut_pieces(entries[number], *sizes)
        if len(longer) > len(short) and (cost := count_tokens(longer) - count_tokens(short)) <= left:
            left -= cost
            shown[number] = longer
    return left


def _cut_pieces(entry: str, size: int, answer_size: int) -> str:
    pieces = entry.replace(_BETWEEN, " / ").split(THEN)
    of_user = [
        at for at, piece in enumerate(pieces) if piece.startswith(ANSWERED) or (not at and not piece.startswith(ASKED))
    ]
    # What the model asked has no room where the reply says what came of it.
    shown = [
        at
        for at in range(len(pieces))
        if size >= _SHORTEST_WITH_QUESTION or at in of_user or at == len(pieces) - 1 or not at
    ]
    return THEN.join([cut_line(pieces[at], size if at in of_user else answer_size) for at in shown])


def cut_line(text: str, size: int) -> str:
    """Return a text as one line of at most about a size."""
    if size >= _SHORTEST_WITH_END:
        size += len(_CUT)
        if len(text) > size:
            text = f"{text[: (size - len(_CUT)) * 3 // 4]}{_CUT}{text[-((size - len(_CUT)) // 4) :]}"
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
