"""Parts of many messages replaced at once, in time proportional to the conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from otel_errcompact.context.layers.workspace import Edited
from otel_errcompact.context.messages import with_parts
from otel_errcompact.context.notes import Cut

if TYPE_CHECKING:
    from otel_errcompact.context.messages import Conversation, Part
    from otel_errcompact.context.pairs import Spot


class Edits:
    """
    The parts that a layer replaces, and what it tells of each.

    Args:
        conversation: Where they stand.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._parts: dict[int, dict[int, Part]] = {}
        self._cuts: list[Cut] = []

    def replace(self, spot: Spot, new: Part, *, tool: str, place: str) -> None:
        """Put a smaller part where another one stands, the whole of which is kept at a place."""
        message, index = spot
        old = self._conversation.messages[message].parts[index]
        self._parts.setdefault(message, {})[index] = new
        self._cuts.append(
            Cut(
                message=message,
                tool=tool,
                call_id=old.call_id,
                tokens_before=old.tokens,
                tokens_after=new.tokens,
                place=place,
            )
        )

    def edited(self, problem: str) -> Edited:
        """Return the conversation with these parts replaced; the very object if there are none."""
        if not self._parts:
            return Edited(self._conversation, problem=problem)
        messages = list(self._conversation.messages)
        for index, parts in self._parts.items():
            messages[index] = with_parts(messages[index], parts)
        return Edited(replace(self._conversation, messages=tuple(messages)), tuple(self._cuts), problem)
