"""One class, or one run: what it is, where it fails, and the raw errors themselves."""

from __future__ import annotations

from typing import Final

from dashboards import queries, variables
from dashboards.layout import (
    BAD,
    COUNT,
    NEUTRAL,
    OUTCOME_COLOURS,
    WARNING,
    BarGauge,
    Caption,
    Line,
    Logs,
    Page,
    Section,
    Stat,
    Table,
    Text,
    TimeSeries,
    bar_gauge,
    bars,
    logs,
    stat,
    table,
    text,
    timeseries,
    traces,
)
from dashboards.metrics import (
    AGENT,
    CLASS,
    ERROR_TYPE,
    HANDLED,
    LOCATION,
    MESSAGE,
    NEW,
    OUTCOME,
    SERVICE,
    TEMPLATE,
    TOOL,
)
from dashboards.targets import instant, legend, logql, promql, rows, traceql
from dashboards.transformations import columns

UID: Final = "errcompact-detail"

_NOTHING: Final = "No failures of this class in this range"


def page() -> Page:
    """Return the whole page."""
    return Page(
        uid=UID,
        title="Agent errors: run and class detail",
        description="Choose a class to see what it is, where it fails and its raw errors; enter a run to see its "
        "spans.",
        variables=(*variables.everything(), variables.run()),
        sections=(
            Section(
                id=100,
                title="What it is",
                lines=(
                    Line(6, ((24, meaning()),)),
                    Line(3, ((6, failures()), (6, runs_hit()), (6, first_seen()), (6, last_seen()))),
                    Line(3, ((6, resolved()), (6, resolution_rate()), (6, longest_streak()), (6, escalations()))),
                ),
            ),
            Section(
                id=200,
                title="Over time",
                lines=(
                    Line(9, ((12, trend()), (12, outcomes()))),
                    Line(8, ((12, streaks()), (12, resolutions()))),
                ),
            ),
            Section(
                id=300,
                title="Where it fails",
                lines=(Line(8, ((6, by_agent()), (6, by_tool()), (6, by_service()), (6, by_outcome()))),),
            ),
            Section(
                id=400,
                title="Raw errors",
                lines=(
                    Line(5, ((24, where_raw_errors_are()),)),
                    Line(11, ((24, traces_of_class()),)),
                    Line(11, ((24, records()),)),
                ),
            ),
            Section(
                id=500,
                title="Runs",
                lines=(
                    Line(3, ((24, which_run()),)),
                    Line(11, ((24, traces_of_run()),)),
                    Line(9, ((24, records_of_run()),)),
                ),
            ),
        ),
    )


# What it is.


def meaning() -> Table:
    """Say what the key of a class stands for."""
    return table(
        Caption(
            id=1,
            title="What the class is",
            description="A class holds all failures of one type, raised in one place, with one message once its "
            "volatile parts are masked. The line number is that of one process: other versions may raise it from "
            "another line.",
            unit=COUNT,
            empty="No service that is selected has said what this class is: it is `other`, or the collector counted it",
        ),
        rows(queries.meaning_of_class()),
        transformations=(
            columns(
                {TEMPLATE: "Message", ERROR_TYPE: "Type", LOCATION: "Location", SERVICE: "Service", CLASS: "Class"},
                hidden=("Time", "Value"),
            ),
        ),
        overrides=(
            ("Class", {"custom.width": 160}),
            ("Type", {"custom.width": 220}),
            ("Message", {"custom.minWidth": 300, "custom.inspect": True}),
            ("Location", {"custom.minWidth": 200, "custom.inspect": True}),
            ("Service", {"custom.width": 160}),
        ),
    )


def failures() -> Stat:
    """How often it failed."""
    return stat(
        Caption(2, "Failures", "Failures of the class in the time range, not those that were handled.", COUNT, "None"),
        instant(queries.failures_in_range()),
    )


def runs_hit() -> Stat:
    """How many runs met it."""
    return stat(
        Caption(
            id=3,
            title="Runs hit",
            description="Runs in which the class failed. With several classes chosen, a run counts once for each.",
            unit=COUNT,
            empty="None",
        ),
        instant(queries.runs_hit()),
    )


