"""Tails of templates: ids that only some occurrences have."""

from __future__ import annotations

from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

_LONGEST: Final = 160
"""Characters at the end of a template that may be a tail."""

_WORDS: Final = r"(?:[A-Za-z]{1,12}[ _-]){0,3}"
_NOUN: Final = r"(?i:request|trace|correlation|span|ref(?:erence)?|incident|support)"
_VALUE: Final = r"['\"]?[ :=#]{1,3}['\"]?<(?:id|num)>['\"]?"
_ID: Final = rf"{_WORDS}(?:[iI][dD]|[a-z]{{1,12}}I[dD]|[tp]id|{_NOUN}|[sS]ession){_VALUE}"
_ENCLOSED: Final = lazy_pattern(rf" ?[(\[]{_ID}(?:, ?{_ID}){{0,3}}[)\]](?=[.!\s]*\Z)")
_BARE: Final = lazy_pattern(
    rf"(?:(?<=[.!]) |[;,|] |(?<=\S) [-\u2013] ){_WORDS}{_NOUN}(?:[ _-]?(?:[iI][dD]|code|number))?(?: is)?{_VALUE}"
    r"[.!\s]*\Z"
)
_ENTRY: Final = lazy_pattern(
    r", ?['\"](?:[a-z]{1,12}[_-])?(?:request|trace|correlation|span)[_-]?[iI]d['\"]: ?['\"]?<id>['\"]?(?=[\]})]{1,8}\Z)"
)


def drop_tails(template: str) -> str:
    """Return a template without the ids that end it: `(tid: <id>)`."""
    if "<id>" not in template[-_LONGEST:] and "<num>" not in template[-_LONGEST:]:
        return template
    head, tail = template[:-_LONGEST], template[-_LONGEST:]
    for pattern in (_ENCLOSED, _BARE, _ENTRY):
        tail = pattern.sub("", tail, count=1)
    return (head + tail).rstrip() or template
