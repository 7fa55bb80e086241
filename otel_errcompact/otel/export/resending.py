"""Export through an outage of the collector: keep failed batches, send later."""

from __future__ import annotations

import sys
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from opentelemetry.context import Context
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import TraceFlags

from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.export.exporter import add_class
from otel_errcompact.otel.export.queue import MAX_BYTES, BatchPolicy, ExportQueue
from otel_errcompact.otel.sdk import copy_attributes, peek_attributes
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter


EXPORT_DROPPED: Final = "export_dropped"
"""Spans that were never exported. The raw errors on them are still in the trajectory file."""

LOG_EXPORT_DROPPED: Final = "log_export_dropped"
"""Log records that were never exported."""

MAX_LOG_BYTES: Final = 4 * 1024 * 1024
"""Bytes of log records at most, since few hold raw errors; where all do, they have the bound of spans."""

SPAN_BYTES: Final = 3_000
"""Bytes of a span without its texts."""

EVENT_BYTES: Final = 1_000
"""Bytes of an event or a link without its texts."""

RECORD_BYTES: Final = 3_000
"""Bytes of a log record without its texts."""

T = TypeVar("T")

_SAMPLED: Final = TraceFlags.SAMPLED
_EMPTY_STR: Final = sys.getsizeof("")


class _Resending(Generic[T]):
    """
    What queues.
    """

    queue: ExportQueue[T]
    """The items to send."""

    def shutdown(self) -> None:
        """Send all that is queued, or drop it within seconds."""
        self.queue.shutdown()

    def force_flush(self, timeout_millis: int | None = 30_000) -> bool:
        """Send all that is queued now; return whether it has arrived."""
        return self.queue.flush((30_000 if timeout_millis is None else timeout_millis) / 1_000)


class ResendingSpanProcessor(_Resending["ReadableSpan"], SpanProcessor):
    """
    Queues ended spans, and sends them in order through an outage.

    At most `max_bytes` are in memory; beyond that the oldest spans are dropped, and so are those that a shutdown cannot
    send within seconds: all are counted. The batch under way takes its encoded form in addition.

    Args:
        exporter: Exports the spans.
        guard: Counts dropped spans, as `export_dropped`: `ledger.guard`; one of its own if None.
        finalise: Returns the span to send for a span that has waited for a moment.
        max_bytes: Bytes in memory at most, by estimate.
        batches: When a batch is sent.
    """

    def __init__(
        self,
        exporter: SpanExporter,
        guard: Guard | None = None,
        *,
        finalise: Callable[[ReadableSpan], ReadableSpan] = lambda span: span,
        max_bytes: int = MAX_BYTES,
        batches: BatchPolicy | None = None,
    ) -> None:
        self.guard: Final = guard or Guard()
        """Counts dropped spans."""
        self.span_exporter: Final = exporter
        """Exports the spans; the name is that of the SDK's processors."""
        self.queue = ExportQueue(
            lambda spans: exporter.export(spans) is SpanExportResult.SUCCESS,
            span_bytes,
            finalise=finalise,
            close=exporter.shutdown,
            on_lost=partial(self.guard.record_loss, EXPORT_DROPPED),
            max_bytes=max_bytes,
            batches=batches,
        )
        self._put = self.queue.put

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span."""
        context = span.context
        if context is not None and context.trace_flags & _SAMPLED:
            try:
                self._put(span)
            except Exception as error:  # noqa: BLE001 - the guard's own, for less: every span comes by here
                self.guard.record_failure("export", error)


class ResendingLogExporter(_Resending[Any]):
    """
    Queues log records and sends them in order, through an outage too.

    Its base class has had two names in the SDK; none is needed.

    Args:
        inner: Exports the records.
        guard: Counts dropped records, as `log_export_dropped`.
        max_bytes: Bytes in memory at most, by estimate.
        batches: When a batch is sent.
    """

    def __init__(
        self,
        inner: Any,
        guard: Guard | None = None,
        *,
        max_bytes: int = MAX_LOG_BYTES,
        batches: BatchPolicy | None = None,
    ) -> None:
        self.queue = ExportQueue(
            lambda records: bool(inner.export(records).name == "SUCCESS"),
            record_bytes,
            close=inner.shutdown,
            on_lost=partial((guard or Guard()).record_loss, LOG_EXPORT_DROPPED),
            max_bytes=max_bytes,
            batches=batches,
        )

    def export(self, batch: Sequence[Any]) -> None:
        """Queue the records; the processor in front reads no result."""
        for record in batch:
            self.queue.put(_without_context(record))


class ResendingLogProcessor(SimpleLogRecordProcessor):
    """
    Hand every log record to a `ResendingLogExporter`.

    Args:
        exporter: Sends the records.
    """

    def __init__(self, exporter: ResendingLogExporter) -> None:
        super().__init__(exporter)  # type: ignore[arg-type]  # its base class has had two names
        self._resending = exporter

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send all that is queued now; return whether it has arrived."""
        return self._resending.force_flush(timeout_millis)


def span_processor(
    exporter: SpanExporter, class_of: Callable[[int], str | None], guard: Guard
) -> ResendingSpanProcessor:
    """Return a processor that exports spans with their failure's class."""
    return ResendingSpanProcessor(
        exporter, guard, finalise=lambda span: add_class(span, class_of), batches=otlp.read_batches("spans")
    )


def log_processor(exporter: Any, guard: Guard, max_bytes: int = MAX_LOG_BYTES) -> ResendingLogProcessor:
    """Return a processor that exports log records with the library's exporter."""
    return ResendingLogProcessor(
        ResendingLogExporter(exporter, guard, max_bytes=max_bytes, batches=otlp.read_batches("logs"))
    )


def span_bytes(span: ReadableSpan) -> int:
    """Estimate the bytes of a span in memory."""
    attributes = peek_attributes(span)
    if attributes is not None:
        return SPAN_BYTES + _measure_attributes(attributes)
    size = SPAN_BYTES + _measure_attributes(copy_attributes(span.attributes)) + _measure_value(span.status.description)
    parts = [event.attributes for event in span.events] + [link.attributes for link in span.links]
    return size + sum(EVENT_BYTES + _measure_attributes(copy_attributes(attributes)) for attributes in parts)


def record_bytes(data: Any) -> int:
    """Estimate the bytes of a log record in memory."""
    record = data.log_record
    return RECORD_BYTES + _measure_value(record.body) + _measure_attributes(copy_attributes(record.attributes))


def _without_context(data: Any) -> Any:
    """
    Return a copy of a log record without its context.

    The context holds a whole span. The ids are on the record.
    """
    if not getattr(data.log_record, "context", None):
        return data
    lean, record = copy(data), copy(data.log_record)
    record.context = Context()
    object.__setattr__(lean, "log_record", record)  # the SDK's wrapper of a record may be frozen
    return lean


def _measure_attributes(attributes: Mapping[str, object] | None) -> int:
    size = 0
    for value in attributes.values() if attributes else ():
        # Nearly all values; the size of an object costs several times what its length does.
        if type(value) is str and value.isascii():
            size += _EMPTY_STR + len(value)
        else:
            size += _measure_value(value)
    return size


def _measure_value(value: object) -> int:
    size = sys.getsizeof(value)
    if type(value) is tuple:
        size += sum(map(sys.getsizeof, cast("tuple[object, ...]", value)))
    return size
