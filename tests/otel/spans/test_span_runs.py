"""Which run a span's failure belongs to, and when a run that nobody opened ends."""

from __future__ import annotations

from collections import Counter
from functools import partial
from threading import Thread

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags, format_trace_id

import otel_errcompact as errcompact
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.history.stores.memory import MemoryLimits
from otel_errcompact.otel.spans import unattended
from otel_errcompact.otel.spans.context import current_run_id, with_run

AGENT = "invoke_agent shop"
TOOL = {"gen_ai.operation.name": "execute_tool"}
REMOTE = SpanContext(5, 6, is_remote=True, trace_flags=TraceFlags(1))


def results(rig) -> Counter[str]:
    return Counter(report.result for report in rig.told.ended)


def call(tracer: trace.Tracer, *, fails: bool = False, context=None, **attributes: str) -> None:
    """One tool call."""
    span = tracer.start_span("execute_tool db", context=context, attributes={**TOOL, **attributes})
    if fails:
        span.set_status(StatusCode.ERROR, "boom")
    span.end()


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
        with tracer.start_as_current_span(AGENT):
            fail(tracer)
            assert rig.told.ended == []
        assert [report.result for report in rig.told.ended] == ["unresolved"]
        assert rig.ledger.store.run_ids() == ()

    def test_remote_parent(self, rig, tracer):
        """Where the trace comes from another process it ends with the root span in this one."""
        remote = trace.set_span_in_context(NonRecordingSpan(REMOTE))
        with tracer.start_as_current_span("server", context=remote), tracer.start_as_current_span(AGENT):
            fail(tracer)
        assert [report.run_id for report in rig.told.ended] == [format_trace_id(5)]

    def test_remote_parent_in_this_process(self, rig, tracer):
        """A server's span whose client is in this process too, an MCP tool's, is not the end."""
        with tracer.start_as_current_span(AGENT):
            fail(tracer)
            with tracer.start_as_current_span("tools/call x", attributes={"mcp.method.name": "tools/call"}) as client:
                own = client.get_span_context()
                remote = SpanContext(own.trace_id, own.span_id, is_remote=True, trace_flags=own.trace_flags)
                tracer.start_span("server", context=trace.set_span_in_context(NonRecordingSpan(remote))).end()
            assert rig.told.ended == []

    def test_other_traces(self, rig, tracer):
        """The root span of another trace ends nothing."""
        with tracer.start_as_current_span(AGENT):
            fail(tracer)
            tracer.start_span("other", context=otel_context.Context()).end()
            assert rig.told.ended == []

    def test_named_run(self, rig, tracer):
        """A run that has a name of its own does not end with a trace."""
        fail(tracer, **{"session.id": "s"})
        assert rig.told.ended == []

    def test_attended_run(self, rig, tracer):
        """Nor does one that somebody has opened under the trace's name: they will end it."""
        with tracer.start_as_current_span(AGENT) as span:
            rig.ledger.open(format_trace_id(span.context.trace_id))
            fail(tracer)
        assert rig.told.ended == []

    def test_forgotten_run(self, rig, tracer):
        """Nor does one that the ledger has forgotten meanwhile."""
        with tracer.start_as_current_span(AGENT) as span:
            fail(tracer)
            rig.ledger.store.discard(format_trace_id(span.context.trace_id))
        assert rig.told.ended == []

    def test_our_own_boundary(self, rig):
        """A run named by its trace ends in the same way where one of our own boundaries has counted for it."""
        tracer = rig.tracer("otel_errcompact")
        with rig.tracer().start_as_current_span(AGENT) as span:
            run_id = format_trace_id(span.context.trace_id)
            rig.ledger.observe(run_id, raw_error())
            inner = tracer.start_span("execute_tool db", attributes={**TOOL, "gen_ai.conversation.id": run_id})
            inner.set_status(Status(StatusCode.ERROR, "boom"))
            inner.end()
        assert [report.run_id for report in rig.told.ended] == [run_id]

    def test_shutdown(self, rig, tracer):
        """Runs that are still open at the shutdown end there, so that they are counted."""
        tracer.start_span(AGENT)
        with trace.use_span(tracer.start_span(AGENT)):
            fail(tracer)
        rig.provider.shutdown()
        rig.processor.shutdown()
        assert [report.result for report in rig.told.ended] == ["unresolved"]


