"""Functions as tools of whatever run is open where they are called."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from otel_errcompact.boundary.functions import execute
from otel_errcompact.boundary.runs import current_run, unattended_run
from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

P = ParamSpec("P")
R = TypeVar("R")


@overload
def compacted(function: Callable[P, Awaitable[R]], /) -> Callable[P, Awaitable[R | str]]: ...
@overload
def compacted(function: Callable[P, R], /) -> Callable[P, R | str]: ...
@overload
def compacted(*, tool: str = "") -> Callable[[Callable[P, R]], Callable[P, R | str]]: ...
def compacted(function: Callable[..., Any] | None = None, /, *, tool: str = "") -> Callable[..., Any]:
    """
    Make a function a tool of the run that is open where it is called: `@compacted` or `@compacted(tool="name")`.

    It returns its result, or the compacted text if it failed or was refused. Where no run is open the trace is the
    run: failures are counted and compacted, and nobody is asked about an escalation.

    Args:
        function: A function or a coroutine function.
        tool: The tool's name; the function's name if empty.

    Raises:
        ConfigurationError: `function` is a generator or not callable.
    """
    if function is None:
        return functools.partial(_wrap, tool=tool)
    return _wrap(function, tool=tool)


def _wrap(function: Callable[..., Any], *, tool: str) -> Callable[..., Any]:
    _check_function(function)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            return await execute(current_run() or unattended_run(), function, tool, args, kwargs)

        return asynchronous

    @functools.wraps(function)
    def synchronous(*args: Any, **kwargs: Any) -> Any:
        return execute(current_run() or unattended_run(), function, tool, args, kwargs)

    return synchronous


def _check_function(function: object) -> None:
    if not callable(function):
        raise ConfigurationError(f"@compacted got {function!r}; give it a function, or write @compacted(tool=...)")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigurationError(
            f"@compacted got the generator {function!r}; wrap its consumer in `with run.tool(...)` instead"
        )
