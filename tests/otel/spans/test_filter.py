"""The processor passes over nothing that it would have counted, and gives up what was never ended."""

from __future__ import annotations

import gc
import itertools
import os
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import IdGenerator, TracerProvider
from opentelemetry.trace import NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags

from otel_errcompact.otel import sdk
from otel_errcompact.otel.data import LoggedFailure, Recorded
from otel_errcompact.otel.spans import boundaries
from otel_errcompact.otel.spans.boundaries import LeftBoundary
from otel_errcompact.otel.spans.context import with_run
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "db"}


class Numbered(IdGenerator):
    """Ids in order, the same in every provider."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def generate_span_id(self) -> int:
        return next(self._numbers)

    def generate_trace_id(self) -> int:
        return next(self._numbers)


# Steps of a program: what starts where, what ends how, what is never ended.
NAMES = ["GET", "db", "execute_tool db", "chat m", "invoke_agent x", "tools/call t"]
SCOPES = ["app", "openinference.instrumentation.langchain", "opentelemetry.instrumentation.agno", "otel_errcompact"]
which = st.integers(0, 3)
starts = st.tuples(
    st.just("start"),
    st.sampled_from(["GET", *NAMES]),
    st.sampled_from(["app", "app", *SCOPES]),
    st.one_of(st.sampled_from(["current", "root", "remote"]), which),
    st.one_of(st.none(), which),
    st.booleans(),
)
ends = st.tuples(st.just("end"), which, st.sampled_from(["", "", "raise", "record", "status"]))
drops = st.tuples(st.just("drop"), which)
# Lists shrink well and are mostly short: a program is several of them.
blocks = st.lists(st.one_of(starts, starts, starts, ends, ends, drops), min_size=4, max_size=12)
programs = st.lists(blocks, min_size=1, max_size=6).map(lambda found: [step for block in found for step in block])


def play(rig, program) -> list[int]:
    """Take the steps of a program, and return how many runs its spans have ended, and the ids of the spans."""
    opened: dict[int, Span] = {}
    contexts: list[SpanContext] = []

    def around(number: int) -> otel_context.Context:
        known = contexts[-1 - number % len(contexts)]
        live = next((span for span in opened.values() if span.get_span_context() is known), NonRecordingSpan(known))
        return trace.set_span_in_context(live, otel_context.Context())

    for name in ("GET", "db"):
        rig.tracer().start_span(name).end()
    for number, step in enumerate(program):
        if step[0] == "start":
            _, name, scope, parent, current, in_run = step
            context = {"current": None, "root": otel_context.Context()}.get(parent)
            if parent == "remote" or (isinstance(parent, int) and not contexts):
                remote = SpanContext(5, 6, is_remote=True, trace_flags=TraceFlags(1))
                context = trace.set_span_in_context(NonRecordingSpan(remote), otel_context.Context())
            elif isinstance(parent, int):
                context = around(parent)
            here = around(current) if current is not None and contexts else otel_context.Context()
            token = otel_context.attach(with_run("open", here) if in_run else here)
            word = name.split(" ")[0]
            plain = name in {"GET", "db"}
            attributes = {} if plain else {"gen_ai.operation.name": word, "mcp.method.name": word}
            span = rig.tracer(scope).start_span(name, context, attributes=attributes)
            otel_context.detach(token)
            opened[number] = span
            contexts.append(span.get_span_context())
            del span
        elif opened and step[0] == "end":
            finish(opened.pop(list(opened)[step[1] % len(opened)]), step[2], ValueError(f"boom {number % 3}"))
        elif opened:
            opened.pop(list(opened)[step[1] % len(opened)])
    for span in opened.values():
        span.end()
    ended = len(rig.told.ended)
    rig.provider.shutdown()
    return [ended, *(context.span_id for context in contexts)]


def finish(span: Span, how: str, error: ValueError) -> None:
    """End a span, with a failure or without."""
    if how == "record":
        span.record_exception(error)
    if how == "status":
        span.set_attribute("error.type", "timeout")
        span.set_status(Status(StatusCode.ERROR, "3 s"))
    with suppress(ValueError), trace.use_span(span, end_on_exit=True) if how == "raise" else nullcontext():
        if how == "raise":
            raise error
        span.end()
    error.__traceback__ = None  # it holds the frames, and so the spans, of all callers


def outcome(rig, played: list[int]) -> list[object]:
    """Return everything that has come of a program."""
    told = rig.told
    ended, *span_ids = played
    return [
        ended,
        [(one.run_id, one.raw.tool, one.raw.type, one.raw.message, one.outcome, one.count) for one in told.observed],
        [(run_id, raw.tool, raw.message) for run_id, raw in told.handled],
        told.resolved,
        [(report.run_id, report.result) for report in told.ended],
        rig.processor.duplicates,
        dict(rig.ledger.guard.failures),
        [rig.processor.class_of(span_id) for span_id in span_ids],
    ]


def numbered_rig(make_rig):
    return make_rig(TracerProvider(shutdown_on_exit=False, resource=Resource({}), id_generator=Numbered()))


@given(programs)
def test_passes_over_nothing_that_counts(make_rig, program):
    """The same comes of every program as where each span is looked at in full."""
    rig, model = numbered_rig(make_rig), numbered_rig(make_rig)
    for name in ("start", "end"):
        setattr(model.processor, f"on_{name}", getattr(model.processor, f"_{name}"))
    gc.disable()  # what is dropped is dropped at once in both, or not at all
    try:
        assert outcome(rig, play(rig, program)) == outcome(model, play(model, program))
    finally:
        gc.enable()


class TestElsewhere:
    def test_open_call(self, rig, tracer, monkeypatch):
        """A healthy span of a known name is passed over while a call of another trace is open, or was never ended."""
        tracer.start_span("GET").end()
        kept = [tracer.start_span("execute_tool db", otel_context.Context(), attributes=TOOL) for _ in range(3)]
        looked_at = []
        for name in ("_start", "_end", "_start_plain", "_end_healthy"):
            monkeypatch.setattr(rig.processor, name, lambda *given: looked_at.append(given))
        with tracer.start_as_current_span("GET"):
            tracer.start_span("GET").end()
        tracer.start_span("GET", otel_context.Context()).end()
        assert (len(kept), looked_at) == (3, [])

    def test_inside_by_the_current_span(self, rig, tracer):
        """A span is inside a call that is current where it starts, whatever parent an instrumentation has chosen."""
        tracer.start_span("GET").end()
        with trace.use_span(tracer.start_span("execute_tool db", attributes=TOOL), end_on_exit=True):
            inner = tracer.start_span("GET", otel_context.Context())
            inner.set_status(StatusCode.ERROR, "boom")
            inner.end()
            assert rig.told.observed == []
        assert rig.told.handled_messages == ["boom"]

    def test_agent_inside(self, rig, tracer):
        """A plain span of an agent inside a call is the agent's, and not the call's."""
        tracer.start_span("GET").end()
        agent = {"gen_ai.operation.name": "invoke_agent"}
        with (
            tracer.start_as_current_span("execute_tool db", attributes=TOOL),
            tracer.start_as_current_span("invoke_agent x", attributes=agent),
            tracer.start_as_current_span("GET"),
        ):
            assert len(rig.processor._open_spans) == 2

    def test_items_of_a_span_context(self, make_rig, monkeypatch):
        """Where the items of a span context are not known, each span is looked at while anything is open."""
        monkeypatch.setattr(sdk, "_HAS_KNOWN_ITEMS", False)
        rig = make_rig()
        with rig.tracer().start_as_current_span("execute_tool db", attributes=TOOL):
            rig.tracer().start_span("GET").end()
            assert len(rig.processor._open_spans) == 1
        assert not rig.processor._open_spans


def fail_inside(tracer: Tracer, call: Span, message: str = "refused") -> None:
    """A span inside a call that fails."""
    inner = tracer.start_span("GET", trace.set_span_in_context(call))
    finish(inner, "raise", ValueError(message))


def leak(tracer: Tracer, **attributes: str) -> None:
    """A call that is never ended, with a failure inside."""
    call = tracer.start_span("execute_tool db", attributes={**TOOL, **attributes})
    fail_inside(tracer, call)


class TestDropped:
    def test_given_up(self, rig, tracer):
        """A call whose span is dropped without an end is forgotten and counted, at the next span."""
        tracer.start_span("GET").end()
        tracer.start_span("execute_tool db", attributes=TOOL)
        assert len(rig.processor._open_spans) == 1
        tracer.start_span("GET").end()
        assert not rig.processor._open_spans
        assert rig.ledger.guard.failures == {"boundary_dropped": 1}

    def test_not_kept_alive(self, rig, tracer):
        """The processor keeps no open span alive."""
        call = weakref.ref(tracer.start_span("execute_tool db", attributes=TOOL))
        gc.collect()
        assert call() is None

    def test_failure_inside(self, rig, tracer):
        """What failed inside counts in the run of the call: nothing that is known has handled it."""
        leak(tracer, **{"gen_ai.conversation.id": "c"})
        assert rig.told.observed == []
        tracer.start_span("GET").end()
        (observation,) = rig.told.observed
        assert (observation.run_id, observation.raw.message) == ("c", "refused")

    def test_settled_inside_another_run(self, rig, tracer):
        """What failed inside is no failure of the run whose span happens to start next."""
        leak(tracer)
        token = otel_context.attach(with_run("open"))
        tracer.start_span("execute_tool db", attributes=TOOL).end()
        otel_context.detach(token)
        (observation,) = rig.told.observed
        assert observation.raw.message == "refused"
        assert observation.run_id != "open"

    def test_no_span_starts_inside(self, rig, tracer):
        """A plain span that starts under a call that was dropped is inside no call."""
        tracer.start_span("GET").end()
        call = tracer.start_span("execute_tool db", attributes=TOOL)
        around = trace.set_span_in_context(NonRecordingSpan(call.get_span_context()), otel_context.Context())
        del call
        inner = tracer.start_span("GET", around)
        assert not rig.processor._open_spans
        inner.end()

    def test_inside_another_call(self, rig, tracer):
        """The call around it, which has an end, decides about what failed inside."""
        with tracer.start_as_current_span("execute_tool agent", attributes=TOOL):
            leak(tracer)
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["refused"]

    def test_log_record(self, rig, tracer):
        """The next log record that reports a failure settles it too."""
        leak(tracer)
        place = rig.processor.tracker.boundaries.left[0].read()
        recorded = Recorded("KeyError", "a", "KeyError: a", traced=False)
        rig.processor.tracker.record(LoggedFailure(place, recorded, None, named=False, severe=True, in_call=False))
        assert rig.told.causes == ["refused", "a"]

    def test_shutdown(self, rig, tracer):
        """So does the shutdown."""
        leak(tracer)
        rig.provider.shutdown()
        assert rig.told.causes == ["refused"]
        assert rig.ledger.guard.failures == {"boundary_dropped": 1}

    def test_ended(self, rig, tracer):
        """A call that has ended is not given up when its span goes."""
        tracer.start_span("execute_tool db", attributes=TOOL).end()
        tracer.start_span("GET").end()
        assert rig.ledger.guard.failures == {}

    def test_own_fault(self, rig, tracer, monkeypatch):
        """A fault of ours in one of several calls given up loses none of the others."""
        monkeypatch.setattr(Guard, "strict", False)
        leak(tracer)
        leak(tracer)
        observe = rig.ledger.observe
        faults = iter([RuntimeError("our own fault")])

        def broken(run_id, raw):
            for fault in faults:
                raise fault
            return observe(run_id, raw)

        monkeypatch.setattr(rig.ledger, "observe", broken)
        tracer.start_span("GET").end()
        assert len(rig.told.observed) == 1
        assert rig.ledger.guard.failures == {"boundary_dropped": 2, "settle_left": 1}

    def test_threads(self, rig, tracer):
        """Calls that many threads leak are given up once each."""

        def work(_: int) -> None:
            for _ in range(20):
                leak(tracer)
                tracer.start_span("GET").end()

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        tracer.start_span("GET").end()
        assert rig.ledger.guard.failures == {"boundary_dropped": 160}
        assert len(rig.told.observed) == 160

    @pytest.mark.programs
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_fork(self, rig, tracer):
        """A child process gives up none of its parent's calls."""
        leak(tracer)
        child = os.fork()
        if child == 0:
            tracer.start_span("GET").end()
            os._exit(len(rig.processor._left) + len(rig.told.observed) + rig.ledger.guard.failures.total())
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(rig.processor._left) == 1


