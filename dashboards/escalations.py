"""The page for whoever is on call: which runs escalated, what was done about it, and how much may still go wrong."""

from __future__ import annotations

from typing import Final

from dashboards import colours, stuck, variables
from dashboards import queries_escalations as queries
from dashboards.colours import BAD, OK, WARNING
from dashboards.layout import (
    NONE_BAD,
    NONE_WARNING,
    BarGauge,
    Caption,
    Line,
    Page,
    Section,
    Stat,
    Table,
    Text,
    TimeSeries,
    bar_gauge,
    bars,
    number,
    stat,
    table,
    text,
    timeseries,
)
from dashboards.links import links_of
from dashboards.metrics import (
    ACTION,
    AGENT,
    CLASS,
    ENVIRONMENT,
    ERROR_TYPE,
    LOCATION,
    MESSAGE,
    NAMESPACE,
    RESULT,
    SERVICE,
    TEMPLATE,
    THRESHOLD,
    TOOL,
)
from dashboards.objectives import ALLOWED_BAD_RUNS, RUN_OBJECTIVE
from dashboards.targets import instant, legend, promql, rows
from dashboards.transformations import columns, merged

UID: Final = "errcompact-escalations"

WORDS: Final = """\
What the library does about failures, step by step:

- **reported**: the agent reads a digest of each failure.
- **refused**: an identical call that failed twice is not executed again.
- **asked**: a threshold is reached (`same`, `rejected` or `loop`); the run's handler decides: *continue*, *pause* or
  *halt*. Where there is none the escalation is *unhandled*, and the run continues.
- **halted**: the handler said so, or a **loop** continued: identical calls that fail or are refused while no call
  succeeds.
- **unresolved**: a run ended although a failure was left in it, neither resolved nor overcome.
"""


def page() -> Page:
    """Return the whole page."""
    return Page(
        uid=UID,
        title="Agent errors: escalations and budgets",
        description="Which runs reached a threshold, what was done about it, and how much of the error budget is left.",
        variables=(*variables.data_sources(), *variables.scope(), *variables.of_runs()),
        sections=(
            Section(
                id=150,
                title="Now: what is stuck, in which run, and whom to ask",
                lines=(
                    Line(9, ((24, stuck.stuck_now()),)),
                    Line(9, ((24, stuck.escalated_runs()),)),
                    Line(9, ((12, stuck.how_to_ask()), (12, what_the_words_mean()))),
                ),
            ),
            Section(
                id=100,
                title="In the time range",
                lines=(
                    Line(3, ((6, refused_calls()), (6, escalations()), (6, unhandled()), (6, failures_after()))),
                    Line(3, ((6, ended_runs()), (6, unresolved_runs()), (6, halted_runs()), (6, budget_left()))),
                ),
            ),
            Section(
                id=200,
                title="Over time",
                lines=(
                    Line(6, ((12, by_threshold()), (12, runs_by_result()))),
                    Line(9, ((12, over_time()), (12, by_action()))),
                    Line(9, ((8, refused_over_time()), (8, repeated_over_time()), (8, failures_after_over_time()))),
                    Line(9, ((24, error_budget()),)),
                ),
            ),
            Section(
                id=300,
                title="Who and what escalates",
                lines=(
                    Line(9, ((24, agents()),)),
                    Line(9, ((24, classes()),)),
                ),
            ),
        ),
    )


# In the time range.


def escalations() -> Stat:
    """How many thresholds were reached."""
    return stat(
        Caption(
            1,
            "Escalations",
            "Thresholds that runs reached in the time range: failures of one class, identical calls, "
            "failures in a row, or the budget of a run. Follows the variables Agent and Class; Tool and Type are no "
            "labels of an escalation.",
        ),
        instant(queries.escalations_in_range()),
        steps=NONE_WARNING,
    )


def unhandled() -> Stat:
    """How many of them met nobody."""
    return stat(
        Caption(
            2,
            "Unhandled",
            "Escalations that no handler has decided: the run went on. Give runs an `on_escalation` "
            "handler where an operator is to decide. consecutive and total are alerts, and always end here.",
        ),
        instant(queries.unhandled_in_range()),
        steps=NONE_BAD,
    )


