"""
What Prometheus records of each error class, and its state; defined here only.

A row is a class in a service: when it was first and last seen, how often and in how many runs it failed, what it means
and in which of the states it is. Rules carry on what they said before, so that a state depends neither on the time
range of a page, nor on which processes still live, nor on whether Prometheus was restarted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dashboards import colours
from dashboards.metrics import (
    AGENT,
    CLASS,
    CLASS_INFO,
    ERROR_TYPE,
    ERRORS,
    HINT,
    LOCATION,
    NEW,
    OUTCOME,
    RESOLUTION,
    RESOLUTIONS,
    RUN_STREAK,
    STATE,
    TEMPLATE,
    TOOL,
    TRANSIENT,
)
from dashboards.recordings import (
    FAILURE,
    KEPT_S,
    ON_SERVICE,
    SERVICE,
    VERSION,
    Recording,
    carried,
    kept,
    new,
)
from otel_errcompact.config import Options
from otel_errcompact.otel import semconv

PLACE: Final = (*SERVICE, CLASS)
"""The labels that identify a row."""

ON: Final = f"on ({', '.join(PLACE)})"
BY: Final = f"by ({', '.join(PLACE)})"

MEANING: Final = (TEMPLATE, LOCATION, HINT, TRANSIENT)
"""The labels with which the library describes a class."""

TEXTS: Final = (ERROR_TYPE, *MEANING, TOOL)
"""What a row says in words; all of it may change, so none of it tells alerts apart."""

OTHER: Final = f'{CLASS}!="{semconv.OTHER}"'
"""Beyond a process's bound on labels, classes share one label that says nothing of any of them."""

DAY_S: Final = 24 * 3600
HOUR_S: Final = 3600

SILENT_S: Final = 12 * HOUR_S
"""A class is back that had not failed for so long."""

QUIET_S: Final = 6 * HOUR_S
SHOWN_S: Final = 7 * DAY_S
"""How long a class that has stopped to fail keeps its row."""

FACTOR: Final = 2
MARGIN: Final = 10
"""
A class grows that failed `FACTOR` times as often as in the hour before, and `MARGIN` times more than that.

If nothing has changed, and failures come one by one at random (a Poisson process), this happens by chance in fewer than
one of 700 cases, whatever the rate; `tests/stack/test_states.py` computes it. Failures that come in bursts, such as the
retries of one run, vary more.
"""

CHRONIC_DAYS: Final = 3
CHRONIC_RUNS: Final = 10

FIRST: Final = 1_000_000_000
"""What a row is ranked by beyond its failures, if it is new or stuck."""

STUCK: Final = Options().thresholds.same
"""Failures in a row from which on a run counts as stuck."""

_TOLERANCE_S: Final = 120
"""By how much two groups of rules may see the same moment apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """
    A state of a class in a service.
    """

    name: str
    colour: str
    """A colour of Grafana's palette that can be read on dark and on light ground."""

    meaning: str
    """When it holds, as a sentence without a subject."""

    rows: str
    """PromQL for the rows of which that holds."""


_SEEN: Final = "errcompact:class:last_seen"
_SAID: Final = f"topk {BY} (1, errcompact:class:info)"
"""The newest of them: what said another text before Prometheus was restarted is still there for 5 minutes."""

_YOUNG: Final = f"errcompact:class:first_seen > time() - {DAY_S}"
_AGE_OF_RECORD: Final = f"errcompact:class:first_seen - {ON_SERVICE} group_left () errcompact:service:first_seen"

NEW_IN_VERSION: Final = State(
    name="new in version",
    colour=colours.NEW,
    meaning="first failed within the last day, in one version only, after an earlier version of the service had run",
    rows="errcompact:class:new_in_version",
)
NEW_CLASS: Final = State(
    name="new",
    colour=colours.NEW,
    meaning="first failed within the last day, in a service that had been recorded for a day before that",
    rows=f"({_YOUNG}) and {ON} ({_AGE_OF_RECORD} >= {DAY_S})",
)
CHRONIC: Final = State(
    name="chronic",
    colour=colours.CHRONIC,
    meaning=f"failed on at least {CHRONIC_DAYS} of the last 7 full days (UTC), in {CHRONIC_RUNS} runs or more, and no "
    "run has got over it",
    rows="last_over_time(errcompact:class:chronic[35m])",
)
BACK_AGAIN: Final = State(
    name="back again",
    colour=colours.BACK,
    meaning=f"fails again within the last day, after {SILENT_S // HOUR_S} hours or more without it",
    rows=f"(errcompact:class:failing_since > time() - {DAY_S}) > errcompact:class:first_seen + {_TOLERANCE_S}",
)
GROWING: Final = State(
    name="growing",
    colour=colours.GROWING,
    meaning=f"failed in the last hour at least {FACTOR} times as often as in the hour before, and {MARGIN} times more "
    "than that, which is beyond chance",
    rows=(
        f"(errcompact:class:failures1h - {FACTOR} * "
        f"(errcompact:class:failures1h offset 1h or errcompact:class:failures1h * 0) >= {MARGIN})\n"
        f"and {ON_SERVICE} (errcompact:service:first_seen < time() - {2 * HOUR_S})"
    ),
)
NO_HISTORY: Final = State(
    name="no history yet",
    colour=colours.NEUTRAL,
    meaning="first failed within the last day, when its service had been recorded for less than a day",
    rows=_YOUNG,
)
QUIET: Final = State(
    name="quiet",
    colour=colours.OK,
    meaning=f"has not failed for {QUIET_S // HOUR_S} hours",
    rows=f"{_SEEN} < time() - {QUIET_S}",
)
STEADY: Final = State(name="steady", colour=colours.NEUTRAL, meaning="none of these", rows=_SEEN)

