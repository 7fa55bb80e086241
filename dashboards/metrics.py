"""
What the library's telemetry is called once it is in Prometheus.

Prometheus translates OTLP names (`UnderscoreEscapingWithSuffixes`): dots become underscores, a unit becomes a suffix
unless it stands in braces, and counters end in `_total`. Names come from `semconv`, so that none is spelled twice.
"""

from __future__ import annotations

import re
from typing import Final

from otel_errcompact.otel import semconv

UNIT_SUFFIXES: Final = {"s": "_seconds"}
"""Of the units in use; those in braces, like `{error}`, leave no trace in a name."""


def label(attribute: str) -> str:
    """Return the label an attribute arrives as."""
    return re.sub(r"[^a-zA-Z0-9_:]", "_", attribute)


def gauge(instrument: str, unit: str = "") -> str:
    """Return the metric a gauge arrives as."""
    return label(instrument) + UNIT_SUFFIXES.get(unit, "")


def counter(instrument: str, unit: str = "") -> str:
    """Return the metric a counter arrives as."""
    return gauge(instrument, unit) + "_total"


def histogram(instrument: str, part: str, unit: str = "") -> str:
    """Return the metric that one part of a histogram (`bucket`, `sum` or `count`) arrives as."""
    return f"{gauge(instrument, unit)}_{part}"


# Metrics of the library.
ERRORS: Final = counter(semconv.ERRORS)
CLASS_INFO: Final = gauge(semconv.CLASS_INFO)
CLASS_TOKENS: Final = counter(semconv.CLASS_TOKENS)
RUN_STREAK: Final = gauge(semconv.RUN_STREAK)
RUN_PENDING: Final = gauge(semconv.RUN_PENDING, "s")
RUN_TOKENS: Final = gauge(semconv.RUN_TOKENS)
ESCALATIONS: Final = counter(semconv.ESCALATIONS)
RESOLUTIONS: Final = counter(semconv.RESOLUTIONS)
REFUSALS: Final = counter(semconv.REFUSALS)
REPEATS: Final = counter(semconv.REPEATS)
MEMBERS: Final = counter(semconv.MEMBERS)
RUNS: Final = counter(semconv.RUNS)
CONTEXT_TOKENS: Final = counter(semconv.CONTEXT_TOKENS)
COMPACTION_DURATION_BUCKET: Final = histogram(semconv.COMPACTION_DURATION, "bucket", "s")
COMPACTION_DURATION_SUM: Final = histogram(semconv.COMPACTION_DURATION, "sum", "s")
COMPACTION_DURATION_COUNT: Final = histogram(semconv.COMPACTION_DURATION, "count", "s")
INTERNAL_FAILURES: Final = counter(semconv.INTERNAL_FAILURES)
COMPACTIONS: Final = counter(semconv.COMPACTIONS)
LAYER_TOKENS: Final = counter(semconv.LAYER_TOKENS)
LAYER_DURATION_BUCKET: Final = histogram(semconv.LAYER_DURATION, "bucket", "s")
OVERFLOWS: Final = counter(semconv.OVERFLOWS)

# Metrics of others: the model's whole bill, whichever instrumentation counts it, and Prometheus' own.
TOKEN_USAGE_SUM: Final = histogram("gen_ai.client.token.usage", "sum")
TOKEN_USAGE_COUNT: Final = histogram("gen_ai.client.token.usage", "count")
TARGET_INFO: Final = "target_info"
ALERTS: Final = "ALERTS"

# What Prometheus records of each class.
CLASS_ROW: Final = "errcompact:class:row"
CLASS_STATE: Final = "errcompact:class:state"
CLASS_INFO_KEPT: Final = "errcompact:class:info"
CLASS_FAILURES: Final = "errcompact:class:failures"
CLASS_FAILURES_HOUR: Final = "errcompact:class:failures1h"
CLASS_RUNS: Final = "errcompact:class:runs24h"
CLASS_RESOLVED: Final = "errcompact:class:resolved_share"
CLASS_FIRST_SEEN: Final = "errcompact:class:first_seen"
CLASS_LAST_SEEN: Final = "errcompact:class:last_seen"
CLASS_FAILING_SINCE: Final = "errcompact:class:failing_since"

# Labels.
ERROR_TYPE: Final = label(semconv.ERROR_TYPE)
TOOL: Final = label(semconv.GEN_AI_TOOL_NAME)
AGENT: Final = label(semconv.GEN_AI_AGENT_NAME)
CLASS: Final = label(semconv.CLASS)
OUTCOME: Final = label(semconv.OUTCOME)
MEMBER: Final = label(semconv.MEMBER)
CERTAINTY: Final = label(semconv.CERTAINTY)
LOCATION: Final = label(semconv.LOCATION)
TEMPLATE: Final = label(semconv.TEMPLATE)
HINT: Final = label(semconv.HINT)
TRANSIENT: Final = label(semconv.TRANSIENT)
STATE: Final = "state"
"""Of a row, as `dashboards.classes` defines it."""
THRESHOLD: Final = label(semconv.THRESHOLD)
ACTION: Final = label(semconv.ACTION)
RESULT: Final = label(semconv.RESULT)
RESOLUTION: Final = label(semconv.RESOLUTION)
FORM: Final = label(semconv.FORM)
STAGE: Final = label(semconv.STAGE)
LAYER: Final = label(semconv.LAYER)
REASON: Final = label(semconv.REASON)
RUN_ID: Final = label(semconv.RUN_ID)
"""Of log records in Loki, and of gauges of the newest 50 runs: too many for labels of counters."""
TOKEN_TYPE: Final = label("gen_ai.token.type")
MODEL: Final = label("gen_ai.request.model")

SINCE: Final = "since"
"""Since when a class fails without a long pause, in seconds; a label of the values of alerts only."""

MESSAGE: Final = "message"
"""What a series of a class is called in a legend; given by the query."""

# Labels made of resource attributes that Prometheus is told to promote.
SERVICE: Final = label("service.name")
ENVIRONMENT: Final = label("deployment.environment.name")
SERVICE_VERSION: Final = label("service.version")

NAMESPACE: Final = label("service.namespace")
"""Which team owns a service, as the semantic conventions suggest."""

# What an occurrence can be, and which of it is a failure an operator cares about.
NEW: Final = "new"
REPEAT: Final = "repeat"
AFTER_ESCALATION: Final = "after_escalation"
HANDLED: Final = semconv.HANDLED
