"""What the page on the plugin's and the collector's own health asks."""

from __future__ import annotations

from typing import Final

from dashboards.metrics import (
    CLASS,
    COMPACTION_DURATION_BUCKET,
    COMPACTION_DURATION_COUNT,
    COMPACTION_DURATION_SUM,
    CONTEXT_TOKENS,
    ENVIRONMENT,
    ERROR_TYPE,
    ERRORS,
    FORM,
    INTERNAL_FAILURES,
    SERVICE,
    STAGE,
    label,
)
from dashboards.queries import RANGE, RATE_WINDOW, grown, scoped, steps, total
from otel_errcompact.audit.line_file import TRAJECTORY_ROTATED
from otel_errcompact.otel import semconv
from otel_errcompact.otel.metrics import instruments

OVERFLOWS: Final = (instruments.CLASS_LABEL_OVERFLOW, instruments.LABEL_OVERFLOW)
BOUNDS: Final = "|".join((instruments.RUN_EVICTED, TRAJECTORY_ROTATED, *OVERFLOWS))
"""What was forgotten on purpose to bound memory and disk is no fault."""

SIGNALS: Final = ("spans", "metric_points", "log_records")
"""What the collector's counters call the three signals."""

COMPONENT: Final = label("otel.component.name")


# The plugin.


def faults() -> str:
    """Return the counters of our own faults."""
    return scoped(INTERNAL_FAILURES, f'{STAGE}!~"{BOUNDS}"')


def bounded(*stages: str) -> str:
    """Return the counters of what was forgotten to bound memory."""
    return scoped(INTERNAL_FAILURES, f'{STAGE}=~"{"|".join(stages)}"')


def faults_in_range() -> str:
    """Our own faults in the time range."""
    return total(grown(faults()))


def faults_over_time() -> str:
    """Our own faults by service and stage."""
    return f"{total(steps(faults()), SERVICE, STAGE)} > 0"


def overflow_in_range() -> str:
    """Failures whose class was folded into `other`, each once."""
    return total(grown(scoped(ERRORS, f'{CLASS}="{semconv.OTHER}"')))


def evicted_in_range() -> str:
    """Runs that were forgotten before they ended."""
    return total(grown(bounded(instruments.RUN_EVICTED)))


def bounded_over_time() -> str:
    """What was forgotten, by service and kind."""
    return f"{total(steps(bounded(*BOUNDS.split('|'))), SERVICE, STAGE)} > 0"


def services() -> str:
    """How many services reported within the last minutes."""
    return f"count(count by ({SERVICE}, {ENVIRONMENT}) ({_reports()}))"


def silence() -> str:
    """
    For how many seconds each service has been silent.

    An exporter pushes a sample with each export, whether anything failed or not; the newest within the time range says
    when the service was last heard of, also after it has ended.
    """
    newest = f"max_over_time(timestamp({_reports()})[{RANGE}:1m])"
    of_late = f"timestamp({_reports()})"
    by = f"max by ({SERVICE}, {ENVIRONMENT})"
    return f"time() - ({by} ({of_late}) or {by} ({newest}))"


def last_report() -> str:
    """When each service last reported, in milliseconds."""
    return f"1000 * (time() - ({silence()}))"


def processes() -> str:
    """How many processes of each service report."""
    return f"count by ({SERVICE}, {ENVIRONMENT}) ({_reports()})"


def _reports() -> str:
    # The library sends this counter from its start on; the collector counts errors only, for agents in other languages.
    return scoped(CONTEXT_TOKENS, f'{FORM}="{semconv.FORM_RAW}"')


# What we cost.


def duration_quantile(quantile: float) -> str:
    """How long the compaction of one failure takes."""
    return f"histogram_quantile({quantile}, {_duration_buckets()})"


def _duration_buckets() -> str:
    return f"sum by (le) (rate({scoped(COMPACTION_DURATION_BUCKET)}[{RATE_WINDOW}]))"


def duration_mean() -> str:
    """What one failure costs on average."""
    summed, counted = (total(grown(scoped(name))) for name in (COMPACTION_DURATION_SUM, COMPACTION_DURATION_COUNT))
    return f"{summed} / ({counted} > 0)"


# The agents' SDK.


def sdk_dropped() -> str:
    """Spans and log records that did not leave the process, by what became of them."""
    queues = (
        _dropped(f"otel_sdk_{part}_total")
        for part in (
            "processor_span_processed",
            "exporter_span_exported",
            "processor_log_processed",
            "exporter_log_exported",
        )
    )
    return " or ".join(f"{total(steps(queue), SERVICE, COMPONENT, ERROR_TYPE)} > 0" for queue in queues)


def sdk_queue(part: str) -> str:
    """Return how many spans wait for export, or how many may (`size`, `capacity`)."""
    return f"max by ({SERVICE}, {COMPONENT}) ({scoped(f'otel_sdk_processor_span_queue_{part}')})"


def _dropped(metric: str) -> str:
    return scoped(metric, f'{ERROR_TYPE}!=""')


# The collector.


def collector(part: str, signal: str) -> str:
    """Return how many items of a signal took a way through the collector, per second."""
    return f"sum(rate(otelcol_{part}_{signal}_total[{RATE_WINDOW}]))"


def collector_lost(signal: str) -> str:
    """Items of a signal that were refused, or that no exporter got rid of."""
    refused = f"{total(steps(f'otelcol_receiver_refused_{signal}_total'), 'receiver')} > 0"
    failed = f"{total(steps(f'otelcol_exporter_send_failed_{signal}_total'), 'exporter')} > 0"
    full = f"{total(steps(f'otelcol_exporter_enqueue_failed_{signal}_total'), 'exporter')} > 0"
    return f"{_kind(refused, 'refused')} or {_kind(failed, 'send failed')} or {_kind(full, 'queue full')}"


def _kind(expression: str, kind: str) -> str:
    return f'label_replace({expression}, "kind", "{kind}", "", "")'


def queue_used() -> str:
    """How full each sending queue is, as a share of what it holds."""
    return "max by (exporter) (otelcol_exporter_queue_size / otelcol_exporter_queue_capacity)"


def queue_size() -> str:
    """How many bytes wait in each sending queue; `otelcol.yaml` measures queues in bytes."""
    return "max by (exporter) (otelcol_exporter_queue_size)"


def collector_memory() -> str:
    """What the collector takes of the machine's memory."""
    return "max by (service_name) (otelcol_process_memory_rss_bytes)"


def collector_uptime() -> str:
    """Since when the collector runs, in seconds."""
    return "min(otelcol_process_uptime_seconds_total)"


# Prometheus.


def rejected_samples() -> str:
    """Samples that Prometheus refused, by reason."""
    return " or ".join(
        _kind(f"{total(steps(metric))} > 0", kind)
        for metric, kind in (
            ("prometheus_tsdb_out_of_order_samples_total", "out of order"),
            ("prometheus_tsdb_too_old_samples_total", "too old"),
            ("prometheus_tsdb_out_of_bound_samples_total", "out of bounds"),
            ("prometheus_target_scrapes_sample_duplicate_timestamp_total", "duplicate"),
            ("prometheus_api_otlp_out_of_order_exemplars_total", "exemplar out of order"),
        )
    )


def series() -> str:
    """How many series the library's metrics have."""
    return f'count({{__name__=~"errcompact_.+", {_place()}}})'


def _place() -> str:
    return f'{ENVIRONMENT}=~"$environment", {SERVICE}=~"$service"'
