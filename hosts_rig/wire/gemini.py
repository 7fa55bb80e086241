"""Google's generateContent."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from hosts_rig.wire import Result, as_text, events

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hosts_rig.script import Turn

PATHS = (":generateContent", ":streamGenerateContent")


def shows_tools(request: Mapping[str, Any]) -> bool:
    """
    Whether the request comes from the agent, not from a helper that chooses a model.
    """
    return any(tool.get("functionDeclarations") for tool in request.get("tools", ()))


def opening(request: Mapping[str, Any]) -> str:
    """
    What the conversation begins with, before the model's first message.
    """
    first = takewhile(lambda content: content["role"] != "model", request["contents"])
    return "\n".join(as_text(content["parts"]) for content in first)


def results(request: Mapping[str, Any]) -> Iterator[Result]:
    """
    What the model reads about its calls, oldest first.
    """
    for content in request.get("contents", ()):
        for part in content["parts"]:
            if found := part.get("functionResponse"):
                response = found["response"]
                text = response.get("output", response.get("error"))
                yield Result(found.get("id", ""), text if isinstance(text, str) else json.dumps(response))


def render(turn: Turn, number: int, request: Mapping[str, Any]) -> bytes:
    """
    A turn, as the host reads it.
    """
    parts: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
    parts += [
        {
            "functionCall": {
                "id": f"call_{number:02}_{place}",
                "name": call.name,
                "args": dict(call.arguments),
            },
            "thoughtSignature": "c2NyaXB0",
        }
        for place, call in enumerate(turn.calls)
    ]
    message = {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
        "modelVersion": "stand-in",
    }
    return events([message]) if request["stream"] else json.dumps(message).encode()
