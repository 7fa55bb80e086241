"""Parts of many messages replaced at once, in time proportional to the conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact_context.messages import with_new_text, with_parts
from otel_errcompact_context.notes import Cut
from otel_errcompact_context.window.layers.workspace import Edited

if TYPE_CHECKING:
    from otel_errcompact_context.messages import Conversation, Message, Part
    from otel_errcompact_context.window.pairs import Spot


class Edits:
    """The parts that a layer replaces in a growing list."""

    def __init__(self) -> None:
        self.cuts: Final[dict[Spot, Cut]] = {}
        self._parts: dict[int, dict[int, Part]] = {}
        self._stale: set[int] = set()
        """Messages whose parts were replaced since the list was written last."""
        self._messages: dict[int, Message] = {}

    def shorten_part(self, spot: Spot, old: Part, text: str, tokens: int, *, tool: str, place: str) -> int:
        """
        Put a text in the place of a part if it is smaller, and return the gain.

        The whole of the part is kept at a place.
        """
        if tokens >= old.tokens:
            return 0
        message, index = spot
        self._parts.setdefault(message, {})[index] = with_new_text(old, text, tokens)
        self._stale.add(message)
        self.cuts[spot] = make_cut(message, old, tokens, place, tool)
        return old.tokens - tokens

    def write_list(self, conversation: Conversation, problem: str) -> Edited:
        """
        Return the conversation with these parts replaced.

        It is the very object if there are none.
        """
        if not self.cuts:
            return Edited(conversation, problem=problem)
        messages = list(conversation.messages)
        for index in self._stale:
            self._messages[index] = with_parts(messages[index], self._parts[index])
        self._stale.clear()
        for index, message in self._messages.items():
            messages[index] = message
        cuts = tuple([self.cuts[spot] for spot in sorted(self.cuts)])
        return Edited(replace(conversation, messages=tuple(messages)), cuts, problem)


def make_cut(message: int, old: Part, tokens_after: int, place: str, tool: str = "") -> Cut:
    """Return what is told of a part that was replaced."""
    return Cut(
        message=message,
        tool=tool or old.tool,
        call_id=old.call_id,
        tokens_before=old.tokens,
        tokens_after=tokens_after,
        place=place,
    )
