"""A model for Strands that is played by a function."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from strands.models import Model

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

Content = list[dict[str, Any]]


def uses(tool: str, call_id: str, **arguments: object) -> dict[str, Any]:
    """Return a call of a tool."""
    return {"toolUse": {"name": tool, "toolUseId": call_id, "input": arguments}}


class PlayedModel(Model):
    """
    Says what a function makes of the messages so far.

    Args:
        play: Returns the next message's content.
    """

    def __init__(self, play: Callable[[list[Any]], Content]) -> None:
        self._play = play
        self.seen: list[list[Any]] = []
        """The messages it was asked with, call by call."""

    def update_config(self, **model_config: Any) -> None:
        """Do nothing: there is no configuration."""

    def get_config(self) -> dict[str, Any]:
        """Return an empty configuration."""
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Refuse: no example needs it."""
        raise NotImplementedError

    async def stream(self, messages: list[Any], *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Stream the next message."""
        self.seen.append(list(messages))
        content = self._play(messages)
        yield {"messageStart": {"role": "assistant"}}
        for block in content:
            use = block.get("toolUse")
            start = {"toolUse": {"name": use["name"], "toolUseId": use["toolUseId"]}} if use else {}
            delta = {"toolUse": {"input": json.dumps(use["input"])}} if use else {"text": block["text"]}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        reason = "tool_use" if any("toolUse" in block for block in content) else "end_turn"
        yield {"messageStop": {"stopReason": reason}}
