"""Failures that differ in values alone, folded into one line."""

from __future__ import annotations

from itertools import chain
from typing import Final

from otel_errcompact.extract.forms import Lines, form

MAX_NAMED: Final = 12
"""Members whose values are named; further ones are counted."""

_MAX_VALUE: Final = 80
_MIN_WORDS: Final = 3
_MAX_DIFFERING: Final = 2

_VALUE: Final = form(r"[^\s'\"`,;()\[\]{}<>=]+")


def fold(causes: Lines) -> str:
    """
    Write how causes differ from the first: `same for r3, r4`.

    `x 3` where they are equal, empty for a single cause.
    """
    if len(causes) == 1:
        return ""
    distinct = list(dict.fromkeys(causes))
    first = _VALUE.findall(distinct[0])
    others = [_find_difference(first, _VALUE.findall(cause)) for cause in distinct[1:]]
    named = list(dict.fromkeys(filter(None, others)))
    times = f"x {len(causes)}" if len(causes) > 1 + len(named) else ""
    if not named:
        return times
    more = f", and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
    same = f"same for {', '.join(named[:MAX_NAMED])}{more}"
    return f"{times}; {same}" if times else same


def differ_in_names(cause: str, other: str) -> bool:
    """
    Tell whether two causes differ in one or two names alone.

    What is written in small letters or digits alone is no name: `refused` and `reset` differ, and so do 403 and 503.
    """
    words, others = _VALUE.findall(cause), _VALUE.findall(other)
    if len(words) != len(others) or len(words) < _MIN_WORDS:
        return False
    differing = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    return len(differing) <= _MAX_DIFFERING and not any(map(_is_no_name, chain.from_iterable(differing)))


def _is_no_name(token: str) -> bool:
    bare = token.strip(".:")
    return bare.isdecimal() or (bare.isalpha() and bare.islower())


def _find_difference(first: Lines, other: Lines) -> str:
    if len(first) != len(other):
        return ""
    found = "/".join(value.strip(".:") for value, known in zip(other, first, strict=True) if value != known)
    return found if len(found) <= _MAX_VALUE else ""
