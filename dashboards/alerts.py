"""
Every recording rule and every alert, once and as data; `prometheus_rules` and `grafana_rules` write them down.

A text holds words in double square brackets, such as `[[service]]`; each writer puts its own template there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from dashboards.objectives import ALLOWED_BAD_RUNS, MAX_SHARE, RUN_OBJECTIVE
from otel_errcompact.config import Options

if TYPE_CHECKING:
    from collections.abc import Mapping

Severity = Literal["critical", "warning", "info"]
Unit = Literal["count", "percent"]
Pace = Literal["fast", "slow"]

INTERVAL_S: Final[Mapping[Pace, int]] = {"fast": 5, "slow": 30}
"""How often a group is evaluated: what pages reacts within seconds, what looks back hours need not."""

WINDOW: Final = "5m"
WINDOW_S: Final = 300
MEMORY: Final = "1h"
"""How far back the value of a counter is looked for that was not heard of for a while."""

RUNBOOK_URL: Final = os.environ.get(
    "ERRCOMPACT_RUNBOOK_URL", "https://github.com/otel-errcompact/otel-errcompact/blob/main/dashboards/RUNBOOK.md"
)
GRAFANA_URL: Final = os.environ.get("ERRCOMPACT_GRAFANA_URL", "http://localhost:3000")
"""Where a person who was paged finds Grafana; only texts hold it."""

THRESHOLDS: Final = Options().thresholds

FAST_BURN: Final = 14.4
SLOW_BURN: Final = 6.0
"""Burn rates at which 2 % of a month's budget are gone within 1 h, and 5 % within 6 h (Google's SRE workbook)."""

MIN_RUNS: Final = 10
"""Runs in the long window below which a share says nothing."""

MAX_REPEATS: Final = 10
"""Identical successes within the window at which the optional alert fires."""

MIN_INPUT_TOKENS: Final = 10_000
SHARE_WINDOW: Final = "30m"

KNOWN_FOR: Final = "1d"
"""A class is new that was not seen for so long."""

SILENT_FOR: Final = "1h"
"""A class is back that had not failed for so long, although it is known."""

FRESH_S: Final = 90
"""A gauge older than this is of a run that has ended: the slowest usual export interval, and a half."""

STEADY_SHARE: Final = 0.9
"""A service that reported for this share of an hour does not end by itself; a batch job may."""

SERVICE: Final = ("service_name", "deployment_environment_name")
VERSION: Final = "service_version"
CLASS: Final = ("error_type", "errcompact_class")
OVERFLOW: Final = 'errcompact_class!="other"'
"""Beyond a process's bound on labels, classes share one label that says nothing of any of them."""

FAILURE: Final = 'errcompact_outcome!="handled"'
BOUNDS: Final = (
    'errcompact_stage!~"run_evicted|class_label_overflow|label_overflow|boundary_dropped|trajectory_rotated"'
)
"""What was forgotten to bound memory, or left open by the application, is no fault; the health dashboard shows it."""

SIGNALS: Final = ("spans", "metric_points", "log_records")


class Panel(NamedTuple):
    """
    A panel an alert leads to, found by its title.
    """

    dashboard: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """
    A series computed once for several readers.
    """

    name: str
    expr: str
    pace: Pace = "fast"
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """
    One alert.
    """

    name: str
    query: str
    """The value, by the labels that identify what it is about."""

    at_least: float
    """The value from which on it fires."""

    unit: Unit = "count"
    pace: Pace = "fast"
    wait: str = ""
    """How long the value must stay there."""

    keep: str = ""
    """How long the alert stays when the value has fallen, lest it flap."""

    severity: Severity
    summary: str
    """One sentence to a person who was woken by it."""

    description: str
    panel: Panel
    optional: bool = False
    """Whether it fires too often for most to be on unless an operator asks for it."""

    @property
    def runbook_url(self) -> str:
        """The alert's own heading in the runbook."""
        return f"{RUNBOOK_URL}#{self.name.lower()}"


def new(selector: str, by: tuple[str, ...]) -> str:
    """
    Return PromQL for what a counter has gained within the window, summed over all processes.

    `increase` answers nothing for the first sample of a series and extrapolates later ones. So: the newest value less
    the last one from before the window. A process that has just begun has none, and a restarted one has been below it
    since; for both the newest value itself is what is new. The value from before is looked for through an hour, or
    everything ever counted would pass for new when a connection comes back after a gap.
    """
    now = f"last_over_time({selector}[{WINDOW}])"
    before = f"last_over_time({selector}[{MEMORY}] offset {WINDOW})"
    return (
        f"sum by ({', '.join(by)}) (\n"
        f"  (\n"
        f"    {now}\n"
        f"      - {before}\n"
        f"    unless min_over_time({selector}[{WINDOW}]) < {before}\n"
        f"  )\n"
        f"  or {now}\n"
        f")"
    )


