"""What of a run's errors had been said before."""

from __future__ import annotations

import pytest

from otel_errcompact.lab.analysis.counts import Counts
from otel_errcompact.lab.analysis.repetition import Repetition, strip_volatile


def taken(*texts: str) -> Counts:
    counts, repetition = Counts(), Repetition()
    for text in texts:
        repetition.take(text, counts)
    return counts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("failed in 12 ms", "failed in 7 ms", id="numbers"),
        pytest.param("no /tmp/a1/x.py", "no /home/me/y.py", id="paths"),
        pytest.param(r"no C:\Users\me", r"no D:\Work\you", id="windows-paths"),
        pytest.param("object at 0x7f3a", "object at 0xBEEF", id="addresses"),
        pytest.param("commit 3f2a9c1d", "commit 9b8e7a6f", id="hashes"),
        pytest.param("a\n  b", "a b", id="whitespace"),
    ],
)
def test_digits_hexadecimal_numbers_and_paths_do_not_count(one: str, other: str) -> None:
    """Two tellings that differ in these alone repeat exactly."""
    assert strip_volatile(one) == strip_volatile(other)
    assert taken(one, other).exact_repeats == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("KeyError: 'a'", "KeyError: 'b'", id="names"),
        pytest.param("a facade fell", "a decade fell", id="words-of-hexadecimal-letters"),
    ],
)
def test_words_count(one: str, other: str) -> None:
    """Two failures that differ in a word are two."""
    assert strip_volatile(one) != strip_volatile(other)
    assert taken(one, other).exact_repeats == 0


def test_lines_of_earlier_errors_are_seen() -> None:
    """By their characters, without indentation, blank lines and the breaks between."""
    counts = taken("one cause\nhere", "  one cause\n\nthere")
    assert (counts.error_characters, counts.seen_characters, counts.doubled_characters) == (13 + 14, 9, 0)


def test_lines_of_the_same_error_are_doubled() -> None:
    """Those that an earlier error has had are counted once as seen."""
    counts = taken("cause", "cause\ncause\nnew\nnew")
    assert (counts.error_characters, counts.seen_characters, counts.doubled_characters) == (5 + 16, 5, 5 + 3)
