"""Calling a function as a tool: its result or the compacted text, never a raw traceback."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from otel_errcompact.runtime.coroutines import is_asynchronous

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from otel_errcompact.boundary.call import Call
    from otel_errcompact.boundary.runs import Run


Failure = Callable[[str], object]
"""What becomes of the compacted text: an exception is raised in place of the tool's own, all else is returned."""


def execute(
    run: Run,
    function: Callable[..., Any],
    tool: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    failure: Failure = str,
) -> Any:
    """
    Call `function` as the tool `tool` (its own name if empty) and return its result or the compacted text.

    Where the library only observes the text is the raw error, and an exception of `failure` gives way to the
    function's own.

    A coroutine function gives an awaitable of the same.
    """
    name = tool or getattr(function, "__name__", "") or type(function).__name__
    call = run.tool(name, arguments=_arguments(function, args, kwargs), reraise=True)
    if is_asynchronous(function):
        return _await(call, function, args, kwargs, failure)
    try:
        with call:
            if not call.refused:
                call.result = function(*args, **kwargs)
    except Exception as error:
        if not call.failed:
            raise
        return _answer(call, failure, error)
    return _answer(call, failure)


async def _await(
    call: Call,
    function: Callable[..., Awaitable[Any]],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    failure: Failure,
) -> Any:
    try:
        async with call:
            if not call.refused:
                call.result = await function(*args, **kwargs)
    except Exception as error:
        if not call.failed:
            raise
        return _answer(call, failure, error)
    return _answer(call, failure)


def _answer(call: Call, failure: Failure, error: Exception | None = None) -> object:
    """Return what the caller gets; where the library only observes, what it would get without it, or the raw text."""
    if error is None and not call.compacted:
        return call.result
    answer = failure(call.text)
    if not isinstance(answer, BaseException):
        return answer
    if error is not None and not call.compacted:
        raise error
    raise answer from error


def _arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by the names the function gives them; by position where it has no signature."""
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {**{str(index): value for index, value in enumerate(args)}, **kwargs}
