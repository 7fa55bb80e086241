"""What users and the system said, which outlives results, and what users have answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import one_line
from otel_errcompact_context import providers
from otel_errcompact_context.memory.markers import marker_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Message

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
