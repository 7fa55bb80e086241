"""
Series that Prometheus computes once for all readers: windows of counters, by service, run and token.

`dashboards.classes` holds those of error classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from dashboards.metrics import ENVIRONMENT, NAMESPACE, SERVICE_VERSION
from dashboards.metrics import SERVICE as NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

Pace = Literal["critical", "classes", "rows", "slow", "windows", "history", "kept"]

INTERVAL_S: Final[Mapping[Pace, int]] = {
    "critical": 5,
    "classes": 10,
    "rows": 30,
    "slow": 30,
    "windows": 300,
    "history": 60,
    "kept": 1800,
}
"""
How often a group is evaluated.

What pages a person has a group of its own, which no number of error classes can hold up. What looks back over a day
reads what is recorded as seldom as its window is wide: a subquery decodes every sample below it, whatever its step.
"""

WINDOW: Final = "5m"
WINDOW_S: Final = 300
MEMORY: Final = "1h"
"""How far back the value of a counter is looked for that was not heard of for a while."""

CARRIED: Final = "2d"
"""How far back a value is found again after Prometheus was away, in a copy that is recorded seldom."""

LATELY: Final = "1h"
"""Longer than from one copy to the next: what came in between is found again for another half hour at least."""

KEPT_S: Final = 30 * 24 * 3600
"""How long a class or a service is remembered that was not heard of again."""

MIN_INPUT_TOKENS: Final = 10_000
SHARE_WINDOW: Final = "30m"

STEADY_SHARE: Final = 0.9
"""A service that reported for this share of an hour does not end by itself; a batch job may."""

SERVICE: Final = (NAME, ENVIRONMENT, NAMESPACE)
"""The labels that identify a service, and its owner."""

ON_SERVICE: Final = f"on ({', '.join(SERVICE)})"
VERSION: Final = SERVICE_VERSION

FAILURE: Final = 'errcompact_outcome!="handled"'
BOUNDS: Final = (
    'errcompact_stage!~"run_evicted|class_label_overflow|label_overflow|boundary_dropped|trajectory_rotated"'
)
"""What was forgotten to bound memory, or left open by the application, is no fault; the health dashboard shows it."""

SIGNALS: Final = ("spans", "metric_points", "log_records")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """
    A series computed once for several readers.
    """

    name: str
    expr: str
    pace: Pace = "slow"
    labels: tuple[tuple[str, str], ...] = ()


def new(selector: str, by: tuple[str, ...]) -> str:
    """
    Return PromQL for what a counter has gained within the window, summed over all processes.

    `increase` answers nothing for the first sample of a series and extrapolates later ones. So: the newest value less
    the last one from before the window. A process that has just begun has none, and a restarted one has been below it
    since; for both the newest value itself is what is new. The value from before is looked for through an hour, or
    everything ever counted would pass for new when a connection comes back after a gap: in steps as long as Prometheus
    itself looks back, which reads 13 samples of a series and not 360.
    """
    newest = f"last_over_time({selector}[{WINDOW}])"
    before = f"({selector} offset {WINDOW} or last_over_time({selector}[{MEMORY}:{WINDOW}] offset {WINDOW}))"
    return (
        f"sum by ({', '.join(by)}) (\n  {newest} - ({before} <= min_over_time({selector}[{WINDOW}]))\n  or {newest}\n)"
    )


def carried(name: str) -> str:
    """Return what a rule said before, also where Prometheus was away since."""
    lately = f"last_over_time({name}[{LATELY}:{WINDOW}])"
    return f"({name} or {lately} or last_over_time({kept(name)}[{CARRIED}]))"


def kept(name: str) -> str:
    """Return the name of the copy of a series that is recorded seldom, to be found again over days."""
    return name.replace("errcompact:", "errcompact:kept:")


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
    )


def _tokens_share(form: str) -> Recording:
    by = ", ".join(SERVICE)
    runs = WINDOW_S // INTERVAL_S["slow"]
    errors = f'sum_over_time(errcompact:context_tokens:new5m{{errcompact_form="{form}"}}[{SHARE_WINDOW}])'
    whole = f"sum_over_time(errcompact:input_tokens:new5m[{SHARE_WINDOW}])"
    return Recording(
        name="errcompact:context_tokens:share30m",
        expr=f"sum by ({by}) ({errors})\n/ ({whole} >= {MIN_INPUT_TOKENS * runs})",
        labels=(("errcompact_form", form),),
    )


def _reporting(series: str, component: str) -> Recording:
    return Recording(
        name="errcompact:service:reporting",
        expr=f"count by ({', '.join(SERVICE)}) ({series})",
        labels=(("component", component),),
    )


def _first_reported() -> str:
    # Who sends plain exceptions is heard of by its failures only.
    by = ", ".join(SERVICE)
    reporting = 'errcompact:service:reporting{component="agent"}'
    heard = f"group by ({by}) ({reporting} or errcompact:class:first_seen)"
    remembered = f"({heard} or last_over_time({reporting}[{KEPT_S // 86_400}d:6h]))"
    return f"({carried('errcompact:service:first_seen')} and {ON_SERVICE} {remembered})\nor {heard} * 0 + time()"


def _first_of_version() -> str:
    # Exact to a minute. After a day a version is no news.
    reporting = "errcompact:versions:reporting"
    by = ", ".join((*SERVICE, VERSION))
    return f"min by ({by}) (min_over_time(timestamp({reporting})[1d:1m]) or timestamp({reporting}))"


RECORDINGS: Final[tuple[Recording, ...]] = (
    Recording(
        name="errcompact:escalations:new5m",
        expr=new(
            "errcompact_escalations_total",
            (*SERVICE, "gen_ai_agent_name", "errcompact_threshold", "errcompact_action", "errcompact_class"),
        ),
        pace="critical",
    ),
    Recording(
        name="errcompact:after_escalation:new5m",
        expr=new(
            'errcompact_errors_total{errcompact_outcome="after_escalation"}',
            (*SERVICE, "gen_ai_agent_name", "gen_ai_tool_name", "error_type", "errcompact_class"),
        ),
        pace="critical",
    ),
    Recording(
        name="errcompact:runs:new5m",
        expr=new("errcompact_runs_total", (*SERVICE, "errcompact_result")),
    ),
    Recording(
        name="errcompact:context_tokens:new5m",
        expr=new("errcompact_context_tokens_total", (*SERVICE, "errcompact_form")),
    ),
    Recording(
        name="errcompact:input_tokens:new5m",
        expr=new('gen_ai_client_token_usage_sum{gen_ai_token_type="input"}', SERVICE),
    ),
    Recording(
        name="errcompact:internal_failures:new5m",
        expr=new(f"errcompact_internal_failures_total{{{BOUNDS}}}", (*SERVICE, "errcompact_stage")),
    ),
    *_collector_failures(),
    Recording(
        name="errcompact:versions:reporting",
        expr=(
            f"count by ({', '.join((*SERVICE, VERSION))}) "
            f'(errcompact_context_tokens_total{{errcompact_form="raw", {VERSION}!=""}})'
        ),
    ),
    Recording(name="errcompact:version:first_seen", expr=_first_of_version()),
    *(_failed_share(window) for window in ("5m", "30m", "1h", "6h")),
    _tokens_share("digest"),
    _tokens_share("sent"),
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
    ),
    Recording(name="errcompact:service:first_seen", expr=_first_reported()),
    Recording(name=kept("errcompact:service:first_seen"), expr="errcompact:service:first_seen", pace="kept"),
)