def failures_after() -> Stat:
    """How often it went on failing all the same."""
    return stat(
        Caption(
            3,
            "Failures since",
            "Failures of classes that had escalated already and were not resolved since. Anything above "
            "zero means that the escalation has changed nothing.",
        ),
        instant(queries.after_escalation_in_range()),
        steps=NONE_BAD,
    )


def refused_calls() -> Stat:
    """How many calls were not repeated."""
    return stat(
        Caption(
            9,
            "Refused calls",
            "Identical calls that were not executed again, because they had failed twice and nothing had "
            "succeeded since. Waiting helps against some failures (transient ones): those are never refused.",
        ),
        instant(queries.refused_in_range()),
    )


def unresolved_runs() -> Stat:
    """How many runs gave something up."""
    return stat(
        Caption(
            10,
            "Unresolved runs",
            "Runs that ended by themselves although one of their last operations had failed, and had not "
            "succeeded since.",
        ),
        instant(queries.unresolved_in_range()),
        steps=NONE_WARNING,
    )


def ended_runs() -> Stat:
    """How many runs there were at all."""
    return stat(
        Caption(
            4,
            "Runs",
            "Runs that ended in the time range, however they ended. Follows the variable Agent only.",
            empty="No run ended",
        ),
        instant(queries.runs_in_range()),
    )


def halted_runs() -> Stat:
    """How many runs were stopped."""
    return stat(
        Caption(
            5,
            "Halted runs",
            "Runs that were stopped: a handler answered Halt or Pause, or the run repeated one call until "
            "the library stopped the loop.",
        ),
        instant(queries.halted_in_range()),
        steps=NONE_WARNING,
    )


def budget_left() -> Stat:
    """How much may still go wrong."""
    return stat(
        Caption(
            6,
            "Budget left",
            f"The objective is that {RUN_OBJECTIVE:.0%} of the runs end neither failed nor halted, so "
            f"{ALLOWED_BAD_RUNS:.0%} may. This is the share of that which the time range has not used up, of the "
            "service that has least left; below zero the objective is missed.",
            unit="percentunit",
            empty="No run ended",
        ),
        instant(queries.budget_left(), legend(SERVICE, ENVIRONMENT)),
        named=True,
        steps=((None, BAD), (0, WARNING), (0.5, OK)),
    )


def by_threshold() -> BarGauge:
    """Which thresholds are reached."""
    return bar_gauge(
        Caption(
            7,
            "Escalations by threshold",
            "same: one class in one operation, of calls that were executed. rejected: the same where "
            "nothing was executed. loop: identical calls while nothing succeeds. consecutive: failures of any class "
            "in a row. total: all failures of the run.",
            empty="No escalation",
        ),
        queries.escalations_by_threshold(),
        THRESHOLD,
    )


def runs_by_result() -> BarGauge:
    """How runs end."""
    return bar_gauge(
        Caption(
            8,
            "Runs by result",
            "clean: no failure. recovered: failures, but every operation succeeded in the end. "
            "unresolved: a failure was left. failed: the run itself failed. halted: stopped by an escalation.",
            empty="No run ended",
        ),
        queries.runs_by_result(),
        RESULT,
        colours=colours.RESULTS,
    )


# Over time.


def over_time() -> TimeSeries:
    """When runs escalated."""
    return bars(
        Caption(
            20,
            "Escalations over time",
            "Thresholds reached, by agent and threshold. Each bar is the exact number of its interval.",
            empty="No escalation",
        ),
        promql(queries.escalations_over_time(), legend(AGENT, THRESHOLD)),
    )


def by_action() -> TimeSeries:
    """What was done about them."""
    return bars(
        Caption(
            21,
            "Escalations by action",
            "What was answered: continue, pause or halt. unhandled: no handler decided, the run went on.",
            empty="No escalation",
        ),
        promql(queries.escalations_over_time_by_action(), legend(ACTION)),
        colours=colours.ACTIONS,
    )


def failures_after_over_time() -> TimeSeries:
    """Which agents fail on after an escalation."""
    return bars(
        Caption(
            22,
            "Failures after escalation",
            "Failures of classes that had escalated already, by agent and message.",
            empty="No failure after an escalation",
        ),
        promql(queries.after_escalation_over_time(), legend(AGENT, MESSAGE), exemplar=True),
    )


