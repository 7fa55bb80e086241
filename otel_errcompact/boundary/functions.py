"""Functions called as tools, which return a result or the compacted text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from otel_errcompact.runtime.coroutines import is_asynchronous

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from otel_errcompact.boundary.call import Call

Failure = Callable[[str], object]
"""What becomes of the compacted text: an exception is raised in place of the tool's own, all else is returned."""


def execute(
    make_call: Callable[..., Call],
    function: Callable[..., Any],
    tool: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    failure: Failure = str,
) -> Any:
    """
    Call a function as a tool and return its result or text.

    Where the library only observes the text is the raw error, and an exception of `failure` gives way to the
    function's own.

    Args:
        make_call: `Run.tool` of the run.
        function: The function.
        tool: The tool's name; the function's own if empty.
        args: The positional arguments.
        kwargs: The arguments by name.
        failure: Makes an answer of the compacted text.
    """
    name = tool or getattr(function, "__name__", "") or type(function).__name__
    call = make_call(name, arguments=_bind_arguments(function, args, kwargs), reraise=True)
    if is_asynchronous(function):
        return _execute_async(call, function, args, kwargs, failure)
    try:
        with call:
            if not call.refused:
                call.result = function(*args, **kwargs)
    except Exception as error:
        if not call.failed:
            raise
        return _make_answer(call, failure, error)
    return _make_answer(call, failure)


async def _execute_async(
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
        return _make_answer(call, failure, error)
    return _make_answer(call, failure)


def _make_answer(call: Call, failure: Failure, error: Exception | None = None) -> object:
    if error is None and not call.compacted:
        return call.result
    answer = failure(call.text)
    if not isinstance(answer, BaseException):
        return answer
    if error is not None and not call.compacted:
        raise error
    raise answer from error


def _bind_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # arguments that do not fit, or a function without a signature
        return {**{str(index): value for index, value in enumerate(args)}, **kwargs}
