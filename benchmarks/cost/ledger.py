"""What one failure costs the ledger, with many classes and with many open runs, and one line of the trajectory."""

from __future__ import annotations

import time
from itertools import count, cycle
from typing import TYPE_CHECKING, Final

from benchmarks.cost.calls import ITEM, TEXT, never_escalates, new_folder
from benchmarks.cost.measure import SPAN, Row, make_span, scaled, take_turns
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.boundary.arguments import as_text
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.detector.operation import operation_of
from otel_errcompact.engine.events import Arrived
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError, SpanRef

if TYPE_CHECKING:
    from benchmarks.cost.calls import Turn

CLASSES: Final = 1_000
RUNS: Final = 10_000
CLASSES_OF_A_RUN: Final = 100


def raw_of(text: str) -> RawError:
    """Return the raw error of one call that failed with a text."""
    arguments = as_text(ITEM)
    return RawError(
        text=text,
        tool="psql",
        operation=operation_of("psql", arguments),
        call_id="call-1",
        arguments=arguments,
        agent="shop",
        began=1,
        time_ns=time.time_ns(),
        span=SpanRef(trace_id=1 << 100, span_id=1 << 50),
    )


def new_ledger() -> Ledger:
    """Return a ledger of which nothing escalates."""
    return Ledger(never_escalates(), timer=time.perf_counter_ns)


def make_failure(classes: int = 1) -> Turn:
    """Return one failure; failures are spread over so many classes, in runs of `CLASSES_OF_A_RUN`."""
    ledger = new_ledger()
    found = [
        (f"run-{number // CLASSES_OF_A_RUN}", raw_of(f"psql: error: relation '{_word(number)}' does not exist\n"))
        for number in range(classes)
    ]
    for run_id, raw in found:
        ledger.open(run_id)
        ledger.observe(run_id, raw)
    turns = cycle(found)

    def turn() -> None:
        run_id, raw = next(turns)
        ledger.observe(run_id, raw)

    return turn


def make_many_classes() -> Turn:
    """Return one failure where a thousand classes are live."""
    return make_failure(CLASSES)


def make_many_runs() -> Turn:
    """Return one failure where ten thousand runs are open."""
    ledger = new_ledger()
    raw = raw_of(TEXT)
    for number in range(RUNS):
        ledger.open(f"run-{number}")
        ledger.observe(f"run-{number}", raw)
    numbers = count()
    return lambda: ledger.observe(f"run-{next(numbers) % RUNS}", raw)


def make_line() -> Turn:
    """Return one raw error that is handed to the trajectory file."""
    file = TrajectoryFile(TrajectoryOptions(path=new_folder() / "trajectory.jsonl"))
    arrived = Arrived(run_id="0123456789abcdef0123456789abcdef", raw=raw_of(TEXT))
    return lambda: file.write_raw(arrived)


def count_lost_streaks() -> int:
    """Return how many of ten thousand open runs have lost the streak of a failure."""
    ledger = new_ledger()
    raw = raw_of(TEXT)
    runs = [f"run-{number}" for number in range(RUNS)]
    for run_id in runs:
        ledger.open(run_id)
        ledger.observe(run_id, raw)
    return sum(ledger.observe(run_id, raw).count != 2 for run_id in runs)


def _word(number: int) -> str:
    """Return a word of letters alone, so that no masking rule takes it for a number."""
    letters = "abcdefghij"
    return "".join(letters[int(digit)] for digit in str(number))


def measure(rounds: int) -> list[Row]:
    """Return the rows of the ledger and of the trajectory."""
    costs = take_turns(
        {
            SPAN: make_span(),
            "one": make_failure(),
            "classes": make_many_classes(),
            "runs": make_many_runs(),
            "line": make_line(),
        },
        rounds=rounds,
    )

    def row(name: str, variant: str, goal: float | None = None) -> Row:
        return Row(name=name, value=scaled(costs[variant], costs[SPAN]), unit="us", goal=goal)

    return [
        row("trajectory line", "line", 12),
        row("failure with 1 live class", "one"),
        row("failure with 1,000 live classes", "classes", 22),
        row("failure with 10,000 open runs", "runs", 20),
        Row(name="streaks lost of 10,000 open runs", value=count_lost_streaks(), unit="runs", goal=0),
    ]


PATHS: Final = {
    "trajectory_line": make_line,
    "failure_one_class": make_failure,
    "failure_many_classes": make_many_classes,
}
