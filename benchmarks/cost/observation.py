"""
The cost of an observation: a text or an exception that has not been seen before, and a healthy result judged.

Texts are the labelled errors up to 4 kB beside the repository, where they are at hand, and outputs of real tools in
`corpus/open`. For the column *new* all that is remembered is forgotten before each call, since a real program seldom
fails twice with the same words; *seen* is the same text once more. What is known of places in code stays in both.
"""

from __future__ import annotations

import json
import statistics
import time
import traceback
from itertools import count, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.cost.measure import Row, make_span, raised, tenth_percentile
from benchmarks.quality.data import DEFAULT, load
from benchmarks.quality.ours import OUT_OF_REACH, SMALL, TOOL, forget
from otel_errcompact.compactor.classify import classify
from otel_errcompact.detector.results import classify_result
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPEN: Final = Path(__file__).parents[2] / "corpus" / "open"
FRAMES: Final = (5, 10, 20)
SPANS_OF_OBSERVATION: Final = 12.0
SPANS_OF_KEY: Final = 6.0
SPANS_OF_VERDICT: Final = 1.0
_OF_PATHS: Final = 20
"""Texts that a counted path takes in turn, as often each in few turns as in many."""

_SPANS_AT_ONCE: Final = 10
SIZES: Final = (100, 1_000, 4_000, 40_000, 100_000, 1_000_000)
"""Characters of outputs whose growth is shown."""

_LISTING: Final = "\n".join(
    f"-rw-r--r-- 1 dev dev {1024 + 37 * number:>6} Nov {number:>2} 09:{number:02} src/shop/module_{number}.py"
    for number in range(1, 13)
)
_SOURCE: Final = "\n".join(
    f"def price_of_{number}(order: Order) -> Decimal:\n    return sum(row.price for row in order.rows[{number}:])\n"
    for number in range(36)
)
_JSON: Final = json.dumps(
    {"orders": [{"id": 81_000 + number, "state": "paid", "total": "18.40"} for number in range(12)]}
)
HEALTHY: Final = (
    ("bash", '{"command": "ls -l src/shop"}', _LISTING),
    ("bash", '{"command": "make build"}', "\n".join(f"compiling src/shop/module_{n}.c" for n in range(24)) + "\ndone"),
    ("bash", '{"command": "pytest -q"}', f"{'.' * 72} [ 50%]\n{'.' * 72} [100%]\n144 passed in 3.21s"),
    ("read_file", '{"path": "src/shop/prices.py"}', _SOURCE),
    ("list_orders", '{"state": "paid"}', _JSON),
)
"""Results of calls that have not failed: tool, arguments, text."""


