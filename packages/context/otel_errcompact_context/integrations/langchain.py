"""LangChain agents: a middleware."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.integrations.requirement import required
from otel_errcompact_context.guard.histories import ORIGIN, HistoryGuard

with required("langchain", "1.2.15", extra="langchain"):
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from langchain.agents.middleware import ModelRequest, ModelResponse

    from otel_errcompact_context.guard.guard import OverflowGuard
    from otel_errcompact_context.window.window import ContextWindow


class WindowMiddleware(AgentMiddleware[Any, Any, Any]):
    """
    Keeps the messages of each model call within the model's window.

        agent = create_agent(model, tools, middleware=[WindowMiddleware()])

    The state of the agent keeps the whole history: only what is sent is compacted, the same beginning the same way at
    each call. A call that the provider refuses as too long is compacted harder and made again.

    Args:
        window: Compacts; made of the environment's options if None. A guard is used as it is.
    """

    def __init__(self, window: ContextWindow | OverflowGuard | None = None) -> None:
        super().__init__()
        self._histories = HistoryGuard(window, "openai-chat")
        self.guard: Final[OverflowGuard] = self._histories.guard

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        """Call the model with messages that fit."""
        history = [_convert(message, place) for place, message in enumerate(request.messages)]
        return self._histories.call(
            lambda messages: handler(_override(request, history, messages)),
            history,
            _thread_of(request),
            _beside(request),
        )

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        """Call the model with messages that fit, in asynchronous code."""
        history = [_convert(message, place) for place, message in enumerate(request.messages)]

        async def send(messages: list[Any]) -> ModelResponse[Any]:
            return await handler(_override(request, history, messages))

        return await self._histories.acall(send, history, _thread_of(request), _beside(request))


def _thread_of(request: ModelRequest[Any]) -> str:
    info = getattr(request.runtime, "execution_info", None)
    return getattr(info, "thread_id", None) or ""


def _beside(request: ModelRequest[Any]) -> list[object]:
    system = request.system_message
    tools = [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in request.tools]
    return [*([str(system.text)] if system is not None else []), *tools]


def _convert(message: BaseMessage, place: int) -> dict[str, Any]:
    made: dict[str, Any] = {ORIGIN: place}
    if isinstance(message, ToolMessage):
        return {**made, "role": "tool", "tool_call_id": message.tool_call_id, "content": _content(message)}
    if isinstance(message, AIMessage):
        calls = [
            {
                "id": call["id"] or "",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"], default=str)},
            }
            for call in message.tool_calls
        ]
        return {**made, "role": "assistant", "content": _content(message), **({"tool_calls": calls} if calls else {})}
    return {**made, "role": "system" if isinstance(message, SystemMessage) else "user", "content": _content(message)}


def _content(message: BaseMessage) -> str | list[object]:
    if isinstance(message.content, str):
        return message.content
    return list(_blocks(cast("Sequence[str | dict[str, Any]]", message.content)))


def _blocks(content: Sequence[str | dict[str, Any]]) -> Iterator[object]:
    for block in content:
        if isinstance(block, str):
            yield {"type": "text", "text": block}
        elif block.get("type") == "text":
            yield {"type": "text", "text": str(block.get("text", ""))}
        elif block.get("type") not in _CALLS:
            # Of another provider perhaps: the window need not know what it is, only what it costs.
            yield {"type": "image_url", "image_url": {}} if "image" in str(block.get("type")) else {"block": block}


_CALLS = ("tool_use", "tool_call", "function_call", "input_json_delta")
"""Blocks that say again what `tool_calls` says."""


def _override(
    request: ModelRequest[Any], history: Sequence[dict[str, Any]], messages: Sequence[dict[str, Any]]
) -> ModelRequest[Any]:
    known = {id(converted): message for converted, message in zip(history, request.messages, strict=True)}
    made = [known.get(id(message)) or _restore(message, request.messages) for message in messages]
    return request.override(messages=cast("Any", made))


def _restore(message: dict[str, Any], originals: Sequence[BaseMessage]) -> BaseMessage:
    place, content = message.get(ORIGIN), message.get("content")
    if place is None:
        return HumanMessage(content)
    original = originals[place]
    if isinstance(original, AIMessage):
        changed = {"content": content or "", "tool_calls": _calls(message, original)}
        return cast("BaseMessage", original.model_copy(update=changed))
    return cast("BaseMessage", original.model_copy(update={"content": content}))


def _calls(message: dict[str, Any], original: AIMessage) -> list[Any]:
    asked = [json.loads(call["function"]["arguments"]) for call in message.get("tool_calls") or ()]
    return [{**call, "args": args} for call, args in zip(original.tool_calls, asked, strict=True)]
