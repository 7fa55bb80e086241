"""
What a tool call costs: healthy and failing, by `run.tool`, by `@compacted` and in a framework's hooks.

Everything is installed as `install()` does it, on providers without exporters. The failing calls write the trajectory.
"""

from __future__ import annotations

import atexit
import logging
import tempfile
import time
from contextvars import copy_context
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider

import otel_errcompact as errcompact
from benchmarks.cost.measure import NEVER, SPAN, Row, fail, make_span, place, take_turns
from benchmarks.quality.ours import forget
from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Turn = Callable[[], object]

FRAMES: Final = 10
ITEM: Final = {"item": "tea", "shop": 7}
ANSWER: Final = "tea: 2.40 EUR a cup, 12 left on the shelf"
TEXT: Final = (
    "psql: error: connection to server at 'db.example', port 5432 failed: Connection refused\n"
    "\tIs the server running on that host and accepting TCP/IP connections?\n"
)


def never_escalates(*, trajectory: bool = False) -> errcompact.Options:
    """Return options with which no run is stopped and no call refused."""
    thresholds = errcompact.Thresholds(
        refuse=NEVER, same=NEVER, rejected=NEVER, loop=NEVER, loop_halt=NEVER, consecutive=NEVER, total=NEVER
    )
    file = TrajectoryOptions(enabled=trajectory, path=new_folder() / "trajectory.jsonl")
    return errcompact.Options(thresholds=thresholds, trajectory=file)


