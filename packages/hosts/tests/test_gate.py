"""The gate where many wait at it: threads and tasks of every kind, none of which costs a thread or is left behind."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import anyio
import pytest
import trio

import otel_errcompact as errcompact
from otel_errcompact import Continue, Options, Run, RunHalted, RunPaused, Thresholds
from otel_errcompact.engine.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from otel_errcompact import Escalation
    from otel_errcompact.escalator.actions import Action

TASKS, THREADS = 10_000, 200
EACH = Thresholds(same=1, loop=10**6, loop_halt=10**6, consecutive=10**6, total=10**6)
"""Every failure escalates."""


def fail(run: Run) -> None:
    with run.tool("t"):
        raise ValueError("same")


async def afail(run: Run) -> None:
    async with run.tool("t"):
        raise ValueError("same")


def joined(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


async def test_ten_thousand_tasks_wait_for_one_answer(ledger: Ledger) -> None:
    """None holds a thread: what the host itself runs in the default executor meanwhile is done."""
    asking, answer = asyncio.Event(), asyncio.Event()
    asked: list[Escalation] = []
    before = threading.active_count()

    async def handler(escalation: Escalation) -> Continue:
        asked.append(escalation)
        asking.set()
        await answer.wait()
        return Continue()

    async with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        first = asyncio.create_task(afail(run))
        await asking.wait()
        waiting = [asyncio.create_task(run.acheck()) for _ in range(TASKS)]
        await asyncio.sleep(0)
        assert await asyncio.to_thread(lambda: "the host's own") == "the host's own"
        assert threading.active_count() <= before + 1
        assert not any(task.done() for task in waiting)
        answer.set()
        await asyncio.gather(first, *waiting)
    assert len(asked) == 1


def test_two_hundred_threads_wait_for_one_answer(ledger: Ledger) -> None:
    """And then all go on."""
    asking, answer = threading.Event(), threading.Event()
    passed: list[bool] = []

    def handler(_: Escalation) -> Continue:
        asking.set()
        answer.wait()
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:

        def late() -> None:
            asking.wait()
            run.check()
            passed.append(answer.is_set())

        asker = threading.Thread(target=fail, args=(run,))
        asker.start()
        asking.wait()
        threading.Timer(0.2, answer.set).start()
        joined([threading.Thread(target=late) for _ in range(THREADS)])
        asker.join()
    assert passed == [True] * THREADS


@pytest.mark.usefixtures("untraced")
def test_every_failure_escalates_in_many_threads(ledger: Ledger) -> None:
    """Each escalation is asked about exactly once, and nobody is told that the handler has not answered yet."""
    asked: list[Escalation] = []
    stopped: list[RunHalted] = []
    workers, calls = 16, 25

    def handler(escalation: Escalation) -> Continue:
        asked.append(escalation)
        time.sleep(0.0005)
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:

        def work() -> None:
            for _ in range(calls):
                try:
                    fail(run)
                except RunHalted as stop:
                    stopped.append(stop)

        joined([threading.Thread(target=work) for _ in range(workers)])
    report = run.report()
    assert (stopped, report.occurrences) == ([], workers * calls)
    assert [answered.action for answered in report.escalations] == ["continue"] * len(asked)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_tasks_of_anyio(ledger: Ledger, backend: str) -> None:
    """Under either of its event loops they wait, and go on."""
    asked: list[Escalation] = []

    async def handler(escalation: Escalation) -> Continue:
        asked.append(escalation)
        await anyio.sleep(0.01)
        return Continue()

    async def main() -> int:
        async with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(afail, run)
                await anyio.lowlevel.checkpoint()
                for _ in range(100):
                    tasks.start_soon(run.acheck)
            with anyio.move_on_after(60):
                await afail(run)
            return run.report().occurrences

    assert (anyio.run(main, backend=backend), len(asked)) == (2, 2)


def test_a_thread_waits_for_a_handler_under_trio(ledger: Ledger) -> None:
    """It is woken from the other side."""

    async def handler(_: Escalation) -> Continue:
        await trio.sleep(0.05)
        return Continue()

    async def main() -> None:
        async with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(afail, run)
                await trio.sleep(0.01)
                await trio.to_thread.run_sync(contextvars.Context().run, run.check)
            with pytest.raises(RunPaused, match=r"use `await run\.acheck"):
                await a_sync_gate(run)
            await run.acheck()

    async def a_sync_gate(run: Run) -> None:
        fail(run)
        run.check()

    trio.run(main)


@pytest.mark.parametrize("start", ["pool", "thread", "shut down"])
def test_a_handler_passes_the_gate_in_a_thread_of_its_own(ledger: Ledger, start: str) -> None:
    """The thread has not inherited the handler's context; that the handler waits for it gives it away."""
    seen: list[str] = []

    def handler(_: Escalation) -> Continue:
        if start == "thread":
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
            return Continue()
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(look)
            if start == "pool":
                future.result()
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:

        def look() -> None:
            with run.tool("list_tables") as call:
                call.result = "users"
            seen.append(call.text)

        fail(run)
        run.check()
    assert seen == ["users"]


