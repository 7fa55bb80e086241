"""
Every alert, once and as data; `prometheus_rules` and `grafana_rules` write them down.

A text holds words in double square brackets, such as `[[service]]`; each writer puts its own template there. What a
text says comes from labels of the value itself: a query for each firing alert would make the cost of a group grow with
what it is there to report.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from dashboards import classes
from dashboards.classes import NEW_CLASS, NEW_IN_VERSION, ON, PLACE, described
from dashboards.metrics import AGENT, CLASS, RUN_ID, RUN_STREAK, SINCE, STATE, THRESHOLD, TOOL
from dashboards.objectives import ALLOWED_BAD_RUNS, MAX_SHARE, RUN_OBJECTIVE
from dashboards.recordings import INTERVAL_S, MEMORY, SERVICE, WINDOW_S, new
from otel_errcompact.config import Options

if TYPE_CHECKING:
    from dashboards.recordings import Pace

Severity = Literal["critical", "warning", "info"]
Unit = Literal["count", "percent"]

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

FRESH_S: Final = 90
"""A gauge older than this is of a run that has ended: the slowest usual export interval, and a half."""

WORST: Final = 20
"""Of how many classes of a service one alert speaks; the rest is counted."""

DETAIL: Final = "errcompact-detail"
INBOX_TABLE: Final = "Classes: ${state:text}"


class Panel(NamedTuple):
    """
    A panel on which Grafana draws the state of its own rule, found by its title.
    """

    dashboard: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """
    One alert.
    """

    name: str
    query: str
    """The value, by the labels that identify what it is about, and those that only its text reads."""

    at_least: float
    """The value from which on it fires."""

    unit: Unit = "count"
    pace: Pace = "slow"
    wait: str = ""
    """How long the value must stay there."""

    keep: str = ""
    """How long the alert stays when the value has fallen, lest it flap."""

    severity: Severity
    summary: str
    """One sentence to a person who was woken by it."""

    description: str
    panel: Panel
    page: str = ""
    """The dashboard that its link opens; that of the panel if none is named."""

    only_read: tuple[str, ...] = ()
    """Labels that the text reads and that may change while the alert fires: its identity lacks them."""

    optional: bool = False
    """Whether it fires too often for most to be on unless an operator asks for it."""

    @property
    def runbook_url(self) -> str:
        """The alert's own heading in the runbook."""
        return f"{RUNBOOK_URL}#{self.name.lower()}"


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


_BY_SERVICE: Final = f"by ({', '.join(SERVICE)})"


def _worst(failing: str) -> str:
    """Return the classes that fail most in each service, with the labels that the texts read."""
    worst = f"topk {_BY_SERVICE} ({WORST}, {failing})"
    # A class that has just begun has no row yet.
    begun = f"(errcompact:class:failing_since and {ON} {worst} or {ON} {worst} * 0 + time())"
    since = f'count_values by ({", ".join(PLACE)}) ("{SINCE}", floor({begun}))'
    return f"{described(worst, *classes.TEXTS, AGENT)}\n* {ON} group_left ({SINCE}) {since}"


def _rest(failing: str, kind: str) -> str:
    return f'label_replace(count {_BY_SERVICE} ({failing}) - {WORST} > 0, "kind", "{kind}", "", "")'


def _in_state(state: classes.State) -> str:
    return f'((errcompact:class:new5m >= 1) and {ON} errcompact:class:state{{{STATE}="{state.name}"}})'


def _of_run(values: str, *also: str, runs: str = f'{RUN_STREAK}{{{THRESHOLD}!=""}}') -> str:
    """Return the greatest values of each service with classes in words, and the run that is deepest in it."""
    values = f"topk {_BY_SERVICE} ({WORST}, {values})"
    place = f"({', '.join((*PLACE, AGENT))})"
    runs = f"topk by {place} (1, {runs}) ^ 0"
    run = f"* on {place} group_left ({RUN_ID}) ({runs} or on {place} group by {place} ({values}))"
    texts = (label for label in classes.TEXTS if label not in also)
    return f"{described(values, *texts, at_once=True)}\n{run}"


RECURRING: Final = f"(errcompact:class:new5m >= {THRESHOLDS.same})"
NEW_NOW: Final = _in_state(NEW_CLASS)
VERSION_NOW: Final = (
    f"((errcompact:class:new_in_version * 0 + {ON} group_left () (errcompact:class:new5m >= 1)) "
    f'and {ON} errcompact:class:state{{{STATE}="{NEW_IN_VERSION.name}"}})'
)