def _collector_failures() -> tuple[Recording, ...]:
    problems = (
        ("exporter", "send_failed", "not sent"),
        ("exporter", "enqueue_failed", "not queued"),
        ("receiver", "refused", "refused"),
    )
    return tuple(
        Recording(
            name="errcompact:collector_failures:new5m",
            expr=new(f"otelcol_{part}_{problem}_{signal}_total", (*SERVICE, part)),
            labels=(("problem", words), ("signal", signal.replace("_", " "))),
        )
        for part, problem, words in problems
        for signal in SIGNALS
    )


def _known() -> str:
    return f"present_over_time(errcompact:classes:seen[{KNOWN_FOR}] offset 10m)"


def _back() -> str:
    silent = f"max_over_time(errcompact:classes:seen[{SILENT_FOR}] offset 10m) > 0"
    known = f"max_over_time(errcompact:classes:seen[{KNOWN_FOR}] offset 10m) > 0"
    return f"(errcompact:classes:seen > 0)\nand ({known})\nunless ({silent})"


def _new_in_version() -> str:
    by, version = ", ".join(SERVICE), ", ".join((*SERVICE, VERSION))
    # When each version was first seen, to five minutes; of the first one nothing can be said.
    first = (
        f"min by ({version}) (min_over_time(timestamp(errcompact:versions:reporting)[{KNOWN_FOR}:5m]))\n"
        f"    or min by ({version}) (timestamp(errcompact:versions:reporting))"
    )
    return (
        f"(\n"
        f"  (errcompact:classes:seen_in_version > 0)\n"
        f"  and on ({version}) (\n"
        f"    ({first})\n"
        f"    > on ({by}) group_left () min by ({by}) ({first})\n"
        f"  )\n"
        f")\n"
        f"unless on ({by}, errcompact_class) {_known()}"
    )


def _failed_share(window: str) -> Recording:
    # Each run stands in a 5-minute count for the same number of evaluations, so sums of these counts compare as runs
    # do; and unlike the counters themselves they outlive the processes that counted.
    by = ", ".join(SERVICE)
    return Recording(
        name=f"errcompact:runs:failed_share{window}",
        expr=(
            f'sum by ({by}) (sum_over_time(errcompact:runs:new5m{{errcompact_result=~"failed|halted"}}[{window}]))\n'
            f"/ (sum by ({by}) (sum_over_time(errcompact:runs:new5m[{window}])) > 0)"
        ),
        pace="slow",
    )


def _tokens_share(form: str) -> Recording:
    by = ", ".join(SERVICE)
    runs = WINDOW_S // INTERVAL_S["slow"]
    errors = f'sum_over_time(errcompact:context_tokens:new5m{{errcompact_form="{form}"}}[{SHARE_WINDOW}])'
    whole = f"sum_over_time(errcompact:input_tokens:new5m[{SHARE_WINDOW}])"
    return Recording(
        name="errcompact:context_tokens:share30m",
        expr=f"sum by ({by}) ({errors})\n/ ({whole} >= {MIN_INPUT_TOKENS * runs})",
        pace="slow",
        labels=(("errcompact_form", form),),
    )


def _reporting(series: str, component: str) -> Recording:
    return Recording(
        name="errcompact:service:reporting",
        expr=f"count by ({', '.join(SERVICE)}) ({series})",
        pace="slow",
        labels=(("component", component),),
    )