STATES: Final = (NEW_IN_VERSION, NEW_CLASS, CHRONIC, BACK_AGAIN, GROWING, NO_HISTORY, QUIET, STEADY)
"""In the order in which they are asked for: of several that hold, the first is said."""


LATER_VERSION: Final = (
    f"(errcompact:version:first_seen > {ON_SERVICE} group_left () "
    f"min by ({', '.join(SERVICE)}) (errcompact:version:first_seen))"
)
"""When each version began that came after another one of its service; of the first one nothing can be said."""


def described(values: str, *labels: str, at_once: bool = False) -> str:
    """
    Return values of classes with what their rows say in words; a class that nothing is known of stays.

    Args:
        values: What is asked for.
        labels: Which words; all if none is named.
        at_once: Whether to ask the processes themselves too, for who cannot wait until the rows are evaluated.
    """
    texts = labels or TEXTS
    # Of these classes only, before anything else is done: there may be thousands of others.
    of_them = f"and {ON} ({values})"
    said = f"topk {BY} (1, errcompact:class:info {of_them}) ^ 0"
    sooner = f" or {ON} {_meaning(f'{CLASS_INFO} {of_them}')}" if at_once else ""
    known = f"({said}{sooner} or {ON} group {BY} ({values}))"
    return f"{values}\n* {ON} group_left ({', '.join(texts)}) {known}"


def definitions() -> str:
    """Return what the states mean, one after the other."""
    return "; ".join(f"*{each.name}* {each.meaning}" for each in STATES) + "."


def _meaning(info: str) -> str:
    # Each process says it.
    return f"topk {BY} (1, max by ({', '.join((*PLACE, *MEANING, ERROR_TYPE))}) ({info}))"


def _now() -> str:
    return "(errcompact:class:new5m > 0) * 0 + time()"


def _failing_since() -> str:
    # Of the evaluation before: the rule of the last failure stands behind this one.
    lately = f"{carried(_SEEN)} > time() - {SILENT_S}"
    return f"({carried('errcompact:class:failing_since')} and {ON} ({lately}))\nor {_now()}"


def _info() -> str:
    failing = f"errcompact_errors_total{{{FAILURE}, {OTHER}}}"
    most_hit = f"topk {BY} (1, sum by ({', '.join((*PLACE, ERROR_TYPE, TOOL, AGENT))}) ({failing})) ^ 0"
    said = _meaning(CLASS_INFO)
    now = (
        f"({most_hit})\n* {ON} group_left ({', '.join(MEANING)}) ({said} or {ON} group {BY} ({failing}))\n* 0 + time()"
    )
    # The newest of what was said before: the value is the time.
    before = f"topk {BY} (1, {carried('errcompact:class:info')})"
    return f"(\n{now}\nor {ON} {before}\n)\nand {ON} ({_SEEN} or errcompact:class:new5m)"


def _versions() -> str:
    # All that a class has failed in, for as long as it is young: of a version that was rolled back no counter is left.
    by_version = ", ".join((*PLACE, VERSION))
    failing = f'count by ({by_version}) (errcompact_errors_total{{{FAILURE}, {OTHER}, {VERSION}!=""}}) ^ 0'
    return f"({failing} or {carried('errcompact:class:versions')})\nand {ON} ({_YOUNG})"


def _new_in_version() -> str:
    version = ", ".join((*SERVICE, VERSION))
    # The class after its version; the version of a class is the one side, of which there are many classes.
    since = f"(errcompact:class:versions * 0 + {ON} group_left () errcompact:class:first_seen)"
    found = f"({since} >= on ({version}) group_left () ({LATER_VERSION} - {_TOLERANCE_S}))"
    # The version before may have ended a day ago, and is known no more.
    before = carried("errcompact:class:new_in_version")
    return f"({found} or {ON} {before})\nand {ON} (count {BY} (errcompact:class:versions) == 1)"


