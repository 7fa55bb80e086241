"""The page on the watchers: whether what the other pages say is complete, and what it costs."""

from __future__ import annotations

from typing import Final

from dashboards import queries_health as queries
from dashboards import variables
from dashboards.layout import (
    BAD,
    NONE_BAD,
    NONE_WARNING,
    OK,
    WARNING,
    BarGauge,
    Caption,
    Line,
    Page,
    Section,
    Stat,
    Table,
    TimeSeries,
    bar_gauge,
    bars,
    stat,
    table,
    timeseries,
)
from dashboards.metrics import ENVIRONMENT, ERROR_TYPE, SERVICE, STAGE
from dashboards.targets import instant, promql, rows
from dashboards.transformations import columns, merged

UID: Final = "errcompact-health"

NO_FAILURE: Final = "No failures"
NO_COLLECTOR: Final = "The collector sends nothing of itself"
NO_PROMETHEUS: Final = "Prometheus does not scrape itself"
NO_SDK: Final = "Set OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED=true in the agents"

SILENT_S: Final = ((None, OK), (90, WARNING), (300, BAD))
"""Seconds: later than the slowest usual export interval and a half; and no answer from Prometheus any more."""


def page() -> Page:
    """Return the whole page."""
    return Page(
        uid=UID,
        title="Agent errors: plugin and collector health",
        description="Whether what the other pages say is complete: faults of the plugin itself, what was dropped on "
        "the way, and what watching costs.",
        variables=(*variables.data_sources(), *variables.scope()),
        sections=(
            Section(
                id=100,
                title="The plugin",
                lines=(
                    Line(
                        4,
                        (
                            (4, reporting()),
                            (4, faults()),
                            (4, overflow()),
                            (4, evicted()),
                            (4, per_failure()),
                            (4, series()),
                        ),
                    ),
                    Line(6, ((12, faults_over_time()), (12, services()))),
                ),
            ),
            Section(
                id=200,
                title="What compaction costs the agents",
                lines=(Line(8, ((24, duration()),)),),
            ),
            Section(
                id=400,
                title="The collector",
                lines=(
                    Line(8, ((12, received()), (12, exported()))),
                    Line(6, ((12, queue()), (6, memory()), (6, uptime()))),
                ),
            ),
            Section(
                id=300,
                title="What was dropped or forgotten: empty where all is well",
                lines=(
                    Line(8, ((12, bounds()), (12, lost()))),
                    Line(8, ((12, sdk_dropped()), (12, sdk_queue()))),
                    Line(8, ((12, queue_used()), (12, rejected()))),
                ),
                collapsed=True,
            ),
        ),
    )


# The plugin.


def reporting() -> Stat:
    """How many services there are."""
    return stat(
        Caption(1, "Services", "Services with the plugin that have reported within the last five minutes."),
        instant(queries.services()),
        steps=((None, BAD), (1, OK)),
    )


def faults() -> Stat:
    """How often we failed ourselves."""
    return stat(
        Caption(
            2,
            "Faults",
            "Failures of the plugin itself. The agent does not notice them, but the failure it was about "
            "may be missing here.",
        ),
        instant(queries.faults_in_range()),
        steps=NONE_BAD,
    )


def overflow() -> Stat:
    """How much went under `other`."""
    return stat(
        Caption(
            3,
            "Overflow",
            "Failures counted under the class `other`, because a process knew as many classes as it "
            "may have labels for. OTEL_ERRCOMPACT_TELEMETRY_CLASS_LABELS raises the bound.",
        ),
        instant(queries.overflow_in_range()),
        steps=NONE_WARNING,
    )


def evicted() -> Stat:
    """How many runs were forgotten."""
    return stat(
        Caption(
            4,
            "Evictions",
            "Runs whose history was forgotten before they ended, because a process held as many as it may. "
            "Their next failure counts as new.",
        ),
        instant(queries.evicted_in_range()),
        steps=NONE_WARNING,
    )


