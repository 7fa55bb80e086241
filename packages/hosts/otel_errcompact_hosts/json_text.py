"""
Change JSON files and keep all else byte for byte.

Settings files are written by hand: with an order, an indentation and, where their program allows it, comments and
trailing commas. What is added here can be removed again so that the text is what it was.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Path = tuple[str | int, ...]
"""Keys of objects and indexes of arrays, from the root."""

Edit = tuple[int, int, str]
"""From where to where a text is replaced, by what."""

MAX_DEPTH: Final = 100

_BLANK: Final = lazy_pattern(r"(?:\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_INDENT: Final = lazy_pattern(r"[ \t]*")


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value in its text."""

    start: int
    end: int
    value: object
    members: tuple[Member, ...] = ()
    """Of an object, or of an array; a key that stands twice is there twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of an object, or an element of an array."""

    start: int
    """Where its key begins, or the element."""

    key: str | int
    node: Node

    @property
    def end(self) -> int:
        """Where its value ends."""
        return self.node.end


class JsonText:
    """
    A JSON text that can be changed, with comments and trailing commas.

    Every change returns a new object.

    Args:
        text: The text; one that is blank is an empty object.
        name: What errors call it, such as the path of the file.

    Raises:
        ConfigurationError: It is no JSON.
    """

    def __init__(self, text: str, name: str = "the text") -> None:
        self.text: Final = text
        self._name = name
        self.root: Final = _Parser(text, name).parse()

    def find(self, path: Path) -> Node | None:
        """Return what stands at a path; None if nothing does."""
        node = self.root
        for key in path:
            # Programs take the last of two members with the same key.
            found = [member.node for member in node.members if member.key == key]
            if not found:
                return None
            node = found[-1]
        return node

    def get(self, path: Path) -> object:
        """Return the value at a path; None if nothing stands there."""
        node = self.find(path)
        return None if node is None else node.value

    def set(self, path: Path, value: object) -> JsonText:
        """
        Write a value to a path, in place or added last.

        Objects on the way that are missing are made.
        """
        node = self.find(path)
        if node is not None:
            return self.edit([(node.start, node.end, self._render_value(value, self._line_indent(node.start)))])
        depth = next(depth for depth in range(len(path) - 1, -1, -1) if self.find(path[:depth]) is not None)
        parent = self.find(path[:depth])
        if parent is None or not isinstance(parent.value, dict):
            raise ConfigurationError(f"{self._name}: {_spell_path(path[:depth])} is no object")
        for key in reversed(path[depth + 1 :]):
            value = {key: value}
        return self._add_member(parent, value, f"{json.dumps(path[depth], ensure_ascii=False)}: ")

    def append(self, path: Path, value: object) -> JsonText:
        """Add an element to the end of an array, made if missing."""
        node = self.find(path)
        if node is None:
            return self.set(path, [value])
        if not isinstance(node.value, list):
            raise ConfigurationError(f"{self._name}: {_spell_path(path)} is no array")
        return self._add_member(node, value)

    def remove(self, path: Path) -> JsonText:
        """
        Take out what stands at a path, with its comma.

        What `set` or `append` has added goes without a trace.
        """
        parent = self.find(path[:-1])
        members = parent.members if parent is not None else ()
        places = [place for place, member in enumerate(members) if member.key == path[-1]]
        if parent is None or not places:
            return self
        place = places[-1]
        member = members[place]
        if place:  # with the comma before it
            return self.edit([(members[place - 1].end, member.end, "")])
        if len(members) > 1:
            return self.edit([(member.start, members[1].start, "")])
        if self.text[parent.start + 1 : member.start].strip() or self.text[member.end : parent.end - 1].strip():
            end = member.end + (self.text[member.end : parent.end].lstrip().startswith(","))
            return self.edit([(member.start, end, "")])
        if member.start == parent.start + 1:
            return self.edit([(member.start, member.end, "")])
        return self.edit([(parent.start + 1, parent.end - 1, "")])

    def edit(self, edits: Iterable[Edit]) -> JsonText:
        """Replace parts of the text that do not overlap."""
        text = self.text
        for start, end, new in sorted(edits, reverse=True):
            text = f"{text[:start]}{new}{text[end:]}"
        return JsonText(text, self._name)

    def _add_member(self, parent: Node, value: object, key: str = "") -> JsonText:
        text, newline = self.text, self._newline
        if not parent.members:
            inside = text[parent.start + 1 : parent.end - 1]
            if parent.end == parent.start:  # a blank text
                rendered = f"{{{newline}  {key}{self._render_value(value, '  ')}{newline}}}{newline}"
                return self.edit([(parent.start, parent.end, rendered)])
            outer = self._line_indent(parent.start)
            if inside or not self._spread:
                rendered = f"{key}{self._render_value(value, outer)}"
            else:
                inner = outer + self._unit
                rendered = f"{newline}{inner}{key}{self._render_value(value, inner)}{newline}{outer}"
            return self.edit([(parent.start + 1, parent.start + 1, rendered)])
        last = parent.members[-1]
        if newline not in text[parent.start : parent.members[0].start]:
            rendered = f", {key}{self._render_value(value, self._line_indent(last.start))}"
        else:
            indent = self._line_indent(parent.members[0].start)
            rendered = f",{newline}{indent}{key}{self._render_value(value, indent)}"
        return self.edit([(last.end, last.end, rendered)])

    def _render_value(self, value: object, indent: str) -> str:
        unit = self._unit if self._spread else None
        rendered = json.dumps(value, indent=unit, ensure_ascii=False)
        return rendered.replace("\n", self._newline + indent)

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _spread(self) -> bool:
        # whether members stand on lines of their own
        root = self.root
        return not root.members or "\n" in self.text[root.start : root.members[0].start]

    @property
    def _unit(self) -> str:
        root = self.root
        if not root.members or not self._spread:
            return "  "
        return self._line_indent(root.members[0].start) or "  "

    def _line_indent(self, place: int) -> str:
        begin = self.text.rfind("\n", 0, place) + 1
        return _INDENT.match(self.text, begin, place)[0]  # type: ignore[index]  # it matches nothing as well


