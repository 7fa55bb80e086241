"""The fields of an entry by their plain names, whatever lies around them."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from otel_errcompact.detector.operation.fingerprint import parse_arguments
from otel_errcompact.digest import one_line
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.window.entries import names

MAX_DEPTH: Final = 4
"""How many containers may lie around a field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    """Something that was run, and how it ended."""

    command: str = ""
    """The command line, or the arguments of a tool as JSON."""

    code: str | int | None = None
    """An error's own code: `ENOENT`, `E0382`, 404."""

    exit_code: int | None = None
    reason: str = ""
    """What went wrong, in one line."""

    duration: float | None = None
    """How long it took, in seconds."""

    status: str = ""
    """How it ended by the log: `ok`, `failed`, `cancelled` ...; if empty, the other fields decide."""

    text: str = ""
    """The whole output; what it says goes before what `reason` says."""

    tool: str = ""
    """The tool that ran it; a shell if empty."""

    time: float | None = None
    """When it ended, in seconds since the epoch; without it the order of the list counts."""


class Field(NamedTuple):
    """A field of an entry, and how deep it lies."""

    path: str
    value: object
    depth: int


@dataclass(slots=True)
class Entry:
    """The fields of an entry by their plain names, the outermost first."""

    index: int
    found: dict[str, list[Field]] = field(default_factory=dict[str, "list[Field]"])
    words: frozenset[str] = frozenset()
    kind: str = ""
    ending: frozenset[str] = frozenset()
    """The last words of the kinds."""

    talks: bool = False
    """Whether it is a message, a thought or the like."""
    strict: bool = True
    """Whether it is a result for sure, so that a field that is not what it must be is an error."""

    def all_fields(self, plain_names: Iterable[str]) -> Iterator[tuple[str, Field]]:
        """Yield each field that has one of some plain names, by name and then outermost first."""
        for name in plain_names:
            for found in self.found.get(name, ()):
                yield name, found

    def refuse_value(self, path: str, value: object, wanted: str) -> None:
        """Raise that a field is not what it must be, where the entry is a result for sure."""
        if self.strict:
            where = f".{path}" if path else ""
            shown = one_line(repr(value), 80)
            raise ConfigurationError(f"events[{self.index}]{where} must be {wanted}, and is {shown}")


def split_entry(event: Mapping[object, object]) -> Iterator[Mapping[object, object]]:
    """Yield an event, or the calls and results of which the message that it is consists."""
    message = event.get("message")
    inner = cast("Mapping[object, object]", message) if isinstance(message, Mapping) else event
    parts: list[object] = []
    for name in ("content", "tool_calls", "parts"):
        value = inner.get(name)
        parts += [] if not isinstance(value, list) else cast("list[object]", value)
    found = [
        cast("Mapping[object, object]", part)
        for part in parts
        if isinstance(part, Mapping)
        and (plain_name(cast("Mapping[str, object]", part).get("type")) in names.PARTS or "function" in part)
    ]
    times = {name: value for name, value in event.items() if plain_name(name) in names.TIMES}
    yield from ({**times, **part} for part in found)
    if not found:
        yield event


def parse_entry(event: Mapping[object, object], index: int) -> Entry:
    """Collect the fields of an event, at the top and in its containers."""
    entry = Entry(index)
    waiting: deque[tuple[str, Mapping[object, object], int]] = deque([("", event, 0)])
    while waiting:
        path, mapping, depth = waiting.popleft()
        for name, given in mapping.items():
            plain = plain_name(name)
            # Event stores keep what a container holds as JSON in a text.
            value = parse_arguments(given) if plain in names.CONTAINERS and isinstance(given, str) else given
            if not plain or value is None:
                continue
            where = f"{path}.{name}" if path else str(name)
            entry.found.setdefault(plain, []).append(Field(where, value, depth))
            if isinstance(value, Mapping) and plain in names.CONTAINERS and depth < MAX_DEPTH:
                waiting.append((where, cast("Mapping[object, object]", value), depth + 1))
    kinds = [found.value for _, found in entry.all_fields(names.KINDS) if _is_kind(found.value)]
    words = [[word.lower() for word in names.WORD.findall(str(kind))] for kind in kinds]
    entry.kind = str(kinds[0]) if kinds else ""
    entry.words = frozenset(word for group in words for word in group)
    entry.ending = frozenset(group[-1] for group in words if group)
    entry.talks = bool(entry.words & names.TALK) and not entry.words & names.DOING
    names_what_ran = not names.WHAT_RAN.isdisjoint(entry.found)
    entry.strict = not entry.talks and (names_what_ran or not entry.kind or bool(entry.words & names.DOING))
    return entry


def plain_name(name: object) -> str:
    """Return a name without case and separators."""
    return re.sub(r"[^a-z0-9]", "", name[:80].lower()) if isinstance(name, str) else ""


def _is_kind(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[\w.:/ -]{1,80}", value) is not None


def as_json(arguments: Mapping[str, object]) -> str:
    """Return arguments as JSON; empty if there are none."""
    return json.dumps(arguments, default=repr, ensure_ascii=False, skipkeys=True) if arguments else ""
