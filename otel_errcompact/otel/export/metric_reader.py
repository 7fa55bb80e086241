"""Decide when metrics are exported by a reader of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, PeriodicExportingMetricReader

from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.export.queue import STALLED_S
from otel_errcompact.otel.sdk import free_export_lock, read_preferences
from otel_errcompact.runtime.forks import reset_in_child

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricsData


class MetricReader(PeriodicExportingMetricReader):
    """
    Exports metrics every ten seconds, or at the environment's interval.

    It never delays the end of a process.

    Metrics are cumulative: the next export delivers what one could not, so that no queue is needed.

    Args:
        exporter: Exports the metrics.
    """

    def __init__(self, exporter: MetricExporter) -> None:
        super().__init__(_EndsAtOnce(exporter), otlp.read_metric_interval_ms())
        reset_in_child(self._free_export_lock)

    def _free_export_lock(self) -> None:
        free_export_lock(self)

    def shutdown(self, timeout_millis: float = STALLED_S * 1_000, **kwargs: Any) -> None:
        """Export once more, and wait a bounded time for a silent collector."""
        super().shutdown(min(timeout_millis, STALLED_S * 1_000), **kwargs)  # pyright: ignore[reportUnknownMemberType]


class _EndsAtOnce(MetricExporter):
    """
    Passes metrics on, and leaves a running export alone at shutdown.

    Exporters may wait for its end.
    """

    def __init__(self, inner: MetricExporter) -> None:
        super().__init__(**read_preferences(inner))
        # The SDK leaves its keyword arguments without a type.
        self._inner: Any = inner
        self._under_way = False

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any) -> MetricExportResult:
        self._under_way = True
        try:
            return cast("MetricExportResult", self._inner.export(metrics_data, timeout_millis, **kwargs))
        finally:
            self._under_way = False

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return bool(self._inner.force_flush(timeout_millis))

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        if not self._under_way:
            self._inner.shutdown(timeout_millis, **kwargs)
