"""
The state of a class: new in a version, new, back again, growing, quiet, steady or unknown; defined here only.

A state belongs to a class in a service, over the time range of the page. Of several that hold, the one that stands
first in `STATES` is shown. The class `other` has none: it stands for many classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dashboards.metrics import (
    CLASS,
    CONTEXT_TOKENS,
    ERRORS,
    FORM,
    NEW,
    OUTCOME,
    RESOLUTION,
    RESOLUTIONS,
    SERVICE,
    SERVICE_VERSION,
    TOOL,
)
from dashboards.queries import (
    BEFORE,
    COARSE_STEP,
    FINE_STEP,
    RANGE,
    ROW,
    as_row,
    by_row,
    chosen,
    class_rows,
    failures,
    first_seen,
    grown,
    last_failed,
    scoped,
    total,
)
from otel_errcompact.otel import semconv

BEGIN: Final = " @ ${__from:date:seconds}"
"""The modifier that asks at the beginning of the time range: its length before that is the range before."""

EARLIER: Final = f"{BEGIN} offset {RANGE}"
"""
The modifier that asks at the beginning of the range before.

Of a service that began within that range, every class would seem to grow: its failures are counted for a part of it.
"""

SILENCE: Final = "1h"
"""How long a class must have been silent to be back again, where the range before is shorter."""

FACTOR: Final = 2
MARGIN: Final = 10
"""
A class grows that failed `FACTOR` times as often as in the range before, and `MARGIN` times more than that.

If nothing has changed, and failures come one by one at random (a Poisson process), this happens by chance in fewer than
one of 700 cases, whatever the rate; `tests/stack/test_states.py` computes it. Failures that come in bursts, such as the
retries of one run, vary more.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """
    A state of a class.
    """

    value: int
    """What the query answers."""

    name: str
    colour: str
    """A colour of Grafana's palette that can be read on dark and on light ground."""

    meaning: str
    """When it holds, as a sentence without a subject."""


NEW_IN_VERSION: Final = State(
    value=6,
    name="new in version",
    colour="purple",
    meaning="failed in one version only, while an earlier version of the service ran as well, in the range or in the "
    "day before it",
)
NEW_CLASS: Final = State(
    value=5,
    name="new",
    colour="blue",
    meaning="had not failed in the day before the range, in which the service reported",
)
BACK_AGAIN: Final = State(
    value=4,
    name="back again",
    colour="orange",
    meaning="had failed in the day before the range, but not in the range before; and in the hour before the range "
    "either not at all, or every run had resolved it",
)
GROWING: Final = State(
    value=3,
    name="growing",
    colour="red",
    meaning=f"failed at least {FACTOR} times as often as in the range before, and {MARGIN} times more than that, which "
    "is beyond chance; the service reported already when the range before began",
)
QUIET: Final = State(value=1, name="quiet", colour="green", meaning="did not fail in the second half of the range")
STEADY: Final = State(
    value=2,
    name="steady",
    colour="text",
    meaning="none of these, and the service reported already when the range before began",
)
UNKNOWN: Final = State(
    value=0,
    name="unknown",
    colour="text",
    meaning="none of these, and nothing of the service is recorded in the day before the range before, so there is no "
    "whole range to compare with",
)

STATES: Final = (NEW_IN_VERSION, NEW_CLASS, BACK_AGAIN, GROWING, QUIET, STEADY, UNKNOWN)
"""In the order in which they are asked for."""

_PLACE: Final = (CLASS, SERVICE)
_BY_PLACE: Final = f"({CLASS}, {SERVICE})"
_BY_VERSION: Final = f"({SERVICE}, {SERVICE_VERSION})"


def state() -> str:
    """Return the value of the state of each class and service that failed in the time range."""
    return f"({_values(*STATES)}) and on {_BY_PLACE} {_failed()}"


def state_of_row() -> str:
    """Return the state of each row of the table of classes."""
    return by_row(state())


def new() -> str:
    """Return the classes and services whose state is that of a new class."""
    # Both stand first, so that no other state has to be asked for.
    return f"({_values(NEW_IN_VERSION, NEW_CLASS)}) and on {_BY_PLACE} {_failed()}"


def new_rows() -> str:
    """Return the rows of new classes, as the table of classes has them."""
    return f"{class_rows()} and on ({ROW}) {as_row(new())}"


def new_first_seen() -> str:
    """Return when the new classes first failed: of old ones nothing, or an empty table would show their times alone."""
    return f"{first_seen()} and on ({ROW}) {as_row(new())}"


def count_of_new() -> str:
    """Return how many classes are new in some service; nothing while no service has a record from before the range."""
    return f"(count(group by ({CLASS}) ({new()})) or count({_observed()}) * 0)"


def count_of(wanted: State) -> str:
    """Return how many classes are in a state in some service."""
    return f"count(group by ({CLASS}) (({state()}) == {wanted.value}))"


