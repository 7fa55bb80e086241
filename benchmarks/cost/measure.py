"""
Measure variants in one process, in turn, as ratios of one another.

On a shared machine time on the wall says nothing and absolute times drift. Each figure is therefore processor time of
this thread, the tenth percentile of many short rounds in which the variants take turns, divided by that of a reference
which took part in the same rounds: the bare span of the SDK, or its `record_exception`.
"""

from __future__ import annotations

import gc
import linecache
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, cast

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FunctionType

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Span, Tracer

F = TypeVar("F")

SPAN: Final = "span"
"""The reference of most figures: a span of the SDK with five attributes, without a processor."""

RECORD: Final = "record"
"""The reference of failing spans: `record_exception` of an exception of `FRAMES` frames."""

NEVER: Final = 10**9
"""A threshold that is never reached: a run that is stopped would be measured as one."""

FRAMES: Final = 15
REFERENCE_SPAN_US: Final = 11.7
"""What the bare span cost where the goals in ms and us were set; times are scaled to that machine."""

ATTRIBUTES: Final = {
    "http.request.method": "GET",
    "http.route": "/orders",
    "http.response.status_code": 200,
    "server.address": "shop.example",
    "server.port": 443,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    One line of the table.

    `value` is of what is new to the process, unless the row says otherwise; `seen` is of the same once more, where that
    is another figure. `goal` is the largest value that is good enough; None where the row only gives a comparison.
    """

    name: str
    value: float
    unit: str
    seen: float | None = None
    goal: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the goal is reached; None without one."""
        return None if self.goal is None else self.value <= self.goal


class Nowhere(SpanExporter):
    """Takes spans and does nothing with them."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002 - nothing is done with them
        """Return success."""
        return SpanExportResult.SUCCESS


def words(number: int) -> str:
    """Return a name of letters alone, which no masking rule takes for a number."""
    name = ""
    while True:
        number, digit = divmod(number, 26)
        name = chr(ord("a") + digit) + name
        if not number:
            return name


def bare_tracer() -> Tracer:
    """Return a tracer of the SDK without any processor."""
    return TracerProvider(shutdown_on_exit=False).get_tracer("bench")


def make_span() -> Callable[[], object]:
    """Return the reference `SPAN`: one call makes and ends a bare span."""
    tracer = bare_tracer()
    return lambda: tracer.start_span("GET /orders", attributes=ATTRIBUTES).end()


def make_record() -> Callable[[], object]:
    """Return the reference `RECORD`: one call records an exception of `FRAMES` frames on an open span."""
    span: Span = bare_tracer().start_span("query")
    error = raised(FRAMES)
    return lambda: span.record_exception(error)


def place(function: F) -> F:
    """Make a function raise from a file whose name does not depend on the checkout, and return it."""
    placed = cast("FunctionType", function)
    source = placed.__code__.co_filename
    file = f"/srv/shop/orders/{Path(source).name}"
    # Without a time it is not looked for on the disk.
    linecache.cache[file] = (0, None, linecache.getlines(source), file)
    placed.__code__ = placed.__code__.replace(co_filename=file)
    return function


@place
def fail(depth: int, message: str) -> None:
    """Raise a `ConnectionError` from `depth` frames."""
    if depth > 1:
        return fail(depth - 1, message)
    raise ConnectionError(message)


@place
def raised(frames: int, message: str = "no route to host 'db'") -> ConnectionError:
    """Return an exception whose traceback has so many frames."""
    try:
        fail(frames - 1, message)
    except ConnectionError as error:
        return error
    raise AssertionError("nothing was raised")


def take_turns(
    variants: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 200,
    calls: int = 20,
    before: Mapping[str, Callable[[], object]] | None = None,
) -> dict[str, float]:
    """
    Return what one call of each variant takes, in microseconds of this thread's processor time.

    Args:
        variants: What is measured, by name.
        rounds: How often the variants take turns.
        calls: Calls of one variant in one round.
        before: What makes a variant ready for a round, by name; it is not measured.
    """
    samples: dict[str, list[float]] = {name: [] for name in variants}
    turns = list(variants.items())
    for _, call in turns:  # what is loaded and compiled at the first call
        call()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in turns:
                if before and name in before:
                    before[name]()
                samples[name].append(_time(call, calls))
            turns.append(turns.pop(0))
            gc.collect(0)
    finally:
        gc.enable()
    return {name: tenth_percentile(times) for name, times in samples.items()}


def tenth_percentile(times: list[float]) -> float:
    """Return the value that a tenth of all stay below."""
    return sorted(times)[len(times) // 10]


def scaled(microseconds: float, span: float) -> float:
    """
    Return a time as it would be where a bare span costs `REFERENCE_SPAN_US`.

    Args:
        microseconds: What was measured here.
        span: What the bare span cost in the same rounds.
    """
    return microseconds * REFERENCE_SPAN_US / span


def _time(call: Callable[[], object], calls: int) -> float:
    started = time.thread_time_ns()
    for _ in range(calls):
        call()
    return (time.thread_time_ns() - started) / calls / 1_000


PATHS: Final = {"span": make_span, "record": make_record}
