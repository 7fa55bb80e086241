"""How many tokens a text costs."""

from __future__ import annotations

from typing import Protocol


class TokenCounter(Protocol):
    """
    Anything that tells how many tokens a text costs.
    """

    def __call__(self, text: str) -> int:
        """Return the number of tokens in `text`."""
        ...


def estimate_tokens(text: str) -> int:
    """
    Estimate the tokens of `text` as a quarter of its characters, rounded up.
    """
    return (len(text) + 3) // 4
