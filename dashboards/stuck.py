"""What the page on escalations says of this very moment: what is stuck, in which run, and whom to ask."""

from __future__ import annotations

from typing import Final

from dashboards import queries_stuck as queries
from dashboards.layout import BAD, COUNT, Caption, Table, Text, table, text
from dashboards.links import board_link, links_of
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
from dashboards.transformations import columns, extracted
from dashboards.variables import LOKI

TO_CLASS: Final = board_link("This class", "errcompact-detail", "class", f"${{__data.fields.{CLASS}}}")
TO_RUN: Final = board_link("This run", "errcompact-detail", "run", f"${{__data.fields.{RUN_ID}:percentencode}}")
TO_AGENT: Final = board_link(
    "Recurring errors of this agent", "errcompact-recurrence", "agent", f"${{__data.fields.{AGENT}:percentencode}}"
)

_NARROW: Final = ("/^(Owner|Service|Agent|Tool|Class)$/", {"custom.minWidth": 90})
"""Of 150 pixels each, as Grafana has it, the last columns would be off the screen."""

WHOM: Final = """\
- **Stuck now** comes from metrics, which hold no run ids. **Escalated runs** come from log records: without Loki there
  are none. A click on a run shows its spans and records.
- **The owner** is the resource attribute `service.namespace`, which the OpenTelemetry conventions suggest for the team:
  `OTEL_RESOURCE_ATTRIBUTES=service.namespace=payments`.
- **Who is called** stands in Alertmanager's configuration. Alerts have the labels `service_name`,
  `deployment_environment_name` and `gen_ai_agent_name`: a route with `matchers: [service_name="checkout"]` calls its
  team.
- **Who decides in the program** is the run's `on_escalation` handler; *Unhandled* counts the escalations that met none.
"""


def stuck_now() -> Table:
    """What fails again and again at this moment."""
    return table(
        Caption(
            id=40,
            title="Stuck now",
            description=f"Live streaks of {THRESHOLD_SAME} failures or more without a success of the same operation "
            f"between them. At {THRESHOLD_SAME} a run escalates, as shipped; at 5 where the calls were rejected before "
            "they were executed. A streak stays for three minutes after its run has ended.",
            unit=COUNT,
            empty=f"No streak of {THRESHOLD_SAME} failures or more",
        ),
        rows(queries.stuck_now()),
        transformations=(
            columns(
                {
                    TEMPLATE: "Message",
                    "Value": "Streak",
                    SERVICE: "Service",
                    AGENT: "Agent",
                    TOOL: "Tool",
                    CLASS: "Class",
                },
                hidden=("Time", ERROR_TYPE, ENVIRONMENT),
            ),
        ),
        overrides=(
            ("Message", {"custom.minWidth": 300, "custom.inspect": True}),
            (
                "Streak",
                {
                    "custom.width": 105,
                    "color": {"mode": "fixed", "fixedColor": BAD},
                    "custom.cellOptions": {"type": "color-text"},
                },
            ),
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
            id=41,
            title="Escalated runs",
            description="The newest fifty escalations, each with the run that reached the threshold. loop: identical "
            "calls fail or are refused while nothing succeeds. A click on a run shows its spans and its records.",
            unit=COUNT,
            empty="No run has escalated, or there is no Loki",
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
                    CLASS: "Class",
                },
                hidden=("labels", "labelTypes", "tsNs", "id"),
            ),
        ),
        overrides=(
            ("When", {"custom.width": 190}),
            ("Run", {"custom.width": 150, **links_of(TO_RUN)}),
            ("Message", {"custom.minWidth": 320, "custom.inspect": True, **links_of(TO_CLASS)}),
            ("Threshold", {"custom.width": 110}),
            _NARROW,
            ("Class", links_of(TO_CLASS)),
            ("Agent", links_of(TO_AGENT)),
        ),
        sort_by="When",
    ).datasource(LOKI)


def whom_to_ask() -> Table:
    """Whose services escalate."""
    return table(
        Caption(
            id=42,
            title="Whom to ask",
            description="Services whose runs escalated in the time range, with the owner that they name by the "
            "resource attribute service.namespace.",
            unit=COUNT,
            empty="No escalation",
        ),
        rows(queries.escalated_by_owner()),
        transformations=(
            columns({NAMESPACE: "Owner", SERVICE: "Service", AGENT: "Agent", "Value": "Count"}, hidden=("Time",)),
        ),
        overrides=(("Count", {"custom.width": 105}), _NARROW, ("Agent", links_of(TO_AGENT))),
        sort_by="Count",
    )


def how_to_ask() -> Text:
    """Say where runs and owners come from, which empty columns cannot."""
    return text(
        Caption(id=43, title="Which run, and whom to ask", description="What the tables here need.", unit="", empty=""),
        WHOM,
    )
