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

_LETTER: Final = lazy_pattern(r"[^\W_]")


class Kind(IntEnum):
    """What a line is; only kinds behind `TRAILER` state a failure."""

    AROUND = 0
    """Blank lines and rules, progress, success and records of logs that are no error."""

    FRAME = 1
    SOURCE = 2
    TRAILER = 3
    OTHER = 4
    WARNING = 5
    TELLING = 6


def kind_of(line: str) -> Kind:
    """Return what a line is, by its own words alone."""
    return _kind_of(line.strip()[:_MAX_LOOKED_AT])


@lru_cache(maxsize=_REMEMBERED)
def _kind_of(line: str) -> Kind:
    if _LETTER.search(line) is None or line.startswith("$ "):
        return Kind.AROUND
    line = strip_timestamp(line)
    if (repeated := forms.REPEATED.match(line)) is not None:
        line = line[repeated.end() :]
    if not line[:1].isalpha():
        if forms.BANNER.match(line) and not is_telling(line):
            return Kind.AROUND
        if forms.SOURCE.match(line) and line.count("|") < _COLUMNS:
            return Kind.SOURCE
        gutter = forms.GUTTER.match(line)
        line = line[gutter.end() :] if gutter is not None else line
    lowered = line.lower()
    if (forms.SIGN_OF_FRAME.search(line) or has_any(line, forms.WORDS_OF_FRAMES)) and forms.FRAME.match(lowered):
        return Kind.FRAME
    level = forms.LEVEL.match(line) if has_any(lowered, forms.WORDS_OF_LEVEL) else None
    if level is not None:
        return Kind.WARNING if level[level.lastgroup or 0][:1] in "wW" else Kind.AROUND
    return Kind.AROUND if forms.BOILERPLATE.match(lowered) else _kind_by_words(line, lowered)


def is_content(line: str) -> bool:
    """Tell whether a line is more than what surrounds a failure."""
    return kind_of(line) > Kind.TRAILER


def _kind_by_words(line: str, lowered: str) -> Kind:
    told = forms.NIL_COUNT.sub("", lowered) if has_any(lowered, forms.WORDS_OF_NIL) else lowered
    telling = is_telling(told)
    if not telling and (told != lowered or _is_success(lowered) or _is_progress(line, lowered)):
        return Kind.AROUND
    if has_any(lowered, forms.WORDS_OF_TRAILERS) and _is_trailer(lowered):
        return Kind.TRAILER
    # A line that announces another one tells nothing by itself.
    return Kind.TELLING if telling and not lowered.endswith(":") else Kind.OTHER


def _is_success(lowered: str) -> bool:
    return has_any(lowered, forms.WORDS_OF_SUCCESS) and forms.SUCCESS.match(lowered) is not None


def is_closing(lowered: str) -> bool:
    """Tell whether a line in small letters only says that something failed."""
    return forms.TRAILER.match(forms.SEVERITY.sub("", lowered)) is not None


def _is_trailer(lowered: str) -> bool:
    if is_closing(lowered):
        return True
    return has_any(lowered, forms.WORDS_OF_STATUS) and forms.EXITED.match(lowered) is not None


def _is_progress(line: str, lowered: str) -> bool:
    if forms.PROGRESS.match(lowered) or (has_any(line, forms.SIGNS_OF_BARS) and forms.BAR.search(line)):
        return True
    found = forms.GERUND.match(lowered) if "ing" in lowered else None
    return found is not None and found["verb"] not in forms.NO_PROGRESS
