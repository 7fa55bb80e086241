"""A run or a call entered in one context and left in another: the host goes on, and no failure is lost."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

import otel_errcompact as errcompact
from otel_errcompact import current_run
from otel_errcompact.boundary.runs import current_call
from otel_errcompact.engine.events import Ended
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.otel.spans.context import current_run_id, is_in_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from otel_errcompact import Run
    from otel_errcompact.engine.ledger import Ledger


def failures(ledger: Ledger, run_id: str = "r") -> int:
    return ledger.report(run_id).occurrences


def in_thread(function: Callable[[], object]) -> None:
    """Call a function in a thread, which knows nothing of this context; what it raises is raised here."""
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            function()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def in_copy(function: Callable[[], object]) -> None:
    contextvars.copy_context().run(function)


ELSEWHERE = pytest.mark.parametrize("elsewhere", [in_thread, in_copy], ids=["thread", "copied context"])


def stream(ledger: Ledger) -> Iterator[int]:
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("first"):
            yield 1
            raise ValueError("late in the generator")
        yield 2
        run.check()


def nothing_is_open() -> bool:
    return (current_run(), current_call(), current_run_id(), is_in_call()) == (None, None, "", False)


@ELSEWHERE
def test_a_generator_is_entered_in_one_context_and_exhausted_in_another(
    ledger: Ledger, elsewhere: Callable[[Callable[[], object]], None]
) -> None:
    """Its failure is counted in its run, and nothing stays open in either context."""
    chunks = stream(ledger)
    reports: list[int] = []
    ledger.listeners.add(Listener({Ended: lambda ended: reports.append(ended.report.occurrences)}))
    elsewhere(lambda: next(chunks))
    assert list(chunks) == [2]
    assert (reports, nothing_is_open()) == ([1], True)


@ELSEWHERE
def test_a_generator_is_begun_here_and_closed_elsewhere(
    ledger: Ledger, elsewhere: Callable[[Callable[[], object]], None]
) -> None:
    """The context it was begun in is as it was before, also where what comes next opens a run of its own."""
    before = trace.get_current_span()
    chunks = stream(ledger)
    next(chunks)
    assert current_run_id() == "r"
    elsewhere(chunks.close)  # type: ignore[attr-defined]
    assert nothing_is_open()
    with errcompact.run("next", ledger=ledger) as run:
        assert (current_run(), current_run_id()) == (run, "next")
    assert trace.get_current_span() is before


def test_the_next_run_is_no_child_of_one_that_was_left_elsewhere(ledger: Ledger) -> None:
    """A context would else hang every later run below a span that has ended, in one trace that never does."""
    provider = TracerProvider(shutdown_on_exit=False)
    generator = opened(errcompact.run("r", ledger=ledger, tracer_provider=provider))
    next(generator)
    in_thread(generator.close)  # type: ignore[attr-defined]
    with errcompact.run("next", ledger=ledger, tracer_provider=provider):
        span = trace.get_current_span()
        assert span.parent is None  # type: ignore[attr-defined]


def opened(run: Run) -> Iterator[Run]:
    with run:
        yield run


def test_runs_that_end_in_another_order_than_they_began(ledger: Ledger) -> None:
    """Two generators take turns in one context: the one that is still open is the current run."""
    first, second = opened(errcompact.run("1", ledger=ledger)), opened(errcompact.run("2", ledger=ledger))
    next(first)
    inner = next(second)
    first.close()  # type: ignore[attr-defined]
    assert (current_run(), current_run_id()) == (inner, "2")
    second.close()  # type: ignore[attr-defined]
    assert nothing_is_open()


def test_an_outer_run_is_the_current_one_again(ledger: Ledger) -> None:
    """Also where the inner one was left in another context."""
    with errcompact.run("outer", ledger=ledger) as outer:
        inner = opened(errcompact.run("inner", ledger=ledger))
        next(inner)
        in_thread(inner.close)  # type: ignore[attr-defined]
        assert (current_run(), current_run_id()) == (outer, "outer")
        with outer.tool("call"):
            assert is_in_call()
    assert nothing_is_open()


def test_a_call_left_elsewhere_leaves_the_one_around_it_open(ledger: Ledger) -> None:
    """What fails between is the outer call's to count."""

    def held(run: Run) -> Iterator[None]:
        with run.tool("inner"):
            yield

    with errcompact.run("r", ledger=ledger) as run, run.tool("outer") as outer:
        inner = held(run)
        next(inner)
        in_thread(inner.close)  # type: ignore[attr-defined]
        assert (current_call(), is_in_call()) == (outer, True)


