"""Literals: JSON, and data that Python, JavaScript or Ruby print."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_JSON: Final = 65_536
"""Characters of one JSON value that are parsed."""

MAX_LITERAL: Final = 8_192
"""Characters of one value that are parsed where it is no JSON, or cut off."""

MAX_DEPTH: Final = 24
"""Values inside values that are parsed where they are no JSON."""

_MAX_STARTS: Final = 4
_START: Final = lazy_pattern(
    r"(?<![%#$])\{\s{0,64}(?:[\"']|(?<![A-Za-z] \{ )(?<![A-Za-z]\{)(?<![A-Za-z] \{\n):?[A-Za-z_$][\w$-]{0,60}(?:: |=>))"
    r"|\[\s{0,64}\{\s{0,64}[\"'A-Za-z]"
)
"""Where an object or a list of objects begins; behind a name it is a structure of Rust, behind `%` a map of Elixir."""

_TOKEN: Final = lazy_pattern(
    r"\s*(?:(?P<string>[ub]?'(?:[^'\\]|\\.)*(?:'|\\?\Z)|[ub]?\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z))|(?P<arrow>=>)"
    r"|(?P<sign>[{}\[\](),:])|(?P<object><[^<>]{1,300}>)|(?P<word>(?:[^\s{}\[\](),:'\"<>=]|(?<=[0-9]):(?=[0-9]))+|[=<>])|(?P<end>\Z))",
    re.DOTALL,
)
_ESCAPE: Final = lazy_pattern(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}
_WORDS: Final[dict[str, object]] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None, "undefined": None,
    "nil": None,
}  # fmt: skip
_NUMBER: Final = lazy_pattern(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?")

_decoder: Final = json.JSONDecoder()


class Found(NamedTuple):
    """A value inside a text, with its start and end."""

    value: object
    start: int
    end: int


def find_values(text: str) -> Iterator[Found]:
    """Yield the first few objects in `text`, decoded."""
    position = 0
    for _ in range(_MAX_STARTS):
        start = _START.search(text, position)
        if start is None:
            return
        found = parse(text, start.start())
        yield found
        position = max(found.end if found.value is not None else 0, start.end())


def parse(text: str, start: int = 0) -> Found:
    """Decode the value that begins at `start`; None where none does."""
    source = text[start : start + MAX_JSON]
    try:
        value, length = _decoder.raw_decode(source)
    except RecursionError:
        return Found(None, start, len(text))
    except ValueError:
        value, length = _Scanner(source[:MAX_LITERAL]).read()
    return Found(value, start, start + length)


class _MalformedError(Exception):
    """The text is no literal."""


class _Scanner:
    """Reads one literal; an early end of the text closes it."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._position = 0

    def read(self) -> tuple[object, int]:
        """Return the value, or None, and the number of its characters."""
        try:
            return self._read_value(self._take_token(), 0), self._position
        except _MalformedError:
            return None, 1

    def _take_token(self) -> re.Match[str]:
        token = next(_TOKEN.finditer(self._source, self._position))
        self._position = token.end()
        return token

    def _read_value(self, token: re.Match[str], depth: int) -> object:
        if depth > MAX_DEPTH:
            raise _MalformedError
        if token["string"] is not None:
            return self._join_strings(token)
        if token["sign"] in ("{", "[", "("):
            closing = {"{": "}", "[": "]", "(": ")"}[token["sign"]]
            return self._read_object(depth) if closing == "}" else self._read_items(closing, depth)
        if token["word"] is not None:
            return self._read_words(token["word"], depth)
        if token["object"] is not None:
            return token["object"]
        raise _MalformedError

    def _join_strings(self, token: re.Match[str]) -> str:
        parts = [_unquote_string(token["string"])]
        while True:
            before = self._position
            following = self._take_token()
            if following["string"] is None:
                self._position = before
                return "".join(parts)
            parts.append(_unquote_string(following["string"]))

    def _read_words(self, first: str, depth: int) -> object:
        words = [first]
        while True:
            before = self._position
            following = self._take_token()
            if following["sign"] == "(":
                return self._read_call(first, depth)
            if following["word"] is not None and following["word"] != "=":
                words.append(following["word"])
            elif following["object"] is not None:
                words.append(following["object"])
            else:
                self._position = before
                break
        word = " ".join(words)
        if word in _WORDS:
            return _WORDS[word]
        if _NUMBER.fullmatch(word):
            return float(word) if any(sign in word for sign in ".eE") else int(word)
        return word.lstrip(":")

    def _read_call(self, name: str, depth: int) -> object:
        named: dict[str, Any] = {}
        held: list[Any] = []
        while True:
            token = self._take_token()
            if token["sign"] == ")" or token["end"] is not None:
                break
            if token["word"] == "=" and held and isinstance(held[-1], str):
                named[held.pop()] = self._read_value(self._take_token(), depth + 1)
            elif token["sign"] != ",":
                held.append(self._read_value(token, depth + 1))
        if named:
            return named
        return held[0] if len(held) == 1 else f"{name}({', '.join(map(str, held))})"

    def _read_items(self, closing: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while True:
            token = self._take_token()
            if token["sign"] == closing or token["end"] is not None:
                return items
            if token["sign"] != ",":
                items.append(self._read_value(token, depth + 1))

    def _read_object(self, depth: int) -> object:
        fields: dict[str, Any] = {}
        members: list[Any] = []
        while True:
            token = self._take_token()
            if token["sign"] == "}" or token["end"] is not None:
                if members and not fields and token["sign"] is None:
                    # A set without an end is mostly no set: a brace and a quote at the end of a string.
                    raise _MalformedError
                return members if members and not fields else fields
            if token["sign"] == ",":
                continue
            name = self._read_name(token, depth)
            separator = self._take_token()
            if separator["sign"] == ":" or separator["arrow"] is not None:
                following = self._take_token()
                if following["end"] is None:
                    fields[str(name)] = self._read_value(following, depth + 1)
            elif separator["sign"] in (",", "}") or separator["end"] is not None:
                members.append(name)
                self._position = separator.start() if separator["sign"] == "}" else separator.end()
            else:
                raise _MalformedError

    def _read_name(self, token: re.Match[str], depth: int) -> object:
        if token["sign"] == ":":
            token = self._take_token()
        if token["word"] is not None:
            return token["word"]
        return self._read_value(token, depth + 1)


def _unquote_string(literal: str) -> str:
    content = literal[2:] if literal[0] in "ub" else literal[1:]
    quote = literal[1] if literal[0] in "ub" else literal[0]
    content = content[:-1] if content.endswith(quote) else content.removesuffix("\\")
    return _ESCAPE.sub(_unescape_character, content) if "\\" in content else content


def _unescape_character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(escape[4], escape[4])
