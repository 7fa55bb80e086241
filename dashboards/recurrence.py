"""The page an operator opens first: which failures recur, where, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dashboards import queries, states, variables
from dashboards.layout import (
    BAD,
    COUNT,
    NEUTRAL,
    OUTCOME_COLOURS,
    WARNING,
    AnyPanel,
    BarGauge,
    Caption,
    Line,
    Page,
    Section,
    Stat,
    Table,
    TimeSeries,
    alert_list,
    bar_gauge,
    bars,
    cell,
    events,
    stat,
    table,
    timeseries,
)
from dashboards.links import Link, explore, explore_spans, links_of
from dashboards.metrics import (
    AGENT,
    CERTAINTY,
    CLASS,
    ERROR_TYPE,
    HANDLED,
    LOCATION,
    MEMBER,
    MESSAGE,
    OUTCOME,
    SERVICE,
    SERVICE_VERSION,
    TEMPLATE,
    TOOL,
)
from dashboards.targets import instant, legend, promql, rows
from dashboards.transformations import columns, joined, only, trends

if TYPE_CHECKING:
    from grafana_foundation_sdk.builders.dashboard import AnnotationQuery
    from grafana_foundation_sdk.models.dashboard import DataTransformerConfig

UID: Final = "errcompact-recurrence"
DETAIL: Final = "/d/errcompact-detail"

_HERE: Final = "${datasource:queryparam}&${tempo:queryparam}&${loki:queryparam}&${environment:queryparam}"
"""The variables every link takes along, with the time range."""

_NOTHING: Final = "No failures in this range"


_A_CLICK: Final = " A click on a bar shows only its failures on the whole page."


def page() -> Page:
    """Return the whole page."""
    return Page(
        uid=UID,
        title="Agent errors: recurrence",
        description="Which failures of agents recur, where, and since when. A row of the table leads to its class.",
        variables=variables.everything(),
        annotations=annotations(),
        sections=(
            Section(
                id=100,
                title="Now",
                lines=(
                    Line(
                        4,
                        (
                            (4, failures()),
                            (4, distinct_classes()),
                            (4, new_class_count()),
                            (4, over_threshold()),
                            (4, escalations()),
                            (4, failures_per_minute()),
                        ),
                    ),
                ),
            ),
            Section(
                id=200,
                title="Classes",
                lines=(Line(14, ((24, classes()),)), Line(8, ((24, new_classes()),))),
            ),
            Section(
                id=300,
                title="Over time",
                lines=(
                    Line(11, ((16, top_classes()), (8, alerts()))),
                    Line(9, ((12, live_streaks()), (12, outcomes()))),
                    Line(9, ((6, resolution_rate()), (12, resolutions()), (6, certainties()))),
                ),
            ),
            Section(
                id=400,
                title="Where",
                lines=(Line(9, ((5, by_agent()), (5, by_tool()), (5, by_type()), (4, handled()), (5, by_member()))),),
            ),
        ),
    )


def annotations() -> tuple[AnnotationQuery, ...]:
    """Mark new classes, alerts and deployments on all graphs."""
    return (
        events(
            "First failures of a class",
            queries.class_began(),
            "blue",
            title="New in this process",
            text=legend(ERROR_TYPE, CLASS),
        ),
        events(
            "Alerts",
            queries.alerts_began(),
            BAD,
            title=legend("alertname"),
            text="Critical, in some service",
        ),
        events(
            "Deployments",
            queries.deployed(),
            "purple",
            title="New version",
            text=legend("job", SERVICE_VERSION),
        ),
        events(
            "Regressions",
            queries.regressed(),
            "orange",
            title=legend("change"),
            text=legend(SERVICE, ERROR_TYPE, CLASS),
        ),
    )


# Now.


def failures() -> Stat:
    """How many failures there were."""
    return stat(
        Caption(
            id=1,
            title="Failures",
            description="Failures in the time range, counted one by one, also in a class's first burst. What was "
            "handled inside a call that succeeded after all is none.",
            unit=COUNT,
            empty="None",
        ),
        instant(queries.failures_in_range()),
    )


def distinct_classes() -> Stat:
    """How many classes they belong to."""
    return stat(
        Caption(
            id=2,
            title="Classes",
            description="Distinct error classes among these failures: same type, place and masked message.",
            unit=COUNT,
            empty="None",
        ),
        instant(queries.classes_in_range()),
    )


def new_class_count() -> Stat:
    """How many of them are new."""
    return stat(
        Caption(
            id=3,
            title="New",
            description="Classes that are new in some service, as the table says. Of a service that did not report in "
            "the day before the range nothing is known.",
            unit=COUNT,
            empty="Unknown",
        ),
        instant(states.count_of_new()),
        steps=((None, NEUTRAL), (1, WARNING)),
    )


def over_threshold() -> Stat:
    """How many classes loop right now."""
    return stat(
        Caption(
            id=4,
            title="Streaks now",
            description=f"Classes with {queries.THRESHOLD_SAME} or more failures in a row in some run that is still "
            "going, without a success of the same operation between them.",
            unit=COUNT,
            empty="None",
        ),
        instant(queries.classes_over_threshold()),
        steps=((None, NEUTRAL), (1, BAD)),
    )


def escalations() -> Stat:
    """How many runs were stopped or handed to a human."""
    return stat(
        Caption(
            id=5,
            title="Escalations",
            description="Thresholds that were reached in the time range, whatever was then done. "
            "The dashboard on escalations says what.",
            unit=COUNT,
            empty="None",
        ),
        instant(queries.escalations_in_range()),
        steps=((None, NEUTRAL), (1, BAD)),
    )


def failures_per_minute() -> Stat:
    """How fast it fails right now."""
    return stat(
        Caption(
            id=6,
            title="Per minute",
            description="Failures per minute over the last five minutes of the time range.",
            unit=COUNT,
            empty="None",
        ),
        instant(queries.failures_per_minute()),
        decimals=1,
    )


def alerts() -> AnyPanel:
    """Which of our alerts are active."""
    return alert_list(
        Caption(
            id=7,
            title="Alerts",
            description="Alerts of this project that are pending or firing, from Grafana and from Prometheus, of the "
            "environment and the service that were chosen. The other variables change nothing here: agent, tool, type "
            "and class are no labels of most alerts.",
            unit=COUNT,
            empty="No alert is active",
        ),
        name_contains="Agent",
        labels=queries.of_alerts(),
    )


# Classes.


def classes() -> Table:
    """List each class once per service: what it is, how often, since when, and where to look."""
    return table(
        Caption(
            id=10,
            title="Classes",
            description="One row per class and service. Type, tool and agent are those with the most failures. "
            "First seen looks back to the day before the time range. Times are known to five minutes, in the last "
            "hour to one. `other` holds the classes beyond the bound on labels; a class without a template was "
            "counted by the collector, of an agent without this library.\n\n" + _definitions(),
            unit=COUNT,
            empty=_NOTHING,
        ),
        rows(queries.class_rows(), ref="A"),
        rows(queries.first_seen(), ref="B"),
        rows(queries.last_seen(), ref="C"),
        promql(queries.trend(), ref="D"),
        rows(states.state_of_row(), ref="E"),
        transformations=(only("D", trends("D")), joined(queries.ROW), _class_columns()),
        overrides=(
            ("Message", {"custom.minWidth": 300, "custom.inspect": True, **links_of(*links_of_class())}),
            ("State", {"custom.width": 112, "custom.align": "left", **_named_states()}),
            ("Failures", {"custom.width": 112}),
            # Bars begin at zero: from the smallest value on, few failures more look like many.
            (
                "Trend",
                {
                    "custom.width": 100,
                    "noValue": "",
                    "min": 0,
                    **cell(type="sparkline", drawStyle="bars", hideValue=True),
                },
            ),
            ("/^(First|Last) seen$/", {"unit": "dateTimeFromNow", "custom.width": 142}),
            ("/^(Service|Tool|Agent)$/", {"custom.width": 120}),
            ("Type", {"custom.width": 170}),
            ("Class", {"custom.width": 150, **links_of(*links_of_class())}),
        ),
        sort_by="Failures",
    )


def _class_columns() -> DataTransformerConfig:
    return columns(
        {
            TEMPLATE: "Message",
            "Value #E": "State",
            "Value #A": "Failures",
            "Trend #D": "Trend",
            "Value #C": "Last seen",
            "Value #B": "First seen",
            SERVICE: "Service",
            TOOL: "Tool",
            AGENT: "Agent",
            ERROR_TYPE: "Type",
            CLASS: "Class",
        },
        # Joined tables each bring a time of their own; the page of the class says where it is raised.
        hidden=("Time", *(f"Time {number}" for number in range(1, 6)), queries.ROW, LOCATION),
    )


def _named_states() -> dict[str, Any]:
    """Show a state by its name and colour."""
    named = {str(each.value): {"text": each.name, "color": each.colour} for each in states.STATES}
    return {"mappings": [{"type": "value", "options": named}], "noValue": "", **cell(type="color-text")}


def _definitions() -> str:
    """Return what the states mean, one line each."""
    return "State, of several the first: " + "; ".join(f"*{each.name}* {each.meaning}" for each in states.STATES) + "."


def new_classes() -> Table:
    """List the classes that had not been there."""
    return table(
        Caption(
            id=11,
            title="New classes",
            description="Classes that failed in the time range and are new in their service: it had reported in the "
            "day before the range without this class, or it has a new version and the class fails in that one only.",
            unit=COUNT,
            empty="No class is known to be new: what fails has failed before, or the service did not report before",
        ),
        rows(states.new_rows(), ref="A"),
        rows(states.new_first_seen(), ref="B"),
        transformations=(
            joined(queries.ROW),
            columns(
                {
                    TEMPLATE: "Message",
                    "Value #A": "Failures",
                    "Value #B": "First seen",
                    SERVICE: "Service",
                    ERROR_TYPE: "Type",
                    LOCATION: "Location",
                    CLASS: "Class",
                },
                hidden=("Time", "Time 1", "Time 2", queries.ROW, AGENT, TOOL),
            ),
        ),
        overrides=(
            ("Message", {"custom.minWidth": 360, "custom.inspect": True, **links_of(*links_of_class())}),
            ("Failures", {"custom.width": 115}),
            ("First seen", {"unit": "dateTimeFromNow", "custom.width": 145}),
            ("Type", {"custom.width": 170}),
            ("Class", {"custom.width": 150, **links_of(*links_of_class())}),
        ),
        sort_by="First seen",
    )


def links_of_class() -> tuple[Link, ...]:
    """Lead from a row to what is known of its class."""
    key = f"${{__data.fields.{CLASS}}}"
    service = f"${{__data.fields.{SERVICE}:percentencode}}"
    return (
        Link("All about this class", f"{DETAIL}?var-class={key}&var-service={service}&{_HERE}&${{__url_time_range}}"),
        Link("Traces", explore_spans(queries.traces_of(key, f'resource.service.name = "{service}"')), new_tab=True),
        Link(
            "Logs",
            explore("loki", {"queryType": "range", "expr": queries.records_of(key, f'{SERVICE}="{service}"')}),
            new_tab=True,
        ),
    )


# Over time.


def top_classes() -> TimeSeries:
    """Which classes fail most, over time."""
    return bars(
        Caption(
            id=20,
            title="Top classes over time",
            description="Failures of the ten classes that failed most in the time range; the bars of a class add up "
            "to its failures. Diamonds are single occurrences (exemplars): they lead to their traces.",
            unit=COUNT,
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
            id=21,
            title="Live streaks",
            description="Failures of a class since the same operation last succeeded, the longest over all runs "
            f"that are still going. At the dashed line, {queries.THRESHOLD_SAME} as shipped, a run escalates. The "
            "streak of a process that ended stays in sight for three minutes. A run shorter than the export interval, "
            "10 s as shipped, is seen by chance only.",
            unit=COUNT,
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
            id=22,
            title="Outcomes over time",
            description="new: first of its class in its run. repeat: again in the same run. after_escalation: "
            "although the run was to stop. handled: inside a call that succeeded after all. coarse: counted by the "
            "collector, of agents without this library.",
            unit=COUNT,
            empty=_NOTHING,
        ),
        promql(queries.outcomes(), legend(OUTCOME), exemplar=True),
        colours=OUTCOME_COLOURS,
        calcs=("max", "sum"),
    )


def resolution_rate() -> Stat:
    """How often agents get over a failure."""
    return stat(
        Caption(
            id=23,
            title="Resolution rate",
            description="Of the classes that failed in a run, the share that was resolved in it: the operation that "
            "failed has since succeeded.",
            unit="percentunit",
            empty=_NOTHING,
        ),
        instant(queries.resolution_rate()),
        steps=((None, BAD), (0.5, WARNING), (0.8, OUTCOME_COLOURS[HANDLED])),
    )


def resolutions() -> TimeSeries:
    """Whether agents get over failures as fast as these come."""
    return bars(
        Caption(
            id=24,
            title="Failing and resolved",
            description="Classes that began to fail in a run, and classes whose operation has since succeeded. "
            "taken back: the call that had failed fails again as before. A lasting gap means that agents "
            "give up, or loop.",
            unit=COUNT,
            empty=_NOTHING,
        ),
        promql(queries.began(), "began to fail", ref="A"),
        promql(queries.resolutions(), "resolved", ref="B"),
        promql(queries.taken_back(), "taken back", ref="C"),
        stacked=False,
        colours={"began to fail": OUTCOME_COLOURS["new"], "resolved": OUTCOME_COLOURS[HANDLED], "taken back": BAD},
        calcs=("max", "sum"),
    )


def certainties() -> BarGauge:
    """How many failures were declared, and how many are only stated."""
    return bar_gauge(
        Caption(
            id=25,
            title="Declared and stated",
            description="Failures in the time range. declared: an exception, a flag, a status or the tool's own "
            "refusal says so; what the collector counts is declared too. stated: a stated failure has no flag and no "
            "status; the closing words of the tool say so, or its whole answer is an error value. "
            f"{queries.NONE}: counted by an earlier version.",
            unit=COUNT,
            empty=_NOTHING,
        ),
        queries.failures_by(CERTAINTY),
        CERTAINTY,
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
            id=33,
            title="Handled failures by type",
            description="Failures inside calls that succeeded after all, such as a request that was tried again. No "
            "agent saw them and no alert counts them, but they cost time and may become failures." + _A_CLICK,
            unit=COUNT,
            empty="None",
        ),
        queries.handled_by(ERROR_TYPE),
        ERROR_TYPE,
    )


def by_member() -> BarGauge:
    """Which tests fail, whichever class their suite is of."""
    return bar_gauge(
        Caption(
            id=34,
            title="Red tests",
            description="Failures in the time range of tests, targets and the like that one output names, over all "
            "agents; one output counts each once. Of an output 50 names have bars of their own, of a process 500.",
            unit=COUNT,
            empty="None",
        ),
        queries.failures_by_member(),
        MEMBER,
    )


def _by(panel_id: int, title: str, name: str, description: str) -> BarGauge:
    caption = Caption(id=panel_id, title=title, description=description + _A_CLICK, unit=COUNT, empty=_NOTHING)
    return _that_filters(caption, queries.failures_by(name), name)


def _that_filters(caption: Caption, expr: str, name: str) -> BarGauge:
    chosen = _choice(name, f"${{__field.labels.{name}:percentencode}}")
    # An empty value selects the series that lack the label.
    return bar_gauge(caption, expr, name, links=(chosen,), overrides=((queries.NONE, links_of(_choice(name, ""))),))


def _choice(name: str, value: str) -> Link:
    """Lead to this page with one value of a variable, and the others as they are."""
    others = "&".join(f"${{{each}:queryparam}}" for label, each in queries.VARIABLES.items() if label != name)
    kept = f"${{service:queryparam}}&{others}&{_HERE}&${{__url_time_range}}"
    return Link("Show only these", f"/d/{UID}?var-{queries.VARIABLES[name]}={value}&{kept}")


def _link_of_series() -> Link:
    return Link(
        "All about this class",
        f"{DETAIL}?var-class=${{__field.labels.{CLASS}}}&${{service:queryparam}}&{_HERE}&${{__url_time_range}}",
    )
