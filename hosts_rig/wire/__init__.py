"""
The interfaces of models, a file each: what a request shows the model, and a turn as the host reads it.

Each file has `PATHS`, `shows_tools`, `opening`, `results` and `render`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Result(NamedTuple):
    """What the model has read about one of its calls."""

    call_id: str
    text: str


def as_text(content: Any) -> str:
    """
    The text of a content that is a text already, or a list of blocks, or something else as JSON.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(block["text"]) for block in content if isinstance(block, dict) and "text" in block)
    return json.dumps(content)


def events(messages: Iterable[Mapping[str, Any]], *, named: bool = False, last: str = "") -> bytes:
    """
    A stream of server-sent events, each named by its `type` where the interface asks for it.
    """
    lines = [
        (f"event: {message['type']}\n" if named else "") + f"data: {json.dumps(message)}\n\n" for message in messages
    ]
    return ("".join(lines) + last).encode()
