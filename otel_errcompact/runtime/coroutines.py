"""Callables of users that may be asynchronous."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from otel_errcompact.runtime.forks import FORKS_WAIT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

T = TypeVar("T")


def is_asynchronous(function: object) -> bool:
    """Tell whether calling a function or object gives a coroutine."""
    called = getattr(type(function), "__call__", None)  # noqa: B004 - every object's type has one; is it asynchronous?
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def running_library() -> Literal["asyncio", "trio", ""]:
    """Return the library of this thread's event loop; empty without one."""
    trio = loaded_trio()
    if trio is not None:  # first, since trio may run as a guest of asyncio
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            pass
        else:
            return "trio"
    asyncio = sys.modules.get("asyncio")  # never imported for this: it takes longer than a tool call
    if asyncio is None:
        return ""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return ""
    return "asyncio"


def loop_is_running() -> bool:
    """Tell whether an event loop runs in this thread."""
    return running_library() != ""


def loaded_trio() -> Any:
    """Return the package trio, if the program has imported it."""
    return sys.modules.get("trio")


def run_awaited(answer: Awaitable[T]) -> T:
    """
    Wait for an awaitable on an event loop of its own.

    No event loop may run in this thread.
    """
    with FORKS_WAIT:
        import asyncio
    return asyncio.run(_wait_for(answer))


async def _wait_for(answer: Awaitable[T]) -> T:
    return await answer


def run_synchronously(function: Callable[..., Coroutine[object, None, T]]) -> T:
    """
    Call `function(blocking=True)`, whose coroutine never suspends, and return its result.

    A synchronous and an asynchronous function share one body so. The coroutine is made here, since an interrupt between
    its making and its start is a warning of Python's.

    Raises:
        RuntimeError: It has suspended.
    """
    steps = function(blocking=True)
    try:
        steps.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return] # of the coroutine
    steps.close()
    raise RuntimeError("a synchronous way has suspended")
