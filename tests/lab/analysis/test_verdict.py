"""The pattern's criteria, and how sure they are."""

from __future__ import annotations

import pytest

from otel_errcompact.lab.analysis.counts import Counts
from otel_errcompact.lab.analysis.intervals import Interval
from otel_errcompact.lab.analysis.verdict import advice_for, verdict_on_run, verdict_on_runs


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


def test_a_verdict_far_from_every_limit_is_sure() -> None:
    """Nothing speaks against it."""
    verdict = verdict_on_run(counts(20))
    assert (verdict.advice, verdict.share, verdict.confidence, verdict.reasons) == ("leave", 0.02, "high", ())


@pytest.mark.parametrize(
    ("given", "reasons"),
    [
        pytest.param(
            counts(160, silent=120), ("4.0% without failures that no flag reports, which are guessed",), id="guessed"
        ),
        pytest.param(counts(98), ("close to a limit, and tokens are estimated",), id="estimated"),
        pytest.param(counts(20, calls=4), ("only 4 results",), id="short"),
    ],
)
def test_each_doubt_lowers_the_confidence(given: Counts, reasons: tuple[str, ...]) -> None:
    """And is told."""
    verdict = verdict_on_run(given)
    assert (verdict.confidence, verdict.reasons) == ("medium", reasons)


def test_two_doubts_make_it_low() -> None:
    """Few runs, and runs that differ."""
    verdict = verdict_on_runs(counts(80), 3, Interval(0.01, 0.15))
    assert (verdict.advice, verdict.confidence) == ("between", "low")
    assert verdict.reasons == ("only 3 runs", "95 % interval 1.0% to 15.0%")
    assert verdict_on_runs(counts(20), 1, None).reasons == ("only 1 run",)


def test_many_runs_that_agree_make_it_sure() -> None:
    """The interval lies on one side of every limit."""
    verdict = verdict_on_runs(counts(20), 500, Interval(0.015, 0.025))
    assert verdict.to_json() == {
        "advice": "leave",
        "share": 0.02,
        "interval": [0.015, 0.025],
        "confidence": "high",
        "reasons": [],
    }