@pytest.mark.parametrize("how", ["executor", "to_thread", "task", "gathered"])
async def test_an_asynchronous_handler_passes_the_gate_elsewhere(ledger: Ledger, how: str) -> None:
    """In a task, or in a thread with its context or without."""

    async def handler(_: Escalation) -> Continue:
        loop = asyncio.get_running_loop()
        if how == "executor":
            await loop.run_in_executor(None, run.check)
        elif how == "to_thread":
            await asyncio.to_thread(run.check)
        elif how == "task":
            await asyncio.create_task(run.acheck())
        else:
            await asyncio.gather(loop.run_in_executor(None, run.check), asyncio.sleep(0))
        return Continue()

    async with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        await asyncio.wait_for(afail(run), 60)
        await run.acheck()
        assert run.verdict.standing == "carry_on"


def test_a_handler_passes_the_gate_in_a_context_of_its_own(ledger: Ledger) -> None:
    """As a signal handler does that interrupts it: its own thread cannot wait for itself."""

    def handler(_: Escalation) -> Continue:
        contextvars.Context().run(run.check)
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        fail(run)
        run.check()


async def test_what_a_handler_leaves_behind_is_gated_again(ledger: Ledger) -> None:
    """A task that was started by a handler has its context, and goes on when the question is over."""
    answers = iter([Continue(), errcompact.Halt("enough")])
    over = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []

    async def later() -> None:
        await over.wait()
        await run.acheck()

    async def handler(_: Escalation) -> Action:
        if not tasks:
            tasks.append(asyncio.create_task(later()))
        return next(answers)

    async with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        await afail(run)
        await afail(run)
        over.set()
        with pytest.raises(RunHalted, match="enough"):
            await tasks[0]


@pytest.mark.parametrize("waits", [True, False], ids=["with a waiter", "alone"])
async def test_an_asker_that_is_cancelled_frees_the_others(ledger: Ledger, waits: bool) -> None:
    """One of them asks again; where nobody waits, the next gate does."""
    asked = asyncio.Event()
    first = True

    async def handler(_: Escalation) -> Continue:
        nonlocal first
        asked.set()
        if first:
            first = False
            await asyncio.sleep(3_600)
        return Continue()

    async with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        asker = asyncio.create_task(afail(run))
        await asked.wait()
        waiting = [asyncio.create_task(run.acheck()) for _ in range(3 * waits)]
        await asyncio.sleep(0)
        asker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asker
        await asyncio.gather(*waiting)
        await run.acheck()
        assert run.verdict.standing == "carry_on"


async def test_a_waiter_that_is_cancelled_harms_nobody(ledger: Ledger) -> None:
    """Such as by a time-out around the whole agent, while a thread asks a human who never answers."""
    asking, answer = threading.Event(), threading.Event()

    def handler(_: Escalation) -> Continue:
        asking.set()
        answer.wait()
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        asker = threading.Thread(target=fail, args=(run,))
        asker.start()
        await asyncio.to_thread(asking.wait)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run.acheck(), 0.01)
        answer.set()
        await run.acheck()
        asker.join()