def _values(*states: State) -> str:
    asked = {
        NEW_IN_VERSION: _new_in_version,
        NEW_CLASS: _new,
        BACK_AGAIN: _back_again,
        GROWING: _growing,
        QUIET: _quiet,
        STEADY: _comparable,
        UNKNOWN: _there,
    }
    return " or ".join(f"{asked[each]()} * 0 + {each.value}" for each in states)


def _new_in_version() -> str:
    seen = _present(_counters(), *_PLACE, SERVICE_VERSION)
    in_one = f"count by {_BY_PLACE} ({seen}) == 1"
    return f"group by {_BY_PLACE} ({seen} and on {_BY_VERSION} {_later_version()} and on {_BY_PLACE} {in_one})"


def _later_version() -> str:
    """Versions that came after another one of the same service; of the first one nothing can be said."""
    first = _first_of_version()
    return f"({first} > on ({SERVICE}) group_left () min by ({SERVICE}) ({first}))"


def _first_of_version() -> str:
    # Reported from the start of a process on, whether anything failed or not.
    running = scoped(CONTEXT_TOKENS, f'{FORM}="{semconv.FORM_RAW}"', f'{SERVICE_VERSION}!=""')
    earlier = _earliest(running, f"[{BEFORE}:{COARSE_STEP}]{BEGIN}")
    within = _earliest(running, f"[{RANGE}:{COARSE_STEP}]")
    of_late = _earliest(running, f"[1h:{FINE_STEP}]")
    now = f"min by {_BY_VERSION} (timestamp({running}))"
    return f"({earlier} or ({of_late} < {within}) or {within} or {of_late} or {now})"


def _earliest(running: str, steps_of: str) -> str:
    return f"min by {_BY_VERSION} (min_over_time(timestamp({running}){steps_of}))"


def _new() -> str:
    return f"({_there_in_observed_service()} unless on {_BY_PLACE} {_known()})"


def _back_again() -> str:
    known = f"{_there()} and on {_BY_PLACE} {_known()}"
    silent_before = f"unless on {_BY_PLACE} {_failed(BEGIN)}"
    silent_or_resolved = f"unless on {_BY_PLACE} ({_failed(BEGIN, SILENCE)} unless on {_BY_PLACE} {_resolved()})"
    return f"({known} {silent_before} {silent_or_resolved})"


def _resolved() -> str:
    """Classes of which in the hour before the range as many runs got over them as had begun to fail with them."""
    began = total(grown(_counters(f'{OUTCOME}="{NEW}"'), SILENCE, BEGIN), *_PLACE)
    resolved = total(grown(_resolutions("!="), SILENCE, BEGIN), *_PLACE)
    taken_back = total(grown(_resolutions("="), SILENCE, BEGIN), *_PLACE)
    return f"(({resolved} - ({taken_back} or {resolved} * 0)) >= {began})"


def _resolutions(operator: str) -> str:
    return scoped(RESOLUTIONS, f'{RESOLUTION}{operator}"{semconv.TAKEN_BACK}"', chosen(TOOL), chosen(CLASS))


def _growing() -> str:
    before = total(grown(_counters(), at=BEGIN), *_PLACE)
    # The label keeps both sides apart until they are added.
    balance = f'{total(grown(_counters()), *_PLACE)} or label_replace(-{FACTOR} * {before}, "of", "before", "", "")'
    return f"(sum by {_BY_PLACE} ({balance}) >= {MARGIN} and on ({SERVICE}) {_observed(EARLIER)})"


def _quiet() -> str:
    return f"(time() - {last_failed()} > $__range_s / 2)"


def _there() -> str:
    return f"group by {_BY_PLACE} (present_over_time({_counters()}[{RANGE}]))"


def _there_in_observed_service() -> str:
    return f"({_there()} and on ({SERVICE}) {_observed()})"


def _comparable() -> str:
    return f"({_there()} and on ({SERVICE}) {_observed(EARLIER)})"


def _observed(at: str = BEGIN) -> str:
    """Services of which anything is recorded in the day before the range, or before the range before that."""
    # The library reports the first from the start of a process on; the collector counts only what fails.
    windows = (f"present_over_time({series}[{BEFORE}]{at})" for series in (scoped(CONTEXT_TOKENS), scoped(ERRORS)))
    return f"({' or '.join(f'group by ({SERVICE}) ({window})' for window in windows)})"


def _known() -> str:
    return f"present_over_time({_counters()}[{BEFORE}]{BEGIN})"


def _present(series: str, *by: str) -> str:
    """Series in the time range or in the day before it."""
    group = f"group by ({', '.join(by)})"
    return f"({group} (present_over_time({series}[{RANGE}])) or {group} (present_over_time({series}[{BEFORE}]{BEGIN})))"


def _failed(at: str = "", window: str = RANGE) -> str:
    return f"({total(grown(_counters(), window, at), *_PLACE)} > 0)"


def _counters(*matchers: str) -> str:
    return failures(f'{CLASS}!="{semconv.OTHER}"', *matchers)
