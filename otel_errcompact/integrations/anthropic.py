"""The tool runner of the Anthropic SDK: its tools, and its loop."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace

from otel_errcompact.boundary.unbound import run_here
from otel_errcompact.integrations.requirement import required
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.bounded import BoundedTable

with required("anthropic", "0.85.0", extra="anthropic"):
    from anthropic.lib.tools import (
        BetaAsyncBuiltinFunctionTool,
        BetaAsyncFunctionTool,
        BetaBuiltinFunctionTool,
        ToolError,
    )
if TYPE_CHECKING:
    from typing import Self

    from anthropic.types.beta import BetaToolUnionParam

    from otel_errcompact.boundary.call import Call


MAX_FAILED: Final = 4_096
_counted: Final[BoundedTable[tuple[str, str], bool]] = BoundedTable(MAX_FAILED)
"""Tools of ours that have failed, by run and name: an error result of theirs has been counted."""


class _Wrapped:
    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def to_dict(self) -> BetaToolUnionParam:
        """Return what the API is told of the tool."""
        return self.tool.to_dict()  # type: ignore[no-any-return] # any of the SDK's tools


class CompactedTool(_Wrapped, BetaBuiltinFunctionTool):
    """
    A tool whose failures the model reads as digests, marked as errors.
    """

    def call(self, input: object) -> Any:  # noqa: A002 - the SDK's signature
        """Execute the tool, unless this very call has failed too often."""
        made = _make_call(self.name, input)
        try:
            with made as call:
                if not call.refused:
                    call.result = self.tool.call(input)
        finally:
            _note_failure(made)
        return _return_or_raise(made)


class AsyncCompactedTool(_Wrapped, BetaAsyncBuiltinFunctionTool):
    """
    The same of an asynchronous tool.
    """

    async def call(self, input: object) -> Any:  # noqa: A002 - the SDK's signature
        """Execute the tool, unless this very call has failed too often."""
        made = _make_call(self.name, input)
        try:
            async with made as call:
                if not call.refused:
                    call.result = await self.tool.call(input)
        finally:
            _note_failure(made)
        return _return_or_raise(made)


def compacted(tool: Any) -> Any:
    """
    Return a tool that answers a failure with its digest.

    Tools of `beta_tool`, `beta_async_tool` and of classes of one's own.
    """
    is_async = isinstance(tool, BetaAsyncFunctionTool | BetaAsyncBuiltinFunctionTool)
    return AsyncCompactedTool(tool) if is_async else CompactedTool(tool)


def guarded(runner: Any) -> GuardedRunner:
    """Return the messages of a tool runner, with a gate before requests."""
    return GuardedRunner(runner)


class GuardedRunner:
    """
    The messages of a tool runner, with a gate before each request.

    An exception of the gate leaves the loop before the next request; once a paused run was answered, the same object
    continues from there: no tool runs twice, and the model reads the human's answer.

    Args:
        runner: A tool runner of the SDK.
    """

    def __init__(self, runner: Any) -> None:
        self.runner = runner
        self.run = run_here()
        self._item: Any = None
        self._was_held = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        self._message = self._read_last_message()
        # The runner keeps the response, and sends this very object.
        response = self.runner.generate_tool_call_response() if _calls_tools(self._message) else None
        self._pass_response(self._look_at(response), self.run.gate())
        self._item = next(self.runner)
        return self._item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        latest = self._read_last_message()
        self._message = await latest if inspect.isawaitable(latest) else latest
        response = await self.runner.generate_tool_call_response() if _calls_tools(self._message) else None
        self._pass_response(self._look_at(response), await self.run.agate())
        self._item = await anext(self.runner)
        return self._item

    def _read_last_message(self) -> Any:
        streamed = getattr(self._item, "get_final_message", None)
        return streamed() if streamed else self._item

    def _look_at(self, response: Any) -> Any:
        for result in response["content"] if response else ():
            text = result.get("content")
            if not result.get("is_error") or not isinstance(text, str):
                continue
            use = next(block for block in self._message.content if block.id == result["tool_use_id"])
            if _counted.get((self.run.run_id, use.name)) is None and not self.run.port.has_digest(text):
                call = self.run.port.record_call(use.name, arguments=use.input, call_id=use.id, error=text)
                result["content"] = call.text if call.compacted else text
        return response

    def _pass_response(self, response: Any, stop: Exception | None) -> None:
        if stop is not None:
            self._was_held = True
            raise stop
        if self._was_held and response and (digest := self.run.digest()):
            response["content"].append({"type": "text", "text": digest})
            self.run.port.take_guidance()  # which the digest holds
        elif response and (said := self.run.port.take_guidance()):
            response["content"].append({"type": "text", "text": said})
        self._was_held = False
        self.run.begin_turn()


def _calls_tools(message: Any) -> bool:
    return getattr(message, "stop_reason", None) == "tool_use"


def _make_call(name: str, arguments: Any) -> Call:
    # The SDK tells a tool its input alone; the id of the call stands on the span that the SDK opens for it.
    around: Any = getattr(trace.get_current_span(), "attributes", None) or {}
    call_id = around.get(semconv.GEN_AI_TOOL_CALL_ID, "") if around.get(semconv.GEN_AI_TOOL_NAME) == name else ""
    run = run_here()
    return run.tool(name, arguments=arguments, call_id=call_id, reraise=run.port.only_observes, gated=False)


def _note_failure(call: Call) -> None:
    if call.failed:
        _counted.put((call.run_id, call.tool), True)


def _return_or_raise(call: Call) -> Any:
    if call.compacted:
        raise ToolError(call.text)
    return call.result
