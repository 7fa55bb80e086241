"""Reading an archived text: a range of it, or a search."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.digest import encodable, one_line
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.memory.markers import marker, marker_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.memory.archive import Archive

MAX_PLACE: Final = 4_096
"""Characters of a place; no longer path can be opened."""

_QUOTED: Final = 80
_LONGEST_PROBLEM: Final = 500
_LONGEST_TOKEN: Final = 32
"""Characters that a token has at most, on average: what is longer than the budget for sure is not counted."""

_AROUND: Final = 150
"""Characters shown on both sides of what was found in a long line."""

_RANGE: Final = lazy_pattern(
    # Nothing but what can be said again: whoever trusts it loses no word.
    r"lines? [\d,]+(?: to [\d,]+)?, characters [\d,]+ to [\d,]+, of [\d,]+ lines?, [\d,]+ characters"
    r"(?:; next: from_(?:line|character)=\d+)?"
)
_ROUNDS: Final = 16
_CAREFUL: Final = 0.95
"""The beginning of a text may be denser than the rest."""


class Query(NamedTuple):
    """What of a text is wanted."""

    search: str = ""
    """Only lines that hold this text, in small letters or capitals; empty for all."""

    from_line: int | None = None
    to_line: int | None = None
    """The last line; both are counted from 1 and included."""

    from_character: int | None = None
    to_character: int | None = None


def recall_text(archive: Archive, place: str, query: Query, max_tokens: int, count_tokens: TokenCounter) -> str:
    """
    Return a part of an archived text, or why there is none.

    The first line is a marker, which names the place again: layers that cut the text later need not archive it.

    Args:
        archive: Where the text is kept; nothing else is read.
        place: What stands behind `whole:` in a marker, or the marker itself.
        query: Which part.
        max_tokens: What it may cost, without the marker.
        count_tokens: How tokens are counted.
    """
    place = _read_place(place)
    if len(place) > MAX_PLACE:
        return f"recall: {one_line(place, _QUOTED)!r} is no place. {_ADVICE}"
    try:
        text = _Text(archive.read(place))
    except OSError as error:
        return f"recall: {one_line(error.strerror or str(error), _LONGEST_PROBLEM)}. {_ADVICE}"
    problem = _find_problem(query, text)
    if problem:
        return f"recall: {problem}"
    budget = _Budget(max_tokens, count_tokens)
    said, body = _search_lines(text, query, budget) if query.search else _take_range(text, query, budget)
    return f"{marker('recall', said, place)}\n{body}" if body else f"recall: {said}"


def is_recalled(text: str, whole: str) -> bool:
    """Tell whether a text is a recalled range of that whole."""
    found = marker_of(text)
    if found is None or found.layer != "recall" or not _RANGE.fullmatch(found.what):
        return False
    body = text.partition("\n")[2]
    return body != "" and body in whole


_ADVICE: Final = "A place is what a marker names behind `whole:`; pass it letter by letter."


def _read_place(place: str) -> str:
    place = place.strip()
    found = marker_of(place)
    return found.place if found is not None else place


class _Text:
    def __init__(self, whole: str) -> None:
        self.whole = whole
        self.lines = whole.split("\n")
        if len(self.lines) > 1 and not self.lines[-1]:
            # The end of the last line begins no further one.
            self.lines.pop()
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        """Where each line begins; one more than there are lines."""

    def line_at(self, character: int) -> int:
        """Return the number of a character's line, both counted from 0."""
        return min(bisect_right(self.starts, character), len(self.lines)) - 1

    @property
    def size(self) -> str:
        lines, characters = len(self.lines), len(self.whole)
        return f"{lines:,} {'line' if lines == 1 else 'lines'}, {characters:,} characters"


class _Budget(NamedTuple):
    max_tokens: int
    count_tokens: TokenCounter

    def count_fitting(self, text: str) -> int:
        """Return how many characters of the beginning fit; at least one."""
        size = min(len(text), self.max_tokens * _LONGEST_TOKEN)
        careful = 1.0
        for _ in range(_ROUNDS):
            tokens = self.count_tokens(text[:size])
            if tokens <= self.max_tokens:
                return max(size, 1)
            size = math.floor(size * self.max_tokens / tokens * careful)
            careful = _CAREFUL
        return 1


