"""One class, or one run: what it is, where it fails, and the raw errors themselves."""

from __future__ import annotations

from typing import Final

from dashboards import classes, colours, queries, queries_tokens, variables
from dashboards.class_cells import coloured_states, deciding_on_class
from dashboards.colours import BAD, NEUTRAL, WARNING
from dashboards.layout import (
    COUNT,
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
from dashboards.links import links_of
from dashboards.metrics import (
    AGENT,
    CLASS,
    ENVIRONMENT,
    ERROR_TYPE,
    HINT,
    LOCATION,
    MESSAGE,
    NAMESPACE,
    OUTCOME,
    SERVICE,
    SERVICE_VERSION,
    STATE,
    TEMPLATE,
    TOOL,
    TRANSIENT,
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
                    Line(5, ((24, meaning()),)),
                    Line(4, ((24, hint()),)),
                    Line(3, ((5, first_seen()), (5, since()), (5, last_seen()), (5, failures()), (4, runs_hit()))),
                    Line(
                        3,
                        (
                            (4, resolved()),
                            (5, resolution_rate()),
                            (6, longest_streak()),
                            (5, escalations()),
                            (4, cost()),
                        ),
                    ),
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
            1,
            "What the class is",
            "A class holds all failures of one type, raised in one place, with one message once its "
            "volatile parts are masked. The line number is that of one process: other versions may raise it from "
            f"another line.\n\nState: {classes.definitions()}",
            empty="No service that is selected has failed with this class within seven days, or it is `other`",
        ),
        rows(queries.meaning_of_class()),
        transformations=(
            columns(
                {
                    TEMPLATE: "Message",
                    STATE: "State",
                    NAMESPACE: "Owner",
                    SERVICE: "Service",
                    ENVIRONMENT: "Environment",
                    SERVICE_VERSION: "New in",
                    TOOL: "Tool",
                    AGENT: "Agent",
                    LOCATION: "Location",
                    ERROR_TYPE: "Type",
                    CLASS: "Class",
                },
                hidden=("Time", "Value"),
            ),
        ),
        overrides=(
            ("/^(Message|Location)$/", {"custom.minWidth": 220, "custom.inspect": True}),
            ("State", {"custom.width": 120, **coloured_states()}),
            ("/^(Owner|Service|Environment|New in|Tool|Agent)$/", {"custom.width": 110}),
            ("/^(Type|Class)$/", {"custom.width": 150}),
            ("Class", links_of(*deciding_on_class())),
        ),
    )


def hint() -> Table:
    """Say what the agent was advised."""
    return table(
        Caption(
            10,
            "What the library advises",
            "The hint that the agent reads with the class, and whether waiting helps against it.",
            empty="The library has no hint for this class",
        ),
        rows(queries.hint_of_class()),
        transformations=(
            columns({HINT: "Hint", TRANSIENT: "Waiting helps", CLASS: "Class"}, hidden=("Time", "Value")),
        ),
        overrides=(
            ("Hint", {"custom.minWidth": 400, "custom.inspect": True}),
            ("Waiting helps", {"custom.width": 130}),
            ("Class", {"custom.width": 150}),
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
            3, "Runs hit", "Runs in which the class failed. With several classes chosen, a run counts once for each."
        ),
        instant(queries.runs_hit()),
    )


def resolved() -> Stat:
    """How often agents got over it."""
    return stat(
        Caption(4, "Resolved", "How often the operation that failed succeeded again in the same run.", empty="Never"),
        instant(queries.resolutions_in_range()),
    )


def resolution_rate() -> Stat:
    """How likely an agent gets over it."""
    return stat(
        Caption(
            5,
            "Got over it",
            "Of the runs that the class hit, the share in which the operation has since succeeded.",
            unit="percentunit",
        ),
        instant(queries.resolution_rate()),
    )


def longest_streak() -> Stat:
    """How badly a run looped on it."""
    return stat(
        Caption(
            6,
            "Longest streak",
            "The most failures in a row in one run, without a success of the same operation between "
            "them, as far as the run lasted longer than an export interval.",
        ),
        instant(queries.longest_streak()),
        steps=((None, NEUTRAL), (queries.THRESHOLD_SAME, BAD)),
    )


def escalations() -> Stat:
    """How often it stopped a run."""
    return stat(
        Caption(7, "Escalations", "Thresholds that the class reached in the time range."),
        instant(queries.escalations_in_range()),
        steps=((None, NEUTRAL), (1, WARNING)),
    )


def first_seen() -> Stat:
    """When it failed first."""
    return _time(8, "First seen", "The first failure on record, whatever the time range.", queries.first_failure())


def since() -> Stat:
    """Since when it fails."""
    text = f"The first failure after the last pause of {classes.SILENT_S // 3600} hours or more."
    return _time(11, "Failing since", text, queries.failing_since())


def last_seen() -> Stat:
    """Whether it still fails."""
    return _time(9, "Last seen", "The newest failure on record, to five minutes.", queries.last_failure())


