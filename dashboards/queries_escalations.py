"""What the page on escalations and budgets asks."""

from __future__ import annotations

from typing import Final

from dashboards.classes import PLACE, described
from dashboards.metrics import (
    ACTION,
    AFTER_ESCALATION,
    AGENT,
    CLASS,
    ENVIRONMENT,
    ERROR_TYPE,
    ERRORS,
    ESCALATIONS,
    LOCATION,
    NAMESPACE,
    OUTCOME,
    REFUSALS,
    REPEATS,
    RESULT,
    RUNS,
    SERVICE,
    TEMPLATE,
    THRESHOLD,
    TOOL,
)
from dashboards.objectives import ALLOWED_BAD_RUNS
from dashboards.queries import RANGE, chosen, grown, named, scoped, steps, total, with_message

PER_AGENT: Final = (SERVICE, ENVIRONMENT, NAMESPACE, AGENT)
"""The labels that identify the row of an agent."""

UNHANDLED: Final = f'{ACTION}="unhandled"'
UNRESOLVED: Final = f'{RESULT}="unresolved"'
HALTED: Final = f'{RESULT}="halted"'
BAD: Final = f'{RESULT}=~"failed|halted"'


def escalations(*matchers: str) -> str:
    """Return the counters of escalations that the variables select."""
    return scoped(ESCALATIONS, chosen(AGENT), chosen(CLASS), *matchers)


def runs(*matchers: str) -> str:
    """Return the counters of ended runs that the variables select; a run is of no class."""
    return scoped(RUNS, chosen(AGENT), *matchers)


def refusals() -> str:
    """Return the counters of refused calls that the variables select."""
    return scoped(REFUSALS, chosen(AGENT), chosen(TOOL), chosen(CLASS))


def after_escalation() -> str:
    """Return the counters of failures that went on although a run had escalated."""
    return scoped(ERRORS, chosen(AGENT), chosen(CLASS), f'{OUTCOME}="{AFTER_ESCALATION}"')


# In the time range.


def escalations_in_range(*matchers: str) -> str:
    """Escalations in the time range."""
    return total(grown(escalations(*matchers)))


def unhandled_in_range() -> str:
    """Escalations that nobody answered."""
    return escalations_in_range(UNHANDLED)


def after_escalation_in_range() -> str:
    """Failures that went on after an escalation."""
    return total(grown(after_escalation()))


def runs_in_range(*matchers: str) -> str:
    """Runs that ended in the time range."""
    return total(grown(runs(*matchers)))


def halted_in_range() -> str:
    """Runs that were halted in the time range."""
    return runs_in_range(HALTED)


def unresolved_in_range() -> str:
    """Runs that ended with a class left open."""
    return runs_in_range(UNRESOLVED)


def refused_in_range() -> str:
    """Identical calls that were not executed again."""
    return total(grown(refusals()))


def escalations_by_threshold() -> str:
    """Escalations in the time range, by the threshold that was reached."""
    return total(grown(escalations()), THRESHOLD)


def runs_by_result() -> str:
    """Runs of the time range, by how they ended."""
    return total(grown(runs()), RESULT)


def budget_left() -> str:
    """Of the service that has least left: the share of the time range's error budget; below zero it is spent."""
    return f"bottomk(1, 1 - {bad_share(RANGE, SERVICE, ENVIRONMENT)} / {ALLOWED_BAD_RUNS:g})"


def bad_share(window: str, *by: str) -> str:
    """The share of runs that ended failed or halted; nothing where no run ended, and zero where all ended well."""
    ended = total(grown(runs(), window), *by)
    return f"(({total(grown(runs(BAD), window), *by)} or 0 * {ended}) / ({ended} > 0))"


# Over time.


def escalations_over_time() -> str:
    """Escalations, by agent and threshold."""
    return f"{named(total(steps(escalations()), AGENT, THRESHOLD), AGENT)} > 0"


def escalations_over_time_by_action() -> str:
    """Escalations, by what was done about them."""
    return f"{total(steps(escalations()), ACTION)} > 0"


def after_escalation_over_time() -> str:
    """Failures after an escalation, by agent and message."""
    over_time = named(total(steps(after_escalation()), AGENT, CLASS), AGENT)
    return with_message(f"topk(10, {over_time} > 0)", after_escalation())


def refused_over_time() -> str:
    """Refused calls, by agent, tool and message."""
    refused = total(steps(refusals()), AGENT, TOOL, CLASS)
    return with_message(f"topk(10, {named(named(refused, AGENT), TOOL)} > 0)", refusals())


def repeated_over_time() -> str:
    """Identical calls that succeeded again with the same result, by agent and tool."""
    repeated = total(steps(scoped(REPEATS, chosen(AGENT), chosen(TOOL))), AGENT, TOOL)
    return f"topk(10, {named(named(repeated, AGENT), TOOL)} > 0)"


# Who and what.


def escalations_by_agent() -> str:
    """Escalations of the agents that escalate most."""
    return f"topk(20, {total(grown(escalations()), *PER_AGENT)} > 0)"


def unhandled_by_agent() -> str:
    """Those of them that nobody answered."""
    return f"{total(grown(escalations(UNHANDLED)), *PER_AGENT)} > 0"


def runs_by_agent(*matchers: str) -> str:
    """Runs of each agent."""
    return f"{total(grown(runs(*matchers)), *PER_AGENT)} > 0"


def bad_runs_by_agent() -> str:
    """Those of them that ended failed or halted."""
    return runs_by_agent(BAD)


def escalations_by_class() -> str:
    """Escalations of the classes that escalate most, with what each class means."""
    return described(f"topk(20, {total(grown(escalations()), *PLACE)} > 0)", ERROR_TYPE, LOCATION, TEMPLATE)
