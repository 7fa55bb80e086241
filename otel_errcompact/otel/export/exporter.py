"""Class to trace: exported spans carry the dedup key of their failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class ErrorClassSpanExporter(SpanExporter):
    """
    Exports spans with `errcompact.class` on their exception event.

    So operators get from a class to its traces.

    A span cannot be changed once it has ended, so a copy is exported; spans without a known failure, and those whose
    maker has set the class already, are exported as they are.

    Args:
        inner: Exports the spans.
        class_of: Returns the dedup key of the failure on a span by the span's id: `processor.class_of`.
    """

    def __init__(self, inner: SpanExporter, class_of: Callable[[int], str | None]) -> None:
        self._inner = inner
        self._class_of = class_of

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export the spans."""
        return self._inner.export(tuple(add_class(span, self._class_of) for span in spans))

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Export all that is queued."""
        return self._inner.force_flush(timeout_millis)


def add_class(span: ReadableSpan, class_of: Callable[[int], str | None]) -> ReadableSpan:
    """Return the span, or a copy with its failure's known class."""
    context = span.get_span_context()
    key = class_of(context.span_id) if context is not None else None
    if key is None or semconv.CLASS in (span.attributes or {}):
        return span
    return _ClassifiedSpan(span, key)


class CopiedSpan(ReadableSpan):
    """A span with the numbers of parts that its original has lost."""

    original: Any
    """What has lost them, as it counts them."""

    @property
    def dropped_attributes(self) -> Any:
        """How many attributes were dropped when the span was recorded."""
        return self.original.dropped_attributes

    @property
    def dropped_events(self) -> Any:
        """How many events were dropped when the span was recorded."""
        return self.original.dropped_events

    @property
    def dropped_links(self) -> Any:
        """How many links were dropped when the span was recorded."""
        return self.original.dropped_links


class _ClassifiedSpan(CopiedSpan):
    """Copies a span, with the class on the event of its failure."""

    def __init__(self, span: ReadableSpan, key: str) -> None:
        super().__init__(
            name=span.name,
            context=span.get_span_context(),
            parent=span.parent,
            resource=span.resource,
            attributes={**(span.attributes or {}), semconv.CLASS: key},
            events=_classify_events(span.events, key),
            links=span.links,
            kind=span.kind,
            status=span.status,
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )
        self.original = span


def _classify_events(events: Sequence[Event], key: str) -> tuple[Event, ...]:
    """
    Set the class on the last exception event.

    A span records the failure that ends it last.
    """
    last = max((n for n, event in enumerate(events) if event.name == semconv.EXCEPTION_EVENT), default=-1)
    return tuple(_ClassifiedEvent(event, key) if n == last else event for n, event in enumerate(events))


class _ClassifiedEvent(Event):
    def __init__(self, event: Event, key: str) -> None:
        super().__init__(event.name, {**(event.attributes or {}), semconv.CLASS: key}, event.timestamp)
        self._original = event

    @property
    def dropped_attributes(self) -> int:
        return self._original.dropped_attributes