RECORDINGS: Final[tuple[Recording, ...]] = (
    Recording(
        name="errcompact:errors:new5m",
        expr=new(
            f"errcompact_errors_total{{{FAILURE}}}",
            (*SERVICE, "gen_ai_agent_name", "gen_ai_tool_name", *CLASS, "errcompact_outcome"),
        ),
    ),
    Recording(
        name="errcompact:escalations:new5m",
        expr=new(
            "errcompact_escalations_total",
            (*SERVICE, "gen_ai_agent_name", "errcompact_threshold", "errcompact_action", "errcompact_class"),
        ),
    ),
    Recording(
        name="errcompact:runs:new5m",
        expr=new("errcompact_runs_total", (*SERVICE, "errcompact_result")),
        pace="slow",
    ),
    Recording(
        name="errcompact:context_tokens:new5m",
        expr=new("errcompact_context_tokens_total", (*SERVICE, "errcompact_form")),
        pace="slow",
    ),
    Recording(
        name="errcompact:input_tokens:new5m",
        expr=new('gen_ai_client_token_usage_sum{gen_ai_token_type="input"}', SERVICE),
        pace="slow",
    ),
    Recording(
        name="errcompact:internal_failures:new5m",
        expr=new(f"errcompact_internal_failures_total{{{BOUNDS}}}", (*SERVICE, "errcompact_stage")),
    ),
    *_collector_failures(),
    # Seldom enough that a day of it can be read for every class.
    Recording(
        name="errcompact:classes:seen",
        expr=f"sum by ({', '.join((*SERVICE, *CLASS))}) (errcompact:errors:new5m{{{OVERFLOW}}})",
        pace="slow",
    ),
    Recording(
        name="errcompact:classes:seen_in_version",
        expr=new(f'errcompact_errors_total{{{FAILURE}, {OVERFLOW}, {VERSION}!=""}}', (*SERVICE, VERSION, *CLASS)),
        pace="slow",
    ),
    Recording(
        name="errcompact:versions:reporting",
        expr=(
            f"count by ({', '.join((*SERVICE, VERSION))}) "
            f'(errcompact_context_tokens_total{{errcompact_form="raw", {VERSION}!=""}})'
        ),
        pace="slow",
    ),
    Recording(name="errcompact:classes:new_in_version", expr=_new_in_version(), pace="slow"),
    Recording(name="errcompact:classes:back", expr=_back(), pace="slow"),
    *(_failed_share(window) for window in ("5m", "30m", "1h", "6h")),
    _tokens_share("digest"),
    _tokens_share("raw"),
    # The library reports this counter from the start on, whether anything failed or not.
    _reporting('errcompact_context_tokens_total{errcompact_form="raw"}', "agent"),
    _reporting("otelcol_process_uptime_seconds_total", "collector"),
    Recording(
        name="errcompact:service:steady",
        expr=(
            "errcompact:service:reporting\n"
            "and count_over_time(errcompact:service:reporting[1h])"
            f" >= {STEADY_SHARE * 3600 / INTERVAL_S['slow']:.0f}"
        ),
        pace="slow",
    ),
)


def _percent(burn_rate: float) -> int:
    """The percentage of failing runs that spends the error budget `burn_rate` times as fast as it may be spent."""
    return round(100 * burn_rate * ALLOWED_BAD_RUNS)


def _burning(factor: float, long: str, short: str) -> str:
    limit = _percent(factor)
    runs = WINDOW_S // INTERVAL_S["slow"]
    return (
        f"(\n"
        f"  100 * errcompact:runs:failed_share{long} >= {limit}\n"
        f"  and 100 * errcompact:runs:failed_share{short} >= {limit}\n"
        f"  and sum by ({', '.join(SERVICE)}) (sum_over_time(errcompact:runs:new5m[{long}])) >= {MIN_RUNS * runs}\n"
        f")"
    )


_CLASS_TEXT: Final = "Error class [[class]]: [[template]]."

