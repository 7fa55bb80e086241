"""The tool runner of the Anthropic SDK: its tools, and a loop that stops. See docs/frameworks/anthropic.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from otel_errcompact.boundary.runs import current_run, unattended_run
from otel_errcompact.integrations.requirement import required

with required("anthropic", "2.12.0", extra="anthropic"):
    from anthropic.lib.tools import (
        BetaAsyncBuiltinFunctionTool,
        BetaAsyncFunctionTool,
        BetaBuiltinFunctionTool,
        BetaFunctionTool,
        ToolError,
    )
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from anthropic.types.beta import BetaToolUnionParam

    from otel_errcompact.boundary.call import Call
    from otel_errcompact.boundary.runs import Run

T = TypeVar("T")


class CompactedTool(BetaBuiltinFunctionTool):
    """
    A tool whose failures the model reads as digests.
    """

    def __init__(self, tool: BetaFunctionTool[Any] | BetaBuiltinFunctionTool) -> None:
        self.tool = tool

    def to_dict(self) -> BetaToolUnionParam:
        """Return what the API is told of the tool."""
        return self.tool.to_dict()

    def call(self, input: object) -> Any:  # noqa: A002 - the SDK's signature
        """Execute the tool, unless this very call has failed too often."""
        with _call(self.name, input) as call:
            call.result = call.refused or self.tool.call(input)
        return _told(call)


class AsyncCompactedTool(BetaAsyncBuiltinFunctionTool):
    """
    The same of an asynchronous tool.
    """

    def __init__(self, tool: BetaAsyncFunctionTool[Any] | BetaAsyncBuiltinFunctionTool) -> None:
        self.tool = tool

    def to_dict(self) -> BetaToolUnionParam:
        """Return what the API is told of the tool."""
        return self.tool.to_dict()

    async def call(self, input: object) -> Any:  # noqa: A002 - the SDK's signature
        """Execute the tool, unless this very call has failed too often."""
        async with _call(self.name, input) as call:
            call.result = call.refused or await self.tool.call(input)
        return _told(call)


@overload
def compacted(tool: BetaFunctionTool[Any] | BetaBuiltinFunctionTool) -> CompactedTool: ...
@overload
def compacted(tool: BetaAsyncFunctionTool[Any] | BetaAsyncBuiltinFunctionTool) -> AsyncCompactedTool: ...
def compacted(tool: Any) -> CompactedTool | AsyncCompactedTool:
    """
    Return a tool for `tool_runner(tools=[...])` whose failures are counted in the run that is open where it is called.

    Args:
        tool: What `beta_tool` or `beta_async_tool` made, or a tool class of one's own; `@compacted` stands above them.
    """
    if isinstance(tool, BetaAsyncFunctionTool | BetaAsyncBuiltinFunctionTool):
        return AsyncCompactedTool(tool)
    return CompactedTool(tool)


def guarded(runner: Any) -> Any:
    """
    Iterate a tool runner, and pass the gate before each request: `for message in guarded(runner)`, or `async for`.

    After a pause the same `guarded(runner)` goes on where it stopped, once the run has been answered; no tool runs
    twice, and the model reads what the human said.

    Raises:
        RunHalted: The run was stopped; `RunPaused` when it waits for a human.
    """
    return _aguarded(runner) if hasattr(runner, "__anext__") else _guarded(runner)


def _guarded(runner: Any) -> Iterator[Any]:
    run, end = _run(), object()
    while True:
        run.check()
        if (item := next(runner, end)) is end:
            return
        yield item
        message = item.get_final_message() if hasattr(item, "get_final_message") else item
        if message.stop_reason == "tool_use":
            _look_at(run, message, runner.generate_tool_call_response())


async def _aguarded(runner: Any) -> AsyncIterator[Any]:
    run, end = _run(), object()
    while True:
        await run.acheck()
        if (item := await anext(runner, end)) is end:
            return
        yield item
        message = await item.get_final_message() if hasattr(item, "get_final_message") else item
        if message.stop_reason == "tool_use":
            _look_at(run, message, await runner.generate_tool_call_response())


def _look_at(run: Run, message: Any, response: Any) -> None:
    """Count what the runner itself answered with an error: no such tool."""
    calls = {block.id: block for block in message.content if block.type == "tool_use"}
    for result in response["content"] if response else ():
        text = result.get("content")
        if result.get("is_error") and isinstance(text, str) and run.digested(text, 0) is None:
            call = calls[result["tool_use_id"]]
            result["content"] = run.executed(call.name, arguments=call.input, call_id=call.id, error=text).text


def _run() -> Run:
    return current_run() or unattended_run()


def _call(name: str, arguments: Any) -> Call:
    return _run().tool(name, arguments=arguments, gated=False)


def _told(call: Call) -> Any:
    if call.failed:
        raise ToolError(call.text)
    return call.result