def _find_problem(query: Query, text: _Text) -> str:
    by_line = query.from_line is not None or query.to_line is not None
    by_character = query.from_character is not None or query.to_character is not None
    if by_line and by_character:
        return "pass lines or characters, not both"
    if query.search and by_character:
        return "a search goes through lines: pass from_line and to_line with it, or neither"
    sizes = (
        ("line", query.from_line, query.to_line, len(text.lines)),
        ("character", query.from_character, query.to_character, len(text.whole)),
    )
    for unit, first, last, size in sizes:
        first = 1 if first is None else first  # noqa: PLW2901 - the default
        if first < 1:
            return f"from_{unit} is {first}; the first is 1"
        if first > max(size, 1):
            return f"from_{unit} is {first:,}, but the text ends before: {text.size}"
        if last is not None and last < first:
            return f"to_{unit} is {last}, before from_{unit}, which is {first}"
    return ""


def _take_range(text: _Text, query: Query, budget: _Budget) -> tuple[str, str]:
    if query.from_character is not None or query.to_character is not None:
        start = (query.from_character or 1) - 1
        end = min(query.to_character or len(text.whole), len(text.whole))
    else:
        start = text.starts[(query.from_line or 1) - 1]
        end = min(text.starts[min(query.to_line or len(text.lines), len(text.lines))], len(text.whole))
    if start == end:
        return f"the text is empty: {text.size}", ""
    fitting = start + budget.count_fitting(text.whole[start : min(end, start + budget.max_tokens * _LONGEST_TOKEN)])
    if fitting < end:
        # To the end of a line, unless a single one is too long.
        end = text.whole.rfind("\n", start, fitting) + 1 or fitting
    first, last = text.line_at(start), text.line_at(end - 1)
    lines = f"line {first + 1:,}" if first == last else f"lines {first + 1:,} to {last + 1:,}"
    said = f"{lines}, characters {start + 1:,} to {end:,}, of {text.size}"
    if end < len(text.whole):
        at_line = text.starts[last + 1] == end and query.from_character is None
        said += f"; next: from_line={last + 2}" if at_line else f"; next: from_character={end + 1}"
    return said, encodable(text.whole[start:end])


def _search_lines(text: _Text, query: Query, budget: _Budget) -> tuple[str, str]:
    wanted = query.search.casefold()
    first = (query.from_line or 1) - 1
    last = min(query.to_line or len(text.lines), len(text.lines))
    hits = [number for number in range(first, last) if wanted in text.lines[number].casefold()]
    said = f"{one_line(query.search, _QUOTED)!r} in "
    where = text.size if (first, last) == (0, len(text.lines)) else f"lines {first + 1:,} to {last:,} of {text.size}"
    if not hits:
        return f"no line holds {said}{where}", ""
    shown: list[str] = []
    left = budget.max_tokens
    for line in _show_lines(text, hits, wanted):
        left -= budget.count_tokens(line) + 1
        if left < 0 and shown:
            break
        shown.append(line)
    count = f"{len(hits):,} {'line' if len(hits) == 1 else 'lines'}"
    said = f"{count} with {said}{where}"
    if len(shown) < len(hits):
        said += f", {len(shown):,} shown; next: from_line={hits[len(shown)] + 1}"
    body = encodable("\n".join(shown))
    return said, body[: budget.count_fitting(body)]


def _show_lines(text: _Text, numbers: list[int], wanted: str) -> Iterator[str]:
    for number in numbers:
        line, start = text.lines[number], text.starts[number]
        # In a few scripts letters grow by folding, and the place is a little further on: it is only for show.
        found = line.casefold().find(wanted)
        begin, end = max(0, found - _AROUND), min(len(line), found + len(wanted) + _AROUND)
        if end - begin == len(line):
            yield f"{number + 1}: {line}"
        else:
            yield f"{number + 1}, characters {start + begin + 1} to {start + end}: {line[begin:end]}"
