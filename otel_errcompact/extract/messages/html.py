"""Error pages: what a reader would see of them, without scripts and styles."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.entities import unescape
from otel_errcompact.extract.statements import is_telling
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKERS: Final = ("<html", "<HTML", "<!doctype html", "<!DOCTYPE html", "<!DOCTYPE HTML")

MAX_TAGS: Final = 4_000
"""Tags of a page that are looked at."""

_HIDDEN: Final = frozenset({"script", "style", "svg", "noscript"})
_INLINE: Final = frozenset({"a", "b", "i", "em", "strong", "code", "span", "small", "u", "font", "abbr", "time"})
_TAG_NAME: Final = lazy_pattern(r"/?([A-Za-z][A-Za-z0-9]{0,20})")
_MIN_WORDS: Final = 4
"""Words of a sentence; what has fewer is a label."""

_WORD: Final = lazy_pattern(r"[\w-]+")
_WORDS_OF_REASON: Final = 2
"""Words that the name of an HTTP status has: `bad gateway`."""

_MAX_TITLE: Final = 500
_HEADING: Final = frozenset({"title", "h1"})


def page_start(text: str) -> int:
    """Return where the HTML page begins that `text` holds in its first line, or -1 if it holds none there."""
    line = text.partition("\n")[0]
    return min((start for start in map(line.find, MARKERS) if start >= 0), default=-1)


def read_page(page: str) -> tuple[str, tuple[str, ...]]:
    """
    Return what an error page says.

    The title or else the first heading, and the sentences and further headings that tell of a failure; without any, the
    first sentence there is. What repeats the title is left out, also where a sentence begins with it.
    """
    blocks = dict.fromkeys(_list_visible_texts(page))
    headings = [text for tag, text in blocks if tag in _HEADING]
    title = headings[0] if headings else ""
    sentences = [text for tag, text in blocks if tag not in _HEADING and len(text.split()) >= _MIN_WORDS]
    further = [text for text in (*sentences, *headings[1:]) if not _is_said(text, title)]
    telling = [_strip_lead(text, title) for before, text in pairwise(("", *further)) if _is_reason(before, text)]
    return title, tuple(dict.fromkeys(telling or further[:1]))


def _is_reason(before: str, text: str) -> bool:
    # Behind a sentence that states a failure may stand its reason, in a sentence too.
    return is_telling(text[:_MAX_TITLE]) or (text.endswith(".") and is_telling(before[:_MAX_TITLE]))


def _is_said(text: str, title: str) -> bool:
    # Tell whether all words of `text` stand in the title already, or are those of a label.
    return set(_list_words(text)) <= {*_list_words(title), "error", "code", "http", "status"}


def _strip_lead(sentence: str, title: str) -> str:
    # Take off the part of a sentence before a colon that says no more than the title does.
    lead, colon, rest = sentence.partition(": ")
    said = {word for word in _list_words(title) if word.isalpha()}
    return (
        rest if colon and said and len(said & set(_list_words(lead))) >= min(len(said), _WORDS_OF_REASON) else sentence
    )


def _list_words(text: str) -> list[str]:
    return _WORD.findall(text[:_MAX_TITLE].lower())


def _list_visible_texts(page: str) -> Iterator[tuple[str, str]]:
    tag, parts = "", [""]
    hidden = ""
    for number, chunk in enumerate(page.split("<", MAX_TAGS)):
        name = _read_tag_name(chunk) if number else ""
        if hidden:
            hidden = "" if chunk.startswith("/") and name == hidden else hidden
            continue
        if name in _HIDDEN and not chunk.startswith("/"):
            hidden = name
        if name not in _INLINE:
            yield from _build_block(tag, parts)
            tag, parts = ("" if chunk.startswith("/") else name), []
        if not hidden:
            parts.append(chunk.partition(">")[2] if number else "")
    yield from _build_block(tag, parts)


def _read_tag_name(chunk: str) -> str:
    found = _TAG_NAME.match(chunk)
    return found[1].lower() if found else "!"


def _build_block(tag: str, parts: list[str]) -> Iterator[tuple[str, str]]:
    text = " ".join(unescape(" ".join(parts)).split())
    if text:
        yield tag, text
