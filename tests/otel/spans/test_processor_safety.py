"""The application never breaks because of the processor, and nothing is counted twice or lost."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace import ConcurrentMultiSpanProcessor, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import Status, StatusCode

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.otel.spans import boundaries
from otel_errcompact.otel.spans.context import with_run
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "db"}


class Broken(Ledger):
    """A ledger that cannot observe anything."""

    def observe(self, run_id, raw):
        raise RuntimeError("our own fault")


def fail(tracer: Tracer, message: str = "boom", name: str = "work") -> None:
    with pytest.raises(ValueError, match=message), tracer.start_as_current_span(name):
        raise ValueError(message)


class TestGuard:
    def test_own_fault(self, make_rig, monkeypatch):
        """The application gets its own error and not ours, which is counted."""
        monkeypatch.setattr(Guard, "strict", False)
        rig = make_rig(ledger=Broken())
        fail(rig.tracer())
        assert rig.ledger.guard.failures == {"on_end": 1}
        assert [span.name for span in rig.exporter.get_finished_spans()] == ["work"]

    def test_span_without_name(self, rig, tracer, monkeypatch):
        """A name that is no text is our guard's business, not the application's."""
        monkeypatch.setattr(Guard, "strict", False)
        tracer.start_span(["no", "text"]).end()
        assert rig.ledger.guard.failures == {"on_start": 1}

    def test_own_guard(self, rig, monkeypatch):
        """A guard of its own counts for a processor that has one."""
        monkeypatch.setattr(Guard, "strict", False)
        guard = Guard()
        processor = ErrorCompactionSpanProcessor(rig.ledger, guard=guard)
        processor.on_end(SimpleNamespace())
        assert (guard.failures, rig.ledger.guard.failures) == ({"on_end": 1}, {})

    @pytest.mark.parametrize(
        "value", [pytest.param(7, id="number"), pytest.param(True, id="flag"), pytest.param(["a", "b"], id="list")]
    )
    def test_strange_attributes(self, rig, tracer, value):
        """Attributes of another type than the conventions say are read as text."""
        attributes = {"gen_ai.tool.name": value, "error.type": value, "gen_ai.conversation.id": value}
        span = tracer.start_span("execute_tool x", attributes={"gen_ai.operation.name": "execute_tool", **attributes})
        span.set_status(StatusCode.ERROR)
        span.end()
        assert rig.told.tools == [str(tuple(value) if isinstance(value, list) else value)]

    def test_hostile_exception(self, rig, tracer):
        """An exception that cannot be printed does not keep its span's failure from being counted."""

        class Hostile(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no")

        span = tracer.start_span("work")
        try:
            raise Hostile
        except Hostile:
            span.set_attribute("error.type", "Hostile")
            span.set_status(StatusCode.ERROR)
            span.end()
        assert [observation.raw.type for observation in rig.told.observed] == ["Hostile"]


class TestOtherSdks:
    def test_public_attributes_only(self, rig):
        """A span that has only the public attributes is understood too."""
        context = trace.SpanContext(1, 2, is_remote=False)
        span = SimpleNamespace(
            name="work",
            parent=None,
            status=Status(StatusCode.ERROR, "boom"),
            events=(),
            attributes={},
            start_time=1,
            end_time=1,
            instrumentation_scope=None,
            get_span_context=lambda: context,
        )
        rig.processor.on_start(span, None)
        rig.processor.on_end(span)
        assert rig.told.tools == ["work"]

    def test_span_without_context(self, rig):
        """A span without ids is left alone."""
        rig.processor.on_end(ReadableSpan("work", status=Status(StatusCode.ERROR, "boom")))
        assert rig.told.observed == []

    def test_concurrent_processors(self, make_rig):
        """Where processors run in threads of their own the live exception is out of sight; the count is the same."""
        rig = make_rig(TracerProvider(active_span_processor=ConcurrentMultiSpanProcessor(), shutdown_on_exit=False))
        tracer = rig.tracer()
        with (
            pytest.raises(ValueError, match="boom"),
            tracer.start_as_current_span("outer"),
            tracer.start_as_current_span("inner"),
        ):
            raise ValueError("boom")
        rig.provider.shutdown()
        assert rig.told.tools == ["inner"]

    def test_sampled_out(self, make_rig):
        """A span that was sampled out is never seen."""
        rig = make_rig(TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False))
        fail(rig.tracer())
        assert rig.told.observed == []


class TestLifecycle:
    def test_flush(self, rig):
        """There is never anything to flush."""
        assert rig.processor.force_flush() is True
        assert rig.provider.force_flush() is True

    def test_classes_outlive_shutdown(self, rig, tracer):
        """An exporter that is shut down after the processor still learns the classes of the last spans."""
        fail(tracer)
        span_id = rig.told.observed[0].raw.span.span_id
        rig.provider.shutdown()
        assert rig.processor.class_of(span_id) == rig.told.observed[0].found.key

    def test_after_shutdown(self, rig, tracer):
        """After the shutdown spans are ignored, those of boundaries too."""
        span = tracer.start_span("execute_tool db", attributes=TOOL)
        rig.provider.shutdown()
        span.set_status(StatusCode.ERROR)
        span.end()
        tracer.start_span("execute_tool db", attributes=TOOL).end()
        fail(tracer)
        assert rig.told.observed == []

    @pytest.mark.programs
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_fork(self, rig, tracer):
        """A child process starts empty: it holds nothing and ends no run of its parent's."""
        span = tracer.start_span("execute_tool db", attributes=TOOL)
        with trace.use_span(tracer.start_span("agent"), end_on_exit=False):
            fail(tracer)
        child = os.fork()
        if child == 0:
            os._exit(len(rig.processor._open_spans) + len(rig.processor._open_traces))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert rig.processor._open_spans
        span.end()

    def test_very_many_names(self, make_rig, monkeypatch):
        """Names of plain spans do not pile up."""
        monkeypatch.setattr(boundaries, "MAX_PLAIN_NAMES", 4)
        rig = make_rig()
        for number in range(10):
            rig.tracer().start_span(f"GET /orders/{number}").end()
        assert len(rig.processor._plain_names) <= 4


