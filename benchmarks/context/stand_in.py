"""A summariser without a model, the same for all candidates: what it keeps is what compaction hands to it."""

from __future__ import annotations

import re
from typing import Final

from otel_errcompact.digest.tokens import estimate_mixed_tokens

_LEAST: Final = 20
_LONG: Final = 200
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_PIECE: Final = re.compile(r"(?<=[,;])\s+")


def extract(text: str, limit_tokens: int) -> str:
    """
    Return the sentences and lines of a text, long ones in pieces, that hold most rare words for their length.

    Each stands there once, in order.

    Rare are words that stand in the text at most three times. It knows nothing of what the agent will use.
    """
    lines = (line.strip() for line in _SENTENCE.split(text))
    split = (piece for line in lines for piece in ([line] if len(line) <= _LONG else _PIECE.split(line)))
    pieces = list(dict.fromkeys(piece[:400] for piece in split if len(piece) >= _LEAST))
    counts: dict[str, int] = {}
    for piece in pieces:
        for word in set(piece.split()):
            counts[word] = counts.get(word, 0) + 1

    def worth(piece: str) -> float:
        rare = sum(1 for word in set(piece.split()) if counts[word] <= 3 and not word.isalpha())
        return rare / (8 + len(piece) ** 0.5)

    chosen: set[str] = set()
    left = limit_tokens
    for piece in sorted(pieces, key=worth, reverse=True):
        cost = estimate_mixed_tokens(piece) + 1
        if cost <= left:
            chosen.add(piece)
            left -= cost
    return "\n".join(piece for piece in pieces if piece in chosen)
