"""The tokens of model calls go out as the conventions have it."""

from __future__ import annotations

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from otel_errcompact.otel.metrics.usage import TokenUsage


def test_what_a_framework_would_send():
    """Name, unit, and attributes as the conventions name them; what is not known is left out."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    usage = TokenUsage(provider, scope="demo", provider="nobody")
    usage.record(120, "input", agent="shop", model="scripted")
    usage.record(7, "output")
    data = reader.get_metrics_data()
    assert data is not None
    (metric,) = data.resource_metrics[0].scope_metrics[0].metrics
    assert (metric.name, metric.unit) == ("gen_ai.client.token.usage", "{token}")
    common = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "nobody"}
    found = [(dict(point.attributes or {}), point.count, point.sum) for point in metric.data.data_points]
    more = {"gen_ai.agent.name": "shop", "gen_ai.request.model": "scripted"}
    assert found == [
        ({**common, "gen_ai.token.type": "input", **more}, 1, 120),
        ({**common, "gen_ai.token.type": "output"}, 1, 7),
    ]
