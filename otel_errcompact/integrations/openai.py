"""The tool loops of the OpenAI SDK, and loops of one's own."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
from typing import TYPE_CHECKING, Any, TypeVar

from otel_errcompact.boundary.requested import Misfit, find_requested
from otel_errcompact.boundary.unbound import run_here
from otel_errcompact.integrations.requirement import required

with required("openai", "3.31.0", extra="openai"):
    from openai.lib.responses_tool_runner import AsyncRegisteredFunction, RegisteredFunction, ToolRunnerError
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from otel_errcompact.boundary.call import Call
    from otel_errcompact.boundary.requested import Requested
    from otel_errcompact.boundary.runs import Run

Registered = TypeVar("Registered", RegisteredFunction, AsyncRegisteredFunction)


def compacted(function: Registered) -> Registered:
    """
    Return a function that answers a failure with its digest.

    As it is, a failure ends the runner.
    """
    name, execute = function.tool["name"], function.execute
    if isinstance(function, AsyncRegisteredFunction):
        asynchronous = function.execute

        @functools.wraps(asynchronous)
        async def acall(arguments: Any, **options: Any) -> Any:
            async with _make_call(name, arguments, reraise=True) as told:
                if not told.refused:
                    told.result = await asynchronous(arguments, **options)
            return told.text if told.compacted else told.result

        return dataclasses.replace(function, execute=acall)

    @functools.wraps(execute)
    def call(arguments: Any, **options: Any) -> Any:
        with _make_call(name, arguments, reraise=True) as told:
            if not told.refused:
                told.result = execute(arguments, **options)
        return told.text if told.compacted else told.result

    return dataclasses.replace(function, execute=call)


def guarded(runner: Any, client: Any, params: Any, **options: Any) -> Any:
    """
    Iterate a runner, synchronous or asynchronous, with a gate before each request.

    Args:
        runner: The runner.
        client: As for `runner.iterate`.
        params: As above.
        options: As above.

    Raises:
        RunHalted: The run was stopped; `RunPaused` when it waits for a human.
    """
    run = run_here()
    own = options.pop("cancelled", None)
    turns = runner.iterate(client, params, cancelled=lambda: bool((own and own()) or run.gate()), **options)
    return _watch_async_turns(run, turns) if inspect.isasyncgen(turns) else _watch_turns(run, turns)


def answered(call: Any, tools: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """
    Execute a call and return the item that answers it.

    For a loop of one's own.

    In the mode `observe` the item holds the raw error.

    Args:
        call: A `function_call` of the Responses API, or a tool call of a chat completion.
        tools: The functions by name. A name that is not among them is a failure (`UnknownTool`), and so are arguments
            that are no JSON (`InvalidArguments`) or do not fit the function (`ValidationError`).
    """
    name, arguments, call_id = _read_call(call)
    text = ""
    with _make_call(name, arguments, call_id) as told:
        if not told.refused:
            text = _note_result(told, _call_function(told, find_requested(tools, name, arguments)))
    return _build_item(call, told, text)


async def aanswered(call: Any, tools: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """Execute a call as `answered` does; functions may be asynchronous."""
    name, arguments, call_id = _read_call(call)
    text = ""
    async with _make_call(name, arguments, call_id) as told:
        if not told.refused:
            result = _call_function(told, find_requested(tools, name, arguments))
            text = _note_result(told, await result if inspect.isawaitable(result) else result)
    return _build_item(call, told, text)


def _watch_turns(run: Run, turns: Iterator[Any]) -> Iterator[Any]:
    run.begin_turn()
    try:
        for turn in turns:  # its calls are executed when the next one is asked for
            run.begin_turn()
            yield turn
    except ToolRunnerError:
        run.check()
        raise


async def _watch_async_turns(run: Run, turns: AsyncIterator[Any]) -> AsyncIterator[Any]:
    run.begin_turn()
    try:
        async for turn in turns:
            run.begin_turn()
            yield turn
    except ToolRunnerError:
        await run.acheck()
        raise


def _make_call(name: str, arguments: Any, call_id: str = "", *, reraise: bool = False) -> Call:
    known = arguments.model_dump() if hasattr(arguments, "model_dump") else arguments
    run = run_here()
    return run.tool(name, arguments=known, call_id=call_id, reraise=reraise and run.port.only_observes, gated=False)


def _read_call(call: Any) -> tuple[str, str, str]:
    function = getattr(call, "function", call)
    return function.name, function.arguments, getattr(call, "call_id", None) or call.id


def _call_function(told: Call, requested: Requested | Misfit) -> Any:
    if isinstance(requested, Misfit):
        told.fail(requested.text, type=requested.type)
        return ""
    return requested.function(**requested.arguments)


def _note_result(told: Call, result: Any) -> str:
    # Inside the call: what cannot be written for the model is a failure of the tool.
    told.result = result
    return result if isinstance(result, str) else json.dumps(result, default=str)


def _build_item(call: Any, told: Call, text: str) -> dict[str, Any]:
    # Neither API has a flag for errors: that it is one, only the text tells.
    result = told.text if told.failed else text
    if hasattr(call, "function"):
        return {"role": "tool", "tool_call_id": told.call_id, "content": result}
    return {"type": "function_call_output", "call_id": told.call_id, "output": result}
