"""A text within a token budget: its head and its tail stay, the middle is cut, and the cut is seen."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.digest.tokens import TokenCounter

_CUT: Final = "..."
_HEAD_SHARE: Final = 0.6
"""What a tool was asked for stands at the head, how it ended at the tail."""

_ROUNDS: Final = 12
_ENOUGH: Final = 0.8
_LONG: Final = 64
"""Characters from which on a string inside arguments is worth the mark of its cut."""
_SHORTEST_STRING: Final = 8
"""Tokens to which it is cut at the most."""

_LONGEST_CHARACTER: Final = 64
"""Code points of which one that is read as a single character may consist; a longer run is nobody's text."""

_JOINER: Final = "\u200d"
# What a colon follows is a name.
_STRING: Final = lazy_pattern(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?')


def shorten(text: str, max_tokens: int, count_tokens: TokenCounter) -> str:
    """
    Return `text` within `max_tokens`: head and tail, and between them how much was cut.

    Cuts at the ends of lines where lines are short enough, never inside a character that is made of several, and in
    time proportional to the text. A budget that is too small for anything leaves the mark of the cut alone.

    Args:
        text: The text; returned as it is if it is within the budget.
        max_tokens: The budget.
        count_tokens: How tokens are counted; no assumption is made but that a longer text does not cost less.
    """
    tokens = count_tokens(text)
    if tokens <= max_tokens:
        return text
    best = _cut_middle(text, 0)
    size = len(text) * max_tokens / tokens
    for _ in range(_ROUNDS):
        shorter = _cut_middle(text, int(size))
        used = count_tokens(shorter)
        if used <= max_tokens:
            if len(shorter) > len(best):
                best = shorter
            if used >= _ENOUGH * max_tokens:
                break
        if size < 1:
            break
        # A mean of all the text says little of its ends, which may be denser or thinner.
        size = min(size * 0.95 * max_tokens / max(used, 1), 0.9 * len(text))
    return best


def shorten_arguments(arguments: str, max_tokens: int, count_tokens: TokenCounter) -> str:
    """
    Return a call's arguments, an object as JSON, with long strings in it shortened; it stays an object.

    Names, numbers and their order remain as they are written, to the byte. What has no long strings may
    still be over the budget, and what is no object is returned as it is.

    Args:
        arguments: The arguments as JSON.
        max_tokens: The budget for all of it.
        count_tokens: How tokens are counted.
    """
    tokens = count_tokens(arguments)
    if tokens <= max_tokens or not _is_object(arguments):
        return arguments
    pieces, strings = _find_long_strings(arguments)
    best = arguments
    limit = max_tokens
    while strings and limit >= _SHORTEST_STRING:
        for index, string in strings:
            pieces[index] = json.dumps(shorten(string, limit, count_tokens), ensure_ascii=False)
        best = "".join(pieces)
        if count_tokens(best) <= max_tokens:
            break
        limit //= 2
    return best if count_tokens(best) < tokens else arguments


def _cut_middle(text: str, size: int) -> str:
    head_size = int(size * _HEAD_SHARE)
    head = _find_line_end(text, head_size // 2, head_size)
    tail = _find_line_start(text, len(text) - (size - head_size), len(text) - (size - head_size) // 2)
    head = min(head, tail)
    mark = f"[{_CUT} {tail - head:,} characters cut {_CUT}]"
    before = "\n" if "\n" in text else " "
    return (
        text[:head]
        + (before if head and text[head - 1] not in "\n " else "")
        + mark
        + (before if tail < len(text) else "")
        + text[tail:]
    )


def _find_line_end(text: str, low: int, high: int) -> int:
    # Return the last place between the two that ends a line; if none does, one that ends a character.
    end = text.rfind("\n", low, high) + 1
    return end or _whole_character(text, high)


def _find_line_start(text: str, low: int, high: int) -> int:
    # Return the first place between the two that begins a line; if none does, one that begins a character.
    start = text.find("\n", max(low - 1, 0), high) + 1
    return start or _whole_character(text, low)


def _whole_character(text: str, place: int) -> int:
    # Return the nearest place before that is not inside of what is read as one character.
    for candidate in range(place, max(place - _LONGEST_CHARACTER, 0), -1):
        if candidate >= len(text) or not _continues_character(text[candidate - 1], text[candidate]):
            return candidate
    return place


def _continues_character(before: str, character: str) -> bool:
    # Tell whether a code point belongs to the one before: a mark, half a surrogate pair, a joined emoji.
    if before < "\u0300" and character < "\u0300":
        return False
    return (
        _JOINER in (before, character)
        or unicodedata.category(character).startswith("M")
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= character <= "\udfff")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments, parse_int=str, parse_float=str), dict)
    except (ValueError, RecursionError):
        return False


def _find_long_strings(arguments: str) -> tuple[list[str], list[tuple[int, str]]]:
    pieces: list[str] = []
    strings: list[tuple[int, str]] = []
    end = 0
    for found in _STRING.finditer(arguments):
        start, stop = found.span(1)
        if found[2] is None and stop - start > _LONG:
            pieces += (arguments[end:start], "")
            strings.append((len(pieces) - 1, json.loads(found[1])))
            end = stop
    return [*pieces, arguments[end:]], strings
