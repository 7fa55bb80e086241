"""Texts and lines that a run's errors repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.lab.analysis.counts import Counts

_VOLATILE: Final = lazy_pattern(
    r"(?:\b[A-Za-z]:)?(?:[/\\][\w.@+~-]+)+[/\\]?|0[xX][0-9a-fA-F]+|\b(?=[a-f]{0,40}[0-9])[0-9a-f]{6,64}\b|[0-9]+"
)
"""Paths, hexadecimal numbers and digits: what differs between two tellings of the same."""


class Repetition:
    """Remembers the errors of one run by hashes."""

    def __init__(self) -> None:
        self._texts: set[int] = set()
        self._lines: set[int] = set()

    def take(self, text: str, counts: Counts) -> None:
        """Count the known part of an error, then remember the error."""
        whole = hash(strip_volatile(text))
        counts.exact_repeats += whole in self._texts
        self._texts.add(whole)
        here: set[int] = set()
        for line in text.splitlines():
            bare = line.strip()
            counts.error_characters += len(bare)
            known = hash(bare)
            if known in here:
                counts.doubled_characters += len(bare)
            else:
                here.add(known)
                if known in self._lines:
                    counts.seen_characters += len(bare)
        self._lines |= here


def strip_volatile(text: str) -> str:
    """Return `text` without digits, hexadecimal numbers and paths."""
    return " ".join(_VOLATILE.sub("#", text).split())
