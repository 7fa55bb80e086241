"""
What the library costs, beside what the SDK itself costs, in one process and in turn.

Every figure is the median, over many short rounds, of the difference between two variants in the same round: on a
shared machine absolute times drift, and neighbours in time drift together. Run `make bench`, or see `--help`.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.compactor.classify import classify
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.otel.metrics.instruments import Telemetry
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor
from otel_errcompact.otel.spans.sampling import record_unsampled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer

FRAMES = 15
NEVER = 10**9
WARM_UP = 10


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    value: float
    unit: str
    bound: str = ""
    holds: bool | None = None


class Nowhere(SpanExporter):
    """Takes spans and does nothing with them."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002 - nothing is done with them
        """Say that all is well."""
        return SpanExportResult.SUCCESS


def tracer_with(*processors: SpanProcessor, sampler: Sampler = ALWAYS_ON, recording: bool = False) -> Tracer:
    """Return a tracer whose provider has just these processors, and may record what its sampler drops."""
    provider = TracerProvider(sampler, shutdown_on_exit=False)
    if recording:
        record_unsampled(provider)
    for processor in processors:
        provider.add_span_processor(processor)
    return provider.get_tracer("bench")


def ours(*, trajectory: Path | None = None) -> SpanProcessor:
    """Return the processor with ledger and instruments, as `install()` adds it; nothing ever escalates."""
    options = Options(thresholds=Thresholds(same=NEVER, consecutive=NEVER, total=NEVER))
    ledger = Ledger(options, timer=time.perf_counter_ns)
    ledger.add_listener(Telemetry(MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False), ledger))
    if trajectory is not None:
        ledger.add_listener(TrajectoryFile(TrajectoryOptions(path=trajectory), resource=Resource.create()))
    return ErrorCompactionSpanProcessor(ledger)


class Rounds:
    """
    The times of some variants, in microseconds for one call, which have taken turns in many rounds.

    Args:
        variants: What is measured, called with a number that is new in every call.
        rounds: How often the variants take turns.
        calls: Calls of one variant in one round.
        finish: What belongs to a variant's time after its calls, by name.
    """

    def __init__(
        self,
        variants: dict[str, Callable[[int], None]],
        *,
        rounds: int,
        calls: int,
        finish: dict[str, Callable[[], object]] | None = None,
    ) -> None:
        self._samples: dict[str, list[float]] = {name: [] for name in variants}
        turns = list(variants.items())
        gc.collect()
        gc.disable()
        for number in range(0, rounds * calls, calls):
            for name, call in turns:
                self._samples[name].append(_time(call, number, calls, (finish or {}).get(name)))
            turns.append(turns.pop(0))
            gc.collect()
        gc.enable()

    def cost(self, name: str) -> float:
        """Return the median of a variant."""
        return statistics.median(self._samples[name])

    def added(self, name: str, *, to: str) -> float:
        """Return the median of what a variant costs more than another one in the same round."""
        pairs = zip(self._samples[name], self._samples[to], strict=True)
        return statistics.median(mine - base for mine, base in pairs)


def _time(call: Callable[[int], None], first: int, calls: int, finish: Callable[[], object] | None) -> float:
    started = time.perf_counter_ns()
    for number in range(first, first + calls):
        call(number)
    if finish is not None:
        finish()
    return (time.perf_counter_ns() - started) / calls / 1_000


