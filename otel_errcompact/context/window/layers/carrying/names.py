"""Names in a text: what a model cannot make up."""

from __future__ import annotations

import re
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

MAX_NAME: Final = 100
"""Characters of a name; what is longer is data, and lies in the archive."""

_LEAST_NAME: Final = 3
_LEAST_ID: Final = 4
"""Characters of letters and digits from which on they are an id and no size or unit."""

_LEAST_NUMBER: Final = 4
"""Digits from which on a number is not guessed."""

_WORD: Final = lazy_pattern(
    r"""
    [A-Za-z]:\\[^\s"'`<>|,;*?]+                     # a path of Windows, or
    | (?<![^\s\\"'`<>()\[\]{},;|*$])                # from its beginning on a word
      (?=[^\W\d_]*(?:[\d_/@]|[a-z][A-Z]|[A-Z]{3}|[.:=~#&/-]+\w))  # that is not letters alone, as most are,
      [^\s\\"'`<>()\[\]{},;|*$]{3,}
      (?![^\s\\"'`<>()\[\]{},;|*$]|["'][ ]?:)       # and no name of a field
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
    | (?=\D*[0-9])(?=[^a-zA-Z]*[a-zA-Z]).{4,}       # letters and digits
    | (?:[^a-zA-Z0-9]*[0-9]){4}[^a-zA-Z]*           # a long number
    | .*(?:\w@\w|[^\W_]_[^\W_]|\w/\w|[\w-]{2}\.[A-Za-z]\Z|(?:[\w-]|\A)\.[A-Za-z][A-Za-z0-9]{1,5}\Z).*
    )\Z
    """,
    re.VERBOSE | re.DOTALL,
)


def find_words(text: str) -> list[str]:
    """Return the words that may hold names, in linear time."""
    return _WORD.findall(text)


def names_in(word: str) -> list[str]:
    """
    Return the names that a word without blanks holds.

    A name is a path, an address, an id, an identifier or a long number: by its form alone, in any language. Of
    `--flag=/a/b` it is the value.
    """
    pieces = (word,) if "://" in word else _FIELDS.split(word) if ":" in word or "=" in word else (word,)
    trimmed = (piece.lstrip(_BEFORE).rstrip(_AFTER) for piece in pieces)
    return [name for name in trimmed if _NAME.match(name) is not None]
