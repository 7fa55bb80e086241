"""What one run says of its errors."""

from __future__ import annotations

import pytest

from otel_errcompact.config import Options
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact_lab.analysis import Analyzer
from packages.lab.tests.analysis.records import DECLINED, MISSING, REFUSED, Step, failing, healthy, run


def test_tonnage_is_the_tokens_of_failed_results() -> None:
    """Beside those of all results, and of everything that was said, asked and answered."""
    found = Analyzer().analyze(run(failing(), healthy(), failing(MISSING), answer="Three orders"))
    counts = found.counts
    assert (counts.calls, counts.failures, counts.ignored, counts.classes) == (3, 2, 0, 2)
    assert (counts.error_tokens, counts.result_tokens, counts.context_tokens) == (9 + 8, 9 + 2 + 8, 10 + 3 + 19 + 3)
    figures = counts.to_json()
    assert (figures["error_share_of_results"], figures["error_share_of_context"]) == (0.894737, 0.485714)


def test_a_failure_that_the_record_calls_a_success_is_silent() -> None:
    """By its flag or its exit status; what states it is told."""
    pytest_output = "collected 3 items\nFAILED tests/test_shop.py::test_sum - assert 2 == 3\n1 failed, 2 passed in 0.1s"
    traceback = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'x'"
    silent = run(
        Step(pytest_output, False, tool="bash", arguments='{"command": "pytest | tail -3"}'),
        Step(traceback, tool="bash", arguments='{"command": "python a.py; true"}', exit_code=0),
        failing(),
    )
    found = Analyzer().analyze(silent)
    assert (found.counts.failures, found.counts.silent, found.counts.unflagged) == (3, 2, 0)
    assert found.counts.silent_tokens == (len(pytest_output) + 3) // 4 + (len(traceback) + 3) // 4
    assert found.to_json()["silent_signs"] == [
        {"sign": "pytest", "failures": 1},
        {"sign": "python", "failures": 1},
    ]


def test_a_failure_of_which_the_record_says_nothing_is_unflagged() -> None:
    """A format without flags does not call anything a success."""
    found = Analyzer().analyze(run(Step(f"Error: {REFUSED}"), failing()))
    assert (found.counts.failures, found.counts.silent, found.counts.unflagged) == (2, 0, 1)
    assert found.counts.unflagged_tokens == found.counts.stated_tokens == 11
    figures = found.to_json()
    assert (figures["silent_signs"], figures["unflagged_signs"]) == (
        [],
        [{"sign": "an error statement", "failures": 1}],
    )


def test_what_is_declined_counts_for_nothing() -> None:
    """It neither fails nor ends a streak or a row."""
    found = Analyzer().analyze(run(failing(), Step(DECLINED, flagged=True), failing(), failing()))
    assert (found.counts.failures, found.counts.ignored) == (3, 1)
    assert (found.longest_streak, found.longest_row) == (3, 3)
    assert found.counts.error_tokens == 27


def test_a_success_ends_the_row_and_the_streak_of_its_operation() -> None:
    """An agent that lists files between two failures of a query is still looping."""
    found = Analyzer().analyze(run(failing(), healthy("files.list"), failing(), healthy(), failing()))
    assert (found.longest_streak, found.longest_row) == (2, 1)


def test_streaks_are_of_one_class_and_rows_of_any() -> None:
    """Two failures that take turns make a row of four, and two streaks of two."""
    found = Analyzer().analyze(run(failing(), failing(MISSING), failing(), failing(MISSING)))
    assert (found.longest_streak, found.longest_row, found.counts.classes) == (2, 4, 2)
    assert found.counts.class_repeats == 2


def test_an_empty_failure_weighs_nothing_and_counts() -> None:
    """Its exit status is all that there is to digest."""
    found = Analyzer().analyze(run(Step("", exit_code=2, tool="bash", arguments='{"command": "make"}'), healthy()))
    assert (found.counts.failures, found.counts.error_tokens) == (1, 0)
    assert found.recommendation.advice == "leave"


def test_thresholds_stop_at_the_call_that_reaches_them() -> None:
    """What came after it would not have come; a turn's other calls run to their end."""
    looping = run(healthy(), failing(), failing(), failing(), healthy(), answer="No rows.")
    found = Analyzer(Options(thresholds=Thresholds(same=2, consecutive=3, total=9))).analyze(looping)
    same, consecutive = found.stops
    assert (same.threshold, same.limit, same.call, same.error) == (
        "same",
        2,
        3,
        "[ConnectionError] no such host found",
    )
    # After it: two calls with one token asked each, nine and two answered, and two tokens said.
    assert (same.after.calls, same.after.context_tokens) == (2, 1 + 9 + 1 + 2 + 2)
    assert (consecutive.threshold, consecutive.call, consecutive.after.calls) == ("consecutive", 4, 1)
    assert found.stop == same