def per_failure() -> Stat:
    """What one failure costs."""
    return stat(
        Caption(
            5,
            "Per failure",
            "What it took on average to compact one failure, inside the agent's process.",
            unit="s",
            empty=NO_FAILURE,
        ),
        instant(queries.duration_mean()),
        decimals=None,
    )


def series() -> Stat:
    """How many series we cause."""
    return stat(
        Caption(
            6,
            "Series",
            "Time series of all errcompact_* metrics at the end of the time range: what they cost in Prometheus.",
        ),
        instant(queries.series()),
        decimals=None,
    )


def faults_over_time() -> TimeSeries:
    """Where we failed ourselves."""
    return bars(
        Caption(
            20,
            "Own faults",
            "Failures of the plugin itself, by service and stage. The process logs the traceback of each "
            "kind once a minute, under the logger otel_errcompact.",
            empty="No faults",
        ),
        promql(queries.faults_over_time(), f"{{{{{SERVICE}}}}} {{{{{STAGE}}}}}"),
    )


def services() -> Table:
    """Who reported last, and when."""
    return table(
        Caption(
            21,
            "Services reporting",
            "Every service with the plugin that reported in the time range: when last, for how long it has "
            "been silent since, and how many of its processes report now. A batch job is silent once it is done.",
            empty="No service has reported in the time range",
        ),
        rows(queries.last_report(), ref="A"),
        rows(queries.silence(), ref="B"),
        rows(queries.processes(), ref="C"),
        transformations=(
            merged(),
            columns(
                {
                    SERVICE: "Service",
                    ENVIRONMENT: "Environment",
                    "Value #A": "Last report",
                    "Value #B": "Silent for",
                    "Value #C": "Processes",
                },
                hidden=("Time",),
            ),
        ),
        overrides=(
            ("Last report", {"unit": "dateTimeAsIso"}),
            (
                "Silent for",
                {
                    "unit": "s",
                    "thresholds": {
                        "mode": "absolute",
                        "steps": [{"color": colour, "value": value} for value, colour in SILENT_S],
                    },
                    "custom.cellOptions": {"type": "color-text"},
                },
            ),
        ),
        sort_by="Silent for",
    )


def bounds() -> TimeSeries:
    """What was forgotten to bound memory."""
    return bars(
        Caption(
            22,
            "Forgotten to stay within bounds",
            "Labels folded into `other` and runs forgotten before their end, by service.",
            empty="Nothing",
        ),
        promql(queries.bounded_over_time(), f"{{{{{SERVICE}}}}} {{{{{STAGE}}}}}"),
    )


# What we cost.


def duration() -> TimeSeries:
    """How long compaction takes."""
    return timeseries(
        Caption(
            30,
            "Compaction of one failure",
            "Quantiles over all services: half, 95 % and 99 % of the failures were compacted faster.",
            unit="s",
            empty=NO_FAILURE,
        ),
        promql(queries.duration_quantile(0.5), "50 %", ref="A", exemplar=True),
        promql(queries.duration_quantile(0.95), "95 %", ref="B"),
        promql(queries.duration_quantile(0.99), "99 %", ref="C"),
    )


# The agents' SDK.


def sdk_dropped() -> TimeSeries:
    """What did not leave the agents."""
    return bars(
        Caption(
            40,
            "Dropped by the SDK",
            "Spans and log records that never left the agents' processes, by what went wrong: queue_full, "
            "or the error of the export. Needs the SDK's own metrics.",
            empty=f"Nothing dropped, or not measured: {NO_SDK}",
        ),
        promql(queries.sdk_dropped(), f"{{{{{SERVICE}}}}} {{{{{queries.COMPONENT}}}}} {{{{{ERROR_TYPE}}}}}"),
    )