class TestAgentRuns:
    def test_healthy(self, rig, tracer):
        """A trace in which an agent, a tool or a model took part is a run, whatever its result."""
        for name in (AGENT, "execute_tool db", "chat gpt", "tools/call db"):
            operation = {"mcp.method.name": "tools/call"} if "/" in name else {"gen_ai.operation.name": name.split()[0]}
            with tracer.start_as_current_span("POST /ask"), tracer.start_as_current_span(name, attributes=operation):
                tracer.start_span("GET").end()
        assert results(rig) == Counter(clean=4)

    def test_told_late(self, rig):
        """The same for an agent whose span says only at its end what it is."""
        tracer = rig.tracer("openinference.instrumentation.langchain")
        with tracer.start_as_current_span("graph") as span:
            span.set_attribute("openinference.span.kind", "AGENT")
        assert results(rig) == Counter(clean=1)

    def test_plain(self, rig, tracer):
        """A plain trace is no agent run: its failures count, and the ledger forgets it when it ends."""
        with tracer.start_as_current_span("GET /health"):
            fail(tracer)
        assert (len(rig.told.observed), results(rig), rig.ledger.store.run_ids()) == (1, Counter(), ())

    def test_twenty_and_one(self, rig, tracer):
        """Twenty healthy traces and one in which a failure stays: each counts once, as it ended."""
        for number in range(21):
            with tracer.start_as_current_span("POST /ask"), tracer.start_as_current_span(AGENT):
                call(tracer, fails=number == 7)
        assert results(rig) == Counter(clean=20, unresolved=1)

    def test_recovered(self, rig, tracer):
        """What failed and then succeeded is recovered."""
        with tracer.start_as_current_span(AGENT):
            call(tracer, fails=True)
            call(tracer)
        assert results(rig) == Counter(recovered=1)

    def test_handled(self, rig, tracer):
        """What failed inside a tool that succeeded leaves the run clean."""
        with (
            tracer.start_as_current_span(AGENT),
            tracer.start_as_current_span("execute_tool db", attributes=TOOL),
        ):
            fail(tracer)
        assert results(rig) == Counter(clean=1)
        assert [raw.tool for _, raw in rig.told.handled] == ["db"]

    @pytest.mark.parametrize("failed", ["root", "agent"])
    def test_failed(self, rig, tracer, failed):
        """A run failed if its agent, or the root of its trace, ended with status ERROR."""
        with tracer.start_as_current_span("POST /ask") as root, tracer.start_as_current_span(AGENT) as agent:
            call(tracer)
            (root if failed == "root" else agent).set_status(StatusCode.ERROR)
        assert results(rig) == Counter(failed=1)

    def test_second_agent(self, rig, tracer):
        """The agent that ends last decides: one that failed inside another, or before it, was got over."""
        with tracer.start_as_current_span("POST /ask"):
            with tracer.start_as_current_span(AGENT), tracer.start_as_current_span("invoke_agent helper") as helper:
                helper.set_status(StatusCode.ERROR)
            tracer.start_span(AGENT).end()
        assert results(rig) == Counter(unresolved=1)

    def test_server_of_a_tool(self, rig, tracer):
        """A server's span of a tool call is no run: whoever called has it."""
        served = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "db"}
        with tracer.start_as_current_span("tools/call db", kind=SpanKind.SERVER, attributes=served):
            pass
        assert results(rig) == Counter()

    def test_background(self, rig, tracer):
        """What goes on after the root span has ended belongs to the run that was counted."""
        with tracer.start_as_current_span(AGENT) as span:
            pass
        call(tracer, context=trace.set_span_in_context(span))
        rig.provider.shutdown()
        assert results(rig) == Counter(clean=1)

    def test_asked_again(self, rig, tracer):
        """A second request within a trace of another process is a second run."""
        for _ in range(2):
            remote = trace.set_span_in_context(NonRecordingSpan(REMOTE))
            with tracer.start_as_current_span("POST /ask", context=remote), tracer.start_as_current_span(AGENT):
                pass
        assert results(rig) == Counter(clean=2)

    def test_open_run(self, rig, tracer):
        """A run that the program opens counts once, whatever spans are inside and around."""
        with (
            tracer.start_as_current_span("POST /ask"),
            errcompact.run("r", ledger=rig.ledger, tracer_provider=rig.provider) as run,
            tracer.start_as_current_span(AGENT, attributes={"gen_ai.conversation.id": "r"}),
        ):
            call(tracer, **{"gen_ai.conversation.id": "r"})
            with run.tool("db"):
                pass
        rig.provider.shutdown()
        assert [(report.run_id, report.result) for report in rig.told.ended] == [("r", "clean")]

    @pytest.mark.parametrize("nested", [False, True])
    def test_our_own_call_with_what_utf_8_cannot_hold(self, rig, nested):
        """It counts once for each call that fails with it, and no span tells of it a second time."""
        text = "no such file: caf\udce9.txt"
        with errcompact.run("r", ledger=rig.ledger, tracer_provider=rig.provider) as run, run.tool("load") as call:
            if nested:
                with run.tool("open") as inner:
                    inner.fail(text)
            call.fail(f"OSError: {text}")
        assert [observed.raw.text for observed in rig.told.observed] == [text] * nested + [f"OSError: {text}"]
        assert run.report().result == "unresolved"

    def test_our_boundary_without_a_run(self, rig, tracer):
        """A call of ours outside any run belongs to its trace's."""
        with tracer.start_as_current_span("POST /ask"):
            run_id = format_trace_id(trace.get_current_span().get_span_context().trace_id)
            with errcompact.run(run_id, ledger=rig.ledger, tracer_provider=rig.provider).tool("db"):
                pass
        assert results(rig) == Counter(clean=1)

    def test_too_many_traces(self, rig, tracer, monkeypatch):
        """Beyond a bound the oldest trace counts as it is."""
        monkeypatch.setattr(unattended, "MAX_TRACES", 2)
        for _ in range(3):
            root = trace.set_span_in_context(tracer.start_span("POST /ask", context=otel_context.Context()))
            call(tracer, context=root, fails=True)
        assert results(rig) == Counter(unresolved=1)