def new_folder() -> Path:
    """Return a folder that is removed when the process ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def install_all(*, trajectory: bool = False) -> errcompact.Installation:
    """Install everything on providers of its own."""
    logging.getLogger(semconv.SCOPE).setLevel(logging.ERROR)  # that no exporter is configured
    return errcompact.install(
        tracer_provider=TracerProvider(shutdown_on_exit=False),
        meter_provider=MeterProvider(shutdown_on_exit=False),
        logger_provider=LoggerProvider(shutdown_on_exit=False),
        ledger=Ledger(never_escalates(trajectory=trajectory), timer=time.perf_counter_ns),
    )


def inside_run(make: Callable[[errcompact.Run], Turn], *, trajectory: bool = False) -> Turn:
    """Return a turn inside a run that stays open, in a context of its own."""
    added = install_all(trajectory=trajectory)
    run = errcompact.run(agent="shop", ledger=added.ledger, tracer_provider=added.tracer_provider)
    turn, context = make(run), copy_context()
    context.run(run.__enter__)

    def turn_in_run(_: errcompact.Run = run) -> None:  # a run that nothing holds is over
        context.run(turn)

    return turn_in_run


def make_healthy_call(*, failed: bool = False) -> Turn:
    """Return one healthy call by `run.tool`, in a run in which another call has `failed` before or none has."""

    def make(run: errcompact.Run) -> Turn:
        if failed:
            with run.tool("psql", arguments={"query": "select 1"}) as failing:
                failing.fail(TEXT)

        def turn() -> None:
            with run.tool("price", arguments=ITEM) as call:
                call.result = ANSWER

        return turn

    return inside_run(make)


def make_healthy_function() -> Turn:
    """Return one healthy call by `@compacted`."""

    @errcompact.compacted
    def price(item: str, shop: int) -> str:  # noqa: ARG001 - as a tool has them
        return ANSWER

    return inside_run(lambda _: lambda: price("tea", shop=7))


def make_hosted_call() -> Turn:
    """Return what the hooks of an integration do in the tool span of its framework."""
    added = install_all()
    runs = RunRegistry(agent="shop", ledger=added.ledger, tracer_provider=added.tracer_provider)
    runs.of("conversation").begin_turn()
    tracer = trace.get_tracer("framework", tracer_provider=added.tracer_provider)
    attributes = {semconv.GEN_AI_OPERATION_NAME: semconv.SPAN_TOOL, semconv.GEN_AI_TOOL_NAME: "price"}
    span = tracer.start_span("execute_tool price", attributes=attributes)
    context = copy_context()
    context.run(otel_context.attach, trace.set_span_in_context(span))

    def turn() -> None:
        if not runs.of("conversation").port.refuse("price", arguments=ITEM, call_id="call-1"):
            runs.of("conversation").port.record_call("price", arguments=ITEM, call_id="call-1", result=ANSWER)

    return partial(context.run, turn)


def make_failing_text(*, new: bool = False) -> Turn:
    """Return one call that fails with a text, with the trajectory; where `new`, with another number at each turn."""

    def make(run: errcompact.Run) -> Turn:
        def turn() -> None:
            text = next(texts)
            with run.tool("psql", arguments=ITEM) as call:
                call.fail(text)

        return turn

    texts = _vary(TEXT, "5432", new=new)
    return inside_run(make, trajectory=True)


def make_failing_exception(*, new: bool = False) -> Turn:
    """Return one call that raises from `FRAMES` frames, with the trajectory; where `new`, with another number."""

    def make(run: errcompact.Run) -> Turn:
        @place
        def turn() -> None:
            message = next(messages)
            with run.tool("query", arguments=ITEM):
                fail(FRAMES - 1, message)

        return turn

    messages = _vary("no route to host 'db' on port 5432", "5432", new=new)
    return inside_run(make, trajectory=True)


def _vary(text: str, number: str, *, new: bool) -> Iterator[str]:
    for other in count(int(number)):
        if new:
            forget()
        yield text.replace(number, str(other)) if new else text


def make_empty_run() -> Turn:
    """Return one run without calls."""
    added = install_all()

    def turn() -> None:
        with errcompact.run(agent="shop", ledger=added.ledger, tracer_provider=added.tracer_provider):
            pass

    return turn


def make_short_run() -> Turn:
    """Return one run of one healthy call."""
    added = install_all()

    def turn() -> None:
        with (
            errcompact.run(agent="shop", ledger=added.ledger, tracer_provider=added.tracer_provider) as run,
            run.tool("price", arguments=ITEM) as call,
        ):
            call.result = ANSWER

    return turn


def measure(rounds: int) -> list[Row]:
    """Return the rows of tool calls."""
    costs = take_turns(
        {
            SPAN: make_span(),
            "tool": make_healthy_call(),
            "function": make_healthy_function(),
            "failed": make_healthy_call(failed=True),
            "hosted": make_hosted_call(),
            "text": make_failing_text(),
            "exception": make_failing_exception(),
            "new text": make_failing_text(new=True),
            "new exception": make_failing_exception(new=True),
            "empty": make_empty_run(),
            "short": make_short_run(),
        },
        rounds=rounds,
    )

    def row(name: str, variant: str, goal: float | None = None) -> Row:
        return Row(name=name, value=costs[variant] / costs[SPAN], unit="spans", goal=goal)

    def failing(what: str, goal: float) -> Row:
        name, seen = f"failing tool call with the trajectory file, {what}", costs[what] / costs[SPAN]
        return Row(name=name, value=costs[f"new {what}"] / costs[SPAN], seen=seen, unit="spans", goal=goal)

    return [
        row("healthy tool call, run.tool", "tool", 2.5),
        row("healthy tool call, run.tool, after a failure in the run", "failed", 2.9),
        row("healthy tool call, @compacted", "function", 3.5),
        row("healthy tool call, added by us in a framework that has its own span", "hosted", 1),
        failing("text", 14),
        failing("exception", 18),
        row("run without calls", "empty"),
        row("run of one healthy call", "short"),
    ]


PATHS: Final = {
    "call_healthy": make_healthy_call,
    "function_healthy": make_healthy_function,
    "call_healthy_failed": partial(make_healthy_call, failed=True),
    "call_hosted": make_hosted_call,
    "call_failing_text": make_failing_text,
    "call_failing_new_text": lambda: make_failing_text(new=True),
    "call_failing_exception": make_failing_exception,
    "call_failing_new_exception": lambda: make_failing_exception(new=True),
    "run_empty": make_empty_run,
    "run_of_one_call": make_short_run,
}
