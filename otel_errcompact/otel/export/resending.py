"""Exporters that survive a collector that is away: they hand over at once, keep what fails, and send it later."""

from __future__ import annotations

import sys
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from opentelemetry.context import Context
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import TraceFlags

from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.export.exporter import with_class
from otel_errcompact.otel.export.queue import MAX_BYTES, Outbox, Pace
from otel_errcompact.otel.sdk import copy_attributes, peek_attributes
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from opentelemetry.sdk.trace import ReadableSpan


EXPORT_DROPPED: Final = "export_dropped"
"""Spans that were never exported. The raw errors on them are still in the trajectory file."""

LOG_EXPORT_DROPPED: Final = "log_export_dropped"
"""Log records that were never exported."""

MAX_LOG_BYTES: Final = 4 * 1024 * 1024
"""What may wait of log records, of which few hold raw errors; where all do, they have the bound of spans."""

SPAN_BYTES: Final = 3_000
"""What a span takes besides its texts."""

EVENT_BYTES: Final = 1_000
"""What an event or a link takes besides its texts."""

RECORD_BYTES: Final = 3_000
"""What a log record takes besides its texts."""

_SAMPLED: Final = TraceFlags.SAMPLED
_EMPTY_STR: Final = sys.getsizeof("")


class ResendingSpanExporter(SpanExporter):
    """
    Hand spans to a thread of its own, which sends them in order and keeps trying while the collector is away.

    `export` never waits. At most `max_bytes` wait in memory; beyond that the oldest spans are dropped, and so is what
    a shutdown cannot send within seconds: all of it is counted. The batch under way takes its encoded form besides.

    Put a `ResendingSpanProcessor` in front. The SDK's own batch processor works too, but its queue knows no bytes.

    Args:
        inner: What exports the spans.
        guard: Counts what was dropped, as `export_dropped`: `ledger.guard`; one of its own if None.
        settle: Makes of a span what is sent, once it has waited for a moment.
        max_bytes: What may wait in memory, by estimate.
        pace: When a batch is sent.
    """

    def __init__(
        self,
        inner: SpanExporter,
        guard: Guard | None = None,
        *,
        settle: Callable[[ReadableSpan], ReadableSpan] = lambda span: span,
        max_bytes: int = MAX_BYTES,
        pace: Pace | None = None,
    ) -> None:
        self.guard: Final = guard or Guard()
        """Counts what was dropped."""
        self.outbox: Final[Outbox[ReadableSpan]] = Outbox(
            lambda spans: inner.export(spans) is SpanExportResult.SUCCESS,
            span_bytes,
            settle=settle,
            close=inner.shutdown,
            on_lost=partial(self.guard.record_loss, EXPORT_DROPPED),
            max_bytes=max_bytes,
            pace=pace,
        )
        """What waits."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take the spans."""
        for span in spans:
            self.outbox.put(span)
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Send what waits, or give it up within seconds."""
        self.outbox.shutdown()

    def force_flush(self, timeout_millis: int | None = 30_000) -> bool:
        """Send what waits now; tell whether it has arrived."""
        return self.outbox.flush((30_000 if timeout_millis is None else timeout_millis) / 1_000)


class ResendingSpanProcessor(SpanProcessor):
    """
    Hand every span that ends to a `ResendingSpanExporter`: the one queue in between is bounded in bytes.

    Args:
        exporter: What sends the spans.
    """

    def __init__(self, exporter: ResendingSpanExporter) -> None:
        self.span_exporter: Final = exporter
        """What sends the spans, under the name that the SDK's processors have for it."""
        self._put = exporter.outbox.put

    def on_end(self, span: ReadableSpan) -> None:
        """Let a span wait to be sent."""
        context = span.context
        if context is not None and context.trace_flags & _SAMPLED:
            try:
                self._put(span)
            except Exception as error:  # noqa: BLE001 - the guard's own, for less: every span comes by here
                self.span_exporter.guard.record_failure("export", error)

    def shutdown(self) -> None:
        """Send what waits, or give it up within seconds."""
        self.span_exporter.shutdown()

    def force_flush(self, timeout_millis: int | None = 30_000) -> bool:
        """Send what waits now; tell whether it has arrived."""
        return self.span_exporter.force_flush(timeout_millis)


