"""A text that no format owns, in its order."""

from __future__ import annotations

from itertools import accumulate, groupby, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.digest.untrusted import CUT
from otel_errcompact.extract.shell_statements import shell_statement
from otel_errcompact.extract.statements import statement_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.digest.tokens import TokenCounter

_REDRAWN: Final = lazy_pattern(r"[^\n\r]*\r(?=[^\n\r])")
"""What a terminal overwrites in the same line."""

_MIN_REPEATS: Final = 3
_MAX_STATEMENTS: Final = 8
_BESIDE: Final = 2
"""Lines before and behind a statement that stay with it."""

_HEAD: Final = 3
"""The head has one part of as many, the tail the others."""

_SHARE_OF_STATEMENTS: Final = 4
_MAX_STATED: Final = 400
"""Characters of a line that is looked at for a statement."""


def resolve_redraws(text: str) -> str:
    """Return a text without what a terminal has drawn over."""
    if "\r" not in text:
        return text
    return _REDRAWN.sub("", text.replace("\r\n", "\n"))


def fit_in_order(text: str, limit: int, count_tokens: TokenCounter, way_back: str) -> str:
    """
    Return a text in its order within a number of tokens.

    Head and tail stay, cut at line ends, and between them each line that states an error in a strict form, with two
    lines around it.

    Args:
        text: The text.
        limit: The most tokens.
        count_tokens: How tokens are counted.
        way_back: How the reader gets the whole text; it stands where lines were cut.
    """
    lines = list(_fold_repeats(text.split("\n")))
    costs = [count_tokens(line) + 1 for line in lines]
    if sum(costs) <= limit:
        return "\n".join(lines)
    stated = _find_stated(lines, costs, limit // _SHARE_OF_STATEMENTS)
    room = limit - sum(costs[number] for number in stated)
    kept = stated | _take_lines(range(len(lines)), costs, room // _HEAD)
    kept |= _take_lines(range(len(lines) - 1, -1, -1), costs, room - room // _HEAD)
    if not kept:
        return _cut_line("\n".join(lines), limit, count_tokens, way_back)
    return "\n".join(_with_marks(lines, kept, way_back))


def _fold_repeats(lines: Sequence[str]) -> Iterator[str]:
    for line, group in groupby(lines):
        count = sum(1 for _ in group)
        yield line
        if count >= _MIN_REPEATS and line.strip():
            yield f"{CUT} the same line {count - 1} times more"
        else:
            yield from (line for _ in range(count - 1))


def _find_stated(lines: Sequence[str], costs: Sequence[int], room: int) -> set[int]:
    found: set[int] = set()
    stated = (number for number, line in enumerate(lines) if _is_statement(line))
    for number, _ in zip(stated, range(_MAX_STATEMENTS), strict=False):
        around = set(range(max(0, number - _BESIDE), min(len(lines), number + _BESIDE + 1))) - found
        room -= sum(costs[each] for each in around)
        if room < 0:
            break
        found |= around
    return found


def _is_statement(line: str) -> bool:
    line = line.strip()
    if not line or len(line) > _MAX_STATED:
        return False
    return shell_statement(line) is not None or statement_of(line) is not None


def _take_lines(numbers: range, costs: Sequence[int], room: int) -> set[int]:
    spent = accumulate(costs[number] for number in numbers)
    return set(numbers[: sum(1 for _ in takewhile(room.__ge__, spent))])


def _with_marks(lines: Sequence[str], kept: set[int], way_back: str) -> Iterator[str]:
    for is_kept, group in groupby(range(len(lines)), key=kept.__contains__):
        numbers = list(group)
        if is_kept:
            yield from (lines[number] for number in numbers)
        else:
            yield mark_cut(len(numbers), way_back)


def mark_cut(count: int, way_back: str) -> str:
    """Return the line that stands where lines were cut."""
    return f"{CUT} {count:,} line{'s' if count > 1 else ''} left out{f': {way_back}' if way_back else ''}"


def _cut_line(text: str, limit: int, count_tokens: TokenCounter, way_back: str) -> str:
    # A line that is longer than all the room has no end to cut at.
    half = len(text) * limit // max(count_tokens(text), 1) // _HEAD
    cut = len(text) - 3 * half
    note = f" {CUT} {cut:,} characters left out{f': {way_back}' if way_back else ''} {CUT} "
    return f"{text[:half]}{note}{text[-2 * half :]}" if half else note.strip()
