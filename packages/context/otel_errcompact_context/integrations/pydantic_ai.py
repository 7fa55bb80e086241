"""Pydantic AI: a capability."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.integrations.requirement import required
from otel_errcompact_context.guard.histories import ORIGIN, HistoryGuard

with required("pydantic-ai-slim", "2.16.0", extra="pydantic_ai"):
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        RetryPromptPart,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic_ai.capabilities.abstract import WrapModelRequestHandler
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.tools import RunContext

    from otel_errcompact_context.guard.guard import OverflowGuard
    from otel_errcompact_context.window.window import ContextWindow

PART = "errcompact_part"
"""The field of a converted block that says which part of its message it is."""

ITEM = "errcompact_item"
"""And which item of a prompt of several."""


class WindowCapability(AbstractCapability[Any]):
    """
    Keeps the messages of each model request within the model's window.

        agent = Agent(model, capabilities=[WindowCapability()])

    The run keeps its whole history: only what is sent is compacted, the same beginning the same way at each request.
    The framework lets a request be made once, so that one that is refused as too long is not made again.

    Args:
        window: Compacts; made of the environment's options if None. A guard is used as it is.
    """

    def __init__(self, window: ContextWindow | OverflowGuard | None = None) -> None:
        self._histories = HistoryGuard(window, "anthropic")
        self.guard: Final[OverflowGuard] = self._histories.guard

    async def wrap_model_request(
        self,
        ctx: RunContext[Any],  # noqa: ARG002 - the framework's
        *,
        request_context: ModelRequestContext,
        handler: WrapModelRequestHandler,
    ) -> ModelResponse:
        """Send a request that fits."""
        originals = list(request_context.messages)
        history = [_convert(message, place) for place, message in enumerate(originals)]

        messages = await self._histories.acompact(history, beside=_beside(request_context))
        known = {id(converted): message for converted, message in zip(history, originals, strict=True)}
        made = [known.get(id(message)) or _restore(message, originals) for message in messages]
        return await handler(replace(request_context, messages=made))


def _beside(context: ModelRequestContext) -> list[object]:
    tools = context.model_request_parameters.function_tools
    schemas = [{"name": tool.name, "is": tool.description, "takes": tool.parameters_json_schema} for tool in tools]
    last = context.messages[-1] if context.messages else None
    instructions = getattr(last, "instructions", None)
    return [*schemas, *([str(instructions)] if instructions else [])]


def _convert(message: ModelMessage, place: int) -> dict[str, Any]:
    role = "assistant" if isinstance(message, ModelResponse) else "user"
    blocks = [{**block, PART: number} for number, part in enumerate(message.parts) for block in _blocks(part)]
    if message.parts and all(isinstance(part, SystemPromptPart) for part in message.parts):
        role = "system"
    return {ORIGIN: place, "role": role, "content": blocks}


def _blocks(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, ToolCallPart):
        yield {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": part.args_as_dict()}
    elif isinstance(part, ToolReturnPart) or (isinstance(part, RetryPromptPart) and part.tool_name):
        is_retry = isinstance(part, RetryPromptPart)
        text = part.model_response() if isinstance(part, RetryPromptPart) else part.model_response_str()
        block = {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": text}
        yield {**block, "is_error": True} if is_retry else block
    elif isinstance(part, RetryPromptPart):
        yield {"type": "text", "text": part.model_response()}
    elif isinstance(part, UserPromptPart) and not isinstance(part.content, str):
        for number, item in enumerate(part.content):
            said = {"type": "text", "text": item} if isinstance(item, str) else {"type": "image"}
            yield {**said, ITEM: number}
    elif isinstance(part, (TextPart, SystemPromptPart, UserPromptPart)):
        yield {"type": "text", "text": str(part.content)}
    else:
        yield {"type": f"pydantic_ai_{part.part_kind}", "said": str(getattr(part, "content", ""))}


def _restore(message: dict[str, Any], originals: Sequence[ModelMessage]) -> ModelMessage:
    if ORIGIN not in message:
        return ModelRequest(parts=[UserPromptPart(content=message["content"])])
    original = originals[message[ORIGIN]]
    told: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for block in message["content"]:
        told[block[PART]].append(block)
    parts: list[Any] = [_edit(part, told[number]) for number, part in enumerate(original.parts)]
    return cast("ModelMessage", replace(original, parts=parts))


def _edit(part: Any, blocks: Sequence[dict[str, Any]]) -> Any:
    before = list(_blocks(part))
    now = [{name: value for name, value in block.items() if name != PART} for block in blocks]
    if now == before:
        return part
    (block,) = now if len(now) == 1 else (None,)
    if block is None:
        items = [
            part.content[said[ITEM]] if said == old else said["text"] for said, old in zip(now, before, strict=True)
        ]
        return replace(part, content=items)
    if isinstance(part, ToolCallPart):
        return replace(part, args=json.dumps(block["input"]))
    if isinstance(part, RetryPromptPart) and part.tool_name:
        return ToolReturnPart(tool_name=part.tool_name, tool_call_id=part.tool_call_id, content=block["content"])
    return replace(part, content=block["content"] if block["type"] == "tool_result" else block["text"])
