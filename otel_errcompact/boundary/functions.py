"""Calling a function as a tool: its result or the compacted text, never a raw traceback."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from otel_errcompact.coroutines import is_asynchronous

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
        return _answer(failure(call.text), error)
    return _answer(failure(call.text)) if call.failed else call.result


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
        return _answer(failure(call.text), error)
    return _answer(failure(call.text)) if call.failed else call.result


def _answer(answer: object, error: Exception | None = None) -> object:
    if isinstance(answer, BaseException):
        raise answer from error
    return answer


def _arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by the names the function gives them; by position where it has no signature."""
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {**{str(index): value for index, value in enumerate(args)}, **kwargs}