def resolved() -> Stat:
    """How often agents got over it."""
    return stat(
        Caption(
            id=4,
            title="Resolved",
            description="How often the operation that failed succeeded again in the same run.",
            unit=COUNT,
            empty="Never",
        ),
        instant(queries.resolutions_in_range()),
        steps=((None, NEUTRAL), (1, OUTCOME_COLOURS[HANDLED])),
    )


def resolution_rate() -> Stat:
    """How likely an agent gets over it."""
    return stat(
        Caption(
            id=5,
            title="Resolution rate",
            description="Of the runs that the class hit, the share in which the operation has since succeeded.",
            unit="percentunit",
            empty="None",
        ),
        instant(queries.resolution_rate()),
        steps=((None, BAD), (0.5, WARNING), (0.8, OUTCOME_COLOURS[HANDLED])),
    )


def longest_streak() -> Stat:
    """How badly a run looped on it."""
    return stat(
        Caption(
            id=6,
            title="Longest streak",
            description="The most failures in a row in one run, without a success of the same operation between "
            "them, as far as the run lasted longer than an export interval.",
            unit=COUNT,
            empty="None",
        ),
        instant(queries.longest_streak()),
        steps=((None, NEUTRAL), (queries.THRESHOLD_SAME, BAD)),
    )


def escalations() -> Stat:
    """How often it stopped a run."""
    return stat(
        Caption(
            id=7,
            title="Escalations",
            description="Thresholds that the class reached in the time range.",
            unit=COUNT,
            empty="None",
        ),
        instant(queries.escalations_in_range()),
        steps=((None, NEUTRAL), (1, BAD)),
    )


def first_seen() -> Stat:
    """Since when it fails."""
    return stat(
        Caption(
            id=8,
            title="First seen",
            description="The first failure in the time range or in the day before it, to five minutes, or to one "
            "minute if it was within the last hour.",
            unit="dateTimeFromNow",
            empty="Not seen",
        ),
        instant(queries.first_failure()),
    )


def last_seen() -> Stat:
    """Whether it still fails."""
    return stat(
        Caption(
            id=9,
            title="Last seen",
            description="The newest failure in the time range, to five minutes, or to one minute if it was within "
            "the last hour.",
            unit="dateTimeFromNow",
            empty="Not seen",
        ),
        instant(queries.last_failure()),
    )


# Over time.


def trend() -> TimeSeries:
    """How often it fails over time."""
    return bars(
        Caption(
            id=20,
            title="Trend",
            description="Failures over time, by class; the ten with the most failures. Diamonds are single occurrences "
            "(exemplars): they lead to their traces.",
            unit=COUNT,
            empty=_NOTHING,
        ),
        promql(queries.top_classes(), legend(ERROR_TYPE, MESSAGE), exemplar=True),
        calcs=("max", "sum"),
    )


def outcomes() -> TimeSeries:
    """What its failures turned out to be."""
    return bars(
        Caption(
            id=21,
            title="Outcomes",
            description="new: first in its run. repeat: again in the same run. after_escalation: although the run "
            "was to stop. handled: inside a call that succeeded after all. coarse: counted by the collector.",
            unit=COUNT,
            empty=_NOTHING,
        ),
        promql(queries.outcomes(), legend(OUTCOME)),
        colours=OUTCOME_COLOURS,
        calcs=("max", "sum"),
    )


def streaks() -> TimeSeries:
    """When it was failing without a success between."""
    return timeseries(
        Caption(
            id=22,
            title="Streaks",
            description="Failures in a row, the longest over all live runs, by agent and tool. "
            f"At the dashed line, {queries.THRESHOLD_SAME} as shipped, a run escalates.",
            unit=COUNT,
            empty="No operation was failing when metrics were exported",
        ),
        promql(queries.streaks_by_operation(), legend(AGENT, TOOL)),
        threshold=queries.THRESHOLD_SAME,
    )


def resolutions() -> TimeSeries:
    """Whether runs get over it."""
    return bars(
        Caption(
            id=23,
            title="Failing and resolved",
            description="Runs in which the class began to fail, in which its operation has since succeeded, and "
            "in which that proved to be no cure.",
            unit=COUNT,
            empty=_NOTHING,
        ),
        promql(queries.began(), "began to fail", ref="A"),
        promql(queries.resolutions(), "resolved", ref="B"),
        promql(queries.taken_back(), "taken back", ref="C"),
        stacked=False,
        colours={"began to fail": OUTCOME_COLOURS[NEW], "resolved": OUTCOME_COLOURS[HANDLED], "taken back": BAD},
        calcs=("max", "sum"),
    )


