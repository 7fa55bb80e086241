"""Callables of users that may be asynchronous: telling them apart, and running what they return."""

from __future__ import annotations

import asyncio
import inspect
import sys
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable

T = TypeVar("T")


def is_asynchronous(function: object) -> bool:
    """Tell whether calling it gives a coroutine: a coroutine function, or an object whose `__call__` is one."""
    called = getattr(type(function), "__call__", None)  # noqa: B004 - every object's type has one; is it asynchronous?
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def running_library() -> Literal["asyncio", "trio", ""]:
    """Return the library whose event loop runs in this thread, which must not be held up; empty if none does."""
    trio = loaded_trio()
    if trio is not None:  # first, since trio may run as a guest of asyncio
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            pass
        else:
            return "trio"
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return ""
    return "asyncio"


def loop_is_running() -> bool:
    """Tell whether an event loop runs in this thread, which must not be held up."""
    return running_library() != ""


def loaded_trio() -> Any:
    """Return the package trio, if the program has imported it."""
    return sys.modules.get("trio")


def run_awaited(answer: Awaitable[T]) -> T:
    """Wait for an awaitable on an event loop of its own; there must not be one in this thread."""
    return asyncio.run(_awaited(answer))


async def _awaited(answer: Awaitable[T]) -> T:
    return await answer
