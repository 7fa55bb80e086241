"""Lines within a budget of tokens: every cut is visible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.digest.untrusted import CUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact.errors import Evidence

MIN_WIDTH: Final = 24

MIN_TOKENS: Final = 250
"""Tokens that a digest may always have: of a text that is little longer the rest is mostly needed too."""

SHARE: Final = 4
"""A digest has the n-th part of its raw error's tokens: digests written by hand had an eighth on average."""

MIN_ROOM: Final = 16
"""Tokens that are worth the beginning of a line."""

_LEAST_OF_TOKEN: Final = 3
"""Characters of a token in lines of names and values."""

_ROOM_FOR_MARKS: Final = 8
"""Tokens of a class mark and a cut: with them a digest is no longer than its raw error."""

_LOOKED_AT: Final = 16
"""Characters for each token of the limit that are counted; a longer text has the whole limit."""


def budget_of(text: str, limit: int, count_tokens: TokenCounter) -> int:
    """Return the budget of a digest in tokens, at most `limit`."""
    if len(text) > _LOOKED_AT * limit:
        return limit
    raw_tokens = count_tokens(text)
    return min(limit, max(MIN_TOKENS, raw_tokens // SHARE), raw_tokens - _ROOM_FOR_MARKS)


def fit_lines(
    budget: int,
    limit: int,
    count_tokens: TokenCounter,
    fixed: Sequence[str],
    details: Sequence[str],
    evidence: Sequence[Evidence],
) -> list[str]:
    """
    Return details and evidence that fit beside the fixed lines.

    Args:
        budget: Tokens for all lines where there is evidence.
        limit: Tokens for all lines where there are details, in which formats tell what is needed to act.
        count_tokens: How tokens are counted.
        fixed: Lines that stay at any cost.
        details: Lines in the order in which they matter.
        evidence: Lines in the order of the text.

    Returns:
        The details, then the evidence in the order of the text.
    """
    used = count_tokens("\n".join(fixed))
    kept: list[str] = []
    for line in details:
        used += count_tokens(line) + 1
        if used > limit:
            return kept
        kept.append(line)
    room = budget - used
    chosen: dict[int, str] = {}
    for number in sorted(range(len(evidence)), key=lambda number: (-evidence[number].weight, number)):
        line = evidence[number].line
        cost = count_tokens(line) + 1
        if cost > room >= MIN_ROOM:
            line = f"{line[: _LEAST_OF_TOKEN * (room - 2)]}{CUT}"
            cost = count_tokens(line) + 1
        if cost <= room:
            room -= cost
            chosen[number] = line
    return [*kept, *(line for _, line in sorted(chosen.items()))]


def shorten_lines(budget: int, count_tokens: TokenCounter, lines: list[str]) -> str:
    """Join all `lines`, and cut the longest to fit the budget."""
    width = max(map(len, lines))
    text = "\n".join(lines)
    while count_tokens(text) > budget and width > MIN_WIDTH:
        width = max(width * 3 // 4, MIN_WIDTH)
        text = "\n".join(line if len(line) <= width else line[: width - len(CUT)] + CUT for line in lines)
    return text
