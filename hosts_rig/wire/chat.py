"""OpenAI's Chat Completions, which many others speak."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hosts_rig.wire import Result, as_text, events
from hosts_rig.wire.messages import opening, shows_tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hosts_rig.script import Turn

__all__ = ["PATHS", "opening", "render", "results", "shows_tools"]

PATHS = ("/chat/completions",)


def results(request: Mapping[str, Any]) -> Iterator[Result]:
    """
    What the model reads about its calls, oldest first.
    """
    for message in request.get("messages", ()):
        if message["role"] == "tool":
            yield Result(message["tool_call_id"], as_text(message["content"]))


def render(turn: Turn, number: int, request: Mapping[str, Any]) -> bytes:
    """
    A turn, as the host reads it.
    """
    calls = [
        {
            "index": place,
            "id": f"call_{number:02}_{place}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for place, call in enumerate(turn.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if calls:
        message["tool_calls"] = calls
    about = {"id": f"chat_{number:02}", "created": 1_790_000_000, "model": request.get("model", "")}
    reason = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    if not request.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return json.dumps({**about, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
    chunk = {**about, "object": "chat.completion.chunk"}
    return events(
        [
            {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {**chunk, "choices": [], "usage": usage},
        ],
        last="data: [DONE]\n\n",
    )