def test_a_span_of_the_host_stays_the_current_one(ledger: Ledger) -> None:
    """A generator that is closed inside a span which was opened after it does not take that span away."""
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("host")
    generator = opened(errcompact.run("r", ledger=ledger))
    next(generator)
    with tracer.start_as_current_span("host") as span:
        generator.close()  # type: ignore[attr-defined]
        assert trace.get_current_span() is span


@pytest.mark.cost
def test_contexts_of_a_loop_that_abandons_generators_do_not_grow(ledger: Ledger) -> None:
    """Blocks that were left elsewhere are forgotten when the next one begins."""

    def depth() -> int:
        run = opened(errcompact.run(ledger=ledger))
        next(run)
        in_thread(run.close)  # type: ignore[attr-defined]
        gc.collect()
        return sum(type(found).__name__ == "Block" for found in gc.get_objects())

    depth()
    assert len({depth() for _ in range(5)}) == 1


def test_a_run_that_was_closed_in_its_block_is_not_the_current_one(ledger: Ledger) -> None:
    """Whoever asks would tell a run that has had its report."""
    with errcompact.run("r", ledger=ledger) as run:
        run.port.close()
        assert (current_run(), current_run_id()) == (None, "")


def test_an_interrupt_while_a_run_begins_leaves_nothing_open(ledger: Ledger) -> None:
    """The block was not entered, so nobody will leave it."""

    class Interrupted(TracerProvider):
        def get_tracer(self, *_: object, **__: object) -> trace.Tracer:  # type: ignore[override]
            class Tracer(trace.NoOpTracer):
                def start_span(self, *_: object, **__: object) -> trace.Span:  # type: ignore[override]
                    raise KeyboardInterrupt

            return Tracer()

    run = errcompact.run("r", ledger=ledger, tracer_provider=Interrupted(shutdown_on_exit=False))
    with pytest.raises(KeyboardInterrupt), run:
        raise AssertionError("must not be reached")
    run.port.open()
    with pytest.raises(KeyboardInterrupt), run.tool("t"):
        raise AssertionError("must not be reached")
    assert nothing_is_open()


async def test_every_step_of_a_stream_in_a_task_of_its_own(ledger: Ledger) -> None:
    """As `asyncio.wait_for(stream.__anext__(), ...)` and servers do it."""

    async def answer(run: Run) -> AsyncIterator[int]:
        async with run.tool("llm"):
            for number in range(3):
                yield number
            raise ValueError("cut off")

    async with errcompact.run("r", ledger=ledger) as run:
        chunks = answer(run)
        got: list[int] = []
        try:
            while True:
                got.append(await asyncio.create_task(chunks.__anext__()))
        except StopAsyncIteration:
            pass
        assert (got, failures(ledger)) == ([0, 1, 2], 1)
        assert (current_run(), current_call()) == (run, None)


async def test_an_abandoned_stream_is_closed_by_the_event_loop(ledger: Ledger) -> None:
    """The loop closes it in a task of its own once the garbage collector has found it."""
    closed = asyncio.Event()

    async def answer(run: Run) -> AsyncIterator[int]:
        try:
            async with run.tool("llm"):
                yield 1
        finally:
            closed.set()

    async with errcompact.run("r", ledger=ledger) as run:

        async def take_one() -> None:
            async for _ in answer(run):
                break

        await asyncio.create_task(take_one())
        gc.collect()
        await closed.wait()
        assert (current_run(), current_call()) == (run, None)


async def test_an_exception_thrown_into_a_stream_from_another_task_is_counted(ledger: Ledger) -> None:
    """And stops at the call, as it does anywhere."""

    async def answer(run: Run) -> AsyncIterator[int]:
        async with run.tool("llm"):
            yield 1
        yield 2

    async with errcompact.run("r", ledger=ledger) as run:
        chunks = answer(run)
        await asyncio.create_task(chunks.__anext__())
        assert await asyncio.create_task(chunks.athrow(ValueError("thrown in"))) == 2  # type: ignore[attr-defined]
        await asyncio.create_task(chunks.aclose())  # type: ignore[attr-defined]
        assert failures(ledger) == 1


async def test_a_run_is_entered_in_one_task_and_left_in_another(ledger: Ledger) -> None:
    """As servers do with what lives as long as a request."""
    run = errcompact.run("r", ledger=ledger)
    await asyncio.create_task(run.__aenter__())
    run.fail("in between", tool="t")
    await asyncio.create_task(run.__aexit__(None, None, None))
    assert (run.report().occurrences, nothing_is_open()) == (1, True)
