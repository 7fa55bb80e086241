"""Refusals of too long requests that are known by their words or codes, and those that an application adds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NUMBER: Final = "[0-9](?:[0-9,_]{0,14}[0-9])?"
_GROUP: Final = lazy_pattern("<([a-z]+)>")

UNNAMED: Final = "unknown"
"""The provider of a refusal that does not say whose it is."""


class Refusal(NamedTuple):
    """One form in which a request is refused for its length."""

    provider: str
    pattern: re.Pattern[str]
    """With groups for what is told: `limit` and `sent`."""


def _make_refusal(words: str, provider: str = UNNAMED) -> Refusal:
    pattern = _GROUP.sub(lambda group: f"(?P<{group[1]}>{_NUMBER})", words)
    return Refusal(provider, lazy_pattern(pattern, re.IGNORECASE | re.ASCII))


REFUSALS: Final = (
    _make_refusal("max tokens of <limit> exceeded"),  # https://github.com/posit-dev/positron/issues/11737
    # The answer is given what the prompt leaves: less than nothing. https://github.com/cuga-project/cuga-agent/issues/439
    _make_refusal("max_(?:completion_)?tokens must be at least 1, got -"),
    # What OpenAI's SDK says of an answer that is empty, as Cerebras and Mistral give it:
    # https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts
    _make_refusal(r"\b400 (?:status code )?\(no body\)"),
)
"""What no general rule reads: no words of a context stand in it."""

# https://github.com/continuedev/continue/issues/10218
TOO_LARGE_FOR_RATE: Final = _make_refusal(
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
    r"|higher (?:\w+ )?limit|insufficient[ _](?:balance|funds)|enqueued|batch size",
    re.IGNORECASE | re.ASCII,
)
"""Words of a limit over time, of money or of a batch; a shorter context would not help for long."""

OTHER_STATUS: Final = frozenset({402, 404, 408, 409, 429, 529})
"""
Status codes that never mean the length of the context; limits per minute name counts of tokens too.

401 and 403 are not among them: https://github.com/MoonshotAI/kimi-code/pull/2655 and
https://github.com/zed-industries/zed/issues/62362.
"""

MAX_REGISTERED: Final = 1_000
"""How many forms an application may add; beyond, the oldest is forgotten."""

_registered: Final = BoundedTable[str, Refusal](MAX_REGISTERED)


def register(words: str, *, provider: str = "registered") -> Callable[[], None]:
    """
    Add a form of refusal, for every guard of this process.

    It is tried before all others, and counts whatever the status of the answer is.

    Args:
        words: A regular expression, case ignored, for a text whose white space is single spaces. `<limit>` and `<sent>`
            stand for the numbers of tokens that are told.
        provider: Whose words they are.

    Returns:
        What takes the form out again.

    Raises:
        ConfigurationError: It is no regular expression, matches anything, or names another number.
    """
    form = _check_form(words, provider)
    _registered.put(words, form)

    def take_out() -> None:
        if _registered.get(words) is form:
            _registered.pop(words)

    return take_out


def registered_forms() -> tuple[Refusal, ...]:
    """Return the forms that the application has added."""
    return tuple(_registered.entries.copy().values())


def make_forms(texts: Iterable[str]) -> tuple[Refusal, ...]:
    """
    Return the forms that an option adds.

    Raises:
        ConfigurationError: One is no regular expression, matches anything, or names another number.
    """
    return tuple(_check_form(words, "registered") for words in texts)


def _check_form(words: str, provider: str) -> Refusal:
    others = sorted(set(_GROUP.findall(words)) - {"limit", "sent"})
    if "(?P<" in words or others:
        raise ConfigurationError(
            f"the refusal {words!r} names {', '.join(others) or 'a group of its own'}: "
            "write <limit> or <sent> where a number of tokens stands"
        )
    form = _make_refusal(words, provider)
    try:
        matches_anything = form.pattern.search("") is not None
    except re.error as error:
        raise ConfigurationError(f"the refusal {words!r} is no regular expression: {error}") from error
    if matches_anything:
        raise ConfigurationError(f"the refusal {words!r} matches any text: write words that only this refusal has")
    return form
