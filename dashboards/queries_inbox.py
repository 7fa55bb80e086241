"""What the first page asks: recorded series only, so that a refresh costs what its rows do, whatever the range."""

from __future__ import annotations

from typing import Final

from dashboards.classes import (
    DAY_S,
    LATER_VERSION,
    NEW_CLASS,
    NEW_IN_VERSION,
    ON,
    PLACE,
    STUCK,
)
from dashboards.metrics import (
    AGENT,
    ALERTS,
    CLASS,
    CLASS_FAILURES,
    CLASS_FAILURES_HOUR,
    CLASS_FIRST_SEEN,
    CLASS_LAST_SEEN,
    CLASS_RESOLVED,
    CLASS_ROW,
    CLASS_RUNS,
    ENVIRONMENT,
    RUN_ID,
    RUN_STREAK,
    SERVICE,
    SERVICE_VERSION,
    STATE,
    TEMPLATE,
    TOOL,
)
from dashboards.queries import scoped

ROWS: Final = 200
"""How many classes the table shows."""

ROW: Final = "row"
"""What the columns of the table are joined by."""

NEW: Final = f'{STATE}=~"{NEW_CLASS.name}|{NEW_IN_VERSION.name}"'
# In backquotes: what `regex` escapes by a backslash is an error in quotes.
SEARCH: Final = f"{TEMPLATE}=~`(?i).*${{search:regex}}.*`"
COLUMNS: Final = (*PLACE, STATE, SERVICE_VERSION, TEMPLATE, TOOL, AGENT)


def rows() -> str:
    """Return the worst classes, by harm, with what a row says in words."""
    shown = f"max by ({', '.join(COLUMNS)}) ({_worst()})"
    # As `new in 1.1.0`; the label that the filter reads keeps the name of the state.
    versioned = f'label_replace({shown}, "{STATE}", "new in $1", "{SERVICE_VERSION}", "(.+)")'
    return _as_row(versioned)


def failures() -> str:
    """Return failures of a day."""
    return _of_rows(CLASS_FAILURES)


def runs() -> str:
    """Return in how many runs of a day the class failed."""
    return _of_rows(CLASS_RUNS)


def resolved() -> str:
    """Return the share of these that got over it."""
    return _of_rows(CLASS_RESOLVED)


def first_seen() -> str:
    """Return when the class first failed, in milliseconds."""
    return _of_rows(CLASS_FIRST_SEEN, "1000 * ")


def last_seen() -> str:
    """Return when the class last failed, in milliseconds."""
    return _of_rows(CLASS_LAST_SEEN, "1000 * ")


def trend() -> str:
    """Return failures of each hour."""
    # Grafana puts the end of a graph on a multiple of its step, up to an hour ago; the rows are those of now.
    return _of_rows(CLASS_FAILURES_HOUR, at=" @ ${__to:date:seconds}")


def by_state() -> str:
    """Return how many classes are in each state."""
    return f"count by ({STATE}) ({_all()})"


def all_states() -> str:
    """Return how many classes there are."""
    return f"count({_all()})"


def not_shown() -> str:
    """Return how many classes have no row in the table."""
    return f"clamp_min(count({_all(filtered=True)}) - {ROWS}, 0)"


def new_classes() -> str:
    """Return how many classes are new; nothing where no service has a record of a day."""
    recorded = f"count({scoped('errcompact:service:first_seen')} < time() - {DAY_S}) * 0"
    return f"count({scoped(CLASS_ROW, NEW, SEARCH)}) or {recorded}"


def failures_of_new() -> str:
    """Return how often the new classes failed."""
    return f"sum({scoped(CLASS_FAILURES)} and {ON} {scoped(CLASS_ROW, NEW, SEARCH)})"


def newest_version() -> str:
    """Return for how many seconds the newest version has been running."""
    later = f"({LATER_VERSION} and on ({SERVICE}, {ENVIRONMENT}) {scoped('errcompact:version:first_seen')})"
    return f"bottomk(1, time() - max by ({SERVICE}, {SERVICE_VERSION}) ({later}))"


def stuck_runs() -> str:
    """Return how many runs fail again and again, or wait for an answer."""
    return f"count(group by ({RUN_ID}) ({scoped(RUN_STREAK)} >= {STUCK})) or vector(0)"


def alerts() -> str:
    """Return how many of our alerts fire, by how urgent they are."""
    firing = scoped(ALERTS, 'alertname=~"Agent.+"', 'alertstate="firing"')
    return f"count by (severity) ({firing})"


def _all(*, filtered: bool = False) -> str:
    chosen = (f'{STATE}=~"$state"',) if filtered else ()
    return scoped(CLASS_ROW, *chosen, SEARCH)


def _worst(at: str = "") -> str:
    return f"topk({ROWS}, {_all(filtered=True)}{at})"


def _of_rows(series: str, times: str = "", at: str = "") -> str:
    # Only of those that have a row: where the table is empty, a column alone would be shown in its place.
    return f"max by ({ROW}) ({_as_row(f'{times}({scoped(series)} and {ON} {_worst(at)})')})"


def _as_row(expression: str) -> str:
    return f'label_join({expression}, "{ROW}", "/", "{CLASS}", "{SERVICE}", "{ENVIRONMENT}")'
