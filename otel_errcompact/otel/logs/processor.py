"""Count failures that arrive as log records in the same ledger."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.sdk._logs import LogRecordProcessor

from otel_errcompact.otel import semconv
from otel_errcompact.otel.logs.reading import SEVERE, is_exception_event, read_record
from otel_errcompact.otel.sdk import is_without
from otel_errcompact.otel.spans.tracker import FailureTracker

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.runtime.guard import Guard

_TYPE: Final = semconv.EXCEPTION_TYPE
_NAME: Final = semconv.EVENT_NAME


class ErrorCompactionLogRecordProcessor(LogRecordProcessor):
    """
    Observes exceptions in log records, each occurrence once, spans included.

    A record reports an exception by its event name (`exception`, or one that ends in `.exception`), by the exception
    object it carries, or by `exception.type`, as `logger.exception(...)` does. An exception that a span or a record has
    reported before is no further occurrence. Otherwise:

    - Inside a boundary (a tool call, an MCP call, a model call) it is pending until the boundary's span ends, and is
      then its cause, or handled: an exception that a tool has logged before it succeeded was none of the agent's.
    - Elsewhere it is an occurrence at once if the record is an exception event, or at ERROR and above: both report that
      an operation has failed. An exception below that, which an application mentions while it continues, counts only
      if it also leaves a span.

    Args:
        ledger: Where failures become numbers.
        guard: Keeps our own faults away from the application; the ledger's if None.
        tracker: The span processor's, `processor.tracker`; a new one if None, where there are log records only.
    """

    def __init__(self, ledger: Ledger, *, guard: Guard | None = None, tracker: FailureTracker | None = None) -> None:
        self.tracker: Final = tracker or FailureTracker(ledger, guard)
        """Tracks failures; shared with the span processor."""
        self._emitting = (guard or ledger.guard).stage("on_emit")
        self._closed = False

    def on_emit(self, log_record: Any) -> None:
        """Observe the exception that a log record reports."""
        try:
            record = log_record.log_record
            if (
                is_without(record, _TYPE, _NAME)
                and not getattr(record, "event_name", None)
                and getattr(record, "exception", None) is None
            ):
                return
        except Exception:  # noqa: BLE001, S110 - another SDK's record
            pass
        with self._emitting:
            if not self._closed and (logged := read_record(log_record)) is not None:
                key = self.tracker.record(logged)
                with suppress(Exception):  # another SDK's record may take no class, which links it to logs
                    if key is not None:
                        log_record.log_record.attributes.setdefault(semconv.CLASS, key)

    def enabled(self, *, severity_number: Any = None, event_name: str | None = None, **_: object) -> bool:
        """
        Return whether a record is wanted: one that may be an exception.

        All others are made only if they are exported.
        """
        return is_exception_event(event_name or "") or (severity_number is not None and severity_number.value >= SEVERE)

    def shutdown(self) -> None:
        """Ignore all records from now on."""
        self._closed = True

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """Do nothing: every record is observed when it is emitted."""
        return True