class TestEvicted:
    def test_failure_inside(self, make_rig, monkeypatch):
        """What failed inside a call that was forgotten to bound memory was handled, and is not lost."""
        monkeypatch.setattr(boundaries, "MAX_OPEN_SPANS", 2)
        rig = make_rig()
        tracer = rig.tracer()
        call = tracer.start_span("execute_tool db", attributes=TOOL)
        fail_inside(tracer, call)
        kept = [tracer.start_span("execute_tool db", otel_context.Context(), attributes=TOOL) for _ in range(3)]
        assert rig.told.handled_messages == ["refused"]
        call.end()
        assert (len(kept), rig.told.observed) == (3, [])
        assert rig.ledger.guard.failures == {"open_span_evicted": 2}

    def test_another_sdk(self, make_rig, monkeypatch):
        """So it is where the span is another SDK's, which is not watched and of which nothing is known."""
        monkeypatch.setattr(boundaries, "MAX_OPEN_SPANS", 2)
        rig = make_rig()
        for number in (1, 2):
            start_foreign(rig, number)
            fail_inside(rig.tracer(), NonRecordingSpan(foreign(number)), f"boom {number}")
        assert rig.told.handled_messages == ["boom 1"]

    def test_plain_span(self, make_rig, monkeypatch):
        """Of a plain span inside a call nothing is lost."""
        monkeypatch.setattr(boundaries, "MAX_OPEN_SPANS", 2)
        rig = make_rig()
        tracer = rig.tracer()
        with tracer.start_as_current_span("execute_tool db", attributes=TOOL):
            rig.processor._open_spans.move_to_end(next(iter(rig.processor._open_spans)))
            kept = [tracer.start_span("GET") for _ in range(2)]
        assert (len(kept), rig.ledger.guard.failures["open_span_evicted"]) == (2, 1)

    def test_race(self, rig, tracer):
        """What another thread has evicted or taken meanwhile is no fault."""
        held = rig.processor.tracker.boundaries
        leak(tracer)
        held._evict_oldest()
        assert (held.take_left().evicted, held.take_left()) == (True, None)
        held._evict_oldest()
        assert held.take_left() is None
        held.left.append(LeftBoundary(boundaries.Boundary(1, "r", None), None, evicted=True))
        assert held.take_left() is not None


def foreign(number: int) -> SpanContext:
    return SpanContext(7, number, is_remote=False, trace_flags=TraceFlags(1))


def start_foreign(rig, number: int) -> None:
    """A tool call that starts in another SDK."""
    span = SimpleNamespace(
        name="execute_tool db",
        parent=None,
        attributes=TOOL,
        instrumentation_scope=None,
        get_span_context=lambda: foreign(number),
    )
    rig.processor.on_start(span, None)
