"""Find the long words of a text at the speed of C."""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

MIN_WORD: Final = 14
"""Characters of the shortest token that its form tells."""

_SIGNS: Final = "_-.~+/=%*"
_IN_WORDS: Final = {ord(character) for character in ascii_letters + digits + _SIGNS}
_TO_RUNS: Final = bytes([ord("w") if code in _IN_WORDS else ord(" ") for code in range(256)])
_RUN: Final = b"w" * MIN_WORD
LONG_RUN: Final = lazy_pattern("[A-Za-z]{24}")
"""More letters than a word has; some issuers use no digits."""

DIGIT: Final = lazy_pattern("[0-9*]")
"""What stands in nearly all other tokens and in few words of people."""


def find_long_words(text: str) -> list[tuple[int, int]]:
    """Return where words begin and end that are long as a token."""
    # Each character is one byte here, so that places are the same.
    runs = text.encode("latin-1", "replace").translate(_TO_RUNS)
    words: list[tuple[int, int]] = []
    start = runs.find(_RUN)
    while start >= 0:
        end = runs.find(b" ", start + MIN_WORD)
        if end < 0:
            end = len(text)
        words.append((start, end))
        start = runs.find(_RUN, end)
    return words
