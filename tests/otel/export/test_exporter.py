"""Exported spans lead from a class to its traces."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from otel_errcompact.otel.export.exporter import ErrorClassSpanExporter


@pytest.fixture
def exported(rig) -> InMemorySpanExporter:
    inner = InMemorySpanExporter()
    rig.provider.add_span_processor(SimpleSpanProcessor(ErrorClassSpanExporter(inner, rig.processor.class_of)))
    return inner


def test_failed_span(rig, tracer, exported):
    """A copy of a failed span goes on with the class on the span and on the exception event it failed with."""
    with pytest.raises(ValueError, match="boom"), tracer.start_as_current_span("work", attributes={"a": 1}) as span:
        span.add_event("exception", {"exception.type": "E", "exception.message": "earlier"})
        span.add_event("note")
        raise ValueError("boom")
    key = rig.told.observed[0].found.key
    original, copy = rig.exporter.get_finished_spans()[0], exported.get_finished_spans()[0]
    assert copy.attributes == {"a": 1, "errcompact.class": key}
    assert [event.attributes.get("errcompact.class") for event in copy.events] == [None, None, key]
    assert [event.timestamp for event in copy.events] == [event.timestamp for event in original.events]
    assert "errcompact.class" not in original.attributes
    for name in ("name", "context", "parent", "kind", "status", "start_time", "end_time", "links", "resource"):
        assert getattr(copy, name) == getattr(original, name)
    assert copy.instrumentation_scope == original.instrumentation_scope


def test_healthy_span(tracer, exported, rig):
    """A healthy span goes on as it is."""
    tracer.start_span("work").end()
    assert exported.get_finished_spans()[0] is rig.exporter.get_finished_spans()[0]


def test_settled_by_its_maker(rig, exported):
    """A span that carries its class already goes on as it is."""
    details = {"exception.type": "KeyError", "exception.message": "'a'"}
    attributes = {"gen_ai.operation.name": "execute_tool", "errcompact.class": "3f2a"}
    span = rig.tracer("otel_errcompact").start_span("execute_tool db", attributes=attributes)
    span.add_event("exception", {**details, "errcompact.class": "3f2a"})
    span.set_status(StatusCode.ERROR)
    span.end()
    assert exported.get_finished_spans()[0] is rig.exporter.get_finished_spans()[0]


def test_failure_without_event(rig, tracer, exported):
    """A failed span without an event carries the class on the span alone."""
    span = tracer.start_span("work")
    span.set_status(StatusCode.ERROR)
    span.end()
    (copy,) = exported.get_finished_spans()
    assert copy.attributes == {"errcompact.class": rig.told.observed[0].found.key}
    assert copy.events == ()


def test_dropped_counts(make_rig):
    """What the limits have dropped from a span stays counted on its copy."""
    limits = SpanLimits(max_span_attributes=1, max_events=1, max_links=1, max_event_attributes=3)
    rig = make_rig(TracerProvider(span_limits=limits, shutdown_on_exit=False))
    inner = InMemorySpanExporter()
    rig.provider.add_span_processor(SimpleSpanProcessor(ErrorClassSpanExporter(inner, rig.processor.class_of)))
    with (
        pytest.raises(ValueError, match="boom"),
        rig.tracer().start_as_current_span("work", attributes={"a": 1, "b": 2}) as span,
    ):
        span.add_event("note")
        raise ValueError("boom")
    (copy,) = inner.get_finished_spans()
    assert (copy.dropped_attributes, copy.dropped_events, copy.dropped_links) == (1, 1, 0)
    assert copy.events[0].dropped_attributes == 1


class Recording(SpanExporter):
    """An exporter that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def export(self, spans):
        self.asked.append(f"export {len(spans)}")
        return SpanExportResult.FAILURE

    def shutdown(self):
        self.asked.append("shutdown")

    def force_flush(self, timeout_millis=30_000):
        self.asked.append(f"flush {timeout_millis}")
        return False


def test_inner_exporter_decides():
    """Results, flushes and the shutdown are the inner exporter's."""
    inner = Recording()
    exporter = ErrorClassSpanExporter(inner, lambda span_id: None)
    assert exporter.export(()) is SpanExportResult.FAILURE
    assert exporter.force_flush(5) is False
    exporter.shutdown()
    assert inner.asked == ["export 0", "flush 5", "shutdown"]
