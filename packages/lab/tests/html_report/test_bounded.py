"""Counting along an axis whose ends show only at the end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact_lab.html_report.bounded import MAX_CELLS, Histogram


def test_each_place_has_its_bin() -> None:
    """From the first to the last, of equal width."""
    histogram = Histogram()
    for place in (0, 1, 5, 9, 9):
        histogram.add(place)
    assert histogram.bins(0, 9, 5) == (2, 0, 1, 0, 2)


def test_a_single_place_has_one() -> None:
    """An axis may be one place long."""
    histogram = Histogram()
    histogram.add(7)
    assert histogram.bins(7, 7, 3) == (1, 0, 0)


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1))
def test_nothing_is_lost_however_far_apart(places: list[int]) -> None:
    """Cells grow coarser and never more."""
    histogram = Histogram()
    for place in places:
        histogram.add(place)
    assert sum(histogram.bins(min(places), max(places), 48)) == len(places)
    assert len(histogram._cells) <= MAX_CELLS


def test_many_places_share_cells() -> None:
    """A thousand places far apart, in as many cells as before."""
    histogram = Histogram()
    for place in range(1_000):
        histogram.add(place * 1_000_000_007)
    bins = histogram.bins(0, 999 * 1_000_000_007, 10)
    assert (sum(bins), len(histogram._cells) <= MAX_CELLS) == (1_000, True)
    assert max(bins) - min(bins) < 40