def sdk_queue() -> TimeSeries:
    """What waits in the agents."""
    return timeseries(
        Caption(
            41,
            "Span queue of the SDK",
            "Spans that wait in the agents for their export, and how many may. Needs the SDK's own metrics.",
            empty=NO_SDK,
        ),
        promql(queries.sdk_queue("size"), f"{{{{{SERVICE}}}}} waiting", ref="A"),
        promql(queries.sdk_queue("capacity"), f"{{{{{SERVICE}}}}} at most", ref="B"),
    )


# The collector.


def received() -> TimeSeries:
    """What comes in."""
    return timeseries(
        Caption(
            50,
            "Received",
            "Spans, metric points and log records that the collector took in, per second.",
            unit="suffix: /s",
            empty=NO_COLLECTOR,
        ),
        *(
            promql(queries.collector("receiver_accepted", signal), signal.replace("_", " "), ref=ref)
            for ref, signal in zip("ABC", queries.SIGNALS, strict=True)
        ),
    )


def exported() -> TimeSeries:
    """What goes out."""
    return timeseries(
        Caption(
            51,
            "Exported",
            "Spans, metric points and log records that reached Tempo, Prometheus and Loki, per second. "
            "Fewer spans than received: only a share of the healthy traces is kept.",
            unit="suffix: /s",
            empty=NO_COLLECTOR,
        ),
        *(
            promql(queries.collector("exporter_sent", signal), signal.replace("_", " "), ref=ref)
            for ref, signal in zip("ABC", queries.SIGNALS, strict=True)
        ),
    )


def lost() -> TimeSeries:
    """What was turned away or lost."""
    return bars(
        Caption(
            52,
            "Refused and lost",
            "refused: the collector was at its memory limit, and the agents try again. send failed: a back "
            "end refused it for good. queue full: the queue on disk holds no more.",
            empty="Nothing",
        ),
        *(
            promql(
                queries.collector_lost(signal),
                f"{signal.replace('_', ' ')} {{{{kind}}}} {{{{receiver}}}}{{{{exporter}}}}",
                ref=ref,
            )
            for ref, signal in zip("ABC", queries.SIGNALS, strict=True)
        ),
    )


def queue() -> TimeSeries:
    """What waits for a back end."""
    return timeseries(
        Caption(
            53,
            "Sending queues",
            "What waits on disk for each back end. A queue that grows means that its back end is down or "
            "too slow; it drains by itself.",
            unit="bytes",
            empty=NO_COLLECTOR,
        ),
        promql(queries.queue_size(), "{{exporter}}"),
    )


def queue_used() -> BarGauge:
    """How full the queues are."""
    return bar_gauge(
        Caption(
            54,
            "Queues, share in use",
            "How full the queue of each back end is now. At 100 % what comes in is refused.",
            unit="percentunit",
            empty=NO_COLLECTOR,
        ),
        queries.queue_used(),
        "exporter",
    ).max(1)


def memory() -> TimeSeries:
    """What the collector needs."""
    return timeseries(
        Caption(
            55,
            "Memory of the collector",
            "Resident memory. At MEMORY_LIMIT_MIB (400 as shipped) of heap the collector refuses work.",
            unit="bytes",
            empty=NO_COLLECTOR,
        ),
        promql(queries.collector_memory(), f"{{{{{SERVICE}}}}}"),
    )


def uptime() -> Stat:
    """Since when the collector runs."""
    return stat(
        Caption(
            56,
            "Uptime",
            "Since its last start; of several collectors, the youngest. A collector that restarts again "
            "and again is short of memory.",
            unit="s",
            empty=NO_COLLECTOR,
        ),
        instant(queries.collector_uptime()),
        decimals=None,
    )


# Prometheus.


def rejected() -> TimeSeries:
    """What Prometheus did not take."""
    return bars(
        Caption(
            60,
            "Samples that Prometheus refused",
            "By reason. too old: beyond the out-of-order window, after an outage that lasted longer. "
            "duplicate: two processes write the same series; give each its own service.instance.id.",
            empty=f"None, or {NO_PROMETHEUS}",
        ),
        promql(queries.rejected_samples(), "{{kind}}"),
    )
