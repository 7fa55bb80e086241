"""Functions as tools of whatever run is open where they are called."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from otel_errcompact.boundary.functions import ToolFunction
from otel_errcompact.boundary.unbound import run_here
from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from otel_errcompact.boundary.functions import Failure
    from otel_errcompact.boundary.runs import Run

P = ParamSpec("P")
R = TypeVar("R")


@overload
def compacted(function: Callable[P, Awaitable[R]], /) -> Callable[P, Awaitable[R | str]]: ...
@overload
def compacted(function: Callable[P, R], /) -> Callable[P, R | str]: ...
@overload
def compacted(
    *, tool: str = "", run: Run | None = None, failure: Failure = str
) -> Callable[[Callable[P, R]], Callable[P, R | Any]]: ...
def compacted(
    function: Callable[..., Any] | None = None, /, *, tool: str = "", run: Run | None = None, failure: Failure = str
) -> Callable[..., Any]:
    """
    Make a function a tool of the run open at its call.

    Write `@compacted` or `@compacted(tool="name")`.

    It returns its result, or the compacted text if it failed or was refused; in the mode `observe` the text is the raw
    error, and a result that is a failure stays as it is. Where no run is open, as in a thread that
    did not inherit the context, each failure is told whole and counted, and no call is refused; a warning says once how
    to bind it.

    Args:
        function: A function or a coroutine function.
        tool: The tool's name; the function's name if empty.
        run: The run, for frameworks that call tools in threads which know nothing of the one that is open.
        failure: What to make of the compacted text, for frameworks that know an error by its type: an exception class,
            which is raised in place of the tool's own exception, or a function whose result is returned. In the mode
            `observe` an exception gives way to the tool's own.

    Raises:
        ConfigurationError: `function` is a generator or not callable.
    """
    if function is None:
        return functools.partial(_wrap_function, tool=tool, run=run, failure=failure)
    return _wrap_function(function, tool=tool, run=run, failure=failure)


def _wrap_function(function: Callable[..., Any], *, tool: str, run: Run | None, failure: Failure) -> Callable[..., Any]:
    _check_function(function)
    wrapped = ToolFunction(function, tool, failure)
    if wrapped.is_asynchronous:

        @functools.wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            return await wrapped.execute((run or run_here()).tool, args, kwargs)

        return asynchronous

    @functools.wraps(function)
    def synchronous(*args: Any, **kwargs: Any) -> Any:
        return wrapped.execute((run or run_here()).tool, args, kwargs)

    return synchronous


def _check_function(function: object) -> None:
    if not callable(function):
        raise ConfigurationError(f"@compacted got {function!r}; give it a function, or write @compacted(tool=...)")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigurationError(
            f"@compacted got the generator {function!r}; wrap its consumer in `with run.tool(...)` instead"
        )
