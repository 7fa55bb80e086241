"""
Find the plain strings that stand in every text which a pattern matches.

A string is looked for many times as fast as a pattern: a text without it need not be tried.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

try:
    from re import _constants as codes
    from re import _parser as parser  # type: ignore[attr-defined,unused-ignore]
except ImportError:  # Python 3.10
    import sre_constants as codes
    import sre_parse as parser

if TYPE_CHECKING:
    from collections.abc import Iterable

_REPEATS: Final = frozenset(
    getattr(codes, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") if hasattr(codes, name)
)
_LOOKS: Final = frozenset({codes.AT, codes.ASSERT, codes.ASSERT_NOT})
_COST_OF_CHOICE: Final = 0.5
"""What one more string to look for costs, in characters of the shortest."""

_OF_ALL: Final = 0.3
_OF_FEW: Final = 3
"""What a character that all texts hold, or few, is worth of another one."""


def find_literals(pattern: str) -> tuple[str, ...]:
    """
    Return strings of which each match of `pattern` holds one, or nothing where there are none.

    Raises:
        re.error: The pattern is not valid.
    """
    parsed: Any = parser.parse(pattern, re.MULTILINE)
    return () if parsed.state.flags & re.IGNORECASE else _best_of(_candidates(list(parsed)))


def _candidates(parts: list[Any]) -> Iterable[tuple[str, ...]]:
    run = ""
    for code, value in parts:
        plain = _plain(code, value)
        if plain:
            run += plain
            continue
        if code in _LOOKS:
            continue
        if run:
            yield (run,)
        run = ""
        yield from _inside(code, value)
    if run:
        yield (run,)


def _plain(code: Any, value: Any) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.SUBPATTERN and not value[1] & re.IGNORECASE:
        inner = [_plain(*part) for part in value[3]]
        return "".join(inner) if all(inner) else ""
    if code in _REPEATS and value[0] == value[1]:
        return value[0] * "".join(_plain(*part) for part in value[2]) if all(_plain(*p) for p in value[2]) else ""
    return ""


def _inside(code: Any, value: Any) -> Iterable[tuple[str, ...]]:
    if code is codes.SUBPATTERN and not value[1] & re.IGNORECASE:
        yield from _candidates(list(value[3]))
    elif code in _REPEATS and value[0]:
        yield from _candidates(list(value[2]))
    elif code is codes.BRANCH:
        found = [_best_of(_candidates(list(branch))) for branch in value[1]]
        if all(found):
            yield tuple(dict.fromkeys(word for words in found for word in words))


def _best_of(candidates: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return max(candidates, key=lambda words: min(map(_weigh, words)) - _COST_OF_CHOICE * (len(words) - 1), default=())


def _weigh(word: str) -> float:
    # Nearly every text holds a space or a colon, and hardly any a sign that no keyboard has.
    return sum(_OF_ALL if each in " :." else 1 if each.isascii() else _OF_FEW for each in word)