class TestConversations:
    def test_end(self, rig, tracer):
        """A conversation goes on in further traces, and counts once at the end of the process."""
        for number in range(3):
            for _ in range(2):
                call(tracer, fails=number == 2, **{"gen_ai.conversation.id": f"c-{number}"})
        assert rig.told.ended == []
        rig.provider.shutdown()
        assert results(rig) == Counter(clean=2, unresolved=1)

    def test_plain(self, rig, tracer):
        """A session of plain spans is no agent run."""
        fail(tracer, **{"session.id": "s"})
        rig.provider.shutdown()
        assert (results(rig), rig.ledger.store.run_ids()) == (Counter(), ())

    def test_failed(self, rig, tracer):
        """It failed if its last agent did."""
        for run_id, last in (("a", StatusCode.OK), ("b", StatusCode.ERROR)):
            for status in (StatusCode.ERROR, last):
                span = tracer.start_span(AGENT, attributes={"gen_ai.conversation.id": run_id})
                span.set_status(status)
                span.end()
        rig.provider.shutdown()
        assert [(report.run_id, report.result) for report in rig.told.ended] == [("a", "unresolved"), ("b", "failed")]

    def test_named_at_the_end(self, rig, tracer):
        """Where only the agent's span names the conversation, when it ends, each of its traces is the run."""
        for _ in range(2):
            with tracer.start_as_current_span(AGENT) as span:
                call(tracer)
                span.set_attribute("gen_ai.conversation.id", "c")
        rig.provider.shutdown()
        assert results(rig) == Counter(clean=2)

    def test_too_many(self, rig, tracer, monkeypatch):
        """Beyond a bound the least recently seen counts as it is, once, and may go on."""
        monkeypatch.setattr(unattended, "MAX_CONVERSATIONS", 2)
        for run_id in "abacab":
            call(tracer, fails=run_id == "b", **{"session.id": run_id})
        assert [report.run_id for report in rig.told.ended] == ["b"]
        rig.provider.shutdown()
        assert results(rig) == Counter(unresolved=1, clean=2)

    def test_forgotten_by_the_ledger(self, make_rig):
        """One that the ledger forgets to bound memory counts then, as it was."""
        rig = make_rig(ledger=Ledger(Options(memory=MemoryLimits(runs=2))))
        for run_id in ("plain", *"abc"):
            (fail if run_id == "plain" else partial(call, fails=True))(rig.tracer(), **{"session.id": run_id})
        assert [report.run_id for report in rig.told.ended] == ["a"]
        rig.provider.shutdown()
        assert results(rig) == Counter(unresolved=3)

    def test_owner(self, rig, tracer):
        """One that the program has opened once is the program's, whatever spans come before and after."""
        call(tracer, **{"session.id": "c"})
        with errcompact.run("c", ledger=rig.ledger, tracer_provider=rig.provider):
            pass
        call(tracer, **{"session.id": "c"})
        rig.provider.shutdown()
        assert results(rig) == Counter(clean=1)


class TestEscalation:
    def test_nobody_opened_the_run(self, rig, tracer):
        """A run known from its spans alone escalates too, and nobody answers."""
        with tracer.start_as_current_span("agent") as span:
            for _ in range(3):
                fail(tracer)
            report = rig.ledger.report(format_trace_id(span.context.trace_id))
        assert [answered.action for answered in report.escalations] == ["unhandled"]


def raw_error():
    from otel_errcompact.errors import RawError

    return RawError(text="boom", tool="db")


def test_two_providers_share_nothing(make_rig):
    """Two tracer providers with a ledger each count apart."""
    one, two = make_rig(), make_rig(TracerProvider(shutdown_on_exit=False))
    fail(one.tracer())
    assert (len(one.told.observed), len(two.told.observed)) == (1, 0)
