"""Parts of many messages replaced at once, in time proportional to the conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from otel_errcompact.context.messages import Part, with_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.context.messages import Conversation

Edits = dict[int, dict[int, Part]]
"""By message the parts that are replaced, each by its index in the message."""


def with_edits(conversation: Conversation, edits: Mapping[int, Mapping[int, Part]]) -> Conversation:
    """Return the conversation with these parts replaced; the very object if there are none."""
    if not edits:
        return conversation
    messages = list(conversation.messages)
    for index, parts in edits.items():
        messages[index] = with_parts(messages[index], parts)
    return replace(conversation, messages=tuple(messages))