def test_a_run_goes_on_after_a_threshold() -> None:
    """Nobody lifts it, and nothing is counted anew."""
    found = Analyzer(Options(thresholds=Thresholds(same=1, consecutive=1, total=1))).analyze(run(*[failing()] * 5))
    assert {name: len(reached) for name, reached in found.reached.items()} == {
        "same": 5,
        "rejected": 0,
        "loop": 5,
        "consecutive": 5,
        "total": 5,
    }
    assert {stop.threshold: stop.call for stop in found.stops} == {"same": 1, "loop": 4, "consecutive": 1, "total": 1}


def test_digests_save_what_repeats() -> None:
    """In the context, once."""
    error = "\n".join(f"  File 'app/module_{n}.py', line {n}, in function_{n}" for n in range(40))
    text = f"Traceback (most recent call last):\n{error}\nKeyError: 'orders'"
    found = Analyzer().analyze(run(*[failing(text)] * 3, answer="I give up."))
    counts = found.counts
    assert counts.saved_tokens == counts.error_tokens - counts.digest_tokens
    assert counts.saved_tokens > 0.9 * counts.error_tokens


def test_refusals_are_played_over_the_record() -> None:
    """Of identical retries with nothing succeeding between: which are refused, and how those ended in the record."""
    fails, other = failing(MISSING), failing("KeyError: 'orders'")
    recorded = run(fails, fails, fails, other, healthy("files.list"), fails, healthy())
    assert Analyzer().analyze(recorded).refusals.to_json() == {
        "retries": 4,
        "refused": 2,
        "worked": 0,
        "differed": 1,
        "failed_again": 1,
        "missed": 1,
    }


def test_a_refused_call_that_worked_in_the_record_is_a_mistake() -> None:
    """The figure that must be zero."""
    found = Analyzer().analyze(run(failing(MISSING), failing(MISSING), healthy()))
    assert (found.refusals.refused, found.refusals.worked, found.refusals.missed) == (1, 1, 1)


def test_a_transient_failure_may_be_tried_again() -> None:
    """Waiting may help; such retries are counted as let through."""
    found = Analyzer().analyze(run(*[failing("ConnectionError: connection refused")] * 3, healthy()))
    assert (found.refusals.retries, found.refusals.refused, found.refusals.missed) == (3, 0, 2)


def test_calls_of_one_turn_are_not_refused_for_each_other() -> None:
    """All of them were asked for before any had failed."""
    found = Analyzer().analyze(run((failing(MISSING),) * 4))
    assert (found.refusals.retries, found.longest_streak) == (0, 1)


def test_runs_of_one_name_do_not_mix() -> None:
    """Another file may use a name again."""
    analyzer = Analyzer()
    first, second = analyzer.analyze(run(*[failing()] * 2)), analyzer.analyze(run(*[failing()] * 2))
    assert first == second
    assert second.longest_streak == 2


@pytest.mark.parametrize("empty", [pytest.param(run(), id="no-calls"), pytest.param(run(healthy()), id="no-failures")])
def test_a_run_without_failures_is_all_zeros(empty) -> None:
    """Nothing is divided by nothing."""
    figures = Analyzer().analyze(empty).to_json()
    shares = [value for name, value in figures.items() if "share" in name]
    assert shares == [0] * 6
    assert (figures["stops"], figures["silent_signs"], figures["longest_streak"]) == ([], [], 0)


def test_a_run_tells_what_it_is() -> None:
    """As the record has it."""
    figures = Analyzer().analyze(run(failing(), run_id="a1", agent="shop", succeeded=False)).to_json()
    assert {name: figures[name] for name in ("run_id", "agent", "source", "succeeded")} == {
        "run_id": "a1",
        "agent": "shop",
        "source": "runs/shop.jsonl",
        "succeeded": False,
    }


def test_the_error_of_a_stop_is_named() -> None:
    """By its key too, which dashboards and `errcompact key` know."""
    (stop, *_) = Analyzer(Options(thresholds=Thresholds(same=1))).analyze(run(failing(REFUSED))).stops
    figures = stop.to_json()
    assert (figures["error"], len(str(figures["key"]))) == ("[ConnectionError] no such host found", 16)
    assert (figures["calls_after"], figures["context_tokens_after"]) == (0, 0)
