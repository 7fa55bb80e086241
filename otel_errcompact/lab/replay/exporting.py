"""Exporting replayed spans without waiting for ever."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan

_logger: Final = logging.getLogger(semconv.SCOPE)


class OneFailureExporter(SpanExporter):
    """
    Exports spans until one export fails; later spans are counted as lost.

    An exporter has tried again for seconds before it says that it has failed. An application has time for that with
    every batch, a replay has not.

    Args:
        inner: What exports the spans.
    """

    def __init__(self, inner: SpanExporter) -> None:
        self.lost = 0
        """Spans that were not exported."""
        self._inner = inner

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export the spans."""
        if not self.lost and self._succeeds(spans):
            return SpanExportResult.SUCCESS
        self.lost += len(spans)
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._inner.shutdown()

    def _succeeds(self, spans: Sequence[ReadableSpan]) -> bool:
        try:
            return self._inner.export(spans) is SpanExportResult.SUCCESS
        except Exception as error:  # noqa: BLE001 - older exporters raise whatever their transport does
            _logger.warning("spans cannot be exported: %s", error)
            return False
