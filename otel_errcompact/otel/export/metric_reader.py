"""When metrics go out, where the library makes the reader that sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, PeriodicExportingMetricReader

from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.export.queue import STALLED_S
from otel_errcompact.otel.sdk import read_preferences

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricsData


class MetricReader(PeriodicExportingMetricReader):
    """
    Export metrics every ten seconds, unless the environment says otherwise, and never hold up a process that ends.

    Metrics are cumulative: what one export could not deliver the next one does, so that nothing need be kept.

    Args:
        exporter: Where the metrics go.
    """

    def __init__(self, exporter: MetricExporter) -> None:
        super().__init__(_EndsAtOnce(exporter), otlp.metric_interval_ms())

    def shutdown(self, timeout_millis: float = STALLED_S * 1_000, **kwargs: Any) -> None:
        """Export what there is once more; wait no longer than is named for a collector that does not answer."""
        super().shutdown(min(timeout_millis, STALLED_S * 1_000), **kwargs)  # pyright: ignore[reportUnknownMemberType]


class _EndsAtOnce(MetricExporter):
    """
    Hand metrics on, and leave an export that is under way at shutdown to itself: exporters may wait for its end.
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
