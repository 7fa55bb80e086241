"""Calls that a framework announces in one hook and tells the outcome of in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry.trace import StatusCode

import otel_errcompact as errcompact
from otel_errcompact.boundary.announced import AnnouncedCall, AnnouncedCalls
from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from otel_errcompact.engine.ledger import Ledger


@pytest.fixture
def runs(ledger: Ledger, tracer_provider: TracerProvider) -> RunRegistry:
    return RunRegistry(ledger=ledger, tracer_provider=tracer_provider, on_escalation=lambda _: errcompact.Pause("wait"))


@pytest.fixture
def calls(runs: RunRegistry) -> AnnouncedCalls:
    return AnnouncedCalls(runs)


def announce(calls: AnnouncedCalls, call_id: str, *, run_id: str = "r", **arguments: object) -> AnnouncedCall:
    return calls.of(run_id, call_id, "mcp__shop__refund", arguments, spans_say="refund", agent="shop")


def test_an_outcome_is_told_once(runs: RunRegistry, calls: AnnouncedCalls) -> None:
    """Whoever tells it second is told nothing, and nothing is counted."""
    call = announce(calls, "1", order=41)
    assert announce(calls, "1", order=41) is call
    assert call.outcome("no such order: 41", None) == "no such order: 41"
    assert call.outcome("no such order: 41", None) == ""
    assert runs.report("r").occurrences == 1


def test_a_tool_that_is_only_told_its_arguments_finds_its_call(calls: AnnouncedCalls) -> None:
    """By the arguments; by the name alone where they were changed on the way; never one that was told already."""
    first, second = announce(calls, "1", order=41), announce(calls, "2", order=42)
    assert calls.waiting("refund", {"order": 42}) is second
    second.begin()
    assert calls.waiting("refund", {"order": 42}) is first
    assert calls.waiting("other", {"order": 42}) is None
    calls.forget("r")
    assert calls.waiting("refund", {"order": 41}) is None


def test_spans_of_a_call_that_will_be_told_are_not_counted(
    runs: RunRegistry, calls: AnnouncedCalls, ledger: Ledger, tracer_provider: TracerProvider
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
    calls: AnnouncedCalls, ledger: Ledger, tracer_provider: TracerProvider
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


def test_a_call_is_refused_once_it_has_failed_too_often_and_asked_about_while_the_run_waits(
    runs: RunRegistry, calls: AnnouncedCalls
) -> None:
    """Its execution is what lets the run go on: a human must have allowed it."""
    run = runs.of("r", agent="shop")
    for call_id in ("1", "2"):
        run.begin_turn()
        assert announce(calls, call_id, order=41).refusal() == ""
        announce(calls, call_id, order=41).outcome("no such order: 41", None)
    for call_id in ("3", "4"):
        run.begin_turn()
        refused = announce(calls, call_id, order=41)
        assert refused.refusal().startswith("NOT EXECUTED")
        assert (refused.told, refused.asked) == (True, False)
    assert isinstance(run.gate(), errcompact.RunPaused)
    asked = announce(calls, "5", order=42)
    assert (asked.refusal(), asked.asked) == ("wait", True)
    with asked.execute() as call:
        call.result = "refunded"
    assert run.verdict.standing == "carry_on"


def test_the_calls_before_the_first_turn_are_one_turn(runs: RunRegistry, calls: AnnouncedCalls) -> None:
    """Also where the framework makes one after the other: the model has asked for them together."""
    for call_id in ("1", "2", "3"):
        announce(calls, call_id, order=int(call_id)).outcome("no such order", None)
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
