"""Parts of many messages replaced at once, in time proportional to the conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from otel_errcompact.context.messages import Message, Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.context.messages import Conversation

Edits = dict[int, dict[int, Part]]
"""By message the parts that are replaced, each by its index in the message."""


def with_new_text(part: Part, text: str, tokens: int) -> Part:
    """Return `part` with the whole of it replaced by `text`."""
    return Part(part.kind, text, tokens, part.tool, part.call_id, part.failed, part.native, edited=True)


def with_edits(conversation: Conversation, edits: Mapping[int, Mapping[int, Part]]) -> Conversation:
    """Return the conversation with these parts replaced; the very object if there are none."""
    if not edits:
        return conversation
    messages = list(conversation.messages)
    for index, parts in edits.items():
        messages[index] = _edited(messages[index], parts)
    return replace(conversation, messages=tuple(messages))


def _edited(message: Message, edits: Mapping[int, Part]) -> Message:
    parts = list(message.parts)
    tokens = message.tokens
    for index, part in edits.items():
        tokens += part.tokens - parts[index].tokens
        parts[index] = part
    return Message(message.role, tuple(parts), tokens, message.native, edited=True)
