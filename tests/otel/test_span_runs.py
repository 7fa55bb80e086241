"""Which run a span's failure belongs to, and when a run that nobody opened ends."""

from __future__ import annotations

from threading import Thread

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags, format_trace_id

from otel_errcompact.otel.context import current_run_id, with_run

TOOL = {"gen_ai.operation.name": "execute_tool"}
REMOTE = SpanContext(5, 6, is_remote=True, trace_flags=TraceFlags(1))


def fail(tracer: trace.Tracer, name: str = "work", **attributes: str) -> None:
    """One span that fails."""
    with pytest.raises(ValueError, match="boom"), tracer.start_as_current_span(name, attributes=attributes):
        raise ValueError("boom")


class TestWhichRun:
    def test_conversation(self, rig, tracer):
        """A span's own conversation names the run."""
        token = otel_context.attach(with_run("open"))
        fail(tracer, **{"gen_ai.conversation.id": "conversation"})
        otel_context.detach(token)
        assert [observation.run_id for observation in rig.told.observed] == ["conversation"]

    def test_open_run(self, rig, tracer):
        """Else the run that is open in the current context does."""
        token = otel_context.attach(with_run("open"))
        fail(tracer)
        otel_context.detach(token)
        assert [observation.run_id for observation in rig.told.observed] == ["open"]

    def test_run_of_the_parent_context(self, rig, tracer):
        """A boundary belongs to the run that was open where it started, wherever it ends; so does what it holds."""
        span = tracer.start_span("execute_tool db", context=with_run("open"), attributes=TOOL)
        inner = tracer.start_span("execute_tool db", context=trace.set_span_in_context(span), attributes=TOOL)
        inner.end()
        span.set_status(StatusCode.ERROR)
        worker = Thread(target=span.end)
        worker.start()
        worker.join()
        assert [observation.run_id for observation in rig.told.observed] == ["open"]

    def test_trace(self, rig, tracer):
        """Else the trace does."""
        with tracer.start_as_current_span("agent") as span:
            fail(tracer)
        assert [observation.run_id for observation in rig.told.observed] == [format_trace_id(span.context.trace_id)]

    def test_handled(self, rig, tracer):
        """What was handled belongs to its run in the same way."""
        token = otel_context.attach(with_run("open"))
        with tracer.start_as_current_span("work") as span:
            span.record_exception(ValueError("boom"))
        otel_context.detach(token)
        assert [run_id for run_id, _ in rig.told.handled] == ["open"]

    def test_no_run(self):
        """Where no run is open there is no id."""
        assert current_run_id() == ""


class TestEndOfTraceRuns:
    def test_root_span(self, rig, tracer):
        """A run that is named by its trace ends with the trace's root span."""
        with tracer.start_as_current_span("agent"):
            fail(tracer)
            assert rig.told.ended == []
        assert [report.result for report in rig.told.ended] == ["failed"]
        assert rig.ledger.store.run_ids() == ()

    def test_remote_parent(self, rig, tracer):
        """Where the trace comes from another process it ends with the root span in this one."""
        with tracer.start_as_current_span("server", context=trace.set_span_in_context(NonRecordingSpan(REMOTE))):
            fail(tracer)
        assert [report.run_id for report in rig.told.ended] == [format_trace_id(5)]

    def test_remote_parent_in_this_process(self, rig, tracer):
        """A server's span whose client is in this process too, an MCP tool's, is not the end."""
        with tracer.start_as_current_span("agent"):
            fail(tracer)
            with tracer.start_as_current_span("tools/call x", attributes={"mcp.method.name": "tools/call"}) as client:
                own = client.get_span_context()
                remote = SpanContext(own.trace_id, own.span_id, is_remote=True, trace_flags=own.trace_flags)
                tracer.start_span("server", context=trace.set_span_in_context(NonRecordingSpan(remote))).end()
            assert rig.told.ended == []

    def test_other_traces(self, rig, tracer):
        """The root span of another trace ends nothing."""
        with tracer.start_as_current_span("agent"):
            fail(tracer)
            tracer.start_span("other", context=otel_context.Context()).end()
            assert rig.told.ended == []

    def test_named_run(self, rig, tracer):
        """A run that has a name of its own does not end with a trace."""
        fail(tracer, **{"session.id": "s"})
        assert rig.told.ended == []

    def test_attended_run(self, rig, tracer):
        """Nor does one that somebody has opened under the trace's name: they will end it."""
        with tracer.start_as_current_span("agent") as span:
            rig.ledger.open(format_trace_id(span.context.trace_id))
            fail(tracer)
        assert rig.told.ended == []

    def test_forgotten_run(self, rig, tracer):
        """Nor does one that the ledger has forgotten meanwhile."""
        with tracer.start_as_current_span("agent") as span:
            fail(tracer)
            rig.ledger.store.discard(format_trace_id(span.context.trace_id))
        assert rig.told.ended == []

    def test_our_own_boundary(self, rig):
        """A run named by its trace ends in the same way where one of our own boundaries has counted for it."""
        tracer = rig.tracer("otel_errcompact")
        with rig.tracer().start_as_current_span("agent") as span:
            run_id = format_trace_id(span.context.trace_id)
            rig.ledger.observe(run_id, raw_error())
            inner = tracer.start_span("execute_tool db", attributes={**TOOL, "gen_ai.conversation.id": run_id})
            inner.set_status(Status(StatusCode.ERROR, "boom"))
            inner.end()
        assert [report.run_id for report in rig.told.ended] == [run_id]

    def test_shutdown(self, rig, tracer):
        """Runs that are still open at the shutdown end there, so that they are counted."""
        tracer.start_span("agent")
        with trace.use_span(tracer.start_span("agent")):
            fail(tracer)
        rig.provider.shutdown()
        rig.processor.shutdown()
        assert [report.result for report in rig.told.ended] == ["failed"]


class TestEscalation:
    def test_nobody_opened_the_run(self, rig, tracer):
        """A run known from its spans alone escalates too, and nobody answers."""
        with tracer.start_as_current_span("agent") as span:
            for _ in range(3):
                fail(tracer)
            verdict = rig.ledger.verdict(format_trace_id(span.context.trace_id))
        assert verdict.standing == "unhandled"


def raw_error():
    from otel_errcompact.errors import RawError

    return RawError(text="boom", tool="db")


def test_two_providers_share_nothing(make_rig):
    """Two tracer providers with a ledger each count apart."""
    one, two = make_rig(), make_rig(TracerProvider(shutdown_on_exit=False))
    fail(one.tracer())
    assert (len(one.told.observed), len(two.told.observed)) == (1, 0)
