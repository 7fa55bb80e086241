"""What users and the system said, which outlives results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.context import providers
from otel_errcompact.context.memory.markers import marker_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.messages import Message
    from otel_errcompact.digest.tokens import TokenCounter

_SPEAKERS: Final = frozenset({"user", "system"})


def keep_words(messages: Sequence[Message], budget: int, count_tokens: TokenCounter) -> list[Message]:
    """
    Return the messages of users and system that stay.

    What the system says comes first, then the user's words from the newest to the oldest; one that does not fit is
    passed over for older ones that do.
    """
    said = [
        (place, words)
        for place, message in enumerate(messages)
        if message[0] in _SPEAKERS and (words := words_of(message, count_tokens))
    ]
    kept: list[tuple[int, Message]] = []
    for place, words in sorted(said, key=lambda one: (one[1].role != "system", -one[0])):
        if words.tokens <= budget:
            budget -= words.tokens
            kept.append((place, words))
    return [words for _, words in sorted(kept, key=lambda one: one[0])]


def words_of(message: Message, count_tokens: TokenCounter) -> Message | None:
    """Return what a user or the system says, without results."""
    if message.role not in _SPEAKERS or not message.parts:
        return None
    kinds = {part.kind for part in message.parts}
    if "text" in kinds and any(part.kind == "text" and marker_of(part.text) is not None for part in message.parts):
        return None
    if "result" not in kinds:
        return message
    if "text" not in kinds:
        return None
    text = "\n".join(part.text for part in message.parts if part.kind == "text" and part.text.strip())
    return providers.from_user(text, count_tokens) if text else None