class TestHealthy:
    def test_quiet(self, rig, tracer, monkeypatch):
        """A healthy span of a known name costs two tests: it is looked at no closer."""
        tracer.start_span("GET").end()
        looked_at = []
        monkeypatch.setattr(rig.processor, "_start", lambda *_: looked_at.append("start"))
        monkeypatch.setattr(rig.processor, "_end", lambda *_: looked_at.append("end"))
        tracer.start_span("GET").end()
        assert looked_at == []

    def test_own_call(self, rig, monkeypatch):
        """A healthy call of a run that the library has opened is forgotten without a look at its span."""
        read, end = [], rig.processor._end
        monkeypatch.setattr(rig.processor, "_end", lambda span: (read.append(span), end(span)))
        own = rig.tracer("otel_errcompact")
        token = otel_context.attach(with_run("open"))
        own.start_span("execute_tool db", attributes=TOOL).end()
        assert (read, len(rig.processor._open_spans)) == ([], 0)
        with own.start_as_current_span("execute_tool db", attributes=TOOL):
            own.start_span("execute_tool inner", attributes=TOOL).end()
        otel_context.detach(token)
        assert [span.name for span in read] == ["execute_tool inner"]

    def test_inside_a_boundary(self, rig, tracer):
        """Inside a boundary it is remembered while it is open, and forgotten then."""
        with tracer.start_as_current_span("execute_tool db", attributes=TOOL):
            with tracer.start_as_current_span("GET"):
                assert len(rig.processor._open_spans) == 2
            assert len(rig.processor._open_spans) == 1
        assert len(rig.processor._open_spans) == 0


class TestClassOf:
    def test_all_spans_of_an_occurrence(self, rig, tracer):
        """Every span that has recorded an occurrence leads to its class."""
        with (
            pytest.raises(ValueError, match="boom"),
            tracer.start_as_current_span("agent"),
            tracer.start_as_current_span("execute_tool db", attributes=TOOL),
            tracer.start_as_current_span("session"),
            tracer.start_as_current_span("GET"),
        ):
            raise ValueError("boom")
        spans = rig.exporter.get_finished_spans()
        assert [span.name for span in spans] == ["GET", "session", "execute_tool db", "agent"]
        key = rig.told.observed[0].found.key
        assert [rig.processor.class_of(span.context.span_id) for span in spans] == [key] * 4

    def test_unknown(self, rig):
        """A span that has not failed leads to none."""
        assert rig.processor.class_of(1) is None


# A tree of spans: (name, how it fails, children).
names = st.sampled_from(["GET", "db", "execute_tool a", "execute_tool b", "chat m", "invoke_agent x", "tools/call t"])
failures = st.sampled_from(["", "", "raise", "record", "status", "raise and record"])
trees = st.recursive(
    st.tuples(names, failures, st.just([])),
    lambda inner: st.tuples(names, failures, st.lists(inner, max_size=3)),
    max_leaves=8,
)


def play(tracer: Tracer, tree, number: list[int]) -> int:
    """Make the spans of a tree and return how many failures they have recorded."""
    name, failure, children = tree
    number[0] += 1
    error = ValueError(f"boom {number[0] % 3}")
    attributes = {"gen_ai.operation.name": name.split(" ")[0], "mcp.method.name": name.split(" ")[0]}
    records = 0
    try:
        with tracer.start_as_current_span(name, attributes=attributes) as span:
            for child in children:
                records += play(tracer, child, number)
            if "record" in failure:
                span.record_exception(error)
                records += 1
            if failure == "status":
                span.set_attribute("error.type", "timeout")
                span.set_status(Status(StatusCode.ERROR, "3 s"))
                records += 1
            if "raise" in failure:
                records += 1
                raise error
    except ValueError:
        pass
    return records


@given(st.lists(trees, max_size=4))
def test_nothing_is_lost(make_rig, forest):
    """Every failure a span has recorded is counted, or handled, or recognised as a known occurrence."""
    rig = make_rig()
    records = sum(play(rig.tracer(), tree, [0]) for tree in forest)
    accounted = len(rig.told.observed) + len(rig.told.handled) + rig.processor.duplicates
    assert accounted == records
    assert rig.ledger.guard.failures == {}
    assert not rig.processor._open_spans


def test_threads(rig, tracer):
    """Failures of many threads are counted exactly."""

    def work(number: int) -> None:
        for _ in range(20):
            with (
                pytest.raises(ValueError, match="boom"),
                tracer.start_as_current_span("execute_tool db", attributes=TOOL),
                tracer.start_as_current_span(f"GET {number}"),
            ):
                raise ValueError("boom")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(rig.told.observed) == 160
    assert rig.ledger.guard.failures == {}
