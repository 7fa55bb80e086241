"""What a line of any output is: content, or only around it."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Final

from otel_errcompact.extract.evidence import forms
from otel_errcompact.extract.statements import is_telling, strip_timestamp
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

_MAX_LOOKED_AT: Final = 400
"""Characters of a line that tell what it is."""

_COLUMNS: Final = 3
"""Bars in a row of a table; a line of code has one behind its number."""

_REMEMBERED: Final = 512
"""Lines whose kind is remembered: the cause is chosen and evidence found in the same text."""

_MARKS_OF_ECHO: Final = ("+ ", "> ")
_MAX_HEADING: Final = 120
_PASSING: Final = lazy_pattern(r"\b(?:for|of|from|the|all) failed (?=[a-z])|\b[0-9]{1,9} out of [0-9]")
"""What a report of progress names or counts: no word of its own."""

_LETTER: Final = lazy_pattern(r"[^\W_]")
_TIME: Final = lazy_pattern(r"[0-9TZ:.,/+-]{5,40}$")
"""A line of a log without words."""


class Kind(IntEnum):
    """What a line is; only kinds behind `TRAILER` state a failure."""

    BLANK = 0
    RULE = 1
    FRAME = 2
    PROGRESS = 3
    SUCCESS = 4
    INFORMATION = 5
    BOILERPLATE = 6
    SOURCE = 7
    TRAILER = 8
    HEADING = 9
    OTHER = 10
    WARNING = 11
    TELLING = 12


def kind_of(line: str) -> Kind:
    """Return what a line is, by its own words alone."""
    return _kind_of(line.strip()[:_MAX_LOOKED_AT])


@lru_cache(maxsize=_REMEMBERED)
def _kind_of(line: str) -> Kind:
    if _LETTER.search(line) is None:
        return Kind.RULE if line else Kind.BLANK
    line = strip_timestamp(line)
    if line[:1] in "n#" and (repeated := forms.REPEATED.match(line)):
        line = line[repeated.end() :]
    if line.startswith("$ ") or (line[:2] in _MARKS_OF_ECHO and forms.ECHO.match(line)):
        return Kind.PROGRESS
    if not line[:1].isalpha():
        if (_TIME.match(line) and ":" in line) or (forms.BANNER.match(line) and not is_telling(line)):
            return Kind.RULE
        if forms.SOURCE.match(line) and line.count("|") < _COLUMNS:
            return Kind.SOURCE
        gutter = forms.GUTTER.match(line)
        line = line[gutter.end() :] if gutter is not None else line
    lowered = line.lower()
    return _kind_by_beginning(line, lowered) or _kind_by_words(line, lowered)


def is_content(line: str) -> bool:
    """Tell whether a line is more than what surrounds a failure."""
    return kind_of(line) > Kind.TRAILER


def _kind_by_beginning(line: str, lowered: str) -> Kind | None:
    if (forms.SIGN_OF_FRAME.search(line) or has_any(line, forms.WORDS_OF_FRAMES)) and forms.FRAME.match(lowered):
        return Kind.FRAME
    if forms.BOILERPLATE.match(lowered):
        return Kind.BOILERPLATE
    level = forms.LEVEL.match(line) if has_any(lowered, forms.WORDS_OF_LEVEL) else None
    if level is None:
        return None
    return Kind.WARNING if level[level.lastgroup or 0][:1] in "wW" else Kind.INFORMATION


def _kind_by_words(line: str, lowered: str) -> Kind:
    is_progress = _is_progress(line, lowered)
    told = forms.NIL_COUNT.sub("", lowered) if has_any(lowered, forms.WORDS_OF_NIL) else lowered
    telling = is_telling(_PASSING.sub("", _strip_names(told)) if is_progress else told)
    if not telling:
        if has_any(lowered, forms.WORDS_OF_SUCCESS) and _is_success(lowered):
            return Kind.SUCCESS
        if is_progress or told != lowered:
            return Kind.PROGRESS if is_progress else Kind.SUCCESS
    if line.endswith(":") and len(line) <= _MAX_HEADING:
        return Kind.HEADING
    if has_any(lowered, forms.WORDS_OF_TRAILERS) and _is_trailer(lowered):
        return Kind.TRAILER
    if not telling:
        return Kind.OTHER
    return Kind.WARNING if forms.RECOVERED.search(lowered) else Kind.TELLING


def _is_success(lowered: str) -> bool:
    return forms.SUCCESS.match(lowered) is not None or forms.SUCCEEDED.search(lowered) is not None


def _is_trailer(lowered: str) -> bool:
    if forms.TRAILER.match(lowered):
        return True
    return has_any(lowered, forms.WORDS_OF_STATUS) and forms.EXITED.match(lowered) is not None


def _is_progress(line: str, lowered: str) -> bool:
    if forms.PROGRESS.match(lowered) or (has_any(line, forms.SIGNS_OF_BARS) and forms.BAR.search(line)):
        return True
    found = forms.GERUND.match(lowered) if "ing" in lowered else None
    return found is not None and found["verb"] not in forms.NO_PROGRESS


def _strip_names(line: str) -> str:
    return " ".join(["" if forms.IN_NAME.search(word) else word for word in line.split(" ")])
