"""The span processor: failures that spans record become occurrences in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.otel.sdk import FilteringSpanProcessor
from otel_errcompact.otel.spans.conventions import read_span
from otel_errcompact.otel.spans.tracker import FailureTracker

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan, Span

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.runtime.guard import Guard


class ErrorCompactionSpanProcessor(FilteringSpanProcessor):
    """
    Observes failures of spans outside our boundaries, each occurrence once.

    Inside a boundary (a tool call, an MCP call, a model call) the boundary decides: a failure inside is pending until
    the boundary's span ends, and is then its cause, or handled.

    Args:
        ledger: Where failures become numbers.
        guard: Keeps our own faults away from the application; the ledger's if None.
        tracker: Shared with other processors of the same ledger; a new one if None.
    """

    def __init__(self, ledger: Ledger, *, guard: Guard | None = None, tracker: FailureTracker | None = None) -> None:
        self.tracker: Final = tracker or FailureTracker(ledger, guard)
        """Tracks failures; shared with the processor of log records."""
        boundaries, runs = self.tracker.boundaries, self.tracker.runs
        super().__init__(
            boundaries.plain, boundaries.spans, boundaries.most_spans, boundaries.left, runs.agents, runs.traces
        )
        self._guard = guard or ledger.guard
        self._starting = self._guard.stage("on_start")
        self._ending = self._guard.stage("on_end")
        self._closed = False
        self.tracker.open()

    @property
    def duplicates(self) -> int:
        """Records of failures that were recognised as known occurrences."""
        return self.tracker.duplicates

    def class_of(self, span_id: int) -> str | None:
        """Return the dedup key of a span's recent failure, or None."""
        return self.tracker.find_class(span_id)

    def shutdown(self) -> None:
        """End the runs known only from traces, and ignore later spans."""
        if self._closed:
            return
        self._closed = True
        self.tracker.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """Do nothing: every failure is observed when its span ends."""
        return True

    def _start(self, span: Span, parent_context: Context | None) -> None:
        with self._starting:
            if not self._closed:
                self.tracker.start(span, parent_context)

    def _start_plain(self, span: Span, parent_context: Context | None) -> None:  # noqa: ARG002 - its run does not matter
        with self._starting:
            if not self._closed:
                self.tracker.start_plain(span)

    def _end_healthy(self, name: str, span_id: int, scope: str) -> bool:
        with self._ending:
            return not self._closed and self.tracker.end_healthy(name, span_id, scope)
        return False

    def _end(self, span: ReadableSpan) -> None:
        with self._ending:
            if not self._closed:
                self.tracker.end(read_span(span))