def _spell_path(path: Sequence[str | int]) -> str:
    return " > ".join(map(str, path)) or "the whole"


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._place = 1 if text.startswith("\ufeff") else 0

    def parse(self) -> Node:
        self._skip_blank()
        if self._place == len(self._text):
            return Node(start=self._place, end=self._place, value={})
        node = self._read_value(0)
        self._skip_blank()
        if self._place < len(self._text):
            raise self._expect("the end of the file")
        return node

    def _read_value(self, depth: int) -> Node:
        start = self._place
        if depth > MAX_DEPTH:
            raise self._expect(f"no more than {MAX_DEPTH} levels")
        closing = {"{": "}", "[": "]"}.get(self._text[start : start + 1])
        if closing is None:
            value = self._read_scalar("a value")
            return Node(start=start, end=self._place, value=value)
        members = self._read_members(closing, depth)
        values = [member.node.value for member in members]
        value = values if closing == "]" else dict(zip((member.key for member in members), values, strict=True))
        return Node(start=start, end=self._place, value=value, members=members)

    def _read_members(self, closing: str, depth: int) -> tuple[Member, ...]:
        self._place += 1
        members: list[Member] = []
        while True:
            self._skip_blank()
            if self._take_character(closing):
                return tuple(members)
            start = self._place
            key = self._read_key() if closing == "}" else len(members)
            members.append(Member(start=start, key=key, node=self._read_value(depth + 1)))
            self._skip_blank()
            if self._take_character(","):
                continue
            if self._take_character(closing):
                return tuple(members)
            raise self._expect(f"',' or '{closing}'")

    def _read_key(self) -> str:
        wanted = "a key in double quotes, or '}'"
        if not self._text.startswith('"', self._place):
            raise self._expect(wanted)
        key = self._read_scalar(wanted)
        self._skip_blank()
        if not self._take_character(":"):
            raise self._expect("':'")
        self._skip_blank()
        return str(key)

    def _read_scalar(self, wanted: str) -> object:
        try:
            value, self._place = _DECODER.raw_decode(self._text, self._place)
        except ValueError as error:
            raise self._expect("a string without unknown escapes" if "escape" in str(error) else wanted) from None
        return value

    def _take_character(self, character: str) -> bool:
        if not self._text.startswith(character, self._place):
            return False
        self._place += 1
        return True

    def _skip_blank(self) -> None:
        found = _BLANK.match(self._text, self._place)
        self._place = found.end() if found is not None else self._place

    def _expect(self, expected: str) -> ConfigurationError:
        line = self._text.count("\n", 0, self._place) + 1
        column = self._place - self._text.rfind("\n", 0, self._place)
        return ConfigurationError(f"{self._name} is no JSON: line {line}, column {column}: {expected} was expected")
