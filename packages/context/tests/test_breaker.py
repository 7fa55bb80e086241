"""The circuit breaker opens after failures in a row, and lets one try again after the cool-down."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from otel_errcompact_context.breaker import CircuitBreaker


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(failures=3, seconds=60, clock=clock)


def test_it_opens_after_failures_in_a_row(breaker: CircuitBreaker) -> None:
    """Of that conversation alone."""
    for _ in range(2):
        breaker.failed("a")
        assert breaker.allows("a")
    breaker.failed("a")
    assert not breaker.allows("a")
    assert breaker.is_open("a")
    assert breaker.allows("b")
    assert not breaker.is_open("b")


def test_a_success_between_counts_from_nothing(breaker: CircuitBreaker) -> None:
    """In a row means in a row."""
    breaker.failed("a")
    breaker.failed("a")
    breaker.succeeded("a")
    breaker.failed("a")
    assert breaker.allows("a")


def test_after_the_cool_down_one_may_try(breaker: CircuitBreaker, clock: Clock) -> None:
    """The others wait for how it ends."""
    for _ in range(3):
        breaker.failed("a")
    clock.now += 59.9
    assert not breaker.allows("a")
    clock.now += 0.1
    assert [breaker.allows("a") for _ in range(3)] == [True, False, False]
    breaker.succeeded("a")
    assert [breaker.allows("a") for _ in range(3)] == [True, True, True]


def test_a_trial_that_fails_opens_it_again(breaker: CircuitBreaker, clock: Clock) -> None:
    """For another cool-down, at once."""
    for _ in range(3):
        breaker.failed("a")
    clock.now += 60
    assert breaker.allows("a")
    breaker.failed("a")
    clock.now += 59
    assert not breaker.allows("a")
    clock.now += 1
    assert breaker.allows("a")


def test_a_trial_that_never_ends_is_followed_by_another(breaker: CircuitBreaker, clock: Clock) -> None:
    """A cancelled task says nothing; the conversation is not locked out for ever."""
    for _ in range(3):
        breaker.failed("a")
    clock.now += 60
    assert breaker.allows("a")
    clock.now += 60
    assert breaker.allows("a")


def test_it_forgets_the_oldest(clock: Clock) -> None:
    """A process with many conversations does not grow."""
    breaker = CircuitBreaker(failures=1, seconds=60, clock=clock, sessions=2)
    for session in "abc":
        breaker.failed(session)
    assert [breaker.is_open(session) for session in "abc"] == [False, True, True]


def test_of_many_threads_one_may_try(breaker: CircuitBreaker, clock: Clock) -> None:
    """Whoever comes first."""
    for _ in range(3):
        breaker.failed("a")
    clock.now += 60
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: breaker.allows("a"), range(200))) == 1


def test_closed_meanwhile_is_closed() -> None:
    """Another thread may have found that it fits, between the look and the step."""

    def clock() -> float:
        breaker.succeeded("a")
        return 0.0

    breaker = CircuitBreaker(failures=1, seconds=60, clock=clock)
    breaker.failed("a")
    assert breaker.is_open("a")
    assert breaker.allows("a")
    assert not breaker.is_open("a")
