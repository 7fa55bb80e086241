"""Waiting for an answer in threads and tasks, of asyncio or trio."""

from __future__ import annotations

import sys
from concurrent import futures
from contextlib import suppress
from contextvars import copy_context
from threading import Event, Thread, get_ident
from typing import TYPE_CHECKING, Any, Final, Protocol

from otel_errcompact.runtime.coroutines import loaded_trio, running_library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextvars import Context
    from types import CodeType, FrameType


SHORTEST_LOOK_SECONDS: Final = 0.01
LONGEST_LOOK_SECONDS: Final = 0.5
"""How often a thread that waits looks whether the handler waits for it in turn."""


class Waiter(Protocol):
    """
    A thread or a task that waits.
    """

    def wake(self) -> None:
        """End the wait, from any thread; it may have ended already."""
        ...

    async def wait(self, seconds: float | None) -> None:
        """Wait until `wake` is called, for so many seconds at most."""
        ...


class ThreadWaiter:
    """
    A waiting thread: its coroutine blocks, and never suspends.
    """

    def __init__(self) -> None:
        self._woken = Event()
        self._look = SHORTEST_LOOK_SECONDS

    def wake(self) -> None:
        """End the wait."""
        self._woken.set()

    async def wait(self, seconds: float | None) -> None:
        """Wait until `wake` is called, or until the next look is due."""
        self._woken.wait(self._look if seconds is None else min(self._look, seconds))
        self._look = min(2 * self._look, LONGEST_LOOK_SECONDS)


class AsyncioWaiter:
    """
    A task of asyncio that waits.
    """

    def __init__(self) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._woken = self._loop.create_future()

    def wake(self) -> None:
        """End the wait."""
        with suppress(RuntimeError):  # its loop was closed
            self._loop.call_soon_threadsafe(self._wake_task)

    async def wait(self, seconds: float | None) -> None:
        """Wait until `wake` is called, for so many seconds at most."""
        import asyncio

        await asyncio.wait((self._woken,), timeout=seconds)

    def _wake_task(self) -> None:
        if not self._woken.done():
            self._woken.set_result(None)


class TrioWaiter:
    """
    A task of trio that waits.

    Args:
        trio: The package.
    """

    def __init__(self, trio: Any) -> None:
        self._trio = trio
        self._token = trio.lowlevel.current_trio_token()
        self._woken = trio.Event()

    def wake(self) -> None:
        """End the wait."""
        with suppress(self._trio.RunFinishedError):
            self._token.run_sync_soon(self._woken.set)

    async def wait(self, seconds: float | None) -> None:
        """Wait until `wake` is called, for so many seconds at most."""
        with self._trio.move_on_after(float("inf") if seconds is None else seconds):
            await self._woken.wait()


def task_waiter() -> Waiter | None:
    """Return the waiter of this task; None under an unknown event loop."""
    library = running_library()
    if library == "trio":
        return TrioWaiter(loaded_trio())
    return AsyncioWaiter() if library == "asyncio" else None


async def within(seconds: float | None, awaitable: Any) -> Any:
    """
    Wait for an awaitable, and cancel it after so many seconds.

    Raises:
        TimeoutError: It took longer; under trio its own kind of it.
    """
    library = running_library() if seconds is not None else ""
    if library == "trio":
        with loaded_trio().fail_after(seconds):
            return await awaitable
    if library == "asyncio":
        import asyncio

        async with asyncio.timeout(seconds):
            return await awaitable
    return await awaitable


async def call_beside(function: Callable[[], object], waiter: Waiter, seconds: float | None) -> object:
    """
    Call a function in a thread, with the variables of this context.

    Args:
        function: The function.
        waiter: That of this task.
        seconds: How long it may take; for ever if None. Its thread is left alone then.

    Raises:
        TimeoutError: It takes longer.
    """
    work = futures.Future[object]()
    context = copy_context()

    def call() -> None:
        try:
            work.set_result(context.run(function))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is read
            work.set_exception(error)
        waiter.wake()

    Thread(target=call, name="errcompact-handler", daemon=True).start()
    await waiter.wait(seconds)
    return work.result(timeout=0)


def is_waited_for(thread: int, is_asking: Callable[[Context], bool]) -> bool:
    """
    Return whether the handler being asked waits for the calling thread.

    A thread or a pool to which a handler hands a part of its work does not inherit its context; what the handler
    itself is blocked in gives it away: `Thread.join`, the result of a future, or a pool that is being shut down.

    Args:
        thread: The thread in which a synchronous handler runs; 0 for an asynchronous one.
        is_asking: Tells whether a context is one of the handler's.
    """
    work = _find_work(sys._getframe())  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the only way to frames
    if work is not None and any(map(is_asking, _find_contexts(work))):
        return True
    asker = sys._current_frames().get(thread)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as above
    return any(awaited is work or awaited == get_ident() for awaited in _find_awaited(asker) if awaited is not None)


_JOIN: Final = "join"
_ONE: Final = "one"
_MANY: Final = "many"


def _find_waits() -> dict[CodeType | None, str]:
    return {  # functions that are patched have no code
        getattr(Thread.join, "__code__", None): _JOIN,
        getattr(futures.Future[Any].result, "__code__", None): _ONE,
        getattr(futures.Future[Any].exception, "__code__", None): _ONE,
        getattr(futures.wait, "__code__", None): _MANY,
        getattr(futures.as_completed, "__code__", None): _MANY,
    }


def _walk_stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _find_awaited(frame: FrameType | None) -> Iterator[object]:
    waits = _find_waits()
    for step in _walk_stack(frame):
        kind = waits.get(step.f_code)
        if kind == _JOIN:
            yield getattr(step.f_locals.get("self"), "ident", None)
        elif kind == _ONE:
            yield step.f_locals.get("self")
        elif kind == _MANY:
            yield from tuple(step.f_locals.get("fs") or ())


def _find_work(frame: FrameType | None) -> Any:
    # The future of a pool's thread.
    item = getattr(sys.modules.get("concurrent.futures.thread"), "_WorkItem", None)
    run = getattr(getattr(item, "run", None), "__code__", None)
    found = next((step for step in _walk_stack(frame) if step.f_code is run), None)
    return getattr(found.f_locals.get("self"), "future", None) if found is not None else None


def _find_contexts(work: Any) -> Iterator[Context]:
    # Tasks that wait for a future of a pool, as `loop.run_in_executor` returns it.
    for callback in tuple(getattr(work, "_done_callbacks", None) or ()):
        for cell in getattr(callback, "__closure__", None) or ():
            chained: Any = cell.cell_contents
            if getattr(chained, "_asyncio_future_blocking", None) is not None:  # as `asyncio.isfuture` has it
                registered: list[tuple[object, Context]] = getattr(chained, "_callbacks", None) or []
                yield from (context for _, context in tuple(registered))