def _state() -> str:
    said = f"\nor {ON} ".join(f'label_replace({each.rows}, "{STATE}", "{each.name}", "", "")' for each in STATES)
    return f"(\n{said}\n) ^ 0\nand {ON} ({_SEEN} > time() - {SHOWN_S})"


def _row() -> str:
    first = f'errcompact:class:state{{{STATE}=~"{NEW_CLASS.name}|{NEW_IN_VERSION.name}"}}'
    stuck = f"errcompact:class:state and {ON} ({RUN_STREAK} >= {STUCK})"
    rank = f"(({first} or {stuck}) * {FIRST} or errcompact:class:state)"
    harm = "(errcompact:class:failures * (1 - errcompact:class:resolved_share) or errcompact:class:failures)"
    said = f"({rank} + {ON} group_left () {harm})"
    return f"{said}\n* {ON} group_left ({', '.join((*TEXTS, AGENT))}) ({_SAID} ^ 0)"


def _chronic() -> str:
    days = f"count_over_time((errcompact:class:failures24h > 0)[7d:1d]) >= {CHRONIC_DAYS}"
    runs = f"sum_over_time(errcompact:class:runs24h[7d:1d]) >= {CHRONIC_RUNS}"
    resolved = "sum_over_time(errcompact:class:resolved24h[7d:1d]) > 0 or errcompact:class:resolved24h > 0"
    return f"({days})\nand ({runs})\nunless ({resolved})"


def _summed(name: str, lately: str) -> tuple[Recording, Recording]:
    # Windows as wide as the steps in which they are recorded and added up: they meet and do not overlap.
    parts = f"errcompact:class:{name}5m"
    return (
        Recording(name=parts, expr=lately, pace="windows"),
        Recording(name=f"errcompact:class:{name}24h", expr=f"sum_over_time({parts}[24h:5m])", pace="history"),
    )


CARRIED: Final = (
    "errcompact:class:failing_since",
    _SEEN,
    "errcompact:class:first_seen",
    "errcompact:class:info",
    "errcompact:class:versions",
    "errcompact:class:new_in_version",
)
"""Series whose rules carry on what they said before."""

RECORDINGS: Final[tuple[Recording, ...]] = (
    Recording(
        name="errcompact:errors:new5m",
        expr=new(f"{ERRORS}{{{FAILURE}}}", (*PLACE, OUTCOME)),
        pace="classes",
    ),
    Recording(name="errcompact:class:new5m", expr=f"sum {BY} (errcompact:errors:new5m{{{OTHER}}})", pace="classes"),
    Recording(name="errcompact:class:info", expr=_info(), pace="classes"),
    Recording(name="errcompact:class:failing_since", expr=_failing_since(), pace="rows"),
    Recording(name=_SEEN, expr=f"{_now()}\nor ({carried(_SEEN)} > time() - {KEPT_S})", pace="rows"),
    Recording(
        name="errcompact:class:first_seen",
        expr=f"({carried('errcompact:class:first_seen')}\nor {_now()})\nand {_SEEN}",
        pace="rows",
    ),
    Recording(name="errcompact:class:versions", expr=_versions(), pace="rows"),
    Recording(name="errcompact:class:new_in_version", expr=_new_in_version(), pace="rows"),
    Recording(
        name="errcompact:class:failures",
        # The windows of the day lag behind by as long as one of their steps.
        expr=(
            "(errcompact:class:failures24h > errcompact:class:new5m)\n"
            f"or errcompact:class:new5m\nor errcompact:class:failures24h\nor {_SEEN} * 0"
        ),
        pace="rows",
    ),
    Recording(name="errcompact:class:state", expr=_state(), pace="rows"),
    Recording(name="errcompact:class:row", expr=_row(), pace="rows"),
    Recording(
        name="errcompact:resolutions:new5m", expr=new(f"{RESOLUTIONS}{{{OTHER}}}", (*PLACE, RESOLUTION)), pace="windows"
    ),
    *_summed("failures", "errcompact:class:new5m"),
    *_summed("runs", f'sum {BY} (errcompact:errors:new5m{{{OUTCOME}="{NEW}", {OTHER}}})'),
    *_summed("resolved", f'sum {BY} (errcompact:resolutions:new5m{{{RESOLUTION}!="{semconv.TAKEN_BACK}"}})'),
    Recording(
        name="errcompact:class:failures1h", expr="sum_over_time(errcompact:class:failures5m[1h:5m])", pace="history"
    ),
    Recording(
        name="errcompact:class:resolved_share",
        expr=(
            "clamp_max((errcompact:class:resolved24h or errcompact:class:runs24h * 0) "
            "/ (errcompact:class:runs24h > 0), 1)"
        ),
        pace="history",
    ),
    Recording(name="errcompact:class:chronic", expr=_chronic(), pace="kept"),
    *(Recording(name=kept(name), expr=name, pace="kept") for name in CARRIED),
)
