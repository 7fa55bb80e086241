"""Calls that a framework reports in hooks apart from one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry.trace import StatusCode

import otel_errcompact as errcompact
from otel_errcompact.boundary.pending_calls import PendingCall, PendingCalls
from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from otel_errcompact.engine.ledger import Ledger


@pytest.fixture
def runs(ledger: Ledger, tracer_provider: TracerProvider) -> RunRegistry:
    return RunRegistry(ledger=ledger, tracer_provider=tracer_provider, on_escalation=lambda _: errcompact.Pause("wait"))


@pytest.fixture
def calls(runs: RunRegistry) -> PendingCalls:
    return PendingCalls(runs)


def announce(calls: PendingCalls, call_id: str, *, run_id: str = "r", **arguments: object) -> PendingCall:
    return calls.announce(run_id, call_id, "mcp__shop__refund", arguments, span_name="refund", agent="shop")


async def test_an_outcome_is_told_once(runs: RunRegistry, calls: PendingCalls) -> None:
    """Whoever tells it second is told nothing, and nothing is counted."""
    call = announce(calls, "1", order=41)
    assert announce(calls, "1", order=41) is call
    assert str(await call.conclude("no such order: 41", None)).startswith("no such order: 41 #")
    assert await call.conclude("no such order: 41", None) == ""
    assert runs.report("r").occurrences == 1


def test_a_tool_that_is_only_told_its_arguments_finds_its_call(calls: PendingCalls) -> None:
    """By the arguments; by the name alone where they were changed on the way; never one that was told already."""
    first, second = announce(calls, "1", order=41), announce(calls, "2", order=42)
    assert calls.find_by_arguments("refund", {"order": 42}) is second
    second.begin()
    assert calls.find_by_arguments("refund", {"order": 42}) is first
    assert calls.find_by_arguments("other", {"order": 42}) is None
    calls.forget("r")
    assert calls.find_by_arguments("refund", {"order": 41}) is None


def test_spans_of_a_call_that_will_be_told_are_not_counted(
    runs: RunRegistry, calls: PendingCalls, ledger: Ledger, tracer_provider: TracerProvider
) -> None:
    """Neither while it is under way, although they do not name the call, nor are others held back afterwards."""
    tracer_provider.add_span_processor(ErrorCompactionSpanProcessor(ledger))
    tracer = tracer_provider.get_tracer("mcp")
    attributes = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "refund", "gen_ai.conversation.id": "other"}

    def fail() -> None:
        with tracer.start_as_current_span("tools/call refund", attributes=attributes) as span:
            span.set_status(StatusCode.ERROR, "no such order: 41")

    for call_id in ("1", "2"):
        announce(calls, call_id, order=41)
    fail()
    calls.forget("r", "1")
    fail()
    assert ledger.report("other").occurrences == 0
    calls.forget("r", "2")
    calls.forget("r", "2")
    fail()
    assert ledger.report("other").occurrences == 1


def test_a_call_that_is_never_heard_of_again_holds_back_one_span(
    calls: PendingCalls, ledger: Ledger, tracer_provider: TracerProvider
) -> None:
    """A client may leave in the middle of a call, and the program have other tools of that name."""
    tracer_provider.add_span_processor(ErrorCompactionSpanProcessor(ledger))
    attributes = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "refund", "gen_ai.conversation.id": "other"}
    announce(calls, "1", order=41)
    for _ in range(4):
        with tracer_provider.get_tracer("mcp").start_as_current_span(
            "tools/call refund", attributes=attributes
        ) as span:
            span.set_status(StatusCode.ERROR, "no such order: 41")
    assert ledger.report("other").occurrences == 3


async def test_a_call_is_refused_once_it_has_failed_too_often_and_asked_about_while_the_run_waits(
    runs: RunRegistry, calls: PendingCalls
) -> None:
    """Its execution is what lets the run go on: a human must have allowed it."""
    run = runs.of("r", agent="shop")
    for call_id in ("1", "2"):
        run.begin_turn()
        assert announce(calls, call_id, order=41).refuse() == ""
        await announce(calls, call_id, order=41).conclude("no such order: 41", None)
    for call_id in ("3", "4"):
        run.begin_turn()
        refused = announce(calls, call_id, order=41)
        assert refused.refuse().startswith("NOT EXECUTED")
        assert (refused.is_counted, refused.is_asked) == (True, False)
    assert isinstance(run.gate(), errcompact.RunPaused)
    asked = announce(calls, "5", order=42)
    assert (asked.refuse(), asked.is_asked) == ("wait", True)
    with asked.execute() as call:
        call.result = "refunded"
    assert run.verdict.standing == "carry_on"


async def test_the_calls_before_the_first_turn_are_one_turn(runs: RunRegistry, calls: PendingCalls) -> None:
    """Also where the framework makes one after the other: the model has asked for them together."""
    for call_id in ("1", "2", "3"):
        await announce(calls, call_id, order=int(call_id)).conclude("no such order", None)
    assert [found.streak for found in runs.report("r").classes] == [1]


def test_a_client_s_span_does_not_tell_of_a_refusal_as_a_failure(
    runs: RunRegistry, ledger: Ledger, tracer_provider: TracerProvider
) -> None:
    """Server and client may be one program: the call was refused inside, and nothing has failed."""
    tracer_provider.add_span_processor(ErrorCompactionSpanProcessor(ledger))
    tracer = tracer_provider.get_tracer("mcp")
    run = runs.of("server")
    for _ in range(2):
        run.port.record_call("refund", arguments={"order": 41}, error="no such order: 41")

    attributes = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "refund", "gen_ai.conversation.id": "client"}
    with tracer.start_as_current_span("tools/call refund", attributes=attributes) as span:
        with tracer.start_as_current_span("tools/call", attributes={"mcp.method.name": "tools/call"}):
            assert run.port.refuse("refund", arguments={"order": 41}).startswith("NOT EXECUTED")
        span.set_status(StatusCode.ERROR, "tool_error")
    assert ledger.report("client").occurrences == 0


@pytest.fixture
def run(ledger: Ledger) -> errcompact.Run:
    run = errcompact.run("r", ledger=ledger)
    run.port.open()
    return run


@pytest.fixture
def call(calls: PendingCalls, run: errcompact.Run) -> PendingCall:
    return find(calls, run)


def find(calls: PendingCalls, run: errcompact.Run, call_id: str = "call-1") -> PendingCall:
    return calls.find(run, call_id, "price", '{"item": "coffee"}')


def raised() -> Exception:
    try:
        return KeyError({}["coffee"])
    except KeyError as error:
        return error


def test_an_end_after_a_failure_is_no_success(run: errcompact.Run, calls: PendingCalls, call: PendingCall) -> None:
    """The failure stays a failure, although the framework made a result of its text."""
    call.start()
    text = call.fail(raised())
    calls.end(call, text)
    assert text.startswith("[KeyError] at raised (")
    assert [(known.count, known.streak) for known in run.report().classes] == [(1, 1)]


def test_an_end_without_one_is_a_success_or_what_the_framework_says(
    run: errcompact.Run, calls: PendingCalls, call: PendingCall
) -> None:
    """A success ends the streak; a result that the framework calls an error is one."""
    call.fail(raised())
    calls.end(call, "")
    calls.end(find(calls, run), "3")
    assert run.report().classes[0].streak == 0
    calls.end(find(calls, run), "", error="timed out after 5 seconds")
    assert run.report().occurrences == 2


def test_control_flow_is_passed_on_as_its_own_words(call: PendingCall, run: errcompact.Run) -> None:
    """It is neither failure nor success."""

    class ApprovalRequired(Exception):
        pass

    assert call.fail(ApprovalRequired("may I?")) == "may I?"
    assert run.report().occurrences == 0


def test_calls_that_have_started_and_not_ended_are_open(calls: PendingCalls, call: PendingCall) -> None:
    """Which tells that an agent that ends now is the tool of another."""
    call.start()
    assert (calls.is_any_open("r"), calls.is_any_open("other")) == (True, False)
    calls.end(call, "3")
    assert not calls.is_any_open("r")


@pytest.mark.parametrize("reported", [True, False], ids=["the framework turns it into a text", "it leaves the call"])
async def test_a_guarded_call_returns_the_digest_of_its_failure(
    run: errcompact.Run, calls: PendingCalls, call: PendingCall, reported: bool
) -> None:
    """Whether the framework has caught the exception or not, it is counted once, in our own boundary."""

    async def execute() -> str:
        if reported:
            return call.fail(raised())
        raise raised()

    text = await call.guard(execute)
    calls.end(call, text)
    assert text.startswith("[KeyError] at raised (")
    assert run.report().occurrences == 1


async def test_a_guarded_call_returns_its_result_or_why_it_was_refused(run: errcompact.Run, call: PendingCall) -> None:
    """The call that has failed twice is not executed a third time."""
    executed: list[int] = []

    async def execute() -> int:
        executed.append(len(executed))
        if len(executed) > 1:
            raise KeyError("coffee")
        return 3

    assert await call.guard(execute) == 3
    for _ in range(2):
        await call.guard(execute)
    assert (await call.guard(execute)).startswith("NOT EXECUTED")
    assert len(executed) == 3


async def test_where_the_library_only_observes_the_framework_s_own_text_stays(
    ledger: Ledger, calls: PendingCalls
) -> None:
    """What the framework has made of a failure is returned as it is, or raised; each is counted."""
    run = errcompact.run("r", ledger=ledger, mode="observe")
    run.port.open()

    async def told() -> str:
        find(calls, run, "1").fail(raised())
        return "An error occurred."

    async def raises() -> str:
        raise raised()

    assert await find(calls, run, "1").guard(told) == "An error occurred."
    with pytest.raises(KeyError, match="coffee"):
        await find(calls, run, "2").guard(raises)
    calls.end(find(calls, run, "2"), "")
    assert run.report().occurrences == 2


async def test_control_flow_that_became_a_result_is_raised_again(run: errcompact.Run, call: PendingCall) -> None:
    """It steers the program, and is no failure."""

    class ModelRetry(Exception):
        """Asks for another try."""

    async def told() -> str:
        call.fail(ModelRetry())
        return ""

    with pytest.raises(ModelRetry):
        await call.guard(told)
    assert run.report().occurrences == 0
