"""Refusals of too long requests that are known by their words or codes, and those that an option adds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

_NUMBER: Final = "[0-9](?:[0-9,_]{0,14}[0-9])?"
_GROUP: Final = lazy_pattern("<([a-z]+)>")


def _compile_form(words: str) -> re.Pattern[str]:
    return lazy_pattern(_GROUP.sub(rf"(?P<\1>{_NUMBER})", words), re.IGNORECASE | re.ASCII)


REFUSALS: Final = (
    _compile_form("max tokens of <limit> exceeded"),  # https://github.com/posit-dev/positron/issues/11737
    # The answer is given what the prompt leaves: less than nothing. https://github.com/cuga-project/cuga-agent/issues/439
    _compile_form("max_(?:completion_)?tokens must be at least 1, got -"),
    # OpenAI's SDK says it when the body of an error is empty, as Cerebras and Mistral send it:
    # https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts
    _compile_form(r"\b400 (?:status code )?\(no body\)"),
)
"""What no general rule reads: no words of a context stand in it."""

# https://github.com/continuedev/continue/issues/10218
TOO_LARGE_FOR_RATE: Final = _compile_form(
    r"(?:request|prompt|input|messages?)\b[^\n.]{0,20}? too (?:large|long|big)\b[^\n]{0,200}?"
    r"(?:per[ _-](?:min|hour|day)|\bTP[MD]\b)(?:[^\n]{0,40}?limit:? <limit>, requested:? <sent>)?"
)
"""One request that is larger than what may be sent in a minute is refused for its length, however long one waits."""

CODES: Final = frozenset(
    {
        "ERROR_LIMIT",  # Cohere's first API
        "OutofContextError",  # Volcengine
        "model_length",  # Mistral
    }
)
"""Codes, and reasons for stopping, that mean nothing else, beside those that say so in words."""

OTHER_LIMITS: Final = lazy_pattern(
    r"\b(?:per|this|each|every|last|past)[ _-](?:[0-9]+ )?(?:sec|min|hour|day|month)|\btoday\b|tokens?_per_|\bTP[MD]\b"
    r"|rate[ _-]?limit|too many requests|quota|throttl|resource_exhausted|credit|billing|please wait before"
    r"|higher (?:\w+ )?limit|insufficient[ _](?:balance|funds)|enqueued|batch size|content_filter\b|moderation",
    re.IGNORECASE | re.ASCII,
)
"""Words of a limit over time, of money or of a batch, or of a filter; a shorter context would not help for long."""

OTHER_STATUS: Final = frozenset({402, 404, 408, 409, 429, 529})
"""
Status codes that never mean the length of the context; limits per minute name counts of tokens too.

401 and 403 are not among them: https://github.com/MoonshotAI/kimi-code/pull/2655 and
https://github.com/zed-industries/zed/issues/62362.
"""


def make_forms(texts: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """
    Return the forms that an option adds.

    Args:
        texts: Regular expressions, case ignored, for a text whose white space is single spaces. `<limit>` and `<sent>`
            stand for the numbers of tokens in it.

    Raises:
        ConfigurationError: One is no regular expression, matches anything, or names another number.
    """
    return tuple(map(_check_form, texts))


def _check_form(words: str) -> re.Pattern[str]:
    others = sorted(set(_GROUP.findall(words)) - {"limit", "sent"})
    if "(?P<" in words or others:
        raise ConfigurationError(
            f"the refusal {words!r} names {', '.join(others) or 'a group of its own'}: "
            "write <limit> or <sent> where a number of tokens stands"
        )
    form = _compile_form(words)
    try:
        matches_anything = form.search("") is not None
    except re.error as error:
        raise ConfigurationError(f"the refusal {words!r} is no regular expression: {error}") from error
    if matches_anything:
        raise ConfigurationError(f"the refusal {words!r} matches any text: write words that only this refusal has")
    return form
