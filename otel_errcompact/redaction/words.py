"""Find the words of a text that may be tokens."""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

MIN_WORD: Final = 14
"""Characters of the shortest token that its form tells."""

_SIGNS: Final = "_-.~+/=%*"
_IN_WORDS: Final = {ord(character) for character in ascii_letters + digits + _SIGNS}
_TO_RUNS: Final = bytes([ord("w") if code in _IN_WORDS else ord(" ") for code in range(256)])
_TO_KINDS: Final = bytes.maketrans(
    (ascii_letters + digits + "*").encode(), b"a" * len(ascii_letters) + b"0" * len(digits + "*")
)
_RUN: Final = b"w" * MIN_WORD
_MANY_LETTERS: Final = 24
"""More letters than a word has; some issuers use no digits."""

LONG_RUN: Final = lazy_pattern(f"[A-Za-z]{{{_MANY_LETTERS}}}")
_LETTERS: Final = b"a" * _MANY_LETTERS


def find_drawn_words(text: str) -> list[tuple[int, int]]:
    """Return where words begin and end that may be tokens."""
    # A digit or a star stands in nearly all tokens. Each character is one byte here, so that places are the same.
    written = text.encode("latin-1", "replace")
    runs, kinds = written.translate(_TO_RUNS), written.translate(_TO_KINDS)
    words: list[tuple[int, int]] = []
    start = runs.find(_RUN)
    while start >= 0:
        end = runs.find(b" ", start + MIN_WORD)
        if end < 0:
            end = len(text)
        if kinds.find(b"0", start, end) >= 0 or kinds.find(_LETTERS, start, end) >= 0:
            words.append((start, end))
        start = runs.find(_RUN, end)
    return words
