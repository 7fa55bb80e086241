"""The pattern's criteria, and how sure they are."""

from __future__ import annotations

import pytest

from otel_errcompact_lab.analysis.counts import Counts
from otel_errcompact_lab.analysis.intervals import Interval
from otel_errcompact_lab.analysis.recommendation import advice_for, recommend_for_run, recommend_for_runs


@pytest.mark.parametrize(
    ("errors", "advice"),
    [
        (0.0, "leave"),
        (0.049, "leave"),
        (0.05, "between"),
        (0.10, "between"),
        (0.101, "use"),
        (0.25, "use"),
        (0.251, "must"),
        (1.0, "must"),
    ],
)
def test_the_criteria_are_those_of_the_pattern(errors: float, advice: str) -> None:
    """Under 5 % leave it, over 10 % use it, over 25 % must; between 5 and 10 % it depends."""
    assert advice_for(errors) == advice


def counts(errors: int, *, silent: int = 0, context: int = 1000, calls: int = 100) -> Counts:
    return Counts(calls=calls, error_tokens=errors, silent_tokens=silent, context_tokens=context)


def test_a_recommendation_far_from_every_limit_is_sure() -> None:
    """Nothing speaks against it."""
    found = recommend_for_run(counts(20))
    assert (found.advice, found.share, found.confidence, found.reasons) == ("leave", 0.02, "high", ())


@pytest.mark.parametrize(
    ("given", "reasons"),
    [
        pytest.param(counts(160, silent=120), ("4.0% without failures that are only stated",), id="guessed"),
        pytest.param(counts(98), ("close to a limit, and tokens are estimated",), id="estimated"),
        pytest.param(counts(20, calls=4), ("only 4 results",), id="short"),
    ],
)
def test_each_doubt_lowers_the_confidence(given: Counts, reasons: tuple[str, ...]) -> None:
    """And is told."""
    found = recommend_for_run(given)
    assert (found.confidence, found.reasons) == ("medium", reasons)


def test_two_doubts_make_it_low() -> None:
    """Few runs, and runs that differ."""
    found = recommend_for_runs(counts(80), 3, Interval(0.01, 0.15))
    assert (found.advice, found.confidence) == ("between", "low")
    assert found.reasons == ("only 3 runs", "95 % interval 1.0% to 15.0%")
    assert recommend_for_runs(counts(20), 1, None).reasons == ("only 1 run",)


def test_many_runs_that_agree_make_it_sure() -> None:
    """The interval lies on one side of every limit."""
    found = recommend_for_runs(counts(20), 500, Interval(0.015, 0.025))
    assert found.to_json() == {
        "advice": "leave",
        "share": 0.02,
        "interval": [0.015, 0.025],
        "confidence": "high",
        "reasons": [],
    }


def test_runs_without_tool_results_are_not_judged() -> None:
    """The reason names how many runs were read."""
    found = recommend_for_runs(counts(0, calls=0), 3, None)
    assert (found.advice, found.reasons) == ("unknown", ("no tool results in 3 runs: nothing to judge",))
