"""Names in a text, and which of them a model will need."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.memory.archive import find_text
from otel_errcompact_context.memory.markers import marker_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from otel_errcompact_context.memory.archive import Archive
    from otel_errcompact_context.messages import Message, Part

    FindNames: TypeAlias = Callable[[str], dict[str, None]]

_WORD: Final = lazy_pattern(
    r"""
    [A-Za-z]:\\[^\s"'`<>|,;*?]+                     # a path of Windows, or
    | (?<![^\s\\"'`<>()\[\]{},;|*$→])                # from its beginning on a word
      (?=[^\W\d_]*(?:[\d_/@]|[a-z][A-Z]|[A-Z]{3}|[.:=~#&/-]+\w))  # that is not letters alone, as most are,
      (?:[^\s\\"'`<>()\[\]{},;|*$→]|(?<=[0-9]),(?=[0-9]{3}(?![0-9]))){3,400}  # with the commas of a number
      (?![^\s\\"'`<>()\[\]{},;|*$→]|["'][ ]?:)       # and no name of a field
    """,
    re.VERBOSE,
)
_BEFORE: Final = "-:!?=&#^"
_AFTER: Final = "-.:!?=&#~^/"
_FIELDS: Final = lazy_pattern(r"=|(?<=[A-Za-z_]):(?!\\)|:(?![0-9\\])")
"""What stands between a field and its value, and not inside a time or an address with its port."""

_NAME: Final = lazy_pattern(
    r"""
    (?=.{3,100}\Z)(?:
      [^\W\d_]*(?:[A-Z]{3}|[a-z][A-Z])\w*           # capitals, or several words in one
    | (?![0-9.,]+[a-z]{1,2}\Z)                      # letters and digits, four of them: no size or unit
      (?=\D*[0-9])(?=[^a-zA-Z]*[a-zA-Z]).{4,}
    | (?:[^a-zA-Z0-9]*[0-9]){4}[^a-zA-Z]*           # a number that is not guessed
    | .*(?:\w@\w|[^\W_]_[^\W_]|\w/\w|[\w-]{2}\.[A-Za-z]\Z|(?:[\w-]|\A)\.[A-Za-z][A-Za-z0-9]{1,5}\Z).*
    )\Z
    """,
    re.VERBOSE | re.DOTALL,
)


_ESCAPED: Final = lazy_pattern(r"(?<!\\)\\[nrt]|\x1b\[[0-9;]*m")
"""The end of a line in a string of JSON, but in no path of Windows there, and a colour of a terminal."""


def split_text(text: str) -> list[str]:
    """Return the pieces between blanks; no name reaches beyond its own."""
    if text[:1] in ("{", "[") or '\\"' in text or "\x1b[" in text:
        text = _ESCAPED.sub(" ", text)
    # A blank behind a quote would part the name of a field from its colon.
    return text.replace('" :', '":').replace("' :", "':").split()


def names_in(piece: str) -> dict[str, None]:
    """
    Return the names in a piece without blanks, in order.

    A name is a path, an address, an id, an identifier or a long number: by its form alone, in any language. Of
    `--flag=/a/b` it is the value.
    """
    trimmed = (part.lstrip(_BEFORE).rstrip(_AFTER) for word in _WORD.findall(piece) for part in _split_fields(word))
    return {name: None for name in trimmed if _NAME.match(name) is not None}


def _split_fields(word: str) -> Sequence[str]:
    return _FIELDS.split(word) if "://" not in word and (":" in word or "=" in word) else (word,)


MAX_TEXT: Final = 40_000
"""Characters of one text that are searched, half of them at each end: what is longer is data."""

MAX_NAMES: Final = 4_000
"""Names that are ranked; the index has room for a tenth of that."""

_TEXTS: Final = 4_096
_PIECES: Final = 32_768
"""Texts, and pieces of texts, whose names are remembered."""

MAX_REMEMBERED: Final = 4_000
"""Characters of a text that is remembered at most."""

T = TypeVar("T")


def make_finder() -> FindNames:
    """Return what finds the names in a text, and remembers them."""
    judge = remember_short(_PIECES, names_in)

    def find_names(text: str) -> dict[str, None]:
        if len(text) > MAX_TEXT:
            text = f"{text[: MAX_TEXT // 2]} {text[-MAX_TEXT // 2 :]}"
        found: dict[str, None] = {}
        for piece in dict.fromkeys(split_text(text)):
            if names := judge(piece):
                found.update(names)
        return found

    return remember_short(_TEXTS, find_names)


def remember_short(texts: int, read: Callable[..., T]) -> Callable[..., T]:
    """Return what remembers what was read of short texts."""
    remember = lru_cache(texts)(read)

    def read_once(*args: Any, **named: Any) -> T:
        # A long text would outlive its message.
        is_long = any(isinstance(one, str) and len(one) > MAX_REMEMBERED for one in (*args, *named.values()))
        return read(*args, **named) if is_long else remember(*args, **named)

    cast("Any", read_once).cache_info = remember.cache_info
    return read_once


_LOGGED: Final = lazy_pattern(r"[0-9]{2}:[0-9]{2}:[0-9]{2}")

_DATE: Final = lazy_pattern(r"[0-9]+(?:[-./][0-9]+){2,}\Z")
"""A date, an address or a version."""

_USED_TWICE: Final = 2
"""Uses beyond these say no more."""

_LONG_NAME: Final = 16
"""Characters from which on a name cannot be guessed at all ..."""

_COSTLY_NAME: Final = 28
"""... and from which on it costs what several others do."""


class NameUse:
    """The names of a list, and how each is used."""

    def __init__(
        self, messages: Sequence[Message], archive: Archive | None = None, find_names: FindNames | None = None
    ) -> None:
        self._archive = archive
        self._find_names = find_names or make_finder()
        self.names: dict[str, None] = {}
        """In order."""
        self.calls, self.said, self.results = Counter[str](), Counter[str](), Counter[str]()
        """In how many calls, texts of anybody, and results each name stands."""
        for message in messages:
            for part in message.parts:
                if part.kind != "other" and part.text:
                    names = self.names_of(part)
                    self.names.update(names)
                    {"call": self.calls, "result": self.results}.get(part.kind, self.said).update(names.keys())

    def names_of(self, part: Part) -> dict[str, None]:
        """Return the names of a part; of a cut result those of its whole."""
        text = part.text
        if "[errcompact " in text and (mark := marker_of(text)) is not None:
            archive = self._archive if part.kind == "result" else None
            whole = find_text(archive, mark.place) if archive is not None else None
            text = text.replace(mark.place, "") if whole is None else whole
        return self._find_names(text)

    def find_names(self, messages: Iterable[Message]) -> set[str]:
        """Return the names in other messages, whose use is not counted."""
        return {name for message in messages for part in message.parts if part.text for name in self.names_of(part)}

    def rank_names(self, names: Iterable[str]) -> list[str]:
        """Return names, those first that will most likely be needed."""
        return sorted(names, key=self._score_name, reverse=True)[:MAX_NAMES]

    def _score_name(self, name: str) -> float:
        # The points were chosen on recorded runs (`make bench-context`). A name that one result holds is an answer to
        # something; one that all hold is a word of the trade. Ids and long names come first, since nobody can make
        # them up; numbers alone and times to the second last, since results and logs are full of them.
        size = len(name)
        score = 0.0 + min(self.calls[name], _USED_TWICE) + min(self.said[name], _USED_TWICE)
        score += 2.0 / max(self.results[name], 1) + 2.0 * min(size / _LONG_NAME, 1.0) - (size > _COSTLY_NAME)
        if _LOGGED.search(name):
            return score - 2.0
        if "/" in name or "@" in name:
            return score + 0.5
        if name.isalpha():
            return score - 0.5
        if _DATE.match(name):
            return score - 1.0
        has_letter = any(map(str.isalpha, name))
        return score + (2.0 if has_letter and any(map(str.isdigit, name)) else 0.0 if has_letter else -2.0)