def impatient() -> Ledger:
    return Ledger(Options(ask_timeout_seconds=0.05))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_handler_that_takes_too_long_is_cancelled(backend: str) -> None:
    """The escalation is answered as without a handler, and the run knows where it stands."""
    ledger = impatient()
    cancelled: list[bool] = []

    async def handler(_: Escalation) -> Continue:
        try:
            await anyio.sleep(3_600)
        finally:
            cancelled.append(True)
        return Continue()

    async def main() -> None:
        async with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
            await afail(run)
            assert run.verdict.standing != "pending"

    anyio.run(main, backend=backend)
    assert (cancelled, dict(ledger.guard.failures)) == ([True], {"escalation_handler": 1})


def test_threads_wait_no_longer_than_a_question_may_take() -> None:
    """The handler's own thread cannot be interrupted; all others go on, and its late answer changes nothing."""
    ledger = impatient()
    asking, answer = threading.Event(), threading.Event()

    def handler(_: Escalation) -> Continue:
        asking.set()
        answer.wait()
        return Continue("too late")

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        asker = threading.Thread(target=fail, args=(run,))
        asker.start()
        asking.wait()
        joined([threading.Thread(target=run.gate) for _ in range(20)])
        standing = run.verdict.standing
        answer.set()
        asker.join()
    assert standing != "pending"
    assert dict(ledger.guard.failures) == {"escalation_handler": 1}


async def test_tasks_wait_no_longer_than_a_question_may_take() -> None:
    """The same where a thread asks and tasks wait."""
    ledger = impatient()
    asking, answer = threading.Event(), threading.Event()

    def handler(_: Escalation) -> Continue:
        asking.set()
        answer.wait()
        return Continue("too late")

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        asker = threading.Thread(target=fail, args=(run,))
        asker.start()
        await asyncio.to_thread(asking.wait)
        await asyncio.gather(*(run.agate() for _ in range(20)))
        assert run.verdict.standing != "pending"
        answer.set()
        asker.join()


def test_a_human_answers_past_the_handler(ledger: Ledger) -> None:
    """`run.resume()` settles the question: who waits goes on, and what the handler says later settles nothing else."""
    asking, answer = threading.Event(), threading.Event()

    def handler(_: Escalation) -> Action:
        asking.set()
        answer.wait()
        return errcompact.Halt("too late")

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        asker = threading.Thread(target=fail, args=(run,))
        asker.start()
        asking.wait()
        waiting = threading.Thread(target=run.check)
        waiting.start()
        run.resume("go")
        waiting.join(60)
        assert not waiting.is_alive()
        answer.set()
        asker.join()
        run.check()
    assert [answered.action for answered in run.report().escalations] == ["continue"]


@pytest.mark.programs
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_process_does_not_wait_for_its_parent(ledger: Ledger) -> None:
    """Who asks there has no thread here."""
    asking, answer = threading.Event(), threading.Event()

    def handler(_: Escalation) -> Continue:
        asking.set()
        answer.wait()
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        asker = threading.Thread(target=fail, args=(run,))
        asker.start()
        asking.wait()
        child = os.fork()
        if not child:
            answer.set()
            fail(run)
            os._exit(0 if run.gate() is None else 1)
        assert os.waitpid(child, 0)[1] == 0
        answer.set()
        asker.join()


def test_a_paused_run_is_not_said_to_be_halted(ledger: Ledger) -> None:
    """It waits."""
    with errcompact.run("r", ledger=ledger, on_escalation=lambda _: errcompact.Pause(), thresholds=EACH) as run:
        fail(run)
        stop = run.gate()
    assert isinstance(stop, RunPaused)
    assert str(stop).startswith("run 'r' paused: ")
    assert "halt" not in str(stop)


async def test_an_event_loop_of_another_kind_is_not_held_up(ledger: Ledger) -> None:
    """Nothing is known of how its tasks wait: the run is paused until the answer is there."""
    asking, answer = threading.Event(), threading.Event()

    def handler(_: Escalation) -> Continue:
        asking.set()
        answer.wait()
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=EACH) as run:
        asker = threading.Thread(target=fail, args=(run,))
        asker.start()
        await asyncio.to_thread(asking.wait)
        stops = await asyncio.to_thread(driven_by_hand, run.agate)
        assert isinstance(stops, RunPaused)
        answer.set()
        asker.join()


def driven_by_hand(function: Callable[[], Awaitable[object]]) -> object:
    try:
        function().__await__().__next__()
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it has waited for something")
