"""What the user was asked, and answered in short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.context.messages import Message

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
