"""Calls that a framework tells of in separate hooks."""

from __future__ import annotations

import pytest

import otel_errcompact as errcompact
from otel_errcompact.boundary.hooked import Hooked, HookedCalls
from otel_errcompact.engine.ledger import Ledger


@pytest.fixture
def run(ledger: Ledger) -> errcompact.Run:
    run = errcompact.run("r", ledger=ledger)
    run.port.open()
    return run


@pytest.fixture
def call(run: errcompact.Run) -> Hooked:
    return Hooked(run, "price", '{"item": "coffee"}', "call-1")


def raised() -> Exception:
    try:
        return KeyError({}["coffee"])
    except KeyError as error:
        return error


def test_an_end_after_a_failure_is_no_success(run: errcompact.Run, call: Hooked) -> None:
    """The failure stays a failure, although the framework made a result of its text."""
    calls = HookedCalls()
    calls.started(call)
    text = calls.failed(call, raised())
    calls.ended(call, text)
    assert text.startswith("[KeyError] at raised (")
    assert [(known.count, known.streak) for known in run.report().classes] == [(1, 1)]


def test_an_end_without_one_is_a_success_or_what_the_framework_says(run: errcompact.Run, call: Hooked) -> None:
    """A success ends the streak; a result that the framework calls an error is one."""
    calls = HookedCalls()
    calls.failed(call, raised())
    calls.ended(call, "")
    calls.ended(call, "3")
    assert run.report().classes[0].streak == 0
    calls.ended(call, "", error="timed out after 5 seconds")
    assert run.report().occurrences == 2


def test_control_flow_is_passed_on_as_its_own_words(call: Hooked, run: errcompact.Run) -> None:
    """It is neither failure nor success."""

    class ApprovalRequired(Exception):
        pass

    assert HookedCalls().failed(call, ApprovalRequired("may I?")) == "may I?"
    assert run.report().occurrences == 0


def test_calls_that_have_started_and_not_ended_are_open(call: Hooked) -> None:
    """Which tells that an agent that ends now is the tool of another."""
    calls = HookedCalls()
    calls.started(call)
    assert (calls.is_any_open("r"), calls.is_any_open("other")) == (True, False)
    calls.ended(call, "3")
    assert not calls.is_any_open("r")


@pytest.mark.parametrize("reported", [True, False], ids=["the framework turns it into a text", "it leaves the call"])
async def test_a_guarded_call_returns_the_digest_of_its_failure(
    run: errcompact.Run, call: Hooked, reported: bool
) -> None:
    """Whether the framework has caught the exception or not, it is counted once, in our own boundary."""
    calls = HookedCalls()

    async def execute() -> str:
        if reported:
            return calls.failed(call, raised())
        raise raised()

    text = await calls.guarded(call, execute)
    calls.ended(call, text)
    assert text.startswith("[KeyError] at raised (")
    assert run.report().occurrences == 1


async def test_a_guarded_call_returns_its_result_or_why_it_was_refused(run: errcompact.Run, call: Hooked) -> None:
    """The call that has failed twice is not executed a third time."""
    calls, executed = HookedCalls(), []

    async def execute() -> int:
        executed.append(len(executed))
        if len(executed) > 1:
            raise KeyError("coffee")
        return 3

    assert await calls.guarded(call, execute) == 3
    for _ in range(2):
        await calls.guarded(call, execute)
    assert (await calls.guarded(call, execute)).startswith("NOT EXECUTED")
    assert len(executed) == 3


async def test_where_the_library_only_observes_the_framework_s_own_text_stays(ledger: Ledger) -> None:
    """What the framework has made of a failure is returned as it is, or raised; each is counted."""
    run = errcompact.run("r", ledger=ledger, mode="observe")
    run.port.open()
    calls = HookedCalls()

    async def told() -> str:
        calls.failed(Hooked(run, "price", "{}", "1"), raised())
        return "An error occurred."

    async def raises() -> str:
        raise raised()

    assert await calls.guarded(Hooked(run, "price", "{}", "1"), told) == "An error occurred."
    with pytest.raises(KeyError, match="coffee"):
        await calls.guarded(Hooked(run, "price", "{}", "2"), raises)
    calls.ended(Hooked(run, "price", "{}", "2"), "")
    assert run.report().occurrences == 2


async def test_control_flow_that_became_a_result_is_raised_again(run: errcompact.Run, call: Hooked) -> None:
    """It steers the program, and is no failure."""
    calls = HookedCalls()

    class ModelRetry(Exception):
        """Asks for another try."""

    async def told() -> str:
        calls.failed(call, ModelRetry())
        return ""

    with pytest.raises(ModelRetry):
        await calls.guarded(call, told)
    assert run.report().occurrences == 0
