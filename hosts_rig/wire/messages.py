"""Anthropic's Messages."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from hosts_rig.wire import Result, as_text, events

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hosts_rig.script import Turn

PATHS = ("/v1/messages",)


def shows_tools(request: Mapping[str, Any]) -> bool:
    """
    Whether the request comes from the agent, not from a helper that finds a title.
    """
    return bool(request.get("tools"))


def opening(request: Mapping[str, Any]) -> str:
    """
    What the conversation begins with, before the model's first message.
    """
    first = takewhile(lambda message: message["role"] != "assistant", request["messages"])
    return "\n".join(as_text(message["content"]) for message in first)


def results(request: Mapping[str, Any]) -> Iterator[Result]:
    """
    What the model reads about its calls, oldest first.
    """
    for message in request.get("messages", ()):
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_result":
                yield Result(block["tool_use_id"], as_text(block.get("content", "")))


def render(turn: Turn, number: int, request: Mapping[str, Any]) -> bytes:
    """
    A turn, as the host reads it.
    """
    blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    blocks += [
        {"type": "tool_use", "id": f"toolu_{number:02}_{place}", "name": call.name, "input": dict(call.arguments)}
        for place, call in enumerate(turn.calls)
    ]
    message = {
        "id": f"msg_{number:02}",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", ""),
        "content": blocks,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }
    if not request.get("stream"):
        return json.dumps(message).encode()
    return events(_stream(message, blocks), named=True)


def _stream(message: Mapping[str, Any], blocks: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            begin = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            begin = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": begin}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}