class ResendingLogExporter:
    """
    The same for log records. Its base class has had two names in the SDK; none is needed.

    Args:
        inner: What exports the records.
        guard: Counts what was dropped, as `log_export_dropped`.
        max_bytes: What may wait in memory, by estimate.
        pace: When a batch is sent.
    """

    def __init__(
        self, inner: Any, guard: Guard | None = None, *, max_bytes: int = MAX_LOG_BYTES, pace: Pace | None = None
    ) -> None:
        self.outbox: Final[Outbox[Any]] = Outbox(
            lambda records: bool(inner.export(records).name == "SUCCESS"),
            record_bytes,
            close=inner.shutdown,
            on_lost=partial((guard or Guard()).record_loss, LOG_EXPORT_DROPPED),
            max_bytes=max_bytes,
            pace=pace,
        )
        """What waits."""

    def export(self, batch: Sequence[Any]) -> None:
        """Take the records; the processor in front asks for no result."""
        for record in batch:
            self.outbox.put(_without_context(record))

    def shutdown(self) -> None:
        """Send what waits, or give it up within seconds."""
        self.outbox.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what waits now; tell whether it has arrived."""
        return self.outbox.flush(timeout_millis / 1_000)


class ResendingLogProcessor(SimpleLogRecordProcessor):
    """
    Hand every log record to a `ResendingLogExporter`.

    Args:
        exporter: What sends the records.
    """

    def __init__(self, exporter: ResendingLogExporter) -> None:
        super().__init__(exporter)  # type: ignore[arg-type]  # its base class has had two names
        self._resending = exporter

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what waits now; tell whether it has arrived."""
        return self._resending.force_flush(timeout_millis)


def span_processor(
    exporter: SpanExporter, class_of: Callable[[int], str | None], guard: Guard
) -> ResendingSpanProcessor:
    """Return what exports spans, with the class of what failed on them, where the library makes the exporter."""
    resending = ResendingSpanExporter(
        exporter, guard, settle=lambda span: with_class(span, class_of), pace=otlp.span_pace()
    )
    return ResendingSpanProcessor(resending)


def log_processor(exporter: Any, guard: Guard, max_bytes: int = MAX_LOG_BYTES) -> ResendingLogProcessor:
    """Return what exports log records where the library makes the exporter."""
    return ResendingLogProcessor(ResendingLogExporter(exporter, guard, max_bytes=max_bytes, pace=otlp.log_pace()))


def span_bytes(span: ReadableSpan) -> int:
    """Estimate what a span holds in memory."""
    attributes, is_all = peek_attributes(span)
    size = SPAN_BYTES + _texts(attributes)
    if is_all:
        return size
    size += _text(span.status.description)
    parts = [event.attributes for event in span.events] + [link.attributes for link in span.links]
    return size + sum(EVENT_BYTES + _texts(copy_attributes(attributes)) for attributes in parts)


def record_bytes(data: Any) -> int:
    """Estimate what a log record holds in memory."""
    record = data.log_record
    return RECORD_BYTES + _text(record.body) + _texts(copy_attributes(record.attributes))


def _without_context(data: Any) -> Any:
    """
    Return a copy of a log record that holds no context, with its whole span in it. Its ids are on the record.
    """
    if not getattr(data.log_record, "context", None):
        return data
    lean, record = copy(data), copy(data.log_record)
    record.context = Context()
    object.__setattr__(lean, "log_record", record)  # what the SDK wraps records in may be frozen
    return lean


def _texts(attributes: Mapping[str, object] | None) -> int:
    size = 0
    for value in attributes.values() if attributes else ():
        # What there is most of; to ask for the size of an object costs several times what its length does.
        if type(value) is str and value.isascii():
            size += _EMPTY_STR + len(value)
        else:
            size += _text(value)
    return size


def _text(value: object) -> int:
    size = sys.getsizeof(value)
    if type(value) is tuple:
        size += sum(map(sys.getsizeof, cast("tuple[object, ...]", value)))
    return size
