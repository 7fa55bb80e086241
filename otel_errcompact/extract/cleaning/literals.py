"""Read values as Python and JavaScript print them."""

from __future__ import annotations

import re
import sys
from typing import Any, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

MAX_DEPTH: Final = 12
"""Values inside values that are read."""

_STRING: Final = lazy_pattern(
    r"(?P<kind>[bBuUrRfF]{0,2})(?:'(?P<single>[^'\\\n]*(?:\\.[^'\\\n]*)*)'|\"(?P<double>[^\"\\\n]*(?:\\.[^\"\\\n]*)*)\""
    r"|`(?P<template>[^`\\]*(?:\\.[^`\\]*)*)`)",
    re.DOTALL,
)
_FURTHER: Final = lazy_pattern(r"\s*(?:\+\s*)?(?=[bBuUrRfF]{0,2}['\"`])")
_BLANKS: Final = lazy_pattern(r"[\s,]*")
_PAIRS: Final = lazy_pattern(r"[a-z_]\w{0,60}=")
_KEY: Final = lazy_pattern(r"([A-Za-z_$][\w$]{0,120})\s*[=:]\s*")
_COLON: Final = lazy_pattern(r"\s*(?::|=>)\s*")
_CALL: Final = lazy_pattern(r"([A-Za-z_$][\w.$]{0,120})\s?\(")
_WORD: Final = lazy_pattern(r"<[^<>\n]{0,400}>|[\w.$+-]{1,200}")
_ESCAPE: Final = lazy_pattern(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "v": "", "a": "", "\n": ""}
_CONSTANTS: Final = {"True": True, "true": True, "False": False, "false": False}
_MAX_DIGITS: Final = 19
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}


class Call(NamedTuple):
    """An object as it prints itself: `TextContent(type='text', text='boom')`."""

    name: str
    positional: list[Any]
    fields: dict[str, Any]


class NotRead(ValueError):  # noqa: N818 - no failure: the text is simply no value
    """A text is no value, or holds more than one."""


def read_literal(text: str) -> object:
    """
    Return the value that the whole of `text` prints.

    Strings, numbers, lists, objects and calls are read, also `name=value` pairs beside each other, as pydantic prints
    a model; they become a call without a name. What is none of these inside a value becomes nothing.

    Raises:
        NotRead: The text is no value.
    """
    reader = _Reader(text)
    value = Call("", *reader.read_items("", 0)) if _PAIRS.match(text) else reader.read_value(0)
    if not reader.is_at_end():
        raise NotRead
    return value


class _Reader:
    """Read one value after the other, each character once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def is_at_end(self) -> bool:
        self._take_match(_BLANKS)
        return self._at == len(self._text)

    def read_value(self, depth: int) -> object:
        """Return the value that begins here."""
        self._take_match(_BLANKS)
        if depth > MAX_DEPTH:
            raise NotRead
        string = self._take_match(_STRING)
        if string is not None:
            return self._read_string(string)
        if (opening := self._text[self._at : self._at + 1]) in _CLOSING:
            return self._read_container(opening, depth)
        call = self._take_match(_CALL)
        if call is not None:
            return Call(call[1], *self.read_items(")", depth + 1))
        word = self._take_match(_WORD)
        if word is None:
            raise NotRead
        return _value_of(word[0])

    def read_items(self, closing: str, depth: int) -> tuple[list[Any], dict[str, Any]]:
        """Return the values up to a closing bracket, named ones apart."""
        values: list[Any] = []
        fields: dict[str, Any] = {}
        while True:
            self._take_match(_BLANKS)
            if self._text[self._at : self._at + 1] == closing:
                self._at += len(closing)
                return values, fields
            name = self._take_match(_KEY)
            if name is not None:
                fields[name[1]] = self.read_value(depth)
                continue
            value = self.read_value(depth)
            if isinstance(value, str) and self._take_match(_COLON):
                fields[value] = self.read_value(depth)
            else:
                values.append(value)

    def _read_container(self, opening: str, depth: int) -> object:
        self._at += 1
        values, fields = self.read_items(_CLOSING[opening], depth + 1)
        if opening == "{":
            return fields
        return values[0] if opening == "(" and len(values) == 1 else values

    def _read_string(self, first: re.Match[str]) -> str:
        parts = [_unescape_string(first)]
        while self._take_match(_FURTHER):
            further = self._take_match(_STRING)
            if further is None:
                raise NotRead
            parts.append(_unescape_string(further))
        return "".join(parts)

    def _take_match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found


def _value_of(word: str) -> object:
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    return int(word) if word.lstrip("-").isdecimal() and len(word) < _MAX_DIGITS else None


def _unescape_string(found: re.Match[str]) -> str:
    text = next(part for part in found.groups()[1:] if part is not None)
    kind = found["kind"].lower()
    if "\\" not in text or "r" in kind:
        return text
    if "b" in kind:
        return _ESCAPE.sub(_unescape_one, text).encode("latin-1", "replace").decode("utf-8", "replace")
    text = _ESCAPE.sub(_unescape_one, text)
    # JSON spells a character beyond the first plane as two surrogates; a lone one is no character.
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape_one(found: re.Match[str]) -> str:
    short, medium, long, octal, other = found.groups()
    if other is not None:
        return _ESCAPED.get(other, other)
    number = int(octal, 8) if octal is not None else int(short or medium or long, 16)
    return chr(number) if number <= sys.maxunicode else "\ufffd"
