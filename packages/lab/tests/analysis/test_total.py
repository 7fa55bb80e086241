"""All runs together."""

from __future__ import annotations

import pytest

from otel_errcompact.config import Options
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact_lab.analysis import Analyzer, Total
from otel_errcompact_lab.analysis import total as total_module
from packages.lab.tests.analysis.records import REFUSED, Step, failing, healthy, run

OPTIONS = Options(thresholds=Thresholds(same=2, consecutive=3, total=4))


def total_of(*runs) -> Total:
    total, analyzer = Total(OPTIONS.thresholds), Analyzer(OPTIONS)
    for one in runs:
        total.add(analyzer.analyze(one))
    return total


def test_sums_and_shares_of_all_runs() -> None:
    """Shares are those of the sums, so that large runs weigh more than small ones."""
    silent = Step(f"Error: {REFUSED}", flagged=False)
    figures = total_of(run(failing(), healthy()), run(healthy(), succeeded=True), run(silent)).to_json()
    assert (figures["runs"], figures["runs_with_failures"], figures["runs_with_outcome"]) == (3, 2, 1)
    assert (figures["calls"], figures["failures"], figures["silent"]) == (4, 2, 1)
    assert (figures["error_tokens"], figures["result_tokens"]) == (9 + 11, 9 + 2 + 2 + 11)
    assert figures["error_share_of_results"] == round(20 / 24, 6)
    assert figures["silent_signs"] == [{"sign": "an error statement", "failures": 1}]
    assert figures["streaks"] == {"0": 1, "1": 2}
    assert figures["runs_by_advice"] == {"must": 2, "use": 0, "between": 0, "leave": 1, "unknown": 0}


def test_what_thresholds_would_have_stopped_together_is_what_the_first_does() -> None:
    """A run is not stopped twice."""
    loop = run(*[failing()] * 5)
    stopped = total_of(loop, loop, run(failing())).to_json()["stopped"]
    assert stopped["rejected"]["runs"] == 0
    assert stopped["loop"]["runs"] == 2
    assert {rule: stopped[rule] for rule in ("same", "consecutive", "total", "any")} == {
        "same": {"runs": 2, "calls_after": 6, "context_tokens_after": 60},
        "consecutive": {"runs": 2, "calls_after": 4, "context_tokens_after": 40},
        "total": {"runs": 2, "calls_after": 2, "context_tokens_after": 20},
        "any": {"runs": 2, "calls_after": 6, "context_tokens_after": 60},
    }


def test_red_tests_are_counted_by_the_runs_that_met_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by their failures; and names beyond the first ones are left out, so that memory does not grow."""
    pay, ship = (f"FAILED tests/test_shop.py::test_{name} - assert 1 == 2\n" for name in ("pay", "ship"))
    both, one = (Step(f"{text}{count} failed in 0.12s", exit_code=1) for text, count in ((pay + ship, 2), (pay, 1)))
    assert total_of(run(both, one), run(one)).to_json()["members"] == {"test_pay": 2, "test_ship": 1}
    monkeypatch.setattr(total_module, "MAX_MEMBERS", 1)
    assert list(total_of(run(one), run(both)).members) == ["test_pay"]


def test_runs_without_tool_results_get_no_verdict() -> None:
    """However many there are: that nothing is known of errors is not to say that there are none."""
    for runs in ((), (run(),) * 50):
        total = total_of(*runs)
        assert total.to_json()["verdict"] == {
            "advice": "unknown",
            "share": 0.0,
            "interval": None,
            "confidence": "low",
            "reasons": [f"no tool results in {len(runs)} runs: nothing to judge"],
        }
        assert total.runs_by_advice["unknown"] == len(runs)


def test_a_stop_for_loops_saves_what_came_after_it() -> None:
    """The sixth identical failure with nothing succeeding between, as long as nothing else is set."""
    figures = total_of(run(*[failing()] * 9), run(*[failing()] * 5, healthy(), failing())).to_json()
    assert figures["loop_halt"] == {
        "limit": 6,
        "runs": 1,
        "calls_after": 3,
        "context_tokens_after": 30,
    }
