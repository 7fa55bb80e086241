"""Lines within a budget of tokens: every cut is visible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.digest.untrusted import CUT

if TYPE_CHECKING:
    from otel_errcompact.digest.tokens import TokenCounter

MIN_WIDTH: Final = 24


def join_within(budget: int, count_tokens: TokenCounter, lines: list[str], tail: list[str]) -> tuple[str, int]:
    """
    Join `lines` and `tail` under the budget.

    Lines that do not fit are counted; the first one and the tail always stay.

    Returns:
        The text, and how many of the lines it holds.
    """
    text = "\n".join(lines + tail)
    if count_tokens(text) <= budget:
        return text, len(lines)
    for kept in range(len(lines) - 1, 0, -1):
        text = "\n".join([*lines[:kept], f"  {CUT} {len(lines) - kept} more lines", *tail])
        if count_tokens(text) <= budget:
            return text, kept
    return shorten_lines(budget, count_tokens, [lines[0], *tail]), 1


def shorten_lines(budget: int, count_tokens: TokenCounter, lines: list[str]) -> str:
    """Join `lines`, all of which must stay, and cut the longest ones, visibly, until they fit the budget."""
    width = max(map(len, lines))
    text = "\n".join(lines)
    while count_tokens(text) > budget and width > MIN_WIDTH:
        width = max(width * 3 // 4, MIN_WIDTH)
        text = "\n".join(line if len(line) <= width else line[: width - len(CUT)] + CUT for line in lines)
    return text
