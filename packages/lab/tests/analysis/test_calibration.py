"""What each value of each threshold would have stopped, of good runs and of bad ones."""

from __future__ import annotations

import pytest

from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact_lab.analysis import Analyzer, Calibration, calibration
from packages.lab.tests.analysis.records import failing, healthy, run


def calibrated(*runs, thresholds: Thresholds | None = None) -> Calibration:
    found, analyzer = Calibration(thresholds or Thresholds()), Analyzer()
    for one in runs:
        found.add(analyzer.analyze(one))
    return found


def good(failures: int, **about):
    """A run that fails so often in a row, recovers and succeeds."""
    return run(*[failing()] * failures, healthy(), succeeded=True, **about)


def bad(failures: int, **about):
    """A run that fails so often in a row and never succeeds."""
    return run(*[failing()] * failures, succeeded=False, **about)


@pytest.fixture(scope="module")
def found() -> Calibration:
    """Three good runs with none, one and three failures, two bad ones with two and five."""
    return calibrated(good(0), good(1), good(3), bad(2), bad(5))


def test_every_value_tells_what_it_stops(found: Calibration) -> None:
    """Up to the first that stops nothing."""
    rows = [(row.limit, row.good.stopped.runs, row.bad.stopped.runs) for row in found.rows("same")]
    assert rows == [(1, 2, 2), (2, 1, 2), (3, 1, 1), (4, 0, 1), (5, 0, 1), (6, 0, 0)]


def test_shares_come_with_intervals(found: Calibration) -> None:
    """Few runs are not to be trusted."""
    row = found.row("same", 2).to_json()
    assert row["good"] == {
        "stopped": 1,
        "of": 3,
        "share": 0.333333,
        "interval": [0.061492, 0.79234],
        # One failure and the success, each with one token asked.
        "calls_after": 2,
        "context_tokens_after": 10 + 3,
    }


def test_a_value_never_reached_stops_nothing(found: Calibration) -> None:
    """And says so of how many runs."""
    row = found.row("total", 30)
    assert (row.good.stopped.runs, row.good.of, row.bad.stopped.runs, row.bad.of) == (0, 3, 0, 2)


def test_all_together_are_those_that_are_set() -> None:
    """A run is stopped by the first that it reaches."""
    together = calibrated(good(3), bad(5), thresholds=Thresholds(same=4, consecutive=5, total=2)).together()
    assert (together.rule, together.limit) == ("any", None)
    assert (together.good.stopped.runs, together.good.stopped.after.calls) == (1, 2)
    assert (together.bad.stopped.runs, together.bad.stopped.after.calls) == (1, 3)


@pytest.mark.parametrize(("tolerance", "lowest"), [(0.0, 4), (0.3, 4), (0.34, 2), (0.7, 1), (1.0, 1)])
def test_the_lowest_value_that_spares_good_runs(found: Calibration, tolerance: float, lowest: int) -> None:
    """For a stated share of them."""
    assert found.lowest("same", tolerance) == lowest


def test_few_good_runs_spare_nothing_surely(found: Calibration) -> None:
    """Of three runs, no stop may still be many of a hundred."""
    assert found.lowest("same", 0.05, surely=True) is None
    assert found.lowest("same", 0.57, surely=True) == 4


def test_without_good_runs_there_is_no_lowest_value() -> None:
    """Whatever is stopped, it was bad."""
    assert calibrated(bad(3)).lowest("same", 0.05) is None
    assert Calibration(Thresholds()).lowest("same", 1.0) is None


def test_runs_that_do_not_tell_how_they_ended_are_counted_apart() -> None:
    """They are neither good nor bad."""
    found = calibrated(run(failing()), good(1))
    assert (found.without_outcome, found.good, found.bad) == (1, 1, 0)


def test_agents_beyond_many_are_compared_with_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with their names."""
    monkeypatch.setattr(calibration, "MAX_AGENTS", 1)
    runs = [good(2, agent="first"), good(2, agent="careful"), bad(2, agent="stubborn")]
    assert calibrated(*runs).row("same", 2).control.expected == pytest.approx(1 + 2 * 1 / 2)


def test_it_is_told_as_data(found: Calibration) -> None:
    """Rows of all thresholds, the three together, and the lowest values."""
    figures = found.to_json(0.34)
    assert (figures["tolerance"], figures["good"], figures["bad"], figures["without_outcome"]) == (0.34, 3, 2, 0)
    rows = figures["rows"]
    assert [(row["threshold"], row["limit"]) for row in rows[:2] + rows[-1:]] == [
        ("same", 1),
        ("same", 2),
        ("any", None),
    ]
    assert figures["lowest"] == {
        "rejected": {"observed": 1, "with_95_percent": None},
        **{name: {"observed": 2, "with_95_percent": None} for name in ("same", "loop", "consecutive", "total")},
    }


def test_the_control_is_what_runs_of_the_same_age_would_have_held() -> None:
    """Of the runs still going at the call of the stop, the share of good ones; each stopped run counts with its own."""
    control = calibrated(good(0), good(1), good(3), bad(2), bad(5)).row("same", 2).control
    # Stopped at the second call: one good run and two bad ones. Then two good runs and two bad ones were going.
    assert (control.stopped, control.observed, control.expected) == (3, 1, 1.5)
    assert control.ratio == pytest.approx(2 / 3)
    assert control.interval is not None
    assert control.interval.high == pytest.approx(5.5716 / 1.5, abs=1e-3)


def test_agents_are_compared_with_their_own_runs() -> None:
    """An agent that always succeeds makes another one's failures no surprise."""
    careful = [good(2, agent="careful")] * 20
    stubborn = [bad(2, agent="stubborn")] * 20
    assert calibrated(*careful, *stubborn).row("same", 2).control.expected == pytest.approx(20)
    mixed = [good(2, agent="one")] * 20 + [bad(2, agent="one")] * 20
    assert calibrated(*mixed).row("same", 2).control.ratio == pytest.approx(1)


@pytest.mark.parametrize(
    ("stopped", "observed", "expected", "power"),
    [
        pytest.param(9, 0, 50.0, "few", id="few stops"),
        pytest.param(40, 0, 3.6, "few", id="few good runs expected"),
        pytest.param(40, 0, 3.7, "bad", id="none where four were expected"),
        pytest.param(40, 8, 10.0, "none", id="as many as expected"),
        pytest.param(40, 20, 10.0, "good", id="more than expected"),
        pytest.param(40, 0, 0.0, "few", id="no good runs at all"),
    ],
)
def test_a_rule_without_power_is_said_to_have_none(stopped: int, observed: int, expected: float, power: str) -> None:
    """Where the interval includes 1 it knows a run's age, and where stops are few nobody knows."""
    assert calibration.Control(stopped, observed, expected).power == power
