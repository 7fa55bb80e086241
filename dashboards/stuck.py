"""What the page on escalations says of this very moment: which runs are stuck, since when, and whom to ask."""

from __future__ import annotations

from typing import Final

from dashboards import queries_stuck as queries
from dashboards.colours import BAD
from dashboards.layout import Caption, Table, Text, table, text
from dashboards.links import links_of, row_link
from dashboards.metrics import (
    AGENT,
    CLASS,
    ENVIRONMENT,
    ERROR_TYPE,
    NAMESPACE,
    RUN_ID,
    SERVICE,
    TEMPLATE,
    THRESHOLD,
    TOOL,
)
from dashboards.queries import THRESHOLD_SAME
from dashboards.targets import logql, rows
from dashboards.transformations import columns, extracted, joined
from dashboards.variables import LOKI

TO_CLASS: Final = row_link("This class", "errcompact-detail", CLASS)
TO_RUN: Final = row_link("This run", "errcompact-detail", RUN_ID, CLASS)
TO_AGENT: Final = row_link("Failures of this agent", "errcompact-recurrence", AGENT)

_NARROW: Final = ("/^(Owner|Service|Agent|Tool|Class|Environment|Threshold)$/", {"custom.width": 110})
"""Of 150 pixels each, as Grafana has it, the last columns would be off the screen."""

WHOM: Final = """\
- **The owner** is the resource attribute `service.namespace`, which the OpenTelemetry conventions suggest for the team:
  `OTEL_RESOURCE_ATTRIBUTES=service.namespace=payments`. It is a label of every metric and alert.
- **Who is called** stands in Alertmanager's configuration: a route with `matchers: [service_namespace="payments"]`
  calls that team.
- **Who decides in the program** is the run's `on_escalation` handler; *Unhandled* counts the escalations that met none.
- **Escalated runs** come from log records; without Loki there are none. *Stuck now* needs metrics only.
"""


def stuck_now() -> Table:
    """Which runs fail again and again at this moment."""
    return table(
        Caption(
            40,
            "Stuck now",
            f"The {queries.RUNS} runs with the longest streaks of {THRESHOLD_SAME} failures or more of one "
            "class without a success of the same operation between them, those that have reached a threshold, and "
            "those that wait for the answer of a handler (Waiting: for how long). Each process reports its newest 50 "
            "runs that fail.",
            empty=f"No run has a streak of {THRESHOLD_SAME} failures or more, and none waits for an answer",
        ),
        rows(queries.stuck_now(), ref="A"),
        rows(queries.waiting(), ref="B"),
        transformations=(
            joined(RUN_ID),
            columns(
                {
                    TEMPLATE: "Message",
                    "Value #A": "Streak",
                    "Value #B": "Waiting",
                    RUN_ID: "Run",
                    THRESHOLD: "Threshold",
                    NAMESPACE: "Owner",
                    SERVICE: "Service",
                    AGENT: "Agent",
                    TOOL: "Tool",
                    ENVIRONMENT: "Environment",
                    CLASS: "Class",
                },
                hidden=("Time", "Time 1", "Time 2", ERROR_TYPE),
            ),
        ),
        overrides=(
            ("Message", {"custom.minWidth": 260, "custom.inspect": True}),
            (
                "Streak",
                {
                    "custom.width": 105,
                    "color": {"mode": "fixed", "fixedColor": BAD},
                    "custom.cellOptions": {"type": "color-text"},
                },
            ),
            ("Waiting", {"unit": "s", "custom.width": 112}),
            ("Run", {"custom.width": 150, **links_of(TO_RUN)}),
            ("/^(Message|Class)$/", links_of(TO_CLASS)),
            _NARROW,
            ("Agent", links_of(TO_AGENT)),
        ),
        sort_by="Streak",
    )


def escalated_runs() -> Table:
    """In which runs thresholds were reached."""
    return table(
        Caption(
            41,
            "Escalated runs",
            "The newest fifty escalations, each with the run that reached the threshold. loop: identical "
            "calls fail or are refused while nothing succeeds. A click on a run shows its spans and its records.",
            empty="No record of an escalation: there is no Loki, or none in this range",
        ),
        logql(queries.escalated_runs(), max_lines=50),
        transformations=(
            extracted("labels"),
            columns(
                {
                    "Time": "When",
                    RUN_ID: "Run",
                    "Line": "Message",
                    THRESHOLD: "Threshold",
                    SERVICE: "Service",
                    AGENT: "Agent",
                    TOOL: "Tool",
                    ENVIRONMENT: "Environment",
                    CLASS: "Class",
                },
                hidden=("labels", "labelTypes", "tsNs", "id"),
            ),
        ),
        overrides=(
            ("When", {"custom.width": 190}),
            ("Run", {"custom.width": 150, **links_of(TO_RUN)}),
            ("Message", {"custom.minWidth": 320, "custom.inspect": True, **links_of(TO_CLASS)}),
            _NARROW,
            ("Class", links_of(TO_CLASS)),
            ("Agent", links_of(TO_AGENT)),
        ),
        sort_by="When",
    ).datasource(LOKI)


def how_to_ask() -> Text:
    """Say where runs and owners come from, which empty columns cannot."""
    return text(
        Caption(43, "Whom to ask", "What the tables here need.", unit="", empty=""),
        WHOM,
    )
