"""How far figures from few runs can be trusted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact_lab.analysis.intervals import Ratio, fisher, wilson


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        pytest.param(0, 10, 0.0, 0.2775, id="none"),
        pytest.param(1, 10, 0.0179, 0.4042, id="one"),
        pytest.param(5, 10, 0.2366, 0.7634, id="half"),
        pytest.param(10, 10, 0.7225, 1.0, id="all"),
        pytest.param(20, 1000, 0.0130, 0.0307, id="many"),
        pytest.param(0, 0, 0.0, 1.0, id="of-nothing"),
    ],
)
def test_wilson_as_published(hits: int, of: int, low: float, high: float) -> None:
    """The values of other calculators, to four places."""
    assert [round(bound, 4) for bound in wilson(hits, of)] == [low, high]


@given(st.integers(1, 10_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_an_interval_holds_its_share(hits_of: tuple[int, int]) -> None:
    """Between zero and one."""
    hits, of = hits_of
    low, high = wilson(hits, of)
    assert 0 <= low <= hits / of <= high <= 1


def ratio_of(*pairs: tuple[int, int]) -> Ratio:
    ratio = Ratio()
    for pair in pairs:
        ratio.add(*pair)
    return ratio


def test_equal_runs_leave_no_doubt() -> None:
    """Nothing varies."""
    interval = ratio_of((1, 10), (2, 20), (3, 30)).interval()
    assert interval is not None
    assert interval.low == pytest.approx(0.1, abs=1e-8)
    assert interval.high == pytest.approx(0.1, abs=1e-8)


def test_unequal_runs_do() -> None:
    """By hand: residues 1 and -1, so a variance of 4, and 1.96 times 2 of 20."""
    assert ratio_of((2, 10), (0, 10)).interval() == pytest.approx((0.0, 0.1 + 1.96 * 2 / 20), abs=1e-3)


@pytest.mark.parametrize("pairs", [[], [(1, 10)], [(0, 0), (0, 0)]], ids=["none", "one", "empty"])
def test_what_cannot_vary_has_no_interval(pairs: list[tuple[int, int]]) -> None:
    """One run says nothing of others."""
    assert ratio_of(*pairs).interval() is None


@pytest.mark.parametrize(
    ("first", "second", "chance"),
    [
        pytest.param((3, 4), (1, 4), 0.485714, id="the-lady-tasting-tea"),
        pytest.param((1, 12), (9, 12), 0.002759, id="few"),
        pytest.param((0, 5), (5, 5), 0.007937, id="none-and-all"),
        pytest.param((0, 10), (0, 20), 1.0, id="none"),
        pytest.param((0, 0), (3, 5), 1.0, id="of-nothing"),
    ],
)
def test_fisher_as_published(first: tuple[int, int], second: tuple[int, int], chance: float) -> None:
    """The values of textbooks, to six places, whichever share comes first."""
    assert [round(fisher(*one, *other), 6) for one, other in ((first, second), (second, first))] == [chance] * 2
