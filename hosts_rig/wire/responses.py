"""OpenAI's Responses."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from hosts_rig.wire import Result, as_text, events
from hosts_rig.wire.messages import shows_tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hosts_rig.script import Turn

__all__ = ["PATHS", "opening", "render", "results", "shows_tools"]

PATHS = ("/responses",)
OUTPUTS = ("function_call_output", "custom_tool_call_output")


def opening(request: Mapping[str, Any]) -> str:
    """
    What the conversation begins with, before the model's first message.
    """
    first = takewhile(lambda item: item.get("role") in ("user", "developer"), request["input"])
    return "\n".join(as_text(item["content"]) for item in first)


def results(request: Mapping[str, Any]) -> Iterator[Result]:
    """
    What the model reads about its calls, oldest first.
    """
    for item in request.get("input", ()):
        if item.get("type") in OUTPUTS:
            yield Result(item["call_id"], as_text(item["output"]))


def render(turn: Turn, number: int, request: Mapping[str, Any]) -> bytes:
    """
    A turn, as the host reads it.
    """
    items: list[dict[str, Any]] = []
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        items.append({"type": "message", "id": f"msg_{number:02}", "role": "assistant", "content": content})
    for place, call in enumerate(turn.calls):
        item = {
            "type": "function_call",
            "id": f"fc_{number:02}_{place}",
            "call_id": f"call_{number:02}_{place}",
            "name": call.name,
            "arguments": json.dumps(call.arguments),
        }
        items.append(item | ({"namespace": call.namespace} if call.namespace else {}))
    response = {"id": f"resp_{number:02}", "object": "response", "model": request.get("model", ""), "output": items}
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 20,
    }
    done = {**response, "status": "completed", "usage": usage}
    if not request.get("stream"):
        return json.dumps(done).encode()
    stream: list[Mapping[str, Any]] = [
        {"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}}
    ]
    for index, item in enumerate(items):
        stream.append({"type": "response.output_item.added", "output_index": index, "item": item})
        stream.append({"type": "response.output_item.done", "output_index": index, "item": item})
    stream.append({"type": "response.completed", "response": done})
    return events(stream, named=True)