def cost() -> Stat:
    """What its digests cost."""
    return stat(
        Caption(12, "Tokens", "Tokens (characters / 4) of the digests of the class in the time range."),
        instant(queries_tokens.of_class()),
        decimals=None,
    )


def _time(panel_id: int, title: str, description: str, expr: str) -> Stat:
    return stat(Caption(panel_id, title, description, "dateTimeFromNow", "Not seen"), instant(expr))


# Over time.


def trend() -> TimeSeries:
    """How often it fails over time."""
    return bars(
        Caption(
            20,
            "Trend",
            "Failures over time, by class; the ten with the most failures. Diamonds are single occurrences "
            "(exemplars): they lead to their traces.",
            empty=_NOTHING,
        ),
        promql(queries.top_classes(), legend(ERROR_TYPE, MESSAGE), exemplar=True),
        calcs=("max", "sum"),
    )


def outcomes() -> TimeSeries:
    """What its failures turned out to be."""
    return bars(
        Caption(
            21,
            "Outcomes",
            "first in its run: a run had not met the class before. repeat: again in the same run. "
            "after_escalation: although the run was to stop. handled: inside a call that succeeded after all. "
            "coarse: counted by the collector.",
            empty=_NOTHING,
        ),
        promql(queries.outcomes(), legend(OUTCOME)),
        colours=colours.OUTCOMES,
        calcs=("max", "sum"),
    )


def streaks() -> TimeSeries:
    """When it was failing without a success between."""
    return timeseries(
        Caption(
            22,
            "Streaks",
            "Failures in a row, the longest over all live runs, by agent and tool. "
            f"At the dashed line, {queries.THRESHOLD_SAME} as shipped, a run escalates.",
            empty="No operation was failing when metrics were exported",
        ),
        promql(queries.streaks_by_operation(), legend(AGENT, TOOL)),
        threshold=queries.THRESHOLD_SAME,
    )


def resolutions() -> TimeSeries:
    """Whether runs get over it."""
    return bars(
        Caption(
            23,
            "Failing and resolved",
            "Runs in which the class began to fail, in which its operation has since succeeded, and "
            "in which that proved to be no cure.",
            empty=_NOTHING,
        ),
        promql(queries.began(), "began to fail", ref="A"),
        promql(queries.resolutions(), "resolved", ref="B"),
        promql(queries.taken_back(), "taken back", ref="C"),
        stacked=False,
        colours=colours.RESOLUTIONS,
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
        Caption(33, "Outcomes in range", "Occurrences of the class by outcome, handled ones too.", empty=_NOTHING),
        queries.outcomes_in_range(),
        OUTCOME,
        colours=colours.OUTCOMES,
    )


def _by(panel_id: int, title: str, name: str, description: str) -> BarGauge:
    caption = Caption(panel_id, title, description, empty=_NOTHING)
    return bar_gauge(caption, queries.failures_by(name), name)


# Raw errors.


def where_raw_errors_are() -> Text:
    """Say where to look, also where there is no Tempo or Loki."""
    return text(
        Caption(40, "Where the raw errors are", "What the two panels below need.", empty=""),
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
            41,
            "Traces",
            "Spans that hold a failure of the class, the newest fifty. The event `exception` of a span, "
            "or the log record beside it, holds the raw error, whole.",
            empty="No trace of this class: there is no Tempo, or it has let go of them, or they are younger than 30 s",
        ),
        traceql(queries.traces_of_class(), spans=True),
    )


def records() -> Logs:
    """List the log records about it."""
    return logs(
        Caption(
            42,
            "Log records",
            "Escalations of the class, and its failures where they are sent as log records.",
            empty="No record of this class: there is no Loki, or failures are sent with spans only",
        ),
        logql(queries.records_of_class()),
    )


# Runs.


def which_run() -> Text:
    """Say which runs the panels below show, which they cannot."""
    return text(
        Caption(49, "Which run", "What the two panels below show.", empty=""),
        "Enter the id of a run above. **As long as that field is empty, these are the spans and records of all runs.** "
        "The records need Loki.",
    )


def traces_of_run() -> Table:
    """List the spans of a run."""
    return traces(
        Caption(
            50,
            "Spans of the run",
            "Spans that carry the id of the run, or of its conversation, that is entered above; a part "
            "of the id will do. Without an id: the newest runs.",
            empty="No such run: there is no Tempo, or it has let go of the run, or the run is younger than 30 s",
        ),
        traceql(queries.traces_of_run(), spans=True),
    )


def records_of_run() -> Logs:
    """List the log records about a run."""
    return logs(
        Caption(
            51,
            "Log records of the run",
            "Escalations of the run whose id, or a part of it, is entered above. Without an id: of all runs.",
            empty="No record of this run: there is no Loki, or the run did not escalate",
        ),
        logql(queries.records_of_run()),
    )
