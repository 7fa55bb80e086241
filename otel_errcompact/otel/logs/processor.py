"""The log processor: failures that arrive as log records become occurrences in the same ledger."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.sdk._logs import LogRecordProcessor

from otel_errcompact.compactor.classify import classify
from otel_errcompact.otel import semconv
from otel_errcompact.otel.logs.reading import SEVERE, is_exception_event, read_record
from otel_errcompact.otel.sdk import is_without
from otel_errcompact.otel.spans.boundaries import Held
from otel_errcompact.otel.spans.outcomes import Outcomes

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.otel.logs.reading import Logged
    from otel_errcompact.runtime.guard import Guard

_TYPE: Final = semconv.EXCEPTION_TYPE
_NAME: Final = semconv.EVENT_NAME


class ErrorCompactionLogRecordProcessor(LogRecordProcessor):
    """
    Observe the exceptions that arrive as log records, each occurrence once, whatever spans say of it besides.

    A record tells of an exception by its event name (`exception`, or one that ends in `.exception`), by the exception
    object it carries, or by `exception.type`, as what `logger.exception(...)` writes does. What has been told already,
    by a span or by a record, is no further occurrence. What is told first:

    - Inside a boundary (a tool call, an MCP call, a model call) is held until its span ends, and is then its root
      cause, or handled: an exception that a tool has logged before it succeeded was none of the agent's.
    - Elsewhere it is an occurrence at once if the record is an exception event, or at ERROR and above: then somebody
      says that an operation failed. An exception below that, which an application mentions while it goes on, counts
      only if it also leaves a span.

    Args:
        ledger: Where failures become numbers.
        guard: Keeps our own faults away from the application; the ledger's if None.
        outcomes: What is known together with the span processor: `processor.outcomes`. With None, log records are
            all there is.
    """

    def __init__(self, ledger: Ledger, *, guard: Guard | None = None, outcomes: Outcomes | None = None) -> None:
        self.outcomes: Final = outcomes or Outcomes(ledger, guard)
        """What becomes of failures; shared with the span processor."""
        self._emitting = (guard or ledger.guard).stage("on_emit")
        self._closed = False

    def on_emit(self, log_record: Any) -> None:
        """Observe what a log record tells of an exception."""
        try:
            record = log_record.log_record
            if (
                is_without(record, _TYPE, _NAME)
                and not record.event_name
                and getattr(record, "exception", None) is None
            ):
                return
        except Exception:  # noqa: BLE001, S110 - another SDK's record
            pass
        with self._emitting:
            if not self._closed and (logged := read_record(log_record)) is not None:
                self._take(logged, log_record.log_record)

    def enabled(self, *, severity_number: Any = None, event_name: str | None = None, **_: object) -> bool:
        """Ask for records that may be exceptions, and for no others: those are made only if somebody exports them."""
        return is_exception_event(event_name or "") or (severity_number is not None and severity_number.value >= SEVERE)

    def shutdown(self) -> None:
        """Observe nothing any more."""
        self._closed = True

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """Do nothing: every record is observed when it is emitted."""
        return True

    def _take(self, logged: Logged, record: Any) -> None:
        outcomes, place = self.outcomes, logged.place
        if not outcomes.counts(logged.recorded, logged.live, None):
            return
        raw = logged.build_raw_error()
        boundary = outcomes.boundaries.around(place.span_id)
        origins = outcomes.occurrences.told(place, raw, named=logged.named)
        alone = logged.named or logged.severe
        if origins is not None:
            outcomes.duplicates += 1
            _stamp(record, outcomes.key_of(origins) or classify(raw).key)
        elif boundary is not None:
            origin = outcomes.occurrences.tell(place, raw, named=logged.named)
            held = Held(replace(raw, exception=None), origin, place.name, [origin], alone=alone)
            outcomes.put(place, boundary, held)
            # The record goes on before the outcome is known; its own class is that of either.
            _stamp(record, classify(raw).key)
        elif alone and not logged.in_call:
            origin = outcomes.occurrences.tell(place, raw, named=logged.named)
            _stamp(record, outcomes.observe(place, None, raw, (origin,)))


def _stamp(record: Any, key: str) -> None:
    """Put the class on a record, so that operators get from a class to its log records."""
    with suppress(Exception):  # another SDK's record may take none
        record.attributes.setdefault(semconv.CLASS, key)
