from __future__ import annotations

import pytest

from otel_errcompact.history.repeats import MAX_AGENTS, MAX_CALLS, RepeatedCall, RepeatedCalls

SECOND = 1_000_000_000
EXPIRY = 300 * SECOND


def failed(calls: RepeatedCalls, call: str = "c", *, agent: str = "", tick: int, began: int = 0) -> RepeatedCall | None:
    """What is known of a call that failed at this tick, and that was asked for then if `began` is 0."""
    calls.fail(agent, call, began=began or tick, tick=tick, key=f"k{tick}", time_ns=tick * SECOND)
    return calls.find(agent, call)


def test_identical_calls_are_counted_whatever_they_fail_with() -> None:
    """Another class is no success: the count goes on, and the newest class is the one that is named."""
    calls = RepeatedCalls()
    failed(calls, tick=1)
    found = failed(calls, tick=2)
    assert found is not None
    assert (found.attempts.count, found.failed, found.key, found.failed_at_ns) == (2, 2, "k2", 2 * SECOND)


def test_identical_calls_of_one_turn_count_once() -> None:
    """What was asked for before the first failure could be read is no repeat."""
    calls = RepeatedCalls()
    failed(calls, tick=5, began=1)
    found = failed(calls, tick=6, began=1)
    assert found is not None
    assert (found.attempts.count, found.failed) == (1, 1)


def test_a_call_of_unknown_arguments_is_identical_to_none() -> None:
    """Without a fingerprint nothing is remembered."""
    calls = RepeatedCalls()
    assert failed(calls, "", tick=1) is None
    assert not calls


def test_a_success_clears_the_calls_of_its_agent_only() -> None:
    """What one agent has changed says nothing of the calls of another."""
    calls = RepeatedCalls()
    failed(calls, agent="a", tick=1)
    failed(calls, agent="b", tick=2)
    calls.succeed("a")
    calls.succeed("unknown")
    assert calls.find("a", "c") is None
    assert calls.find("b", "c") is not None


def test_all_calls_are_cleared_when_a_human_lets_the_run_go_on() -> None:
    """They may have changed what the calls need."""
    calls = RepeatedCalls()
    failed(calls, tick=1)
    assert calls
    calls.clear()
    assert not calls


def test_the_calls_of_an_agent_are_bounded_and_the_least_recently_failed_goes_first() -> None:
    """A call that fails again counts as new."""
    calls = RepeatedCalls()
    for tick in range(1, MAX_CALLS + 1):
        failed(calls, f"c{tick}", tick=tick)
    failed(calls, "c1", tick=100)
    failed(calls, "another", tick=101)
    assert calls.find("", "c1") is not None
    assert calls.find("", "c2") is None


def test_the_agents_of_a_run_are_bounded() -> None:
    """A run that names a new agent with each call costs no more memory."""
    calls = RepeatedCalls()
    for tick in range(1, MAX_AGENTS + 2):
        failed(calls, agent=f"a{tick}", tick=tick)
    assert calls.find("a1", "c") is None
    assert calls.find("a2", "c") is not None


@pytest.mark.parametrize(
    ("failures", "failed_at_ns", "now_ns", "refused"),
    [
        pytest.param(1, 0, 0, False, id="one failure is no reason"),
        pytest.param(2, 0, 0, True, id="no time is known"),
        pytest.param(2, 0, EXPIRY, True, id="when it failed is not known"),
        pytest.param(2, SECOND, EXPIRY, True, id="within five minutes"),
        pytest.param(2, SECOND, EXPIRY + SECOND, False, id="after five minutes it is a probe"),
    ],
)
def test_a_call_is_refused_for_five_minutes(failures: int, failed_at_ns: int, now_ns: int, *, refused: bool) -> None:
    """From its second permanent failure on, until enough time has passed for the world to have changed."""
    repeated = RepeatedCall(failed_at_ns=failed_at_ns)
    for tick in range(1, failures + 1):
        repeated.failures.fail(tick, tick)
    assert repeated.is_refused(2, 300, now_ns) is refused
