"""
Take secrets out of texts before they leave the process.

The finders know secrets by the name in front, by the issuer's form, by the place, by the head of a column, and keys of
several lines. They read the text as it is, and again without escapes and without invisible characters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.redaction.assigned import find_assigned
from otel_errcompact.redaction.blocks import find_blocks
from otel_errcompact.redaction.columns import find_in_columns
from otel_errcompact.redaction.found import MARK, Found, replace_found
from otel_errcompact.redaction.issued import find_issued
from otel_errcompact.redaction.names import find_stems
from otel_errcompact.redaction.places import find_placed
from otel_errcompact.redaction.views import (
    GAP,
    MAX_DEPTH,
    is_rest,
    view_without_escapes,
    view_without_unseen,
    view_without_wraps,
)
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.redaction.views import View


def redact(text: str) -> str:
    """Return `text` with `[REDACTED:<kind>]` in place of each secret."""
    return _redact_short(text) if len(text) <= MAX_REMEMBERED_CHARACTERS else _redact_text(text)


def _redact_text(text: str) -> str:
    # What was found may have hidden something: the head of a table, a line that was the longest.
    left = MAX_PASSES if text else 0
    while left and (found := _find_secrets(text)):
        text = replace_found(text, found)
        left -= 1
    return text


MAX_PASSES: Final = 4
"""How often a text that holds secrets is read."""

MAX_REMEMBERED: Final = 256
"""Texts that are remembered: a failure's text is redacted for its facts, for the agent and for the page."""

MAX_REMEMBERED_CHARACTERS: Final = 2_048
"""Characters of a text that is remembered."""

_redact_short: Final = lru_cache(maxsize=MAX_REMEMBERED)(_redact_text)


def _find_secrets(text: str) -> list[Found]:
    # Most texts are short and hold nothing: here no function is called before a quick look at the text.
    is_ascii = text.isascii()
    view = view_without_unseen(text) if not is_ascii or "\x1b" in text else None
    found = _find_in(text, is_ascii=is_ascii) if view is None else _find_in_view(view)
    wrapped = view_without_wraps(text) if "\n" in text else None
    if wrapped is not None:
        found += _find_over_breaks(text, wrapped, found)
    if "\\" in text or "%" in text or "&" in text or "=\n" in text or "=\r" in text:
        for _ in range(MAX_DEPTH):
            view = view_without_escapes(text if view is None else view.text, view)
            if view is None:
                break
            found += _find_in_view(view)
    if not found:
        return found
    found = [_read_to_quote(text, one) for one in found if not _holds_mark(text, one)]
    return [*found, *_find_again(text, found)]


def _find_in_view(view: View) -> list[Found]:
    found = _find_in(view.text, is_ascii=False)
    return [Found(view.locate(start), view.locate(end), kind) for start, end, kind in found]


def _find_over_breaks(text: str, view: View, found: list[Found]) -> list[Found]:
    # A secret at the end of the widest line is mostly whole: what follows must look like the rest of it.
    ends = {one.end for one in found}
    over: list[Found] = []
    for one in _find_in_view(view):
        gap = GAP.search(text, one.start, one.end)
        name = _NAME.match(text, gap.end()) if gap is not None else None
        is_whole = gap is not None and gap.start() in ends and not is_rest(text, gap.end())
        if not is_whole and name is None:
            over.append(one)
    return over


_NAME: Final = lazy_pattern(r"[\w.-]{1,40}(?:[=:][\w/\"']|: )")


def _read_to_quote(text: str, found: Found) -> Found:
    # A quote inside a quoted secret does not end it, nor does one that a shell or SQL is told to read as a sign.
    opened = text[found.start - 1 : found.start]
    if opened not in _TO_QUOTE or text[found.end : found.end + 1] not in _TO_QUOTE:
        return found
    rest = _TO_QUOTE[opened].match(text, found.end)
    return found if rest is None else found._replace(end=rest.end())


_TO_QUOTE: Final = {
    "'": lazy_pattern(r"[^'\n ]{0,128}(?:'(?:\"'\"'|\\''|')[^'\n ]{1,128}){0,4}(?=')"),
    '"': lazy_pattern(r'[^"\n ]{0,128}(?:"(?:\'"\'"|")[^"\n ]{1,128}){0,4}(?=")'),
}


def _holds_mark(text: str, found: Found) -> bool:
    # What a mark has replaced already, in whole or in part.
    opened = text.rfind(MARK, max(0, found.start - MAX_MARK), found.end)
    mark = _WHOLE_MARK.match(text, opened) if opened >= 0 else None
    return mark is not None and mark.end() > found.start


def _find_again(text: str, found: list[Found]) -> Iterator[Found]:
    # What is a secret where its name stands is one everywhere else: "login with hunter2 failed".
    kinds = {text[start:end]: kind for start, end, kind in found[:MAX_REPEATED]}
    for secret, kind in kinds.items():
        if len(secret) < MIN_REPEATED or secret.replace(" ", "").isalpha():
            continue
        at = text.find(secret)
        while at >= 0:
            yield Found(at, at + len(secret), kind)
            at = text.find(secret, at + len(secret))


def _find_in(text: str, *, is_ascii: bool) -> list[Found]:
    lower = text.lower()
    if not is_ascii and len(lower) != len(text):  # "İ" has two letters in lower case
        lower = text.translate(_LOWER)
    found = find_issued(text)
    if "PRIVATE KEY" in text or "Private-" in text or "Static key" in text:
        found += find_blocks(text)
    stems = find_stems(lower)
    found += find_placed(text, lower, stems)
    return [*found, *find_assigned(text, lower, stems), *find_in_columns(text, lower, stems)] if stems else found


MIN_REPEATED: Final = 6
"""Characters of a secret that is replaced wherever it stands; shorter ones are parts of other words."""

MAX_REPEATED: Final = 32
"""Secrets of one text that are looked for everywhere in it."""

MAX_MARK: Final = 32
"""Characters of the longest `[REDACTED:<kind>]`."""

_WHOLE_MARK: Final = lazy_pattern(r"\[REDACTED:\w{1,20}\]")
"""What hides a secret; a text that only begins like one must not keep what follows readable."""

_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
