"""What the page on escalations asks about this very moment: which runs are stuck, or wait for an answer."""

from __future__ import annotations

from typing import Final

from dashboards.classes import STUCK, described
from dashboards.metrics import (
    AGENT,
    CLASS,
    ENVIRONMENT,
    ERROR_TYPE,
    NAMESPACE,
    RUN_ID,
    RUN_PENDING,
    RUN_STREAK,
    SERVICE,
    TEMPLATE,
    THRESHOLD,
    TOOL,
)
from dashboards.queries import chosen, scoped

RUNS: Final = 50
"""How many runs the table shows, those with the longest streaks."""

_RUN: Final = (SERVICE, ENVIRONMENT, NAMESPACE, AGENT, TOOL, CLASS, THRESHOLD, RUN_ID)


def stuck_now() -> str:
    """Runs with streaks that have reached a threshold, and those that wait, with what their classes mean."""
    chosen_ones = (chosen(AGENT), chosen(TOOL), chosen(CLASS))
    live = scoped(RUN_STREAK, *chosen_ones)
    reached = scoped(RUN_STREAK, f'{THRESHOLD}!=""', *chosen_ones)
    # A run that waits is stuck whatever its streak; one that has no streak left still waits.
    waits = f"{scoped(RUN_PENDING, *chosen_ones)} > 0"
    stuck = f"{live} >= {STUCK} or {reached} >= 1 or on ({RUN_ID}) ({waits}) * 0"
    return described(f"topk({RUNS}, max by ({', '.join(_RUN)}) ({stuck}))", ERROR_TYPE, TEMPLATE)


def waiting() -> str:
    """For how long the answer of a person has been waited for, in seconds, by run."""
    return f"max by ({RUN_ID}) ({scoped(RUN_PENDING)} > 0) and on ({RUN_ID}) ({stuck_now()})"


def escalated_runs() -> str:
    """
    The log records of escalations, each with few enough labels for the columns of a table.

    No metric of Loki: more than 500 runs, and it would answer nothing at all.
    """
    found = f'{{{SERVICE}=~".+", {SERVICE}=~"$service", {ENVIRONMENT}=~"$environment"}}'
    escalated = f'{found} | {THRESHOLD}!="" | {AGENT}=~"$agent" | {CLASS}=~"$class"'
    # The column beside it says which threshold that was.
    said = '| line_format `{{ regexReplaceAll "^escalation: [^:]+: " __line__ "" }}`'
    return f"{escalated} | keep {RUN_ID}, {SERVICE}, {ENVIRONMENT}, {AGENT}, {TOOL}, {THRESHOLD}, {CLASS} {said}"
