"""What a line adds to the same line of the failure before."""

from __future__ import annotations

from typing import Final

from otel_errcompact.digest.untrusted import CUT

_MIN_SAVED: Final = 20
"""Characters of known words that are worth a mark in their place."""


def shorten_known(text: str, before: str, head: int) -> str:
    """
    Return `text` without long stretches that `before` has too.

    Args:
        text: What failed.
        before: What failed before it; the agent has read it.
        head: Characters by which the agent knows the line again: they stay, to the end of their word.
    """
    if len(text) < head + _MIN_SAVED:
        return text
    begin = text.find(" ", head)
    if begin < 0:
        return text
    if text == before:
        return f"{text[:begin]}{CUT}" if len(text) - begin > _MIN_SAVED else text
    shared = _count_shared(text, before)
    resume = max(text.rfind(" ", 0, shared) + 1, begin)
    tail = _count_shared(text[:shared:-1], before[:shared:-1])
    end = text.find(" ", len(text) - tail)
    first = f"{text[:begin]} {CUT} " if resume - begin > _MIN_SAVED else text[:resume]
    is_known = end >= head and len(text) - end > _MIN_SAVED
    return f"{first}{text[resume:end]}{CUT}" if is_known else f"{first}{text[resume:]}"


def _count_shared(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
