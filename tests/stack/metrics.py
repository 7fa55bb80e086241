"""The metrics that queries may name, with their labels: ours as they leave the instruments, and those of others."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import yaml
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import Histogram, InMemoryMetricReader, Sum

from otel_errcompact.config import Options
from otel_errcompact.engine.events import Refused, Repeated
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.escalator.actions import Continue
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.otel.metrics.instruments import Telemetry
from otel_errcompact_context.telemetry import ContextTelemetry
from packages.context.tests.compactions import COMPACTION
from tests.stack.boards import GENERATED
from tests.stack.promql import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    Known = dict[str, frozenset[str]]

OF_RESOURCE: Final = frozenset(
    {"job", "instance", "service_name", "service_namespace", "service_version", "deployment_environment_name"}
)
"""What Prometheus makes of every resource, and which of its attributes `prometheus.yaml` promotes."""

OF_COLLECTOR: Final = frozenset({"exporter", "receiver", "processor", "transport", "data_type"})

FOREIGN: Final[Known] = {
    # OpenTelemetry's semantic conventions for generative AI: the histogram gen_ai.client.token.usage.
    **dict.fromkeys(
        (f"gen_ai_client_token_usage_{part}" for part in ("bucket", "sum", "count")),
        frozenset({"le", "gen_ai_token_type", "gen_ai_agent_name", "gen_ai_request_model", "gen_ai_operation_name"}),
    ),
    # opentelemetry-sdk 1.45 with OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED=true, as a run of it shows them.
    "otel_sdk_processor_span_processed_total": frozenset({"otel_component_name", "otel_component_type", "error_type"}),
    "otel_sdk_processor_span_queue_size": frozenset({"otel_component_name", "otel_component_type"}),
    "otel_sdk_processor_span_queue_capacity": frozenset({"otel_component_name", "otel_component_type"}),
    "otel_sdk_exporter_span_exported_total": frozenset({"otel_component_name", "otel_component_type", "error_type"}),
    "otel_sdk_processor_log_processed_total": frozenset({"otel_component_name", "otel_component_type", "error_type"}),
    "otel_sdk_exporter_log_exported_total": frozenset({"otel_component_name", "otel_component_type", "error_type"}),
    "otel_sdk_exporter_metric_data_point_exported_total": frozenset(
        {"otel_component_name", "otel_component_type", "error_type"}
    ),
    # The collector's own telemetry: documentation.md of service, exporterhelper, receiverhelper and
    # memorylimiterprocessor 0.159, as Prometheus renames what is pushed by OTLP: units become suffixes, counters end
    # in _total.
    **dict.fromkeys(
        (
            f"otelcol_{part}_{signal}_total"
            for part in (
                "receiver_accepted",
                "receiver_refused",
                "receiver_failed",
                "processor_memory_limiter_refused",
                "exporter_sent",
                "exporter_send_failed",
                "exporter_enqueue_failed",
            )
            for signal in ("spans", "metric_points", "log_records")
        ),
        OF_COLLECTOR,
    ),
    "otelcol_exporter_queue_size": OF_COLLECTOR,
    "otelcol_exporter_queue_capacity": OF_COLLECTOR,
    "otelcol_process_memory_rss_bytes": frozenset(),
    "otelcol_process_uptime_seconds_total": frozenset(),
    "otelcol_process_cpu_seconds_total": frozenset(),
    # Prometheus 3.14, of itself: prometheus.yaml scrapes localhost:9090.
    "prometheus_tsdb_head_series": frozenset(),
    "prometheus_tsdb_out_of_order_samples_total": frozenset({"type"}),
    "prometheus_tsdb_too_old_samples_total": frozenset({"type"}),
    "prometheus_tsdb_out_of_bound_samples_total": frozenset({"type"}),
    "prometheus_tsdb_exemplar_exemplars_in_storage": frozenset(),
    "prometheus_tsdb_exemplar_out_of_order_exemplars_total": frozenset(),
    "prometheus_target_scrapes_sample_duplicate_timestamp_total": frozenset(),
    "prometheus_api_otlp_out_of_order_exemplars_total": frozenset(),
    # Made by Prometheus itself: of resources pushed to it, and of its alerts.
    "target_info": frozenset({"service_instance_id", "telemetry_sdk_language"}),
    "ALERTS": frozenset({"alertname", "alertstate", "severity", "gen_ai_agent_name", "errcompact_class"}),
}


def known() -> Known:
    """Return the labels of every metric that a query may name."""
    found = {name: labels | OF_RESOURCE for name, labels in {**dict(_ours()), **FOREIGN}.items()}
    for rule in _recording_rules():
        made = labels_of(rule["expr"], found) | rule.get("labels", {}).keys()
        found[rule["record"]] = found.get(rule["record"], frozenset()) | made
    return found


def _ours() -> Iterator[tuple[str, frozenset[str]]]:
    reader = InMemoryMetricReader()
    _live(reader)
    data = reader.get_metrics_data()
    assert data is not None
    for resource in data.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                labels = frozenset(_renamed(key) for point in metric.data.data_points for key in point.attributes or {})
                yield from ((name, labels | extra) for name, extra in _arriving(metric))


def _live(reader: InMemoryMetricReader) -> None:
    """Let happen whatever an instrument tells of."""
    ledger = Ledger(Options())
    meters = MeterProvider([reader], shutdown_on_exit=False)
    ledger.listeners.add(Telemetry(meters, ledger))
    ledger.open("r", agent="shop", thresholds=Thresholds(same=2))
    raw = RawError(
        text='Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: no', tool="db", agent="shop"
    )
    ledger.handled("r", raw)
    for _ in range(2):
        ledger.observe("r", raw)
    ledger.answer("r", Continue())
    ledger.open("q", agent="shop")
    for _ in range(2):
        ledger.observe("q", replace(raw, arguments="{}"))
    assert ledger.refuse(Refused(run_id="q", tool="db", arguments="{}", agent="shop"))
    ledger.succeed("r", "db")
    ledger.apply(Repeated(run_id="r", tool="db"))
    ledger.open("w", agent="shop", thresholds=Thresholds(same=2), asks=True)
    for _ in range(2):
        ledger.observe("w", replace(raw, time_ns=1))
    ledger.end("r")
    for _ in range(3):
        ledger.observe("s", raw)
    ledger.observe(
        "s", replace(raw, text="FAILED tests/test_cart.py::test_add - ValueError: bad id\n=== 1 failed in 0.1s ===")
    )
    for text in ("make: jq: command not found", "ConnectionError: HTTP 503 Service Unavailable"):
        ledger.observe("s", RawError(text=text, tool="bash"))
    ledger.guard.failures["on_end"] += 1
    telemetry = ContextTelemetry(meter_provider=meters)
    telemetry(COMPACTION)
    telemetry.overflowed("recovered", "anthropic")


def _arriving(metric: Any) -> Iterator[tuple[str, frozenset[str]]]:
    """Return the names a metric arrives under in Prometheus, spelt independently of `dashboards.metrics`."""
    name = _renamed(metric.name) + {"s": "_seconds", "By": "_bytes"}.get(metric.unit, "")
    if isinstance(metric.data, Histogram):
        yield f"{name}_bucket", frozenset({"le"})
        yield f"{name}_sum", frozenset()
        yield f"{name}_count", frozenset()
    else:
        yield f"{name}_total" if isinstance(metric.data, Sum) and metric.data.is_monotonic else name, frozenset()


def _renamed(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _recording_rules() -> list[dict[str, Any]]:
    path = GENERATED / "rules.yaml"
    groups = yaml.safe_load(path.read_text(encoding="utf-8"))["groups"] if path.is_file() else []
    # A rule reads what rules before it make.
    return [rule for group in groups for rule in group["rules"] if "record" in rule]
