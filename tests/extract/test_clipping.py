"""How much enters the facts, and how a cut shows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.extract.clipping import MAX_DETAIL, MAX_DETAILS, clip, details


def test_short_text_stays():
    """What fits is only stripped."""
    assert clip("  boom \n") == "boom"


def test_cut_shows_and_keeps_both_ends():
    """The middle goes, since a cause may stand at either end."""
    assert clip("start " + "x" * 100 + " end", 20) == "start xxxx ... x end"


@given(st.text(), st.integers(20, 200))
def test_clip_keeps_within_its_limit(text, limit):
    """No text becomes longer than its limit."""
    assert len(clip(text, limit)) <= limit


def test_details_are_distinct_and_say_something():
    """Blank lines and repetitions are no details."""
    assert details(["a", "", "  ", "b", "a "]) == ("a", "b")


def test_details_count_what_is_left_out():
    """The last line says how many more there were."""
    found = details((f"line {number}" for number in range(20)), 8)
    assert found == ("line 0", "line 1", "line 2", "line 3", "line 4", "line 5", "line 6", "... 13 more lines")


def test_as_many_details_as_fit():
    """Exactly as many lines as there is room for need no mark."""
    assert details(map(str, range(8)), 8) == ("0", "1", "2", "3", "4", "5", "6", "7")
    assert len(details(map(str, range(MAX_DETAILS)))) == MAX_DETAILS


@given(st.lists(st.text()))
def test_details_are_bounded(lines):
    """Number and length of details are bounded."""
    found = details(lines)
    assert len(found) <= MAX_DETAILS
    assert all(0 < len(line) <= MAX_DETAIL for line in found)


def test_details_of_endless_lines():
    """Not more than a bounded number of lines is looked at."""
    assert details(str(number) for number in iter(int, 1)) == ("0",)
