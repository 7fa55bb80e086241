"""The state of a class, as Prometheus answers to histories that are known to the minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from dashboards import states
from dashboards.metrics import CLASS, CONTEXT_TOKENS, FORM, OUTCOME, RESOLUTION, RESOLUTIONS, SERVICE, TOOL
from dashboards.states import BACK_AGAIN, GROWING, NEW_CLASS, NEW_IN_VERSION, QUIET, STEADY, UNKNOWN
from e2e import questions
from e2e.questions import INTERVAL, counter, written

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dashboards.states import State
    from e2e.questions import Series

END: Final = 240
"""The minute at which the question is asked: four hours after the first sample."""


def chosen(minutes: int) -> dict[str, str]:
    """The values of the variables: all of everything, over the last minutes."""
    return {
        "$__range": f"{minutes}m",
        "$__range_s": str(minutes * 60),
        "${__from:date:seconds}": str((END - minutes) * 60),
        **dict.fromkeys(("$environment", "$service", "$agent", "$tool", "$error_type", "$class"), ".*"),
    }


def at(*minutes: float, until: float = END) -> str:
    """A counter that is born with the first of these failures, and grows by one with each."""
    counts = []
    for sample in range(END * 60 // INTERVAL + 1):
        minute = sample * INTERVAL / 60
        count = sum(1 for each in minutes if each <= minute)
        counts.append(str(count) if count and minute <= until else "_")
    return " ".join(counts)


def every(pause: float, begin: float, end: float) -> tuple[float, ...]:
    """Failures at equal distances, the last one before the end."""
    return tuple(begin + pause * number for number in range(int((end - begin) / pause)))


def running(version: str | None, begin: float, end: float = END, service: str = "shop") -> Series:
    """What a process of this version, or of none, reports from its start on, whether anything fails or not."""
    labels = {FORM: "raw", SERVICE: service, "instance": f"of {version}"}
    if version is not None:
        labels["service_version"] = version
    values = ("0" if begin <= n * INTERVAL / 60 <= end else "_" for n in range(END * 60 // INTERVAL + 1))
    return {"series": f"{CONTEXT_TOKENS}{written(labels)}", "values": " ".join(values)}


def failing(version: str, *minutes: float, until: float = END) -> Series:
    """The failures of a class in one version."""
    return counter(at(*minutes, until=until), service_version=version, instance=f"of {version}")


def resolved(values: str, resolution: str = "resolved") -> Series:
    """How often a class was resolved, or its resolution was taken back."""
    labels = {CLASS: "c1", SERVICE: "shop", TOOL: "search", RESOLUTION: resolution}
    return {"series": f"{RESOLUTIONS}{written(labels)}", "values": values}


OBSERVED: Final = tuple(running(None, 0, service=service) for service in ("shop", "bank", "post"))
"""Processes without a version that have run all the time."""

HALF_AN_HOUR: Final = 30
BEGIN: Final = END - HALF_AN_HOUR
BEFORE: Final = BEGIN - HALF_AN_HOUR

ONCE_A_MINUTE: Final = every(1, 10, END)


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param([counter(at(BEGIN + 1))], NEW_CLASS, id="new: a first failure in the range"),
        pytest.param([counter(at(BEGIN - 1, BEGIN + 20))], STEADY, id="not new: a failure a minute before the range"),
        pytest.param(
            [counter(at(30, until=40)), counter(at(BEGIN + 20), instance="i2")],
            BACK_AGAIN,
            id="back again: after three hours, in another process",
        ),
        pytest.param(
            [counter(at(30, BEGIN + 20))], BACK_AGAIN, id="back again: after three hours, in the same process"
        ),
        pytest.param(
            [counter(at(30, *every(1, BEGIN + 1, END)))],
            BACK_AGAIN,
            id="back again, and not growing: there was nothing",
        ),
        pytest.param(
            [counter(at(BEFORE - 20, BEGIN + 20))], STEADY, id="not back again: it was silent for less than an hour"
        ),
        pytest.param([counter(at(BEFORE - 31, BEGIN + 20))], BACK_AGAIN, id="back again: it was silent for an hour"),
        pytest.param(
            [counter(at(BEFORE - 20, BEGIN + 20)), resolved(at(BEFORE - 19))],
            BACK_AGAIN,
            id="back again: it had been resolved",
        ),
        pytest.param(
            [
                counter(at(BEFORE - 20, BEGIN + 20)),
                resolved(at(BEFORE - 19)),
                resolved(at(BEFORE - 18), "taken_back"),
            ],
            STEADY,
            id="not back again: the resolution was taken back",
        ),
        pytest.param(
            [counter(at(BEFORE - 20, BEFORE - 19, BEGIN + 20)), resolved(at(BEFORE - 18))],
            STEADY,
            id="not back again: one of two runs had not resolved it",
        ),
        pytest.param(
            [counter(at(BEFORE + 1, BEGIN + 20)), resolved(at(BEFORE + 2))],
            STEADY,
            id="not back again: it failed in the range before",
        ),
        pytest.param([counter(at(*ONCE_A_MINUTE))], STEADY, id="steady: once a minute"),
        pytest.param(
            [counter(at(BEFORE + 5, *every(2, BEGIN + 1, BEGIN + 25)))], GROWING, id="growing: from one to twelve"
        ),
        pytest.param(
            [counter(at(BEFORE + 5, *every(2, BEGIN + 1, BEGIN + 23)))], STEADY, id="not growing: from one to eleven"
        ),
        pytest.param(
            [counter(at(*every(1, BEFORE, BEGIN), *every(0.5, BEGIN, END)))],
            STEADY,
            id="not growing: from thirty to sixty",
        ),
        pytest.param(
            [counter(at(*every(1, BEFORE, BEGIN), *every(0.4, BEGIN, END)))], GROWING, id="growing: from thirty to 75"
        ),
        pytest.param(
            [counter(at(*every(1, BEFORE, END))), counter(at(*every(0.5, BEGIN, END)), instance="i2")],
            GROWING,
            id="growing: in a second process",
        ),
        pytest.param([counter(at(*every(1, 10, BEGIN + 14)))], QUIET, id="quiet: nothing in the second half"),
        pytest.param([counter(at(*every(1, 10, BEGIN + 18)))], STEADY, id="not quiet: a failure in the second half"),
        pytest.param(
            [counter(at(BEFORE + 1, *every(0.5, BEGIN, BEGIN + 14)))], GROWING, id="growing comes before quiet"
        ),
        pytest.param([counter(at(BEGIN + 1), key="other")], None, id="other: stands for many classes"),
        pytest.param([counter(at(BEGIN + 1), outcome="handled")], None, id="handled: is no failure"),
        pytest.param([counter(at(BEFORE + 1))], None, id="no failure in the range"),
    ],
)
def test_state_of_a_class(tmp_path: Path, series: Iterable[Series], expected: State | None) -> None:
    """A class has the state that its failures of half an hour, of the range before and of the day before make."""
    ask(tmp_path, series, expected)


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param(
            [running("1", 0, 200), running("2", 200), failing("2", BEGIN + 5)],
            NEW_IN_VERSION,
            id="first failure after a deployment",
        ),
        pytest.param(
            [running("1", 0, 100), running("2", 100), failing("2", *every(1, 110, END))],
            NEW_IN_VERSION,
            id="since a deployment before the range",
        ),
        pytest.param(
            [running("1", 0), running("2", 220), failing("2", 225)], NEW_IN_VERSION, id="both versions still run"
        ),
        pytest.param(
            [running("1", 0, 200), running("2", 200), failing("1", 20, until=200), failing("2", BEGIN + 5)],
            BACK_AGAIN,
            id="it had failed in the version before",
        ),
        pytest.param(
            [running("1", 0), running("2", 200), failing("1", BEGIN + 6), failing("2", BEGIN + 5)],
            NEW_CLASS,
            id="it fails in both versions",
        ),
        pytest.param(
            [running("1", 0), running("2", 200), failing("1", BEGIN + 6)], NEW_CLASS, id="only in the first version"
        ),
        pytest.param([running("1", 0), failing("1", BEGIN + 6)], NEW_CLASS, id="there is one version only"),
        pytest.param(
            [running("1", 0), running("2", 200, service="bank"), failing("1", BEGIN + 6)],
            NEW_CLASS,
            id="the other version is of another service",
        ),
        pytest.param(
            [running("1", 0), running("2", 200), failing("2", BEGIN + 5), counter(at(20))],
            BACK_AGAIN,
            id="it had failed in a process without a version",
        ),
        pytest.param([counter(at(BEGIN + 6))], NEW_CLASS, id="there are no versions"),
    ],
)
def test_state_by_version(tmp_path: Path, series: Iterable[Series], expected: State) -> None:
    """A class is new in a version if it fails in that one only, and another version ran before."""
    ask(tmp_path, series, expected)


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param([counter(at(BEGIN + 20))], UNKNOWN, id="nothing is recorded before the range"),
        pytest.param([counter(at(*every(0.5, BEGIN + 1, END)))], UNKNOWN, id="nothing to have grown from"),
        pytest.param(
            [running("1", 0, service="bank"), counter(at(BEGIN + 20))], UNKNOWN, id="another service was recorded"
        ),
        pytest.param([running("1", BEGIN + 1), counter(at(BEGIN + 20))], UNKNOWN, id="it began in the range"),
        pytest.param([counter(at(BEGIN + 1, BEGIN + 2))], QUIET, id="quiet needs no history"),
        pytest.param(
            [running("1", BEGIN), running("2", BEGIN + 9), failing("2", BEGIN + 20)],
            NEW_IN_VERSION,
            id="two versions in the range are a history",
        ),
        pytest.param([running("1", BEGIN - 5), counter(at(BEGIN + 20))], NEW_CLASS, id="it reported before the range"),
        pytest.param(
            [running("1", BEGIN - 5), counter(at(*every(1, BEGIN - 4, END)))],
            UNKNOWN,
            id="not growing: it began in the range before, of which it has only a part",
        ),
        pytest.param(
            [running("1", BEFORE), counter(at(BEGIN - 5, *every(1, BEGIN + 1, END)))],
            GROWING,
            id="growing: it reported all through the range before",
        ),
        pytest.param(
            [counter(at(10), key="c2"), counter(at(BEGIN + 20))], NEW_CLASS, id="another class failed before the range"
        ),
    ],
)
def test_a_young_record(tmp_path: Path, series: Iterable[Series], expected: State) -> None:
    """Without a record of the service from before the range no class is called new, growing or steady."""
    wanted = [(written({CLASS: "c1", SERVICE: "shop"}), expected.value)]
    questions.ask(tmp_path, series, states.state(), wanted, chosen=chosen(HALF_AN_HOUR), now=f"{END}m")


def test_a_state_is_of_one_service(tmp_path: Path) -> None:
    """What is known in one service is new in another."""
    series = [*OBSERVED, counter(at(*ONCE_A_MINUTE)), counter(at(BEGIN + 20), service="bank")]
    expected = [(written({CLASS: "c1", SERVICE: "shop"}), STEADY.value)]
    expected += [(written({CLASS: "c1", SERVICE: "bank"}), NEW_CLASS.value)]
    questions.ask(tmp_path, series, states.state(), expected, chosen=chosen(HALF_AN_HOUR), now=f"{END}m")


def test_counts_of_states(tmp_path: Path) -> None:
    """A class counts once in however many services it has a state, and new in a version is new."""
    series = [
        *OBSERVED,
        *(counter(at(BEGIN + 1), service=service) for service in ("bank", "post")),
        *(running("1", 0, 200), running("2", 200)),
        counter(at(BEGIN + 5), service_version="2", key="c2"),
        counter(at(20, BEGIN + 5), service_version="1", key="c3"),
        counter(at(*ONCE_A_MINUTE), key="c4"),
    ]
    for query, count in ((states.count_of_new(), 2), (states.count_of(BACK_AGAIN), 1)):
        questions.ask(tmp_path, series, query, [("{}", count)], chosen=chosen(HALF_AN_HOUR), now=f"{END}m")


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param([*OBSERVED, counter(at(*ONCE_A_MINUTE))], [("{}", 0)], id="what fails has failed before"),
        pytest.param([counter(at(BEGIN + 20))], [], id="nothing is recorded before the range"),
    ],
)
def test_none_is_new_only_where_that_is_known(
    tmp_path: Path, series: Iterable[Series], expected: Iterable[tuple[str, float]]
) -> None:
    """Without a record from before the range there is no count of new classes, and not zero."""
    questions.ask(tmp_path, series, states.count_of_new(), expected, chosen=chosen(HALF_AN_HOUR), now=f"{END}m")


@pytest.mark.parametrize("minutes", [10, 60, 120])
def test_other_ranges(tmp_path: Path, minutes: int) -> None:
    """The states are of the range that is chosen, however long it is."""
    begin = END - minutes
    for series, expected in (
        (counter(at(begin + 1)), NEW_CLASS),
        (counter(at(begin - 5, *every(0.25, begin + 1, END))), GROWING),
        (counter(at(*every(1, 0, begin + 0.4 * minutes))), QUIET),
        (counter(at(*ONCE_A_MINUTE)), STEADY),
    ):
        ask(tmp_path, [series], expected, minutes=minutes)


def ask(directory: Path, series: Iterable[Series], expected: State | None, *, minutes: int = HALF_AN_HOUR) -> None:
    """Ask for the state of the one class of the service `shop`."""
    answer = [] if expected is None else [(written({CLASS: "c1", SERVICE: "shop"}), expected.value)]
    questions.ask(directory, [*OBSERVED, *series], states.state(), answer, chosen=chosen(minutes), now=f"{END}m")


def test_the_fixture_counts(tmp_path: Path) -> None:
    """The series of these tests hold what their names say."""
    series = [counter(at(*ONCE_A_MINUTE))]
    labels = written({OUTCOME: "new"})
    expr = f"sum by ({OUTCOME}) ({series[0]['series']})"
    questions.ask(tmp_path, series, expr, [(labels, len(ONCE_A_MINUTE))], chosen={}, now=f"{END}m")
