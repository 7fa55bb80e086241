"""What the page on escalations asks about this very moment: what is stuck, in which run, and who owns it."""

from __future__ import annotations

from typing import Final

from dashboards.metrics import (
    AGENT,
    CLASS,
    ENVIRONMENT,
    ERROR_TYPE,
    ESCALATIONS,
    NAMESPACE,
    RUN_ID,
    SERVICE,
    STREAK,
    TARGET_INFO,
    TEMPLATE,
    THRESHOLD,
    TOOL,
)
from dashboards.queries import LIVE, RANGE, THRESHOLD_SAME, chosen, grown, scoped, total
from dashboards.queries_escalations import explained

NOT_NAMED: Final = "not named"
"""What stands for the owner of a service that names none."""


def stuck_now() -> str:
    """Live streaks that have reached the threshold, with what their classes mean."""
    live = f"last_over_time({scoped(STREAK, chosen(AGENT), chosen(TOOL), chosen(CLASS))}[{LIVE}])"
    longest = f"(max by ({SERVICE}, {ENVIRONMENT}, {AGENT}, {TOOL}, {CLASS}) ({live}) >= {THRESHOLD_SAME})"
    return explained(longest, ERROR_TYPE, TEMPLATE)


def escalated_runs() -> str:
    """
    The log records of escalations, each with few enough labels for the columns of a table.

    No metric of Loki: more than 500 runs, and it would answer nothing at all.
    """
    found = f'{{{SERVICE}=~".+", {SERVICE}=~"$service", {ENVIRONMENT}=~"$environment"}}'
    escalated = f'{found} | {THRESHOLD}!="" | {AGENT}=~"$agent" | {CLASS}=~"$class"'
    # The column beside it says which threshold that was.
    said = '| line_format `{{ regexReplaceAll "^escalation: [^:]+: " __line__ "" }}`'
    return f"{escalated} | keep {RUN_ID}, {SERVICE}, {AGENT}, {TOOL}, {THRESHOLD}, {CLASS} {said}"


def escalated_by_owner() -> str:
    """Escalations by service and agent, with the namespace of the service as their owner."""
    counters = scoped(ESCALATIONS, chosen(AGENT), chosen(CLASS))
    escalated = f"({total(grown(counters), SERVICE, AGENT)} > 0)"
    naming = scoped(TARGET_INFO, f'{NAMESPACE}!=""')
    owner = f"topk by ({SERVICE}) (1, group by ({SERVICE}, {NAMESPACE}) (last_over_time({naming}[{RANGE}])))"
    owned = f"{escalated} * on ({SERVICE}) group_left ({NAMESPACE}) {owner}"
    # A label that no row has would be no column.
    others = f'label_replace({escalated} unless on ({SERVICE}) {owner}, "{NAMESPACE}", "{NOT_NAMED}", "", "")'
    return f"{owned} or {others}"