_NEAR: Final = f"{RUN_STREAK} < {THRESHOLDS.same} and time() - timestamp({RUN_STREAK}) < {FRESH_S}"
ANSWERED: Final = 'errcompact:escalations:new5m{errcompact_action!="unhandled"}'
UNANSWERED: Final = 'errcompact:escalations:new5m{errcompact_action="unhandled"}'
AFTER: Final = "errcompact:after_escalation:new5m"
NEAR: Final = f"max by ({', '.join((*SERVICE, AGENT, TOOL, CLASS))}) ({_NEAR})"

_OF_CLASS: Final = (*classes.TEXTS, AGENT, SINCE)
_OF_RUN: Final = (*classes.TEXTS, RUN_ID)
_CLASS_TEXT: Final = "[[message]][[where]].[[owner]][[since]]"
_HINT: Final = "[[hint]]"

ALERTS: Final[tuple[Alert, ...]] = (
    Alert(
        name="AgentErrorRecurring",
        query=_worst(RECURRING),
        at_least=THRESHOLDS.same,
        pace="classes",
        keep="5m",
        severity="warning",
        summary="[[type]] happened [[times]] within 5 minutes in [[service]][[tool]].",
        description=(
            f"{_CLASS_TEXT} Agents pay for every attempt. First: open the class and read its newest raw error.{_HINT}"
        ),
        panel=Panel("errcompact-inbox", INBOX_TABLE),
        page=DETAIL,
        only_read=_OF_CLASS,
    ),
    Alert(
        name="AgentErrorsManyClasses",
        query=" or ".join(
            _rest(failing, kind)
            for failing, kind in (
                (RECURRING, "recurring"),
                (NEW_NOW, "new"),
                (VERSION_NOW, "new in a version"),
                (f"{ANSWERED} >= 1", "escalated, by agent"),
                (f"{UNANSWERED} >= 1", "escalated without a decision, by agent"),
                (f"{AFTER} >= {THRESHOLDS.same}", "failing after an escalation, by agent"),
                (f"{NEAR} >= {THRESHOLDS.same - 1}", "about to escalate, by agent"),
            )
        ),
        at_least=1,
        pace="rows",
        keep="5m",
        severity="warning",
        summary=(
            f"Error classes of [[service]] that are [[kind]]: [[value]] more than the {WORST} with alerts of their own."
        ),
        description=(
            "So many at once have one cause more often than many: a deployment, a network, a credential, a quota."
            "[[owner]] First: open the inbox and see what most of them share."
        ),
        panel=Panel("errcompact-inbox", INBOX_TABLE),
    ),
    Alert(
        name="AgentRunEscalated",
        query=_of_run(ANSWERED),
        at_least=1,
        pace="critical",
        severity="critical",
        summary=(
            "[[agent]] in [[service]] could not get past a failure and escalated, [[times]] within 5 minutes; "
            "the answer was: [[action]]."
        ),
        description=(
            f'The threshold "[[threshold]]" was reached[[tool]]. [[type]]: {_CLASS_TEXT}[[run]] '
            f"First: open the run, and answer it if it waits.{_HINT}"
        ),
        panel=Panel("errcompact-escalations", "Escalations over time"),
        page=DETAIL,
        only_read=_OF_RUN,
    ),
    Alert(
        name="AgentEscalationUnhandled",
        query=_of_run(UNANSWERED),
        at_least=1,
        pace="critical",
        severity="warning",
        summary=(
            "[[agent]] in [[service]] reached a failure threshold and no handler decided, [[times]] within 5 minutes."
        ),
        description=(
            f'The threshold "[[threshold]]" was reached[[tool]], and the run continues. [[type]]: {_CLASS_TEXT}[[run]] '
            f"First: open the run and see whether it still fails.{_HINT}"
        ),
        panel=Panel("errcompact-escalations", "Escalations by action"),
        page=DETAIL,
        only_read=_OF_RUN,
    ),
    Alert(
        name="AgentFailuresAfterEscalation",
        query=_of_run(AFTER, TOOL, "error_type"),
        at_least=THRESHOLDS.same,
        pace="critical",
        severity="critical",
        summary="[[agent]] in [[service]] failed [[times]] more[[tool]] after an escalation, within 5 minutes.",
        description=(
            f"[[type]]: {_CLASS_TEXT} The class had escalated and was not resolved since; the count is of all "
            f"runs of the agent.[[run]] First: open the run and stop it if it still fails.{_HINT}"
        ),
        panel=Panel("errcompact-escalations", "Failures after escalation"),
        page=DETAIL,
        only_read=tuple(label for label in _OF_RUN if label not in {TOOL, "error_type"}),
    ),
    Alert(
        name="AgentErrorBudgetBurning",
        query=f"{_burning(FAST_BURN, '1h', '5m')}\nor {_burning(SLOW_BURN, '6h', '30m')}",
        at_least=_percent(SLOW_BURN),
        unit="percent",
        severity="critical",
        summary="[[value]] of the agent runs in [[service]] end failed or halted.",
        description=(
            f"{100 * RUN_OBJECTIVE:.0f} % of all runs are meant to end neither failed nor halted; at this rate the "
            "error budget of a month is gone within days.[[owner]] First: see which agent's runs fail."
        ),
        panel=Panel("errcompact-escalations", "Failed or halted runs, share"),
    ),
    Alert(
        name="AgentErrorClassNew",
        query=_worst(NEW_NOW),
        at_least=1,
        pace="rows",
        severity="info",
        summary="[[type]] is new in [[service]][[tool]]: [[times]] within 5 minutes.",
        description=f"{_CLASS_TEXT} The service had been recorded for a day without it.{_HINT}",
        panel=Panel("errcompact-inbox", INBOX_TABLE),
        page=DETAIL,
        only_read=_OF_CLASS,
    ),
    Alert(
        name="AgentErrorNewInVersion",
        query=_worst(VERSION_NOW),
        at_least=1,
        pace="rows",
        severity="warning",
        summary="[[type]] is new in version [[version]] of [[service]][[tool]]: [[times]] within 5 minutes.",
        description=(
            f"{_CLASS_TEXT} No version before has failed with it. First: compare what that version changed; roll back "
            f"if runs fail.{_HINT}"
        ),
        panel=Panel("errcompact-inbox", INBOX_TABLE),
        page=DETAIL,
        only_read=_OF_CLASS,
    ),
    Alert(
        name="AgentErrorBackAgain",
        query=_worst(_in_state(classes.BACK_AGAIN)),
        at_least=1,
        pace="rows",
        severity="info",
        summary="[[type]] is back in [[service]][[tool]]: [[times]] within 5 minutes.",
        description=f"{_CLASS_TEXT} Before that it had not failed for {classes.SILENT_S // 3600} hours or more.{_HINT}",
        panel=Panel("errcompact-inbox", INBOX_TABLE),
        page=DETAIL,
        only_read=_OF_CLASS,
        optional=True,
    ),
    Alert(
        name="AgentCallsRepeated",
        query=new("errcompact_repeats_total", (*SERVICE, AGENT, TOOL)),
        at_least=MAX_REPEATS,
        severity="info",
        summary="[[agent]] in [[service]] has repeated the same call[[tool]] [[times]] within 5 minutes.",
        description="The call succeeds each time with the same result: a poll that waits, or a loop.[[owner]]",
        panel=Panel("errcompact-escalations", "Repeated calls over time"),
        optional=True,
    ),
    Alert(
        name="AgentStreakNearThreshold",
        # A run that has ended reports its streak no more, but Prometheus answers with the last value for 5 minutes.
        # From the threshold on the run has escalated, which is another alert.
        query=_of_run(NEAR, TOOL, runs=_NEAR),
        at_least=THRESHOLDS.same - 1,
        wait="2m",
        severity="info",
        summary="[[agent]] in [[service]] has failed [[times]] in a row[[tool]] and is about to escalate.",
        description=f"A streak of {THRESHOLDS.same} escalates. [[type]]: {_CLASS_TEXT}[[run]]{_HINT}",
        panel=Panel("errcompact-recurrence", "Live streaks"),
        page=DETAIL,
        only_read=tuple(label for label in _OF_RUN if label != TOOL),
    ),
    Alert(
        name="AgentErrorShareHigh",
        query='100 * errcompact:context_tokens:share30m{errcompact_form="digest"}',
        at_least=100 * MAX_SHARE,
        unit="percent",
        wait="5m",
        keep="10m",
        severity="warning",
        summary="[[value]] of what the agents in [[service]] send to their models is error digests.",
        description=(
            "Over 30 minutes, of the input tokens the model calls report. Errors crowd out the task: fewer "
            "failures, or a smaller digest budget, is the remedy.[[owner]]"
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
        description="Agents are not affected, but what the dashboards and alerts say is incomplete.[[owner]]",
        panel=Panel("errcompact-health", "Own faults"),
    ),
    Alert(
        name="AgentTelemetrySilent",
        query=f"last_over_time(errcompact:service:steady[{MEMORY}])\nunless errcompact:service:reporting",
        at_least=1,
        wait="5m",
        severity="warning",
        summary="[[service]] has sent no telemetry for 10 minutes; [[value]] of its processes did before.",
        description=(
            "It had reported for most of an hour. While it is silent no other alert about it can fire, "
            "and where it is the collector, none at all.[[owner]]"
        ),
        panel=Panel("errcompact-health", "Services reporting"),
    ),
)
