"""A recorded run as spans: the run's, and one for each call."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode, set_span_in_context

from otel_errcompact.detector.results import classify_result
from otel_errcompact.digest import one_line
from otel_errcompact.otel import semconv
from otel_errcompact_lab.replay.results import PlayedCall

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

    from otel_errcompact.detector.results import ResultVerdict
    from otel_errcompact_lab.replay.results import OnCall
    from otel_errcompact_lab.replay.tally import Tally
    from otel_errcompact_lab.transcripts import RecordedCall, RecordedRun


def play_run(run: RecordedRun, tally: Tally, tracer: Tracer, on_call: OnCall | None = None) -> None:
    """Make the spans of a run, in the order of its results."""
    tally.result_tokens += run.result_tokens
    tally.context_tokens += run.context_tokens
    attributes = _without_empty(
        {
            semconv.GEN_AI_OPERATION_NAME: semconv.SPAN_RUN,
            semconv.GEN_AI_AGENT_NAME: run.agent,
            semconv.GEN_AI_CONVERSATION_ID: tally.run_id,
        }
    )
    start_ns = min((call.start_ns for call in run.calls), default=None)
    end_ns = max((call.end_ns for call in run.calls), default=None)
    name = f"{semconv.SPAN_RUN} {run.agent}".rstrip()
    span = tracer.start_span(name, Context(), attributes=attributes, start_time=start_ns)
    inside = set_span_in_context(span, Context())
    numbered = zip(run.turns(), run.calls, strict=True)
    for _, pairs in itertools.groupby(numbered, key=operator.itemgetter(0)):
        turn = [call for _, call in pairs]
        started = [_start_call(call, tally, tracer, inside, run.agent) for call in turn]
        for call, (call_span, verdict) in zip(turn, started, strict=True):
            if on_call is not None:
                on_call(_describe_call(call, tally.run_id, call_span, verdict))
            _end_call(call, tally, call_span, verdict)
    span.end(end_ns)


def _start_call(
    call: RecordedCall, tally: Tally, tracer: Tracer, context: Context, agent: str
) -> tuple[Span, ResultVerdict]:
    verdict = classify_result(
        call.result, tool=call.tool, arguments=call.arguments, flagged=call.flagged, exit_code=call.exit_code
    )
    name = f"{semconv.SPAN_TOOL} {call.tool}".rstrip()
    attributes = _call_attributes(call, verdict, tally.run_id, agent)
    return tracer.start_span(name, context, attributes=attributes, start_time=call.start_ns), verdict


def _describe_call(call: RecordedCall, run_id: str, span: Span, verdict: ResultVerdict) -> PlayedCall:
    return PlayedCall(
        run_id=run_id,
        tool=call.tool,
        arguments=call.arguments,
        outcome=verdict.outcome,
        reason=verdict.reason if verdict.outcome == "ignored" else "",
        line=call.line,
        time_ns=call.end_ns,
        span_id=span.get_span_context().span_id,
    )


def _end_call(call: RecordedCall, tally: Tally, span: Span, verdict: ResultVerdict) -> None:
    tally.tool_calls += 1
    tally.ignored += verdict.outcome == "ignored"
    tally.stated += bool(verdict.stated)
    if verdict.outcome == "failure":
        _mark_failed(call, span)
    span.end(call.end_ns)


def _mark_failed(call: RecordedCall, span: Span) -> None:
    # An empty result is shown by the exit status alone, which the span has.
    if not call.result.strip() and call.exit_code is not None:
        span.set_status(Status(StatusCode.ERROR))
        return
    # The message alone: a result is no stack trace, and the record knows no type.
    span.add_event(semconv.EXCEPTION_EVENT, {semconv.EXCEPTION_MESSAGE: call.result}, call.end_ns)
    span.set_status(Status(StatusCode.ERROR, one_line(call.result)))


def _call_attributes(call: RecordedCall, verdict: ResultVerdict, run_id: str, agent: str) -> dict[str, str | int]:
    attributes = _without_empty(
        {
            # A call that was declined or found nothing has neither failed nor succeeded. Without the name of the
            # operation its span is no boundary, and so ends no streak.
            semconv.GEN_AI_OPERATION_NAME: semconv.SPAN_TOOL if verdict.outcome != "ignored" else "",
            semconv.GEN_AI_TOOL_NAME: call.tool,
            semconv.GEN_AI_TOOL_CALL_ID: call.call_id,
            semconv.GEN_AI_TOOL_CALL_ARGUMENTS: call.arguments,
            semconv.GEN_AI_AGENT_NAME: agent,
            semconv.GEN_AI_CONVERSATION_ID: run_id,
            semconv.STATED_BY: verdict.stated,
        }
    )
    return attributes if call.exit_code is None else {**attributes, semconv.PROCESS_EXIT_CODE: call.exit_code}


def _without_empty(attributes: dict[str, str]) -> dict[str, str | int]:
    return {name: value for name, value in attributes.items() if value}