def corpus_texts() -> list[str]:
    """Return what tools of the corpus said, up to 4 kB each."""
    lines = [line for path in sorted(OPEN.glob("cases*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [row["raw"] for row in map(json.loads, lines) if len(row["raw"]) <= SMALL]


def make_observe_text(before: Callable[[], object] = forget) -> Callable[[], object]:
    """Return the path of a whole observation of a text; `before` is called before each."""
    ledger, numbers = Ledger(OUT_OF_REACH), count()
    texts = _take_turns(corpus_texts())

    def observe() -> None:
        before()
        ledger.observe(f"run {next(numbers)}", RawError(text=next(texts), tool=TOOL))

    return _warm_up(observe)


def make_key_text(before: Callable[[], object] = forget) -> Callable[[], object]:
    """Return the path of the dedup key of a text; `before` is called before each."""
    texts = _take_turns(corpus_texts())

    def key() -> None:
        before()
        classify(RawError(text=next(texts), tool=TOOL))

    return _warm_up(key)


def make_observe_exception() -> Callable[[], object]:
    """Return the path of a whole observation of a live exception of ten frames, new each time."""
    observe = _raising(10)
    return lambda: (forget(), observe())[1]


def make_judge_healthy() -> Callable[[], object]:
    """Return the path of a verdict on a healthy result."""
    results = cycle(HEALTHY)

    def judge() -> None:
        tool, arguments, text = next(results)
        classify_result(text, tool=tool, arguments=arguments)

    return _warm_up(judge)


def measure(rounds: int) -> list[Row]:
    """Return the rows of the table."""
    clock = _Clock(max(3, rounds // 40))
    rows: list[Row] = []
    for name, texts in (("labelled errors", _labelled_texts()), ("corpus", corpus_texts())):
        if not texts:
            rows.append(
                Row(name=f"observation, {name}: skipped, since there is no ../shared/data", value=0, unit="span")
            )
            continue
        goal = SPANS_OF_OBSERVATION if name == "labelled errors" else None
        rows += _rows("whole observation", name, [clock.spans(_observing(text)) for text in texts], goal)
        goal = SPANS_OF_KEY if name == "labelled errors" else None
        rows += _rows("key alone", name, [clock.spans(_keying(text)) for text in texts], goal)
    for frames in FRAMES:
        new, seen = clock.spans(_raising(frames))
        name = f"whole observation, live exception of {frames} frames"
        rows.append(Row(name=name, value=new, seen=seen, unit="span"))
    output = "\n".join(corpus_texts())
    for size in SIZES:
        new, seen = clock.spans(_observing((output * (1 + size // len(output)))[:size]))
        rows.append(Row(name=f"whole observation, output of {size:,} characters", value=new, seen=seen, unit="span"))
    rows += [
        Row(name=f"new texts of the corpus a second of processor, {name}", value=_count_a_second(ledger), unit="")
        for name, ledger in (("all read", Ledger(OUT_OF_REACH)), ("none read", _make_loaded_ledger()))
    ]
    return rows + _rows(
        "healthy result judged", "results", [clock.spans(_judging(*result)) for result in HEALTHY], SPANS_OF_VERDICT
    )


class _Clock:
    """
    Measures calls in spans of the same moments.

    Args:
        rounds: How often each call is made; the quickest one counts, since neighbours can only make it slower.
    """

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._span = make_span()

    def spans(self, call: Callable[[], object]) -> tuple[float, float]:
        """Return what a call takes behind `forget`, and once more, in spans."""
        call()
        new: list[float] = []
        seen: list[float] = []
        spans: list[float] = []
        for _ in range(self._rounds):
            forget()
            new.append(_time(call))
            seen.append(_time(call))
            spans.append(_time(lambda: [self._span() for _ in range(_SPANS_AT_ONCE)]) / _SPANS_AT_ONCE)
        span = tenth_percentile(spans)
        return min(new) / span, min(seen) / span


def _make_loaded_ledger() -> Ledger:
    # Each look at the time shows more work than a process may ever do.
    return Ledger(OUT_OF_REACH, work_timer=count(0, 1 << 60).__next__)


def _count_a_second(ledger: Ledger) -> float:
    texts = [f"{text}\nattempt {number}" for number, text in enumerate(corpus_texts())]
    ledger.observe("before", RawError(text=texts[0], tool=TOOL))
    forget()
    spent = _time(lambda: [ledger.observe(f"run {n}", RawError(text=text, tool=TOOL)) for n, text in enumerate(texts)])
    return len(texts) * 1_000_000_000 / spent


def _rows(what: str, texts: str, values: list[tuple[float, float]], goal: float | None) -> list[Row]:
    new, seen = zip(*values, strict=True)
    of = f"of {len(values)} {texts}"
    median, p95 = statistics.median, lambda numbers: statistics.quantiles(numbers, n=20, method="inclusive")[-1]
    return [
        Row(name=f"{what}, median {of}", value=median(new), seen=median(seen), unit="span", goal=goal),
        Row(name=f"{what}, p95 {of}", value=p95(new), seen=p95(seen), unit="span"),
    ]


def _observing(text: str) -> Callable[[], object]:
    ledger, numbers, raw = Ledger(OUT_OF_REACH), count(), RawError(text=text, tool=TOOL)
    return lambda: ledger.observe(f"run {next(numbers)}", raw)


def _keying(text: str) -> Callable[[], object]:
    raw = RawError(text=text, tool=TOOL)
    return lambda: classify(raw)


def _raising(frames: int) -> Callable[[], object]:
    ledger, numbers, error = Ledger(OUT_OF_REACH), count(), raised(frames)
    raw = RawError(text="".join(traceback.format_exception(error)), exception=error, tool=TOOL)
    return lambda: ledger.observe(f"run {next(numbers)}", raw)


def _judging(tool: str, arguments: str, text: str) -> Callable[[], object]:
    return lambda: classify_result(text, tool=tool, arguments=arguments)


def _labelled_texts() -> list[str]:
    try:
        return [text for text in load(DEFAULT).texts if len(text) <= SMALL]
    except FileNotFoundError:
        return []


def _take_turns(texts: list[str]) -> Iterator[str]:
    return cycle(texts[:: max(1, len(texts) // _OF_PATHS)][:_OF_PATHS])


def _warm_up(call: Callable[[], object]) -> Callable[[], object]:
    # What is loaded and compiled when a text first needs it.
    for _ in range(_OF_PATHS):
        call()
    return call


def _time(call: Callable[[], object]) -> int:
    started = time.thread_time_ns()
    call()
    return time.thread_time_ns() - started


PATHS: Final = {
    "observe_text": make_observe_text,
    "observe_text_seen": lambda: make_observe_text(before=int),
    "key_text": make_key_text,
    "key_text_seen": lambda: make_key_text(before=int),
    "observe_exception": make_observe_exception,
    "judge_healthy": make_judge_healthy,
}