# Where it fails.


def by_agent() -> BarGauge:
    """Which agents meet it."""
    return _by(30, "Agents", AGENT, "Failures of the class by agent.")


def by_tool() -> BarGauge:
    """Which tools raise it."""
    return _by(31, "Tools", TOOL, "Failures of the class by tool.")


def by_service() -> BarGauge:
    """Which services it is in."""
    return _by(32, "Services", SERVICE, "Failures of the class by service.")


def by_outcome() -> BarGauge:
    """What became of them."""
    return bar_gauge(
        Caption(
            id=33,
            title="Outcomes in range",
            description="Occurrences of the class by outcome, handled ones too.",
            unit=COUNT,
            empty=_NOTHING,
        ),
        queries.outcomes_in_range(),
        OUTCOME,
        colours=OUTCOME_COLOURS,
    )


def _by(panel_id: int, title: str, name: str, description: str) -> BarGauge:
    caption = Caption(id=panel_id, title=title, description=description, unit=COUNT, empty=_NOTHING)
    return bar_gauge(caption, queries.failures_by(name), name)


# Raw errors.


def where_raw_errors_are() -> Text:
    """Say where to look, also where there is no Tempo or Loki."""
    return text(
        Caption(
            id=40,
            title="Where the raw errors are",
            description="What the two panels below need.",
            unit=COUNT,
            empty="",
        ),
        "- **Traces**: an event `exception` of the span holds the raw error, whole. Open a trace, then the events "
        "of the span; where failures are sent as log records only, the span has its status and leads to the record. "
        "Tempo answers searches about half a minute after a span has ended; it keeps every failing trace, and a share "
        "of the others.\n- **Log records**: escalations, and failures that are sent as records: the attribute "
        "`exception.stacktrace` holds the raw error, whole. Without Loki that panel stays empty, and nothing else "
        "does.\n- **Trajectory file**: "
        "`errcompact report FILE` reads the raw errors from the agent's own disk, without any of these programs.",
    )


def traces_of_class() -> Table:
    """List the spans in which it failed."""
    return traces(
        Caption(
            id=41,
            title="Traces",
            description="Spans that hold a failure of the class, the newest fifty. The event `exception` of a span, "
            "or the log record beside it, holds the raw error, whole.",
            unit=COUNT,
            empty="No trace of this class: there is no Tempo, or it has let go of them, or they are younger than 30 s",
        ),
        traceql(queries.traces_of_class(), spans=True),
    )


def records() -> Logs:
    """List the log records about it."""
    return logs(
        Caption(
            id=42,
            title="Log records",
            description="Escalations of the class, and its failures where they are sent as log records.",
            unit=COUNT,
            empty="No record of this class: there is no Loki, or failures are sent with spans only",
        ),
        logql(queries.records_of_class()),
    )


# Runs.


def which_run() -> Text:
    """Say which runs the panels below show, which they cannot."""
    return text(
        Caption(id=49, title="Which run", description="What the two panels below show.", unit=COUNT, empty=""),
        "Enter the id of a run above. **As long as that field is empty, these are the spans and records of all runs.** "
        "The records need Loki.",
    )


def traces_of_run() -> Table:
    """List the spans of a run."""
    return traces(
        Caption(
            id=50,
            title="Spans of the run",
            description="Spans that carry the id of the run, or of its conversation, that is entered above; a part "
            "of the id will do. Without an id: the newest runs.",
            unit=COUNT,
            empty="No such run: there is no Tempo, or it has let go of the run, or the run is younger than 30 s",
        ),
        traceql(queries.traces_of_run(), spans=True),
    )


def records_of_run() -> Logs:
    """List the log records about a run."""
    return logs(
        Caption(
            id=51,
            title="Log records of the run",
            description="Escalations of the run whose id, or a part of it, is entered above. Without an id: of all "
            "runs.",
            unit=COUNT,
            empty="No record of this run: there is no Loki, or the run did not escalate",
        ),
        logql(queries.records_of_run()),
    )