ALERTS: Final[tuple[Alert, ...]] = (
    Alert(
        name="AgentErrorRecurring",
        query=f"sum by ({', '.join((*SERVICE, *CLASS))}) (errcompact:errors:new5m{{{OVERFLOW}}})",
        at_least=THRESHOLDS.same,
        keep="5m",
        severity="warning",
        summary="[[type]] happened [[times]] within 5 minutes in [[service]].",
        description=f"{_CLASS_TEXT} One failure keeps coming back; agents pay for every attempt.",
        panel=Panel("errcompact-recurrence", "Top classes over time"),
    ),
    Alert(
        name="AgentRunEscalated",
        query='errcompact:escalations:new5m{errcompact_action!="unhandled"}',
        at_least=1,
        severity="critical",
        summary=(
            "[[agent]] in [[service]] could not get past a failure and escalated, [[times]] within 5 minutes; "
            "the answer was: [[action]]."
        ),
        description=f'The threshold "[[threshold]]" was reached. {_CLASS_TEXT}',
        panel=Panel("errcompact-escalations", "Escalations over time"),
    ),
    Alert(
        name="AgentEscalationUnhandled",
        query='errcompact:escalations:new5m{errcompact_action="unhandled"}',
        at_least=1,
        severity="warning",
        summary=(
            "[[agent]] in [[service]] reached a failure threshold and no handler decided, [[times]] within 5 minutes."
        ),
        description=f'The threshold "[[threshold]]" was reached, and the run goes on. {_CLASS_TEXT}',
        panel=Panel("errcompact-escalations", "Escalations by action"),
    ),
    Alert(
        name="AgentFailuresAfterEscalation",
        query=(
            f"sum by ({', '.join((*SERVICE, 'gen_ai_agent_name'))}) "
            '(errcompact:errors:new5m{errcompact_outcome="after_escalation"})'
        ),
        at_least=THRESHOLDS.same,
        severity="critical",
        summary="Runs of [[agent]] in [[service]] failed [[times]] more after an escalation, within 5 minutes.",
        description="Classes that escalated and were not resolved since fail again, in all runs of the agent.",
        panel=Panel("errcompact-escalations", "Failures after escalation"),
    ),
    Alert(
        name="AgentErrorBudgetBurning",
        query=f"{_burning(FAST_BURN, '1h', '5m')}\nor {_burning(SLOW_BURN, '6h', '30m')}",
        at_least=_percent(SLOW_BURN),
        unit="percent",
        pace="slow",
        severity="critical",
        summary="[[value]] of the agent runs in [[service]] end failed or halted.",
        description=(
            f"{100 * RUN_OBJECTIVE:.0f} % of all runs are meant to end neither failed nor halted; at this rate the "
            "error budget of a month is gone within days."
        ),
        panel=Panel("errcompact-escalations", "Failed or halted runs, share"),
    ),
    Alert(
        name="AgentErrorClassNew",
        query=f"errcompact:classes:seen unless present_over_time(errcompact:classes:seen[{KNOWN_FOR}] offset 10m)",
        at_least=1,
        pace="slow",
        severity="info",
        summary="[[type]] is new in [[service]]: [[times]] within 5 minutes, and never in the day before.",
        description=_CLASS_TEXT,
        panel=Panel("errcompact-recurrence", "New classes"),
    ),
    Alert(
        name="AgentErrorNewInVersion",
        query="errcompact:classes:new_in_version",
        at_least=1,
        pace="slow",
        severity="warning",
        summary="[[type]] is new in version [[version]] of [[service]]: [[times]] within 5 minutes.",
        description=f"{_CLASS_TEXT} No version of the service failed with it in the day before.",
        panel=Panel("errcompact-recurrence", "New classes"),
    ),
    Alert(
        name="AgentErrorBackAgain",
        query="errcompact:classes:back",
        at_least=1,
        pace="slow",
        severity="info",
        summary="[[type]] is back in [[service]]: [[times]] within 5 minutes, after an hour without it.",
        description=f"{_CLASS_TEXT} It had failed in the day before.",
        panel=Panel("errcompact-recurrence", "Top classes over time"),
        optional=True,
    ),
    Alert(
        name="AgentCallsRepeated",
        query=new("errcompact_repeats_total", (*SERVICE, "gen_ai_agent_name", "gen_ai_tool_name")),
        at_least=MAX_REPEATS,
        pace="slow",
        severity="info",
        summary="[[agent]] in [[service]] has repeated the same call[[tool]] [[times]] within 5 minutes.",
        description="The call succeeds each time with the same result: a poll that waits, or a loop.",
        panel=Panel("errcompact-escalations", "Repeated calls over time"),
        optional=True,
    ),
    Alert(
        name="AgentStreakNearThreshold",
        # A run that has ended reports its streak no more, but Prometheus answers with the last value for 5 minutes.
        query=(
            f"max by ({', '.join((*SERVICE, 'gen_ai_agent_name', 'gen_ai_tool_name', 'errcompact_class'))}) (\n"
            f"  errcompact_streak and time() - timestamp(errcompact_streak) < {FRESH_S}\n"
            ")"
        ),
        at_least=THRESHOLDS.same - 1,
        wait="2m",
        severity="info",
        summary=("[[agent]] in [[service]] has failed [[times]] in a row[[tool]] and is about to escalate."),
        description=f"A streak of {THRESHOLDS.same} escalates. {_CLASS_TEXT}",
        panel=Panel("errcompact-recurrence", "Live streaks"),
    ),
    Alert(
        name="AgentErrorShareHigh",
        query='100 * errcompact:context_tokens:share30m{errcompact_form="digest"}',
        at_least=100 * MAX_SHARE,
        unit="percent",
        pace="slow",
        wait="5m",
        keep="10m",
        severity="warning",
        summary="[[value]] of what the agents in [[service]] send to their models is error digests.",
        description=(
            "Over 30 minutes, of the input tokens the model calls report. Errors crowd out the task: fewer "
            "failures, or a smaller digest budget, is the remedy."
        ),
        panel=Panel("errcompact-tokens", "Share of errors in the context"),
    ),
    Alert(
        name="AgentErrorTelemetryFailing",
        query="errcompact:internal_failures:new5m or errcompact:collector_failures:new5m",
        at_least=1,
        keep="5m",
        severity="warning",
        summary="Telemetry of [[service]] is being lost: [[part]] ([[value]] within 5 minutes).",
        description="Agents are not affected, but what the dashboards and alerts say is incomplete.",
        panel=Panel("errcompact-health", "Own faults"),
    ),
    Alert(
        name="AgentTelemetrySilent",
        query=(f"last_over_time(errcompact:service:steady[{MEMORY}])\nunless errcompact:service:reporting"),
        at_least=1,
        pace="slow",
        wait="5m",
        severity="warning",
        summary="[[service]] has sent no telemetry for 10 minutes; [[value]] of its processes did before.",
        description=(
            "It had reported for most of an hour. While it is silent no other alert about it can fire, "
            "and where it is the collector, none at all."
        ),
        panel=Panel("errcompact-health", "Services reporting"),
    ),
)
