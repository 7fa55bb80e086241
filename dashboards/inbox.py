"""The page an operator opens first: what is wrong now, since when, and whose it is."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from dashboards import classes, colours, marks, variables
from dashboards import queries_inbox as queries
from dashboards.class_cells import coloured_states, links_of_class
from dashboards.layout import (
    AnyPanel,
    Caption,
    Line,
    Page,
    Section,
    Stat,
    Table,
    alert_list,
    cell,
    fixed_colour,
    stat,
    table,
)
from dashboards.links import Link, kept, links_of, of_series, page_link
from dashboards.metrics import (
    AGENT,
    CLASS,
    ENVIRONMENT,
    NAMESPACE,
    SERVICE,
    SERVICE_VERSION,
    STATE,
    TEMPLATE,
    TOOL,
)
from dashboards.queries import of_alerts
from dashboards.targets import instant, legend, promql, rows
from dashboards.transformations import columns, joined, only, sorted_by, trends

UID: Final = "errcompact-inbox"
TABLE: Final = "Classes: ${state:text}"
"""Its title says which states it shows."""


def page() -> Page:
    """Return the whole page."""
    return Page(
        uid=UID,
        title="Agent errors: inbox",
        description="What is wrong now, since when, and whose it is. A row leads to its class.",
        variables=(*variables.data_sources(), *variables.scope(), variables.state(), variables.search()),
        annotations=marks.everything(),
        since="now-24h",
        sections=(
            Section(
                id=100,
                title="",
                lines=(
                    Line(3, ((6, new_since()), (4, stuck_runs()), (4, alerts_firing()), (10, states()))),
                    Line(18, ((24, rows_of_classes()),)),
                ),
            ),
            Section(id=200, title="Alerts", lines=(Line(9, ((24, alerts()),)),), collapsed=True),
        ),
    )


# The tiles.


def new_since() -> Stat:
    """What the last deployment brought."""
    return stat(
        Caption(
            1,
            "New",
            "Classes that first failed within the last day, how often they did, and for how long the "
            "newest version runs that followed another one within a day. A click shows only them.",
            empty="No history yet",
        ),
        instant(queries.new_classes(), "classes"),
        instant(queries.failures_of_new(), "failures", ref="B"),
        instant(queries.newest_version(), f"since {{{{{SERVICE_VERSION}}}}}", ref="C"),
        steps=((None, colours.NEUTRAL), (1, colours.NEW)),
        links=(_only(*(f"var-state={quote(each.name)}" for each in (classes.NEW_CLASS, classes.NEW_IN_VERSION))),),
        overrides=(("/^since /", {"unit": "s", **fixed_colour(colours.NEUTRAL)}),),
        named=True,
    )


def stuck_runs() -> Stat:
    """How many runs are stuck."""
    return stat(
        Caption(
            2,
            "Stuck",
            f"Runs that go on and have failed {classes.STUCK} times or more in a row with one class. A "
            "click shows them, with those that wait for an answer.",
        ),
        instant(queries.stuck_runs()),
        steps=((None, colours.OK), (1, colours.BAD)),
        links=(page_link("Stuck runs", "errcompact-escalations", *kept("environment", "service", "owner")),),
    )


def alerts_firing() -> Stat:
    """How many alerts are firing."""
    return stat(
        Caption(3, "Alerts", "Alerts of this project that fire in Prometheus, by severity. A click lists them."),
        instant(queries.alerts(), legend("severity")),
        overrides=(
            ("critical", fixed_colour(colours.BAD)),
            ("warning", fixed_colour(colours.WARNING)),
            ("info", fixed_colour(colours.NEUTRAL)),
        ),
        links=(Link("Alerts", "/alerting/list?search=state:firing%20rule:Agent"),),
        named=True,
    )


def states() -> Stat:
    """How many classes are in which state: the legend of their colours, and the way to filter by them."""
    return stat(
        Caption(
            4,
            "Classes by state",
            "How many classes of the last seven days are in which state; a click shows only these. not "
            f"shown: classes beyond the {queries.ROWS} worst. What a process has no label for stands under `other`, "
            "which is no class: the page on health counts it.",
        ),
        instant(queries.by_state(), legend(STATE)),
        instant(queries.all_states(), "all", ref="B"),
        instant(queries.not_shown(), "not shown", ref="C"),
        overrides=(
            *((each.name, fixed_colour(each.colour)) for each in classes.STATES),
            ("all", links_of(_only("var-state=$__all"))),
            ("not shown", {"links": []}),
        ),
        links=(_only(f"var-state={of_series(STATE)}"),),
        named=True,
    )


# The table.


def rows_of_classes() -> Table:
    """List each class once per service, the worst first."""
    return table(
        Caption(
            10,
            TABLE,
            f"The {queries.ROWS} worst of the last seven days: new and stuck ones first, then by failures "
            "of a day that no run got over. Failures, runs and the share of runs that got over the class are of the "
            "last 24 hours; the trend shows each whole hour of the time range; times are known to five minutes. The "
            "tool and the agent are those with the most failures, the owner is the resource attribute "
            "service.namespace. A class without a message was counted by the collector, of an agent without this "
            f"library.\n\nState, of several the first: {classes.definitions()}",
            empty="No class of the last seven days matches what is chosen",
        ),
        rows(queries.rows(), ref="A"),
        rows(queries.failures(), ref="B"),
        promql(queries.trend(), ref="C").interval("1h"),
        rows(queries.last_seen(), ref="D"),
        rows(queries.first_seen(), ref="E"),
        rows(queries.runs(), ref="F"),
        rows(queries.resolved(), ref="G"),
        transformations=(only("C", trends("C")), joined(queries.ROW), sorted_by("Value #A"), _columns()),
        overrides=(
            ("Message", {"custom.minWidth": 270, "custom.inspect": True, **links_of(*links_of_class())}),
            ("State", {"custom.width": 108, **coloured_states()}),
            ("Failures", {"custom.width": 88}),
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
            ("/^(First|Last) seen$/", {"unit": "dateTimeFromNow", "custom.width": 138}),
            ("Runs", {"custom.width": 70}),
            ("Resolved", {"unit": "percentunit", "decimals": 0, "custom.width": 84}),
            ("/^(Service|Tool|Agent|Owner|Environment)$/", {"custom.width": 100}),
            ("Class", {"custom.width": 150, **links_of(*links_of_class())}),
        ),
    )


def _columns() -> Any:
    return columns(
        {
            TEMPLATE: "Message",
            STATE: "State",
            NAMESPACE: "Owner",
            "Value #B": "Failures",
            "Value #D": "Last seen",
            "Value #E": "First seen",
            SERVICE: "Service",
            "Trend #C": "Trend",
            TOOL: "Tool",
            "Value #F": "Runs",
            "Value #G": "Resolved",
            AGENT: "Agent",
            ENVIRONMENT: "Environment",
            CLASS: "Class",
        },
        # Joined tables each bring a time of their own.
        hidden=("Time", *(f"Time {number}" for number in range(1, 8)), queries.ROW, "Value #A", SERVICE_VERSION),
    )


def _only(*chosen: str) -> Link:
    return page_link("Show only these", UID, *chosen, *kept("environment", "service", "owner", "search"))


# More.


def alerts() -> AnyPanel:
    """Which of our alerts are active."""
    return alert_list(
        Caption(
            7,
            "Firing and pending",
            "Alerts of this project that are pending or firing, from Grafana and from Prometheus, of the "
            "environment and the service that were chosen.",
            empty="No alert is active",
        ),
        name_contains="Agent",
        labels=of_alerts(),
    )
