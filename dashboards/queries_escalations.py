"""What the page on escalations and budgets asks."""

from __future__ import annotations

from typing import Final

from dashboards.metrics import (
    ACTION,
    AFTER_ESCALATION,
    AGENT,
    CLASS,
    CLASS_INFO,
    ENVIRONMENT,
    ERROR_TYPE,
    ERRORS,
    ESCALATIONS,
    LOCATION,
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
from dashboards.queries import RANGE, chosen, grown, named, scoped, select, steps, total, with_message

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
    """The share of the time range's error budget that is not used up; below zero the objective is missed."""
    return f"1 - {bad_share(RANGE)} / {ALLOWED_BAD_RUNS:g}"


def bad_share(window: str) -> str:
    """The share of runs that ended failed or halted; nothing where no run ended, and zero where all ended well."""
    ended = total(grown(runs(), window))
    return f"(({total(grown(runs(BAD), window))} or 0 * {ended}) / ({ended} > 0))"


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
    return f"topk(20, {total(grown(escalations()), SERVICE, AGENT)} > 0)"


def unhandled_by_agent() -> str:
    """Those of them that nobody answered."""
    return f"{total(grown(escalations(UNHANDLED)), SERVICE, AGENT)} > 0"


def runs_by_agent(*matchers: str) -> str:
    """Runs of each agent."""
    return f"{total(grown(runs(*matchers)), SERVICE, AGENT)} > 0"


def bad_runs_by_agent() -> str:
    """Those of them that ended failed or halted."""
    return runs_by_agent(BAD)


def escalations_by_class() -> str:
    """Escalations of the classes that escalate most, with what each class means."""
    return explained(f"topk(20, {total(grown(escalations()), CLASS)} > 0)", ERROR_TYPE, LOCATION, TEMPLATE)


def explained(values: str, *by: str) -> str:
    """
    Return values of classes with labels that say what each class means.

    A class has one meaning per process that knows it, so one is picked. A class without a meaning keeps its row: it is
    `other`, or no process explains it any more.
    """
    meaning = _meaning(*by)
    return f"{values} * on ({CLASS}) group_left ({', '.join(by)}) {meaning} or {values} unless on ({CLASS}) {meaning}"


def _meaning(*by: str) -> str:
    known = f"last_over_time({select(CLASS_INFO, *_place())}[{RANGE}])"
    return f"topk by ({CLASS}) (1, max by ({', '.join((CLASS, *by))}) ({known}))"


def _place() -> tuple[str, ...]:
    return (f'{ENVIRONMENT}=~"$environment"', f'{SERVICE}=~"$service"')


# Logs.


def escalation_records() -> str:
    """
    The log records of escalations.

    Loki refuses a selector that could match everything, hence `.+`; only records of escalations name a threshold. Each
    line begins with its service and agent, which the record itself has as attributes only.
    """
    found = f'{{{SERVICE}=~".+", {SERVICE}=~"$service", {ENVIRONMENT}=~"$environment"}}'
    shown = f"{{{{.{SERVICE}}}}} {{{{.{AGENT}}}}}: {{{{__line__}}}}"
    return f'{found} | {THRESHOLD}!="" | {AGENT}=~"$agent" | {CLASS}=~"$class" | line_format "{shown}"'
