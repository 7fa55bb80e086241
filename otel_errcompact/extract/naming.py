"""Messages of wrappers that name the exception that they wrap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import details
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import replace
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts

_FORMATS: Final = frozenset({"prose", "plain", "shell", "harness", "python"})
"""Formats whose causes are messages, and no findings of a tool."""

_ENDS: Final = ("Error", "Exception", "Timeout", "Refused", "Reset", "Unavailable", "Exceeded")
"""How the names of exceptions end."""

_NAMED: Final = lazy_pattern(
    r"\b(?:fail(?:ed|ure|s)?|g[ai]ven? up|giving up|attempts?|tries|retries|retrying|exhausted|finished|stopped"
    r"|ended|crashed|aborted)\b[^\n]{0,120}?"
    r"(?P<link>[ ,;:(]{1,3}(?:with|raised|by|due to|because of|(?:last |final )?(?:error|exception)(?: was)?):?) "
    rf"(?P<type>(?:[A-Za-z_]\w{{0,60}}\.){{0,8}}[A-Z]\w{{0,60}}?(?:{'|'.join(_ENDS)}))"
    r"(?:: (?P<cause>[^\n]+)|\((?P<quote>['\"])(?P<shown>[^\n]+)(?P=quote)\)[\s.)\]>]{0,9}\Z|[\s.)\]>]{0,9}\Z)"
)
_ADVICE: Final = lazy_pattern(r"(?i)[.;,]? (?:please )?(?:try|retry)(?: again)?[.!]?\Z")
"""What a wrapper adds behind the cause."""


def read_named(facts: Facts) -> Facts:
    """
    Return the facts of the exception that a wrapper's message names.

    A wrapper stands for what failed inside, whether it keeps the exception as its cause or only says its name: both
    are one class, and what waiting helps for the one it helps for the other.
    """
    if facts.format not in _FORMATS or not has_any(facts.cause, _ENDS):
        return facts
    named = _NAMED.search(facts.cause)
    if named is None:
        return facts
    said = named["cause"] or named["shown"]
    wrapper = facts.type if facts.type[:1].isupper() else ""
    around = facts.cause[: named.start("link")]
    return replace(
        facts,
        type=named["type"],
        cause=_ADVICE.sub("", said) or said if said else facts.cause,
        key_cause="",
        wrappers=(*facts.wrappers, wrapper) if wrapper else facts.wrappers,
        details=details((*facts.details, f"raised as {wrapper}: {around}" if wrapper and said else "")),
    )
