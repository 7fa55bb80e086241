"""Functions called as tools, which return a result or the compacted text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.runtime.coroutines import is_asynchronous
from otel_errcompact.runtime.lazy import lazy

if TYPE_CHECKING:
    from otel_errcompact.boundary.call import Call

Failure = Callable[[str], object]
"""What becomes of the compacted text: an exception is raised in place of the tool's own, all else is returned."""


class ToolFunction:
    """
    Calls a function as a tool.

    What its calls share is found once.

    Args:
        function: The function.
        tool: The tool's name; the function's own if empty.
        failure: Makes an answer of the compacted text.
    """

    def __init__(self, function: Callable[..., Any], tool: str = "", failure: Failure = str) -> None:
        self._function = function
        self._failure = failure
        self._name = tool or getattr(function, "__name__", "") or type(function).__name__
        self.is_asynchronous: Final = is_asynchronous(function)
        """Whether a call of it gives a coroutine."""

    def execute(self, make_call: Callable[..., Call], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """
        Call the function as a tool and return its result or text.

        Where the library only observes the text is the raw error, and an exception of `failure` gives way to the
        function's own.

        Args:
            make_call: `Run.tool` of the run.
            args: The positional arguments.
            kwargs: The arguments by name.
        """
        call = make_call(self._name, arguments=self._signature.bind(args, kwargs), reraise=True)
        if self.is_asynchronous:
            return self._execute_async(call, args, kwargs)
        try:
            with call:
                if not call.refused:
                    call.result = self._function(*args, **kwargs)
        except Exception as error:
            if not call.failed:
                raise
            return _make_answer(call, self._failure, error)
        return _make_answer(call, self._failure)

    async def _execute_async(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            async with call:
                if not call.refused:
                    call.result = await self._function(*args, **kwargs)
        except Exception as error:
            if not call.failed:
                raise
            return _make_answer(call, self._failure, error)
        return _make_answer(call, self._failure)

    @lazy
    def _signature(self) -> _Signature:
        return _Signature(self._function)


class _Signature:
    """
    Names the arguments of a function's calls.

    Args:
        function: The function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):  # a function without a signature
            self._signature = None
        parameters = tuple(self._signature.parameters.values()) if self._signature is not None else ()
        self._names = tuple(parameter.name for parameter in parameters)
        self._required = {parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty}
        self._positional = sum(parameter.kind is _EITHER for parameter in parameters)
        self._is_plain = self._signature is not None and all(
            parameter.kind in {_EITHER, inspect.Parameter.KEYWORD_ONLY} for parameter in parameters
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return a call's arguments by name, in the order of the parameters."""
        if self._is_plain and len(args) <= self._positional:
            bound = dict(zip(self._names, args, strict=False))
            if kwargs:
                bound |= {name: kwargs[name] for name in self._names[len(args) :] if name in kwargs}
            if len(bound) == len(args) + len(kwargs) and self._required <= bound.keys():
                return bound
        if self._signature is not None:
            with suppress(TypeError):  # arguments that do not fit
                return self._signature.bind(*args, **kwargs).arguments
        return {**{str(index): value for index, value in enumerate(args)}, **kwargs}


_EITHER: Final = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _make_answer(call: Call, failure: Failure, error: Exception | None = None) -> object:
    if error is None and (not call.compacted or (failure is str and _is_read_by_fields(call))):
        return call.result
    answer = failure(call.text)
    if not isinstance(answer, BaseException):
        return answer
    if error is not None and not call.compacted:
        raise error
    raise answer from error


def _is_read_by_fields(call: Call) -> bool:
    # A value that only states a failure is an answer: the program that called may read its fields.
    return call.failure is not None and bool(call.failure.raw.stated) and not isinstance(call.result, str)
