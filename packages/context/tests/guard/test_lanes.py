"""Compactions of one conversation one after the other, of all a few at a time: threads, tasks and loops mixed."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import multiprocessing
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.exceptions import LaneError
from otel_errcompact_context.guard.lanes import Lanes, _line
from tests.clock import waits_until


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread is about to do."""
    assert waits_until(condition), "it never came about"


def waiting(lanes: Lanes, session: str) -> int:
    """How many wait for a session."""
    return lanes.waiting_for(session)


def is_empty(lanes: Lanes) -> bool:
    """Whether all is as it was in the beginning."""
    return not lanes.inside and not any(one.lanes is lanes for one in _line.visits)


class Counted:
    """Sees who is inside together."""

    def __init__(self) -> None:
        self.inside: Counter[str] = Counter()
        self.most_of_one = 0
        self.most_of_all = 0
        self.visits = 0
        self._lock = threading.Lock()

    @contextmanager
    def count(self, session: str) -> Iterator[None]:
        with self._lock:
            self.inside[session] += 1
            self.visits += 1
            self.most_of_one = max(self.most_of_one, self.inside[session])
            self.most_of_all = max(self.most_of_all, self.inside.total())
        try:
            yield
        finally:
            with self._lock:
                self.inside[session] -= 1


def alone(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start a task that inherits nothing, as another part of a program would."""
    return contextvars.Context().run(asyncio.create_task, work)


def in_threads(number: int, work: Callable[[int], None]) -> None:
    """Run it in so many threads, and raise what one of them has raised."""
    with ThreadPoolExecutor(number) as pool:
        list(pool.map(work, range(number)))


def test_one_at_a_time_for_a_session_and_a_few_for_all() -> None:
    """In a crowd of threads and of tasks on several loops."""
    lanes, counted = Lanes(3), Counted()
    sessions = [f"s{number}" for number in range(5)]

    def work(number: int) -> None:
        chance = random.Random(number)
        if number % 2:
            for _ in range(20):
                session = chance.choice(sessions)
                with lanes.visit(session), counted.count(session):
                    time.sleep(chance.random() / 5_000)
        else:
            asyncio.run(crowd(chance))

    async def crowd(chance: random.Random) -> None:
        async def one() -> None:
            session = chance.choice(sessions)
            async with lanes.visit(session):
                with counted.count(session):
                    await asyncio.sleep(chance.random() / 5_000)

        await asyncio.gather(*(one() for _ in range(40)))

    in_threads(8, work)
    assert counted.visits == 4 * 20 + 4 * 40
    assert counted.most_of_one == 1
    assert 1 < counted.most_of_all <= 3
    assert is_empty(lanes)


def test_who_came_first_is_served_first() -> None:
    """Threads and tasks stand in one line."""
    lanes, served = Lanes(1), list[int]()
    threads: list[threading.Thread] = []

    def visit(number: int) -> None:
        with lanes.visit("a"):
            served.append(number)

    async def avisit(number: int) -> None:
        async with lanes.visit("a"):
            served.append(number)

    with lanes.visit("a"):
        for number in range(12):
            target = visit if number % 3 else lambda n: asyncio.run(avisit(n))
            threads.append(threading.Thread(target=contextvars.Context().run, args=(target, number)))
            threads[-1].start()
            until(lambda number=number: waiting(lanes, "a") == number + 1)
    for thread in threads:
        thread.join(60)
    assert served == list(range(12))
    assert is_empty(lanes)


async def test_tasks_of_one_loop_wait_for_each_other() -> None:
    """Without blocking the loop."""
    lanes, served = Lanes(1), list[int]()

    async def visit(number: int) -> None:
        async with lanes.visit("a"):
            await asyncio.sleep(0)
            served.append(number)

    await asyncio.gather(*(visit(number) for number in range(5)))
    assert served == [0, 1, 2, 3, 4]
    assert is_empty(lanes)


def test_a_visit_inside_a_visit_goes_through() -> None:
    """A summariser may call the model through the guard, though there is one place only; so may what it starts."""
    lanes, deep = Lanes(1, seconds=2), list[str]()
    with lanes.visit("a"), lanes.visit("a"), lanes.visit("b"):
        deep.append("here")
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(lambda: _enter(lanes, "a", deep),))
        thread.start()
        thread.join(60)
    assert deep == ["here", "a"]
    assert is_empty(lanes)


def _enter(lanes: Lanes, session: str, deep: list[str]) -> None:
    with lanes.visit(session):
        deep.append(session)


async def test_a_visit_inside_a_visit_goes_through_in_tasks_and_their_threads() -> None:
    """`asyncio.to_thread` and child tasks inherit where they are."""
    lanes, deep = Lanes(1, seconds=2), list[str]()

    async def child() -> None:
        async with lanes.visit("a"):
            deep.append("task")

    async with lanes.visit("a"):
        await asyncio.gather(child(), asyncio.to_thread(_enter, lanes, "a", deep))
    assert sorted(deep) == ["a", "task"]
    assert is_empty(lanes)


async def test_a_task_that_outlives_the_visit_it_was_started_in_waits_like_others() -> None:
    """It has inherited a visit that is over."""
    lanes, go, served = Lanes(1), asyncio.Event(), list[str]()

    async def late() -> None:
        await go.wait()
        async with lanes.visit("a"):
            served.append("late")

    async with lanes.visit("a"):
        task = asyncio.create_task(late())
    async with lanes.visit("a"):
        go.set()
        await asyncio.sleep(0.01)
        served.append("first")
    await task
    assert served == ["first", "late"]
    assert is_empty(lanes)


def test_sessions_that_wait_for_each_other_are_told() -> None:
    """Crosswise, one of them gets an error, and the other goes on."""
    lanes, both, errors = Lanes(2, seconds=5), threading.Barrier(2), list[str]()

    def work(number: int) -> None:
        mine, other = ("a", "b") if number else ("b", "a")
        with lanes.visit(mine):
            both.wait(60)
            try:
                with lanes.visit(other):
                    pass
            except LaneError as error:
                errors.append(str(error))

    in_threads(2, work)
    assert len(errors) == 1
    assert "do not compact two conversations inside of each other" in errors[0]
    assert is_empty(lanes)


def test_a_circle_of_three_is_seen_even_over_two_guards() -> None:
    """One waits for the next, and the last for the first, whoever owns the lanes."""
    houses = [Lanes(3, seconds=5), Lanes(3, seconds=5), Lanes(3, seconds=5)]
    all_in, errors, done = threading.Barrier(3), list[int](), list[int]()

    def work(number: int) -> None:
        with houses[number].visit("s"):
            all_in.wait(60)
            try:
                with houses[(number + 1) % 3].visit("s"):
                    done.append(number)
            except LaneError:
                errors.append(number)

    in_threads(3, work)
    assert len(errors) == 1
    assert len(done) == 2
    assert all(is_empty(lanes) for lanes in houses)


def test_waiting_inside_lends_the_place() -> None:
    """Whoever holds the session that is waited for may itself wait for the only place there is."""
    lanes, order = Lanes(1, seconds=5), list[str]()

    def outer() -> None:
        with lanes.visit("a"):
            until(lambda: waiting(lanes, "shared") == 1)
            with lanes.visit("shared"):
                order.append("outer")

    def other() -> None:
        until(lambda: lanes.busy == 1)
        with lanes.visit("shared"):
            order.append("other")

    threads = [threading.Thread(target=one) for one in (outer, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert order == ["other", "outer"]
    assert is_empty(lanes)


@pytest.mark.parametrize("seed", range(6))
def test_no_nesting_hangs(seed: int) -> None:
    """Random visits in visits by threads and tasks: each goes through or is told, and in the end all is free."""
    lanes, told = Lanes(2, seconds=20), Counter[str]()
    sessions = ["a", "b", "c"]

    def dive(chance: random.Random, depth: int) -> None:
        try:
            with lanes.visit(chance.choice(sessions)):
                time.sleep(chance.random() / 10_000)
                for _ in range(chance.randrange(3) if depth else 0):
                    dive(chance, depth - 1)
            told["through"] += 1
        except LaneError as error:
            told["circle" if "which waits for it" in str(error) else str(error)] += 1

    async def adive(chance: random.Random, depth: int) -> None:
        try:
            async with lanes.visit(chance.choice(sessions)):
                await asyncio.sleep(0)
                if depth and chance.random() < 0.3:
                    await asyncio.to_thread(dive, chance, depth - 1)
                for _ in range(chance.randrange(3) if depth else 0):
                    await adive(chance, depth - 1)
            told["through"] += 1
        except LaneError as error:
            told["circle" if "which waits for it" in str(error) else str(error)] += 1

    async def crowd(chance: random.Random) -> None:
        await asyncio.gather(*(adive(random.Random(chance.random()), 2) for _ in range(6)))

    def work(number: int) -> None:
        chance = random.Random(seed * 100 + number)
        if number % 2:
            for _ in range(6):
                dive(chance, 2)
        else:
            asyncio.run(crowd(chance))

    in_threads(6, work)
    assert told.keys() <= {"through", "circle"}
    assert told["through"] > 20
    assert is_empty(lanes)


async def test_a_cancelled_task_gives_its_place_in_the_line_back() -> None:
    """Whether it still waits, or was just let in and has not heard of it yet."""
    lanes, served = Lanes(1), list[str]()

    async def visit(name: str) -> None:
        async with lanes.visit("a"):
            served.append(name)

    async with lanes.visit("a"):
        first, second, third = [alone(visit(name)) for name in ("first", "second", "third")]
        await asyncio.sleep(0)
        assert waiting(lanes, "a") == 3
        second.cancel()
        await asyncio.sleep(0)
        assert waiting(lanes, "a") == 2
    first.cancel()  # it has been let in by now, and does not know
    await third
    assert served == ["third"]
    assert first.cancelled()
    assert is_empty(lanes)


async def test_a_task_that_is_cancelled_before_its_place_gives_its_session_back() -> None:
    """It is in the session's lane already, and waits for the only place."""
    lanes = Lanes(1)
    async with lanes.visit("a"):
        task = alone(_avisit(lanes, "b"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert waiting(lanes, "b") == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert waiting(lanes, "b") == 0
    assert is_empty(lanes)


async def _avisit(lanes: Lanes, session: str) -> None:
    async with lanes.visit(session):
        pass


async def test_cancelled_again_and_again_nothing_is_lost() -> None:
    """Tasks that are cancelled at any step, among threads that visit the same sessions."""
    lanes, chance, stop = Lanes(2), random.Random(7), threading.Event()

    def busy() -> None:
        while not stop.is_set():
            with lanes.visit("a"):
                time.sleep(0.000_1)

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(60):
            tasks = [asyncio.create_task(_avisit(lanes, chance.choice("ab"))) for _ in range(5)]
            await asyncio.sleep(chance.random() / 1_000)
            for task in tasks:
                if chance.random() < 0.7:
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert is_empty(lanes)


def test_a_loop_that_is_closed_is_passed_over() -> None:
    """Whoever waits on it will never come; the next one is let in."""
    lanes, served = Lanes(1), list[str]()
    loop = asyncio.new_event_loop()
    with lanes.visit("a"):
        task = contextvars.Context().run(lambda: loop.create_task(_avisit(lanes, "a")))
        loop.run_until_complete(asyncio.sleep(0))
        assert waiting(lanes, "a") == 1
        thread = threading.Thread(target=_enter, args=(lanes, "a", served))
        thread.start()
        until(lambda: waiting(lanes, "a") == 2)
        loop.close()
    thread.join(60)
    assert served == ["a"]
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    del task
    gc.collect()
    assert is_empty(lanes)


async def test_waiting_would_block_the_loop() -> None:
    """The one who is inside may be a task of the same loop; a clear error, and not a standstill."""
    lanes = Lanes(1)
    async with lanes.visit("a"):

        def call() -> None:
            with lanes.visit("b"):
                pass

        with pytest.raises(LaneError, match=r"use `await guard\.acall\(\.\.\.\)`"):
            contextvars.Context().run(call)
        with lanes.visit("c"):  # free, and inside: no need to wait
            pass
    with lanes.visit("b"):
        pass
    assert is_empty(lanes)


def test_nobody_waits_for_ever() -> None:
    """A summariser that calls the guard from a thread of its own, which knows nothing of it, waits for itself."""
    lanes, errors = Lanes(1, seconds=0.02), list[str]()

    def lost() -> None:
        with pytest.raises(LaneError) as caught, lanes.visit("a"):
            pass
        errors.append(str(caught.value))

    def alost() -> None:
        with pytest.raises(LaneError) as caught:
            asyncio.run(_avisit(lanes, "a"))
        errors.append(str(caught.value))

    with lanes.visit("a"):
        for target in (lost, alost):
            thread = threading.Thread(target=contextvars.Context().run, args=(target,))
            thread.start()
            thread.join(60)
    assert errors == ["waited 0.02 s for session 'a': a compaction hangs, or waits for itself in another thread"] * 2
    assert is_empty(lanes)


def test_the_line_is_bounded() -> None:
    """More would wait longer than anybody wants."""
    lanes = Lanes(1, waiting=1)
    with lanes.visit("a"):
        thread = threading.Thread(target=_enter, args=(lanes, "a", []))
        thread.start()
        until(lambda: waiting(lanes, "a") == 1)
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(_enter, lanes, "a", []).exception(5)
    thread.join(60)
    assert str(found) == "1 wait for session 'a' already: compactions take too long"
    assert is_empty(lanes)


def test_lanes_without_a_place_are_refused() -> None:
    """Nobody could ever get in."""
    with pytest.raises(ConfigurationError, match="places is 0"):
        Lanes(0)


def test_what_is_raised_inside_passes_and_the_lane_is_free() -> None:
    """A compaction that fails blocks nobody."""
    lanes = Lanes(1)
    with pytest.raises(ValueError, match="no"), lanes.visit("a"):
        raise ValueError("no")
    assert is_empty(lanes)


def _in_child(lanes: Lanes, told: multiprocessing.Queue[bool]) -> None:
    with lanes.visit("a"):
        told.put(True)


@pytest.mark.programs
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_starts_with_free_lanes() -> None:
    """Who was inside is in the parent; the child would wait for nobody."""
    lanes, context = Lanes(1), multiprocessing.get_context("fork")
    told: multiprocessing.Queue[bool] = context.Queue()
    inside, out = threading.Event(), threading.Event()

    def hold() -> None:
        with lanes.visit("a"):
            inside.set()
            out.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait(60)
    child = context.Process(target=_in_child, args=(lanes, told))
    child.start()
    try:
        assert told.get(timeout=60)
    finally:
        out.set()
        child.join(60)
        holder.join(60)
    assert is_empty(lanes)


async def test_tasks_that_outlive_the_visit_that_lent_its_place_leave_nothing_behind() -> None:
    """Two of them wait; the visit they were started in is over before they are let in."""
    lanes, held = Lanes(2), asyncio.Event()

    async def hold() -> None:
        async with lanes.visit("b"):
            await held.wait()

    holder = alone(hold())
    await asyncio.sleep(0)
    async with lanes.visit("a"):
        tasks = [asyncio.create_task(_avisit(lanes, "b")) for _ in range(2)]
        await asyncio.sleep(0)
        assert waiting(lanes, "b") == 2
        assert lanes.busy == 1
    held.set()
    await asyncio.gather(holder, *tasks)
    assert is_empty(lanes)


async def test_many_that_wait_for_the_same_are_no_circle() -> None:
    """Whoever is waited for by several ways waits for nobody here."""
    lanes, held = Lanes(3, seconds=5), asyncio.Event()

    async def hold() -> None:
        async with lanes.visit("c"):
            await held.wait()

    async def middle() -> None:
        async with lanes.visit("b"):
            await asyncio.gather(_avisit(lanes, "c"), _avisit(lanes, "c"))

    async def outer() -> None:
        async with lanes.visit("a"), lanes.visit("b"):
            pass

    tasks = [alone(hold())]
    for work in (middle(), outer()):
        for _ in range(5):
            await asyncio.sleep(0)
        tasks.append(alone(work))
    for _ in range(5):
        await asyncio.sleep(0)
    assert (waiting(lanes, "c"), waiting(lanes, "b")) == (2, 1)
    held.set()
    await asyncio.gather(*tasks)
    assert is_empty(lanes)
