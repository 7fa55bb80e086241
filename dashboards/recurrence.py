"""How failures go over time, and where they come from."""

from __future__ import annotations

from typing import Final

from dashboards import colours, marks, queries, variables
from dashboards.colours import BAD, NEUTRAL, WARNING
from dashboards.layout import (
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
from dashboards.links import Link, kept, links_of, of_series, page_link, row_link
from dashboards.metrics import (
    AGENT,
    CERTAINTY,
    CLASS,
    ENVIRONMENT,
    ERROR_TYPE,
    MEMBER,
    MESSAGE,
    NAMESPACE,
    OUTCOME,
    SERVICE,
    TEMPLATE,
    TOOL,
)
from dashboards.targets import instant, legend, promql, rows
from dashboards.transformations import columns

UID: Final = "errcompact-recurrence"
DETAIL: Final = "errcompact-detail"

_NOTHING: Final = "No failures in this range"


_A_CLICK: Final = " A click on a bar shows only its failures on the whole page."


def page() -> Page:
    """Return the whole page."""
    return Page(
        uid=UID,
        title="Agent errors: recurrence",
        description="How failures of agents go over time, and which agents, tools and tests they come from.",
        variables=variables.everything(),
        annotations=marks.everything(),
        sections=(
            Section(
                id=100,
                title="Now",
                lines=(
                    Line(
                        4,
                        (
                            (5, failures()),
                            (4, failures_per_minute()),
                            (5, distinct_classes()),
                            (5, over_threshold()),
                            (5, escalations()),
                        ),
                    ),
                ),
            ),
            Section(
                id=300,
                title="Over time",
                lines=(
                    Line(11, ((24, top_classes()),)),
                    Line(9, ((12, live_streaks()), (12, outcomes()))),
                    Line(9, ((6, resolution_rate()), (12, resolutions()), (6, certainties()))),
                    Line(8, ((24, waiting()),)),
                ),
            ),
            Section(
                id=400,
                title="Where",
                lines=(Line(9, ((5, by_agent()), (5, by_tool()), (5, by_type()), (4, handled()), (5, by_member()))),),
            ),
        ),
    )


# Now.


def failures() -> Stat:
    """How many failures there were."""
    return stat(
        Caption(
            1,
            "Failures",
            "Failures in the time range, counted one by one, also in a class's first burst. What was "
            "handled inside a call that succeeded after all is none.",
        ),
        instant(queries.failures_in_range()),
    )


def distinct_classes() -> Stat:
    """How many classes they belong to."""
    return stat(
        Caption(2, "Classes", "Distinct error classes among these failures: same type, place and masked message."),
        instant(queries.classes_in_range()),
    )


def over_threshold() -> Stat:
    """How many classes loop right now."""
    return stat(
        Caption(
            4,
            "Streaks now",
            f"Classes with {queries.THRESHOLD_SAME} or more failures in a row in some run that is still "
            "going, without a success of the same operation between them.",
        ),
        instant(queries.classes_over_threshold()),
        steps=((None, NEUTRAL), (1, BAD)),
    )


def escalations() -> Stat:
    """How many runs were stopped or handed to a human."""
    return stat(
        Caption(
            5,
            "Escalations",
            "Thresholds that were reached in the time range, whatever was then done. "
            "The dashboard on escalations says what.",
        ),
        instant(queries.escalations_in_range()),
        steps=((None, NEUTRAL), (1, WARNING)),
    )


def failures_per_minute() -> Stat:
    """How fast it fails right now."""
    return stat(
        Caption(6, "Per minute", "Failures per minute over the last five minutes of the time range."),
        instant(queries.failures_per_minute()),
        decimals=1,
    )


# Over time.


def top_classes() -> TimeSeries:
    """Which classes fail most, over time."""
    return bars(
        Caption(
            20,
            "Top classes over time",
            "Failures of the ten classes that failed most in the time range; the bars of a class add up "
            "to its failures. Diamonds are single occurrences (exemplars): they lead to their traces.",
            empty=_NOTHING,
        ),
        promql(queries.top_classes(), legend(ERROR_TYPE, MESSAGE), exemplar=True),
        calcs=("max", "sum"),
        links=(_link_of_series(),),
    )


def live_streaks() -> TimeSeries:
    """How close classes are to the threshold."""
    return timeseries(
        Caption(
            21,
            "Live streaks",
            "Failures of a class since the same operation last succeeded, from 2 on: the longest over "
            f"50 runs of each process. At the dashed line, {queries.THRESHOLD_SAME} as shipped, a run escalates. "
            "The streak of a process that ended stays in sight for three minutes. A run shorter than the export "
            "interval, 10 s as shipped, is seen by chance only.",
            empty="No operation is failing right now",
        ),
        promql(queries.streaks_by_operation(), legend(AGENT, TOOL, MESSAGE)),
        threshold=queries.THRESHOLD_SAME,
        links=(_link_of_series(),),
    )


def outcomes() -> TimeSeries:
    """What failures turned out to be, over time."""
    return bars(
        Caption(
            22,
            "Outcomes over time",
            "first in its run: a run had not met the class before. repeat: again in the same run. "
            "after_escalation: although the run was to stop. handled: inside a call that succeeded after all. "
            "coarse: counted by the collector, of agents without this library.",
            empty=_NOTHING,
        ),
        promql(queries.outcomes(), legend(OUTCOME), exemplar=True),
        colours=colours.OUTCOMES,
        calcs=("max", "sum"),
    )


def resolution_rate() -> Stat:
    """How often agents get over a failure."""
    return stat(
        Caption(
            23,
            "Resolution rate",
            "Of the classes that failed in a run, the share that was resolved in it: the operation that "
            "failed has since succeeded.",
            unit="percentunit",
            empty=_NOTHING,
        ),
        instant(queries.resolution_rate()),
    )


def resolutions() -> TimeSeries:
    """Whether agents get over failures as fast as these come."""
    return bars(
        Caption(
            24,
            "Failing and resolved",
            "Classes that began to fail in a run, and classes whose operation has since succeeded. "
            "taken back: the call that had failed fails again as before. A lasting gap means that agents "
            "give up, or loop.",
            empty=_NOTHING,
        ),
        promql(queries.began(), "began to fail", ref="A"),
        promql(queries.resolutions(), "resolved", ref="B"),
        promql(queries.taken_back(), "taken back", ref="C"),
        stacked=False,
        colours=colours.RESOLUTIONS,
        calcs=("max", "sum"),
    )


def certainties() -> BarGauge:
    """How many failures were declared, and how many are only stated."""
    return bar_gauge(
        Caption(
            25,
            "Declared and stated",
            "Failures in the time range. declared: an exception, a flag, a status or the tool's own "
            "refusal says so; what the collector counts is declared too. stated: a stated failure has no flag and no "
            "status; the closing words of the tool say so, or its whole answer is an error value. "
            f"{queries.NONE}: counted by an earlier version.",
            empty=_NOTHING,
        ),
        queries.failures_by(CERTAINTY),
        CERTAINTY,
    )


def waiting() -> Table:
    """Against what does waiting help, and for how long has it not."""
    return table(
        Caption(
            26,
            "Transient classes, by how long they have lasted",
            "Classes against which waiting helps (time-outs, limits, connections), and that have failed "
            "within the last hour: for how long without a pause of twelve hours. Agents are not refused for them.",
            unit="s",
            empty="No class against which waiting helps has failed within the hour",
        ),
        rows(queries.lasting()),
        transformations=(
            columns(
                {
                    TEMPLATE: "Message",
                    "Value": "Lasts",
                    SERVICE: "Service",
                    ENVIRONMENT: "Environment",
                    NAMESPACE: "Owner",
                    CLASS: "Class",
                },
                hidden=("Time",),
            ),
        ),
        overrides=(
            ("Message", {"custom.minWidth": 300, "custom.inspect": True}),
            ("/^(Message|Class)$/", links_of(row_link("All about this class", DETAIL, CLASS))),
        ),
        sort_by="Lasts",
    )


# Where.


def by_agent() -> BarGauge:
    """Which agents fail."""
    return _by(30, "By agent", AGENT, "Failures in the time range of the ten agents that fail most.")


def by_tool() -> BarGauge:
    """Which tools fail."""
    return _by(31, "By tool", TOOL, "Failures in the time range of the ten tools that fail most.")


def by_type() -> BarGauge:
    """Which types of errors there are."""
    return _by(32, "By type", ERROR_TYPE, "Failures in the time range of the ten most frequent types.")


def handled() -> BarGauge:
    """What was handled before the agent saw it."""
    return _that_filters(
        Caption(
            33,
            "Handled failures by type",
            "Failures inside calls that succeeded after all, such as a request that was tried again. No "
            "agent saw them and no alert counts them, but they cost time and may become failures." + _A_CLICK,
        ),
        queries.handled_by(ERROR_TYPE),
        ERROR_TYPE,
    )


def by_member() -> BarGauge:
    """Which tests fail, whichever class their suite is of."""
    return bar_gauge(
        Caption(
            34,
            "Red tests",
            "Failures in the time range of tests, targets and the like that one output names, over all "
            "agents; one output counts each once. Of an output 50 names have bars of their own, of a process 500.",
        ),
        queries.failures_by_member(),
        MEMBER,
    )


def _by(panel_id: int, title: str, name: str, description: str) -> BarGauge:
    caption = Caption(panel_id, title, description + _A_CLICK, empty=_NOTHING)
    return _that_filters(caption, queries.failures_by(name), name)


def _that_filters(caption: Caption, expr: str, name: str) -> BarGauge:
    chosen = _choice(name, of_series(name))
    # An empty value selects the series that lack the label.
    return bar_gauge(caption, expr, name, links=(chosen,), overrides=((queries.NONE, links_of(_choice(name, ""))),))


def _choice(name: str, value: str) -> Link:
    """Lead to this page with one value of a variable, and the others as they are."""
    others = [each for label, each in queries.VARIABLES.items() if label != name]
    chosen = f"var-{queries.VARIABLES[name]}={value}"
    return page_link("Show only these", UID, chosen, *kept("environment", "service", "owner", *others))


def _link_of_series() -> Link:
    return page_link(
        "All about this class", DETAIL, f"var-class={of_series(CLASS)}", *kept("environment", "service", "owner")
    )