def refused_over_time() -> TimeSeries:
    """Which calls were not repeated."""
    return bars(
        Caption(
            24,
            "Refused calls over time",
            "Identical calls that were not executed again, by agent, tool and the message they had failed with.",
            empty="No call was refused",
        ),
        promql(queries.refused_over_time(), legend(AGENT, TOOL, MESSAGE)),
    )


def repeated_over_time() -> TimeSeries:
    """Which calls succeed again and again."""
    return bars(
        Caption(
            25,
            "Repeated calls over time",
            "Identical calls that succeeded again, in a row, with the same result, by agent and tool. They "
            "are never refused: a poll that waits looks the same.",
            empty="No call was repeated",
        ),
        promql(queries.repeated_over_time(), legend(AGENT, TOOL)),
    )


def error_budget() -> TimeSeries:
    """How fast the error budget is used up."""
    return timeseries(
        Caption(
            23,
            "Failed or halted runs, share",
            "The share of runs of each service that ended failed or halted within the hour, and within "
            f"the six hours, before each point. Above the dashed line ({ALLOWED_BAD_RUNS:.0%}) the error budget is "
            "used faster than it may be.",
            unit="percentunit",
            empty="No run ended",
        ),
        promql(queries.bad_share("1h", SERVICE, ENVIRONMENT), f"{legend(SERVICE, ENVIRONMENT)} 1 hour", ref="A"),
        promql(queries.bad_share("6h", SERVICE, ENVIRONMENT), f"{legend(SERVICE, ENVIRONMENT)} 6 hours", ref="B"),
        threshold=ALLOWED_BAD_RUNS,
    )


# Who and what.


def agents() -> Table:
    """Which agents escalate most."""
    return table(
        Caption(
            30,
            "Agents that escalate most",
            "Per agent: escalations, how many of them no handler decided, and how its runs ended.",
            empty="No escalation",
        ),
        rows(queries.escalations_by_agent(), ref="A"),
        rows(queries.unhandled_by_agent(), ref="B"),
        rows(queries.runs_by_agent(), ref="C"),
        rows(queries.bad_runs_by_agent(), ref="D"),
        transformations=(
            merged(),
            columns(
                {
                    NAMESPACE: "Owner",
                    SERVICE: "Service",
                    AGENT: "Agent",
                    ENVIRONMENT: "Environment",
                    "Value #A": "Escalations",
                    "Value #B": "Unhandled",
                    "Value #C": "Runs",
                    "Value #D": "Failed or halted",
                },
                hidden=("Time",),
            ),
        ),
        overrides=(
            ("/^(Escalations|Unhandled|Failed or halted)$/", number()),
            ("Agent", links_of(stuck.TO_AGENT)),
        ),
        sort_by="Escalations",
    )


def classes() -> Table:
    """Which classes of failures escalate."""
    return table(
        Caption(
            31,
            "Classes that escalate",
            "Per error class: escalations in the time range, and what the class means. Escalations over "
            "failures of mixed classes name the class of the last one.",
            empty="No escalation",
        ),
        rows(queries.escalations_by_class()),
        transformations=(
            columns(
                {
                    TEMPLATE: "Message",
                    "Value": "Escalations",
                    ERROR_TYPE: "Type",
                    LOCATION: "Location",
                    NAMESPACE: "Owner",
                    SERVICE: "Service",
                    ENVIRONMENT: "Environment",
                    CLASS: "Class",
                },
                hidden=("Time",),
            ),
        ),
        overrides=(
            ("Message", {"custom.minWidth": 300, "custom.inspect": True}),
            ("Escalations", {"custom.width": 150}),
            ("Type", {"custom.width": 170}),
            ("Class", {"custom.width": 180}),
            ("/^(Message|Class)$/", links_of(stuck.TO_CLASS)),
        ),
        sort_by="Escalations",
    )


def what_the_words_mean() -> Text:
    """Name the steps of the ladder, in the words of the panels."""
    caption = Caption(34, "What the words mean", "The steps, in order.", unit="", empty="")
    return text(caption, WORDS)
