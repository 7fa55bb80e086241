"""A ledger whose metrics can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.otel.metrics.instruments import Telemetry

if TYPE_CHECKING:
    from otel_errcompact.config import Options
    from otel_errcompact.history.stores.parts import Backend


@dataclass
class Metered:
    """
    A ledger whose telemetry can be read.
    """

    ledger: Ledger
    telemetry: Telemetry
    reader: InMemoryMetricReader

    def metrics(self) -> dict[str, Any]:
        data = self.reader.get_metrics_data()
        found = data.resource_metrics if data is not None else []
        return {metric.name: metric for one in found for scope in one.scope_metrics for metric in scope.metrics}

    def points(self, name: str) -> dict[tuple[tuple[str, str], ...], Any]:
        metric = self.metrics().get(name)
        points = metric.data.data_points if metric is not None else ()
        return {tuple(sorted((k, str(v)) for k, v in point.attributes.items())): point for point in points}

    def values(self, name: str, *labels: str) -> dict[tuple[str, ...], Any]:
        """The values of a metric by some of its labels."""
        points = self.points(name).items()
        return {tuple(dict(key).get(label, "") for label in labels): point.value for key, point in points}


def metered(
    options: Options | None = None, provider: MeterProvider | None = None, backend: Backend | None = None
) -> Metered:
    reader = InMemoryMetricReader()
    ticks = iter(range(0, 10**12, 250_000))
    ledger = Ledger(options, backend=backend, timer=lambda: next(ticks))
    telemetry = Telemetry(provider or MeterProvider([reader], shutdown_on_exit=False), ledger)
    ledger.listeners.add(telemetry)
    return Metered(ledger, telemetry, reader)


def raw(message: str = "no such host", tool: str = "db", agent: str = "shop", **details: Any) -> RawError:
    return RawError(
        text=f"ConnectionError: {message}", type="ConnectionError", message=message, tool=tool, agent=agent, **details
    )
