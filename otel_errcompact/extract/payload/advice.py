"""Advice: sentences behind a message that lead to a document."""

from __future__ import annotations

from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

# Begins with a blank, which is searched for at the speed of C.
_SENTENCES: Final = lazy_pattern(r" (?:(?<=[.!?] )|(?<=[.!?]['\")] )) {0,2}(?=[A-Z(*])")
_ADVICE: Final = lazy_pattern(
    r"(?:Please (?!wait|(?:re)?try )|For (?:more|further|additional|help|details)|To learn|Learn more|See |Visit |Read "
    r"|You can (?:find|learn|read|see|obtain|get)|Check out |Contact |Go to |Refer to "
    r"|If you (?:continue|believe|think)|.{0,200}?https?://)"
)


def strip_advice(message: str) -> str:
    """
    Return a message without the advice behind it.

    How long to wait is no advice, and stays.
    """
    if ". " not in message and "! " not in message and "? " not in message:
        return message
    return "\n".join(map(_line_without_advice, message.split("\n")))


def _line_without_advice(line: str) -> str:
    first, *rest = _SENTENCES.split(line)
    return " ".join((first, *(sentence for sentence in rest if not _ADVICE.match(sentence))))
