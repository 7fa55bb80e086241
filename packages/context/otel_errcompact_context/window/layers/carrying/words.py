"""What users and the system said, which outlives results, and what users have answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import one_line
from otel_errcompact_context import providers
from otel_errcompact_context.window.layers.carrying.files import is_restored
from otel_errcompact_context.window.pairs import is_gap
from otel_errcompact_context.window.shortening import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Message

_REQUEST_SHARE: Final = 0.75
"""What part of what is left the user's newest request may cost; the rest is for other words and the index."""

_LEAST: Final = 24
"""Tokens below which the ends of what was said say nothing."""


def is_said_by_user(message: Message) -> bool:
    """Tell whether a message is the user's own, whole or shortened, and no marker or file in the place of others."""
    if message.role != "user" or is_gap(message) or is_restored(message):
        return False
    return any(part.kind != "result" for part in message.parts)


def find_request(messages: Sequence[Message], start: int = 0) -> int:
    """Return where the user's newest words stand, or -1 if there are none from a place on."""
    places = range(len(messages) - 1, start - 1, -1)
    return next((place for place in places if is_said_by_user(messages[place])), -1)


def keep_words(
    messages: Sequence[Message], share: int, room: int, count_tokens: TokenCounter, request: int = -1
) -> list[Message]:
    """
    Return the messages of users and system that stay.

    What the system says comes first, then the user's words from the newest to the oldest. Of one that does not fit the
    ends stay, in half of what is left, so that older ones have the other half.

    Args:
        messages: What is taken out.
        share: What their words may cost, but for the user's newest request.
        room: What all of it may cost.
        count_tokens: How tokens are counted.
        request: Where the user's newest request stands, if it is among the messages.
    """
    said = [(place, words) for place, message in enumerate(messages) if (words := words_of(message, count_tokens))]
    kept: list[tuple[int, Message]] = []
    for place, whole in sorted(said, key=lambda one: (one[1].role != "system", -one[0])):
        words = whole
        is_request = place == request
        limit = int(room * _REQUEST_SHARE) if is_request else min(share, room)
        if words.tokens > limit:
            words = _shorten_words(words, limit if is_request else limit // 2, count_tokens)
        if words.tokens <= limit:
            room -= words.tokens
            share -= 0 if is_request else words.tokens
            kept.append((place, words))
    return [words for _, words in sorted(kept, key=lambda one: one[0])]


def words_of(message: Message, count_tokens: TokenCounter) -> Message | None:
    """Return what a user or the system says, without results."""
    if message.role == "system":
        return message if message.parts else None
    if not is_said_by_user(message):
        return None
    if all(part.kind != "result" for part in message.parts):
        return message
    text = _text_of(message)
    return providers.from_user(text, count_tokens) if text else None


def _text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if part.kind == "text" and part.text.strip())


def _shorten_words(words: Message, tokens: int, count_tokens: TokenCounter) -> Message:
    text = _text_of(words)
    if words.role == "system" or tokens < _LEAST or not text:
        return words
    frame = providers.from_user("", count_tokens).tokens
    return providers.from_user(shorten(text, tokens - frame, count_tokens), count_tokens)


_SHORT: Final = 60
"""Characters of an answer that means nothing without what it answers; a longer one says it itself."""

_MAX_ASKED: Final = 400
_MAX_ANSWER: Final = 100


def find_answers(messages: Sequence[Message]) -> Iterator[str]:
    """
    Yield each short answer of the user with what it answers.

    Whether that is a yes or a no is left to who reads it: in any language, and never guessed.
    """
    said = ""
    for message in messages:
        texts = [part.text for part in message.parts if part.kind == "text" and part.text.strip()]
        if message.role == "assistant":
            if any(part.kind == "call" for part in message.parts):
                said = ""
            elif texts:
                said = texts[-1]
        elif message.role == "user":
            if said and texts and len(texts) == 1 == len(message.parts) and len(texts[0]) <= _SHORT:
                yield f"asked: {_end_of(said)} answered: {one_line(texts[0], _MAX_ANSWER)}"
            said = ""


def _end_of(text: str) -> str:
    line = one_line(text.strip(), 4 * _MAX_ASKED)
    return line if len(line) <= _MAX_ASKED else f"{line[: _MAX_ASKED // 2]} ... {line[-_MAX_ASKED // 2 :]}"
