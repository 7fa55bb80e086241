"""
What Prometheus records of a class, in histories that are known to the minute.

Each history is a service of its own, so that one Prometheus can hold them all: what is true of one service says nothing
of another. promtool evaluates the generated rules.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dashboards.classes import FACTOR, FIRST, MARGIN
from dashboards.metrics import (
    CLASS,
    CLASS_INFO,
    CONTEXT_TOKENS,
    ERRORS,
    FORM,
    OUTCOME,
    RESOLUTION,
    RESOLUTIONS,
    SERVICE,
    SERVICE_VERSION,
    STATE,
    TEMPLATE,
)
from e2e.questions import judge, question, written
from e2e.test_rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

HOUR: Final = 60
DAY: Final = 24 * HOUR
FOREVER: Final = 10**9
"""Minutes."""

STEP: Final = 2.5
"""Minutes from one evaluation to the next: they meet the steps of five minutes that windows of a day are read in."""

GROUPS: Final = (
    "errcompact-slow",
    "errcompact-classes",
    "errcompact-rows",
    "errcompact-windows",
    "errcompact-history",
    "errcompact-kept",
    "errcompact-critical",
)
"""The order of the groups: the windows of a day after what they add up."""

Piece = tuple[float, float, int, int]
"""From, to, the value, and by how much it grows with each evaluation."""

Part = tuple[str, dict[str, str], list[Piece]]
"""A metric, its labels, and its values piece by piece."""


def at(*minutes: float, until: float = FOREVER) -> list[Piece]:
    """A counter that is born with the first of these failures, and grows by one with each."""
    ends = [*minutes[1:], *(until for _ in minutes[:1])]
    return [(begin, end, count, 0) for count, (begin, end) in enumerate(zip(minutes, ends, strict=True), start=1)]


def failing(*minutes: float, until: float = FOREVER, outcome: str = "new", **labels: str) -> Part:
    """The failures of a class, as one process counts them."""
    return (ERRORS, {CLASS: "c1", OUTCOME: outcome, "instance": "a", **labels}, at(*minutes, until=until))


def running(begin: float = 0, end: float = FOREVER, version: str | None = None, **labels: str) -> Part:
    """What a process reports from its start on, whether anything fails or not."""
    of_version = {SERVICE_VERSION: version, "instance": version} if version else {"instance": "a"}
    return (CONTEXT_TOKENS, {FORM: "raw", **of_version, **labels}, [(begin, end, 0, 0)])


def resolved(*minutes: float, resolution: str = "resolved") -> Part:
    """Runs that got over a class."""
    return (RESOLUTIONS, {CLASS: "c1", RESOLUTION: resolution}, at(*minutes))


def every(pause: int, begin: int, end: float) -> tuple[int, ...]:
    """Failures at equal distances, the last one before the end."""
    return tuple(range(begin, int(end), pause))


def burst(count: int, minute: float, *, before: int = 0) -> Part:
    """So many failures within one minute, after so many an hour before."""
    pieces = [(minute - HOUR, minute, before, 0)] if before else []
    return (ERRORS, {CLASS: "c1", OUTCOME: "new", "instance": "b"}, [*pieces, (minute, FOREVER, before + count, 0)])


def counted(*pieces: Piece) -> Part:
    """A counter of failures, piece by piece."""
    return (ERRORS, {CLASS: "c1", OUTCOME: "new", "instance": "a"}, list(pieces))


Examples = dict[str, tuple[list[Part], str | None]]

ASKED: Final = 27 * HOUR + STEP
"""The minute of the question: one evaluation after a full five minutes, of which the windows are made."""

SINCE: Final = ASKED - 30
ALWAYS: Final = running()
KNOWN: Final = [ALWAYS, failing(60, *every(9 * HOUR, 120, ASKED - 2 * HOUR))]
"""A class that fails each nine hours."""

HOURLY: Final = every(HOUR, 15 * HOUR, ASKED)

EXAMPLES: Final[Examples] = {
    "new": ([ALWAYS, failing(SINCE)], "new"),
    "new: a day after the first record": ([ALWAYS, failing(DAY)], "new"),
    "new: its process has ended": ([ALWAYS, failing(DAY, until=DAY + 5)], "new"),
    "new: after three hours without telemetry": (
        [(CONTEXT_TOKENS, {FORM: "raw"}, [(0, 20 * HOUR, 0, 0), (23 * HOUR, FOREVER, 0, 0)]), failing(SINCE)],
        "new",
    ),
    "new: who sends failures only, of another class so far": (
        [failing(0, 12 * HOUR, **{CLASS: "known"}), failing(SINCE)],
        "new",
    ),
    "no history: an evaluation less": ([ALWAYS, failing(DAY - STEP)], "no history yet"),
    "no history: began half a day ago": ([running(15 * HOUR), failing(SINCE)], "no history yet"),
    "no history: it has stopped": ([running(HOUR), failing(DAY - STEP, until=DAY)], "no history yet"),
    "new in version: the one before ended half a day ago": (
        [running(0, 14 * HOUR, "1"), running(14 * HOUR, version="2"), failing(SINCE, service_version="2")],
        "new in version",
    ),
    "back again: it had failed in the version before": (
        [
            running(0, 14 * HOUR, "1"),
            running(14 * HOUR, version="2"),
            failing(60, until=14 * HOUR, service_version="1"),
            failing(SINCE, service_version="2"),
        ],
        "back again",
    ),
    "back again: after 13 hours": ([ALWAYS, failing(60, 14 * HOUR, *HOURLY)], "back again"),
    "not back again: after 11 hours": ([ALWAYS, failing(60, 12 * HOUR, *HOURLY)], "steady"),
    "back again: in another process": ([ALWAYS, failing(60, until=120), failing(SINCE, instance="b")], "back again"),
    "back again: its process had dropped its counter": (
        [ALWAYS, counted((60, 120, 7, 0), (SINCE, FOREVER, 1, 0))],
        "back again",
    ),
    "growing: from 1 to 12": ([*KNOWN, burst(12, SINCE, before=1)], "growing"),
    "not growing: from 1 to 11": ([*KNOWN, burst(11, SINCE, before=1)], "steady"),
    "growing: from 20 to 50": ([*KNOWN, burst(50, SINCE, before=20)], "growing"),
    "not growing: from 20 to 49": ([*KNOWN, burst(49, SINCE, before=20)], "steady"),
    "not growing: in its first two hours": ([running(ASKED - 2 * HOUR), burst(50, SINCE)], "no history yet"),
    "growing comes before no history": ([running(20 * HOUR), burst(50, SINCE)], "growing"),
    "quiet": ([ALWAYS, failing(60, *every(5 * HOUR, 120, 20 * HOUR))], "quiet"),
    "not quiet: six hours ago": (
        [ALWAYS, failing(*every(5 * HOUR, 60, ASKED - 6 * HOUR), ASKED - 6 * HOUR)],
        "steady",
    ),
    "steady": ([ALWAYS, failing(*every(30, 10, ASKED))], "steady"),
    "steady: its counter begins again": (
        [ALWAYS, counted((10, 10 * HOUR, 9, 0), (10 * HOUR, 21 * HOUR, 1, 0), (21 * HOUR + 30, FOREVER, 2, 0))],
        "steady",
    ),
    "steady: one process follows the other": (
        [
            ALWAYS,
            failing(*every(60, 10, 13 * HOUR), until=13 * HOUR),
            failing(*every(60, 13 * HOUR, ASKED), instance="b"),
        ],
        "steady",
    ),
    "steady: the collector was away for three hours": (
        [ALWAYS, counted((10, 20 * HOUR, 1, 1), (23 * HOUR, FOREVER, 2000, 1))],
        "steady",
    ),
    "steady: its message changes": (
        [
            ALWAYS,
            failing(*every(30, 10, ASKED)),
            (CLASS_INFO, {CLASS: "c1", TEMPLATE: "before"}, [(10, 26 * HOUR, 1, 0)]),
            (CLASS_INFO, {CLASS: "c1", TEMPLATE: "after"}, [(26 * HOUR, FOREVER, 1, 0)]),
        ],
        "steady",
    ),
    "other stands for many classes": ([ALWAYS, failing(SINCE, **{CLASS: "other"})], None),
    "handled is no failure": ([ALWAYS, failing(SINCE, outcome="handled")], None),
    "it never failed": ([ALWAYS], None),
}

DEPLOYED: Final = 2 * HOUR
FAILED: Final = 3 * HOUR
VERSIONS_ASKED: Final = 4 * HOUR + STEP
ONE: Final = running(version="1")
TWO: Final = running(DEPLOYED, version="2")

OF_VERSIONS: Final[Examples] = {
    "both run": ([ONE, TWO, failing(FAILED, service_version="2")], "new in version"),
    "one ends": ([running(0, DEPLOYED, "1"), TWO, failing(FAILED, service_version="2")], "new in version"),
    "with its first breath": ([ONE, TWO, failing(DEPLOYED, service_version="2")], "new in version"),
    "both are young": (
        [running(FAILED - 9, version="1"), running(FAILED - 5, version="2"), failing(FAILED, service_version="2")],
        "new in version",
    ),
    "only the first fails": ([ONE, TWO, failing(FAILED, service_version="1")], "no history yet"),
    "both fail at once": (
        [ONE, TWO, failing(FAILED, service_version="1"), failing(FAILED, service_version="2", instance="b")],
        "no history yet",
    ),
    "both fail, the first one later": (
        [ONE, TWO, failing(FAILED, service_version="2"), failing(FAILED + 30, service_version="1", instance="b")],
        "no history yet",
    ),
    "rolled back": (
        [
            running(0, DEPLOYED, "1"),
            running(DEPLOYED, FAILED + 9, "2"),
            failing(FAILED, until=FAILED + 9, service_version="2"),
            (CONTEXT_TOKENS, {FORM: "raw", SERVICE_VERSION: "1", "instance": "c"}, [(FAILED + 9, FOREVER, 0, 0)]),
        ],
        "new in version",
    ),
    "rolled back, and it fails there too": (
        [
            running(0, DEPLOYED, "1"),
            running(DEPLOYED, FAILED + 9, "2"),
            failing(FAILED, until=FAILED + 9, service_version="2"),
            failing(FAILED + 20, service_version="1"),
        ],
        "no history yet",
    ),
    "there is one version": ([ONE, failing(FAILED, service_version="1")], "no history yet"),
    "another service has two": ([TWO, failing(FAILED, service_version="2")], "no history yet"),
}


def test_each_state_by_version(tmp_path: Path) -> None:
    """A class is new in a version that fails alone with it, and is not the first one."""
    ask_examples(tmp_path, OF_VERSIONS, VERSIONS_ASKED)


def test_each_state_and_its_edge(tmp_path: Path) -> None:
    """A class has the first state in the list of states that holds for its history."""
    ask_examples(tmp_path, EXAMPLES, ASKED)


def on_days(*counts: int) -> list[float]:
    """So many failures on each day, half an hour apart, from noon on."""
    return [day * DAY + 12 * HOUR + 30 * number for day, count in enumerate(counts) for number in range(count)]


CHRONIC_ASKED: Final = 3 * DAY + HOUR + STEP
TODAY: Final = 3 * DAY + 30
THREE_DAYS: Final = on_days(4, 3, 3)

OF_DAYS: Final[Examples] = {
    "three days, ten runs": ([ALWAYS, failing(*THREE_DAYS)], "chronic"),
    "three days, and still": ([ALWAYS, failing(*THREE_DAYS, TODAY)], "chronic"),
    "three days, in three processes": (
        [
            ALWAYS,
            *(failing(*on_days(*[0] * day, 4), until=day * DAY + 16 * HOUR, instance=f"{day}") for day in range(3)),
        ],
        "chronic",
    ),
    "two days": ([ALWAYS, failing(*on_days(0, 9, 9))], "back again"),
    "nine runs": ([ALWAYS, failing(*on_days(3, 3, 3))], "quiet"),
    "nine runs that fail often": (
        [ALWAYS, failing(*on_days(3, 3, 3)), failing(*on_days(9, 9, 9), outcome="repeat")],
        "back again",
    ),
    "a run got over it": ([ALWAYS, failing(*THREE_DAYS), resolved(2 * DAY)], "quiet"),
    "a run got over it today": ([ALWAYS, failing(*THREE_DAYS), resolved(TODAY)], "quiet"),
}


def test_what_is_chronic(tmp_path: Path) -> None:
    """A class is chronic that fails for days, in many runs, none of which gets over it."""
    ask_examples(tmp_path, OF_DAYS, CHRONIC_ASKED)


@dataclass(frozen=True)
class History:
    """
    What happened to the class of a service: minutes, each a multiple of `STEP`.
    """

    began: float
    hits: tuple[float, ...]
    """First failures of a run."""

    repeats: tuple[float, ...]
    resolutions: tuple[float, ...]

    @property
    def parts(self) -> list[Part]:
        """What the service reports of it."""
        counters = [failing(*self.hits), failing(*self.repeats, outcome="repeat"), resolved(*self.resolutions)]
        return [running(self.began), *(counter for counter in counters if counter[2])]


def recorded(history: History, now: float) -> dict[str, float | str | None]:
    """What the definitions in `dashboards.classes` come to, said slowly; one version, no more than one midnight."""
    failures = [minute for minute in sorted((*history.hits, *history.repeats)) if minute <= now]
    if not failures:
        return {}
    # A failure stands in two evaluations.
    seen = min(now, failures[-1] + STEP)
    first = since = failures[0]
    for before, after in itertools.pairwise(failures):
        if after - (before + STEP) >= 12 * HOUR:
            since = after
    # Windows of an hour and more are made after the classes: one evaluation later.
    late = now - STEP
    hour, hour_before = (count_within(failures, late - back, HOUR) for back in (0, HOUR))
    runs = count_within(history.hits, late, DAY)
    share = min(count_within(history.resolutions, late, DAY) / runs, 1) if runs else None
    day = max(count_within(failures, late, DAY), count_within(failures, now, 5))
    young = first > now - DAY
    if young and first - history.began >= DAY:
        state = "new"
    elif since > max(first, now - DAY) and now - seen < 12 * HOUR:
        state = "back again"
    elif hour - FACTOR * hour_before >= MARGIN and history.began < now - 2 * HOUR:
        state = "growing"
    elif young:
        state = "no history yet"
    else:
        state = "quiet" if seen < now - 6 * HOUR else "steady"
    return {
        STATE: state,
        "first_seen": first * 60,
        "last_seen": seen * 60,
        "failing_since": since * 60 if now - seen < 12 * HOUR else None,
        "failures": day,
        "runs24h": runs if history.hits and history.hits[0] <= now else None,
        "resolved_share": share,
        "row": (FIRST if state == "new" else 1) + day * (1 - (share or 0)),
    }


def count_within(minutes: Iterable[float], end: float, window: float) -> int:
    """How many of these stand in the window that ends here."""
    return sum(1 for minute in minutes if end - window < minute <= end)


def made_up(chance: random.Random) -> History:
    """A history with bursts and pauses."""
    moments = [STEP * chance.randrange(int(30 * HOUR / STEP)) for _ in range(chance.randint(1, 4))]
    moments += [chance.choice([24 * HOUR + 10, 29 * HOUR + 10])] * chance.randint(0, 1)
    spread = chance.choice([1, 10, 20])
    hits, repeats = (
        {moment + STEP * chance.randrange(spread) for moment in moments for _ in range(chance.randint(0, 20))}
        for _ in "12"
    )
    resolutions = {moment + STEP for moment in hits if chance.random() < 0.2}
    began = STEP * chance.choice([0, 0, 48, 240])
    # Nothing fails before its service has begun.
    return History(
        began, *(tuple(sorted(each for each in these if each >= began)) for these in (hits, repeats, resolutions))
    )


def test_what_is_recorded_is_what_the_definitions_say(tmp_path: Path) -> None:
    """Of made-up histories each series has the value that a slow count of its minutes has."""
    chance = random.Random(27)
    histories = {f"h{number}": made_up(chance) for number in range(40)}
    questions = []
    states = set()
    for now in (25 * HOUR + STEP, 30 * HOUR + STEP):
        rows = {name: row for name, history in histories.items() if (row := recorded(history, now))}
        said = {name: str(row.pop(STATE)) for name, row in rows.items()}
        states |= set(said.values())
        answer = [(written({SERVICE: name, STATE: state}), 1.0) for name, state in said.items()]
        questions.append((f"sum by ({SERVICE}, {STATE}) (errcompact:class:state)", now, answer))
        for series in next(iter(rows.values())):
            values = {name: value for name, row in rows.items() if (value := row[series]) is not None}
            answer = [(written({SERVICE: name}), float(value)) for name, value in values.items()]
            questions.append((f"sum by ({SERVICE}) (errcompact:class:{series})", now, answer))
    assert states == {"new", "back again", "growing", "no history yet", "quiet", "steady"}
    ask(tmp_path, {name: history.parts for name, history in histories.items()}, questions)


def ask_examples(directory: Path, examples: Examples, now: float) -> None:
    """The class in question has its state, and one row if it has any."""
    asked = f'{{{CLASS}!="known"}}'
    said = {name: state for name, (_, state) in examples.items() if state}
    states = [(written({SERVICE: name, STATE: state}), 1.0) for name, state in said.items()]
    rows = [(written({SERVICE: name}), 1.0) for name in said]
    ask(
        directory,
        {name: parts for name, (parts, _) in examples.items()},
        [
            (f"sum by ({SERVICE}, {STATE}) (errcompact:class:state{asked})", now, states),
            (f"count by ({SERVICE}) (errcompact:class:row{asked})", now, rows),
        ],
    )


def ask(
    directory: Path,
    services: Mapping[str, Iterable[Part]],
    questions: Sequence[tuple[str, float, Iterable[tuple[str, float]]]],
) -> None:
    """
    Let promtool ask a Prometheus that evaluates the rules.

    Args:
        directory: Gets the case.
        services: What each service reports.
        questions: Expressions, the minute each is asked at, and the answers.
    """
    asked = [question(expr, f"{minute * 60:.0f}s", answer) for expr, minute, answer in questions]
    end = max(minute for _, minute, _ in questions)
    series = [
        {"series": f"{metric}{written({SERVICE: name, **labels})}", "values": " ".join(values_of(pieces, end))}
        for name, parts in services.items()
        for metric, labels, pieces in parts
    ]
    pause = f"{STEP * 60:.0f}s"
    case = {"interval": pause, "input_series": series, "promql_expr_test": asked}
    rules = {"rule_files": [str(RULES)], "evaluation_interval": pause, "group_eval_order": list(GROUPS)}
    judge(directory, {**rules, "tests": [case]})


def values_of(pieces: Sequence[Piece], end: float) -> Iterator[str]:
    """The values of a series as promtool reads them."""
    stands = 0
    for begin, until, value, growth in pieces:
        first, last = math.ceil(begin / STEP), math.ceil(min(until, end + STEP) / STEP)
        if last <= first:
            continue
        if first > stands:
            yield f"_x{first - stands}"
        yield f"{value}+{growth}x{last - first - 1}"
        stands = last
