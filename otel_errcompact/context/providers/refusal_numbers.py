"""The limit in a refusal, and what was counted against it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable


class Numbers(NamedTuple):
    """What a refusal tells in tokens, beyond doubt."""

    limit: int | None
    """The window; an unknown one is better than a guessed one."""

    sent: int | None
    """What was counted, where it is told and more than the limit."""


UNKNOWN: Final = Numbers(None, None)


def read_numbers(text: str) -> Numbers | None:
    """
    Return the numbers of a refusal.

    None where the answer alone is longer than the window: no context is short enough for it.
    """
    numbers = _read(text)
    if numbers.limit is not None and any(number >= numbers.limit for number in _numbers(_ANSWER.finditer(text))):
        return None
    return numbers


def read_number(digits: str) -> int:
    """Return a number that was written with or without separators."""
    return int(digits.replace(",", "").replace("_", ""))


def compile_words(*parts: str) -> re.Pattern[str]:
    """Return the pattern that the parts are together, whatever the case."""
    return lazy_pattern("".join(parts), re.IGNORECASE)


def _read(text: str) -> Numbers:
    added = _SUM.search(text)
    if added is not None:
        limit = read_number(added["limit"])
        sent = read_number(added["input"]) + read_number(added["answer"])
        return Numbers(limit, sent) if sent > limit else UNKNOWN
    for match in (found for one in _BOTH for found in one.finditer(text)):
        limit, sent = read_number(match["limit"]), read_number(match["sent"])
        if sent > limit:
            return Numbers(limit, sent)
    told = next((found for one in _LIMITS if (found := one.search(text)) is not None), None)
    if told is None:
        return UNKNOWN
    limit = read_number(told["limit"])
    return Numbers(limit, next((number for number in _numbers(_TOKENS.finditer(text)) if number > limit), None))


def _numbers(matches: Iterable[re.Match[str]]) -> Iterable[int]:
    return (read_number(match[str(match.lastgroup)]) for match in matches)


# At least two digits; no part of a name, a version or a date.
_NUMBER: Final = r"(?<![\w.\-])[0-9](?:[0-9,_]{0,14}[0-9])(?![\w%]|\.[0-9])"
_OTHER_UNIT: Final = (
    r"(?! ?(?:bytes?|characters?|chars|[kmg]i?b\b|ms\b|seconds?|messages?|items?|images?|pages|pixels|requests?))"
)
_N: Final = f"{_NUMBER}{_OTHER_UNIT}"
# Between a limit's name and its number stands no verb of what was sent, and no unit but tokens.
_GAP: Final = r"(?:(?!prompt=|\b(?:has|have|needs?|contains|requested|bytes|char)|\b[kmg]i?b\b)[^;.0-9]){0,40}?"
_MORE: Final = (
    r"(?:exceed(?:s|ed|ing)?|(?:longer|larger|greater|more|higher) than|\bover\b|beyond|above|>=?|超过|超出|大于)"
)

_SUM: Final = compile_words(rf"(?P<input>{_NUMBER}) ?\+? ?(?P<answer>{_NUMBER}) ?>=? ?(?P<limit>{_NUMBER})")
# What was counted, and then the limit.
_BOTH: Final = (
    compile_words(rf"(?P<sent>{_NUMBER})[^.;0-9]{{0,60}}?{_MORE}", rf"[^;0-9]{{0,80}}?(?<!by )(?P<limit>{_N})"),
    compile_words(rf"(?P<sent>{_NUMBER})\)? (?:must|should) (?:not )?be [^.;0-9]{{0,60}}?(?P<limit>{_N})"),
    compile_words(rf"\((?P<sent>{_NUMBER}) ?/ ?(?P<limit>{_N})\)"),
)
# In order: the surer first.
_LIMITS: Final = (
    compile_words(rf"\[ ?[0-9]+ ?, ?(?P<limit>{_NUMBER}) ?\]"),
    compile_words(
        r"(?:context[ _-]?(?:window|length|size)|n_ctx|max_(?:model|seq)_len)(?:[ _](?:size|length|limit))?",
        rf"(?: is| of)?\W{{1,4}}(?P<limit>{_N})",
    ),
    compile_words(
        rf"(?:\blimit\b|\bmax(?:imum)?(?:\b|_)|allowed|context[ _-]?(?:window|length|size)|n_ctx){_GAP}",
        rf"(?: (?:of|for) (?:model )?[\w./:\-]{{1,60}})?{_GAP}(?<!by )(?P<limit>{_N})",
    ),
    compile_words(rf"(?P<limit>{_NUMBER})[- ]tokens? (?:context|limit|maximum|max\b|window)"),
    compile_words(
        r"(?:supports?|at most|up to|exceed\b|(?:less|fewer|no more|longer|greater|larger|more) than|<=?",
        r"|最大|上限|限制)",
        rf"{_GAP}(?P<limit>{_N})",
    ),
)
_TOKENS: Final = compile_words(rf"(?P<sent>{_N})")
_ANSWER: Final = compile_words(
    rf"(?P<before>{_NUMBER}) (?:`?max_\w*tokens|(?:output|completion) tokens|tokens for the completion",
    r"|(?:in|for) the (?:output|completion))",
    r"|max_(?!total_|input_|prompt_)(?:\w+_)?tokens`?'?(?: (?:is|of|value))?(?: too large)?",
    rf"\W{{1,6}}(?P<after>{_NUMBER})",
)
