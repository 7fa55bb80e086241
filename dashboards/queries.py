"""
What the dashboards ask: PromQL, TraceQL and LogQL as text, and nothing about how an answer looks.

A counter of the library is born with its first occurrence, so `increase()` misses the first burst of a class, and a
process that has ended leaves no instant value; `grown()` is exact for both. Every window is at least three minutes
wide, since an exporter may push only once a minute.
"""

from __future__ import annotations

from typing import Final

from dashboards.metrics import (
    AGENT,
    CLASS,
    ENVIRONMENT,
    ERROR_TYPE,
    ERRORS,
    HANDLED,
    OUTCOME,
    SERVICE,
    TOOL,
)

RANGE: Final = "$__range"
"""The dashboard's time range."""

STEP: Final = "$__interval"
"""The distance of two points of a graph, at least the shipped export interval."""

RATE_WINDOW: Final = "$__rate_interval"
RECENTLY: Final = "5m"

THRESHOLD_SAME: Final = 3
"""The library's default for occurrences of one class in a row."""

_SCOPE: Final = (f'{ENVIRONMENT}=~"$environment"', f'{SERVICE}=~"$service"')
_FAILURE: Final = (f'{OUTCOME}!="{HANDLED}"',)


# Selectors.


def select(metric: str, *matchers: str) -> str:
    """Return the series of a metric."""
    return f"{metric}{{{', '.join(matchers)}}}" if matchers else metric


def scoped(metric: str, *matchers: str) -> str:
    """Return the series of a metric within the environment and service that were chosen."""
    return select(metric, *_SCOPE, *matchers)


def chosen(name: str) -> str:
    """Return the matcher of a label by the variable that goes with it."""
    return f'{name}=~"${_VARIABLES[name]}"'


_VARIABLES: Final = {AGENT: "agent", TOOL: "tool", ERROR_TYPE: "error_type", CLASS: "class"}


def occurrences(*matchers: str) -> str:
    """Return the counters of occurrences, handled ones too, that all variables select."""
    return scoped(ERRORS, *map(chosen, _VARIABLES), *matchers)


def failures() -> str:
    """Return the counters of failures that all variables select: what was handled is none."""
    return occurrences(*_FAILURE)


# What the values of variables are looked up in.


def everything() -> str:
    """Return all occurrences."""
    return ERRORS


def of_environment() -> str:
    """Return occurrences in the environment that was chosen."""
    return select(ERRORS, _SCOPE[0])


def of_service() -> str:
    """Return occurrences in the service that was chosen."""
    return scoped(ERRORS)


def without_class() -> str:
    """Return occurrences that all variables select but the class."""
    return scoped(ERRORS, *(chosen(name) for name in _VARIABLES if name != CLASS))


# Parts of questions.


def grown(series: str, window: str = RANGE) -> str:
    """
    Return how much counters grew in a window, exactly.

    `increase()` is blind to a counter's first sample and guesses beyond the samples it has. The difference of two
    values is exact: the newest in the window, less the newest of the hour before it, or less nothing where the counter
    was born in the window. Only a counter that began again within the window is left to `increase()`.
    """
    newest = f"last_over_time({series}[{window}])"
    before = f"last_over_time({series}[1h] offset {window})"
    exact = f"((({newest} - {before}) >= 0) or {newest})"
    return f"({exact} unless (resets({series}[{window}]) > 0) or increase({series}[{window}]))"


def steps(series: str) -> str:
    """
    Return by how much counters grew since the step before, for bars over time: all bars together are the growth.

    A counter that was born or began again since the step before has grown by its whole value. The hour of looking back
    bridges a collector that was away, after which a counter would seem to be born again.
    """
    before = f"last_over_time({series}[1h] offset {STEP})"
    return f"((({series} - {before}) >= 0) or {series})"


def per_minute(series: str) -> str:
    """Return failures per minute of late."""
    return f"{grown(series, RECENTLY)} / 5"


def total(expression: str, *by: str) -> str:
    """Return a sum, by labels."""
    return f"sum by ({', '.join(by)}) ({expression})" if by else f"sum({expression})"


# Recurrence.


def failures_in_range() -> str:
    """Failures in the time range."""
    return total(grown(failures()))


def failures_over_time_by_class() -> str:
    """The classes that failed most, over time."""
    return f"topk(10, {total(steps(failures()), CLASS)} > 0)"