def healthy_span(rounds: int) -> list[Row]:
    """(a) A healthy span: what each processor adds to none."""
    batch = BatchSpanProcessor(Nowhere())
    tracers = {
        "none": tracer_with(),
        "empty": tracer_with(SpanProcessor()),
        "batch": tracer_with(batch),
        "ours": tracer_with(ours()),
    }

    def span(tracer: Tracer) -> Callable[[int], None]:
        return lambda _: tracer.start_span("GET /orders", attributes={"http.request.method": "GET"}).end()

    times = Rounds(
        {name: span(tracer) for name, tracer in tracers.items()},
        rounds=max(rounds // 3, 2),
        # Enough for the batch processor's worker to wake up several times, as it does in a busy program.
        calls=2_048,
        # The batch processor's worker exports behind our back: its time is the batch processor's, and nobody else's.
        finish={"batch": batch.force_flush},
    )
    batch.shutdown()
    added = {name: times.added(name, to="none") for name in ("empty", "batch", "ours")}
    return [
        Row("healthy span, no processor", times.cost("none"), "us"),
        Row("healthy span, added by a processor that does nothing", added["empty"], "us"),
        Row("healthy span, added by BatchSpanProcessor", added["batch"], "us"),
        Row("healthy span, added by ours", added["ours"], "us"),
        ratio("healthy span, ours / BatchSpanProcessor", added["ours"], added["batch"], 1 / 4),
    ]


def unsampled_span(rounds: int) -> list[Row]:
    """(b) A healthy span that the sampler drops: what recording it costs, beside one that is sampled and exported."""
    batch = BatchSpanProcessor(Nowhere())
    tracers = {
        "dropped": tracer_with(ours(), sampler=ALWAYS_OFF),
        "recorded": tracer_with(ours(), batch, sampler=ALWAYS_OFF, recording=True),
        "sampled": tracer_with(ours(), batch),
    }

    def span(tracer: Tracer) -> Callable[[int], None]:
        return lambda _: tracer.start_span("GET /orders", attributes={"http.request.method": "GET"}).end()

    times = Rounds(
        {name: span(tracer) for name, tracer in tracers.items()},
        rounds=max(rounds // 3, 2),
        calls=2_048,
        finish={"sampled": batch.force_flush},
    )
    batch.shutdown()
    costs = {name: times.cost(name) for name in tracers}
    return [
        Row("unsampled span, dropped", costs["dropped"], "us"),
        Row("unsampled span, recorded by AlwaysRecordSampler", costs["recorded"], "us"),
        Row("unsampled span, recorded / dropped", costs["recorded"] / costs["dropped"], "ratio"),
        Row("unsampled span, recorded / sampled and exported", costs["recorded"] / costs["sampled"], "ratio"),
    ]


def fail_deep(depth: int, message: str) -> None:
    """Raise from `depth` frames down."""
    if depth:
        return fail_deep(depth - 1, message)
    raise ConnectionError(message)


def failing_span(rounds: int) -> list[Row]:
    """(c) A span that fails 15 frames deep, first and repeated: what ours adds to what `record_exception` costs."""
    with tempfile.TemporaryDirectory() as folder:
        trajectory = Path(folder) / "trajectory.jsonl"
        bare, kept = tracer_with(), tracer_with(ours(trajectory=trajectory))
        first, repeat = tracer_with(ours()), tracer_with(ours())

        def span(tracer: Tracer, *, new: bool, record: bool = True) -> Callable[[int], None]:
            def call(number: int) -> None:
                message = f"no route to host 'db-{words(number)}'" if new else "no route to host 'db'"
                # A run of fifty failures, as a long conversation has.
                attributes = {"gen_ai.conversation.id": f"run-{number // 50}"}
                try:
                    with tracer.start_as_current_span("query", record_exception=record, attributes=attributes):
                        fail_deep(FRAMES - 2, message)
                except ConnectionError:
                    pass

            return call

        times = Rounds(
            {
                "unrecorded": span(bare, new=False, record=False),
                "recorded": span(bare, new=False),
                "first": span(first, new=True),
                "repeat": span(repeat, new=False),
                "kept": span(kept, new=False),
            },
            rounds=rounds,
            calls=20,
        )
    record = times.added("recorded", to="unrecorded")
    added = {name: times.added(name, to="recorded") for name in ("first", "repeat", "kept")}
    return [
        Row("failing span, record_exception itself", record, "us"),
        Row("failing span, added by ours, first", added["first"], "us"),
        Row("failing span, added by ours, repeated", added["repeat"], "us"),
        Row("failing span, added by ours with the trajectory file, repeated", added["kept"], "us"),
        ratio("failing span, first / record_exception", added["first"], record, 1 / 4),
        ratio("failing span, repeated / record_exception", added["repeat"], record, 1 / 8),
        Row("failing span, with the trajectory file / record_exception", added["kept"] / record, "ratio"),
    ]


def words(number: int) -> str:
    """Return a name made of letters alone, so that no masking rule takes it for a number."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    name = ""
    while True:
        number, digit = divmod(number, 26)
        name = letters[digit] + name
        if not number:
            return name


def memory(failures: int) -> list[Row]:
    """(d) Growth of the process over many distinct failures, through spans, ledger and instruments."""
    tracer = tracer_with(ours())

    def fail(number: int) -> None:
        name = words(number)
        # A thousand failures to a run, so that runs, classes, raw texts and labels all reach their bounds.
        span = tracer.start_span("query", attributes={"gen_ai.conversation.id": f"run-{number // 1_000}"})
        message = f"no route to host 'db-{name}'"
        text = f'Traceback (most recent call last):\n  File "/srv/app/db.py", line 7, in query_{name}\n    connect()\n'
        attributes = {"exception.type": "ConnectionError", "exception.message": message}
        span.add_event("exception", {**attributes, "exception.stacktrace": f"{text}ConnectionError: {message}\n"})
        span.set_attribute("error.type", "ConnectionError")
        span.end()

    # What is loaded or compiled at the first failure is no growth.
    for number in range(WARM_UP):
        fail(number)
    gc.collect()
    before = resident_bytes()
    progress = Progress("distinct failures", failures)
    for number in range(WARM_UP, failures):
        fail(number)
        progress.at(number)
    gc.collect()
    grown = (resident_bytes() - before) / 2**20
    return [Row(f"memory grown after {failures:,} distinct failures", grown, "MB", "< 32", grown < 32)]


def resident_bytes() -> int:
    """Return the memory this process holds (Linux)."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4_096


def hostile_text() -> list[Row]:
    """(e) Time for 10 MB of hostile text, and how it grows from 1 MB."""
    shapes: dict[str, Callable[[int], str]] = {
        "one line": lambda size: "Error: " + "a" * size,
        "digits": lambda size: "Error: " + "1" * size,
        "quotes": lambda size: "Error: " + "'\"" * (size // 2),
        "nested brackets": lambda size: "[" * (size // 2) + "]" * (size // 2),
        "nested JSON": lambda size: '{"error":' * (size // 9),
        "slashes": lambda size: "/a" * (size // 2),
        "spaces": lambda size: "error:" + " " * size + "x",
        "frames": lambda size: (
            "Traceback (most recent call last):\n" + '  File "/a.py", line 1, in f\n' * (size // 29) + "ValueError: x"
        ),
        "empty lines": lambda size: "\n" * size,
        "ANSI": lambda size: "\x1b[" * (size // 2),
        "tags": lambda size: "<html>" + "<a " * (size // 3),
    }
    rows: list[Row] = []
    worst, growth = 0.0, 0.0
    for name, shape in shapes.items():
        small, large = (best_of(3, shape(size)) for size in (1_000_000, 10_000_000))
        rows.append(Row(f"10 MB of {name}", large, "ms", "< 100", large < 100))
        worst, growth = max(worst, large), max(growth, large / max(small, 1.0))
    rows.append(Row("10 MB of hostile text, the worst", worst, "ms", "< 100", worst < 100))
    # Ten times the text must not cost much more than ten times the time; under a millisecond all is noise.
    rows.append(Row("growth from 1 MB to 10 MB, the worst", growth, "times", "<= 13", growth <= 13))
    return rows


def best_of(times: int, text: str) -> float:
    """Return the shortest time in milliseconds to observe `text`."""
    best = float("inf")
    for number in range(times):
        raw = RawError(text=text + words(number), tool="bash")
        ledger = Ledger()
        started = time.perf_counter()
        classify(raw)
        ledger.observe("r", raw)
        best = min(best, (time.perf_counter() - started) * 1_000)
    return best


def ratio(name: str, value: float, base: float, bound: float) -> Row:
    """Return a ratio and whether it keeps to its bound."""
    found = value / base
    return Row(name, found, "ratio", f"<= {bound:g}", found <= bound)


class Progress:
    """Says on a terminal how far long work has come."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._step = what, total, max(total // 100, 1)

    def at(self, number: int) -> None:
        """Note that `number` of all is done."""
        if sys.stderr.isatty() and number % self._step == 0:
            print(f"\r{self._what}: {number / self._total:.0%}", end="", file=sys.stderr)
            if number + self._step >= self._total:
                print(file=sys.stderr)


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| what | value | bound | holds |", "|---|---|---|---|"]
    for row in rows:
        holds = "" if row.holds is None else "yes" if row.holds else "**no**"
        lines.append(f"| {row.name} | {row.value:.3g} {row.unit} | {row.bound} | {holds} |")
    return "\n".join(lines)


def main() -> int:
    """Run what was asked for, print a table, and fail if a bound does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="rounds in which the variants take turns")
    parser.add_argument("--failures", type=int, default=1_000_000, help="distinct failures for the memory figure")
    parser.add_argument("--only", choices=["healthy", "unsampled", "failing", "memory", "hostile"], action="append")
    parser.add_argument("--json", type=Path, help="also write the rows as JSON to this file")
    arguments = parser.parse_args()
    parts: dict[str, Callable[[], list[Row]]] = {
        "healthy": lambda: healthy_span(arguments.rounds),
        "unsampled": lambda: unsampled_span(arguments.rounds),
        "failing": lambda: failing_span(arguments.rounds),
        "hostile": hostile_text,
        "memory": lambda: memory(arguments.failures),
    }
    rows = [row for name, part in parts.items() if not arguments.only or name in arguments.only for row in part()]
    print(f"Python {platform.python_version()}, opentelemetry-sdk {version('opentelemetry-sdk')}, {platform.machine()}")
    print(table(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.holds is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
