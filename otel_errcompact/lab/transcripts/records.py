"""Fields of JSON records; malformed ones are reported with their place."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePath
from typing import Final, TypeAlias, TypeGuard

from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact.runtime.lazy import lazy_pattern


class TranscriptError(ErrcompactError, ValueError):
    """A recorded run cannot be read."""

    def __init__(self, path: str, line: int, problem: str) -> None:
        place = f"{path}:{line}" if line else path
        super().__init__(f"{place}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem


OnProblem: TypeAlias = Callable[[TranscriptError], None]
"""Takes each malformed file, line or field."""

Value: TypeAlias = "tuple[object, Place]"
"""A JSON value of a transcript file (one a line, or the whole document), and where it stands."""

_TIME: Final = lazy_pattern(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(?:Z|([+-])(\d\d):?(\d\d))?", re.ASCII
)
_NUMBER: Final = lazy_pattern(r"-?\d{1,20}", re.ASCII)
_LARGEST: Final = sys.float_info.max
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN: Final = 40
"""How much of a wrong value a message shows."""


# One `Place` and one `Record` are made for each JSON object that is read. So they are not frozen, which takes three
# times as long, and the way to a field is put into words only for a message.


@dataclass(slots=True)
class Place:
    """A place in a transcript file, for messages."""

    path: str

    line: int
    """The line, from 1; 0 where the file is one document of many lines."""

    report: OnProblem

    outer: Place | None = None
    """The place of the object or list that holds this value; None for a line's or document's value."""

    key: str | int = ""
    """The name of this part, or its index."""

    @property
    def stem(self) -> str:
        """The file's bare name, which names runs without a name."""
        return PurePath(self.path).stem

    @property
    def field(self) -> str:
        """The way from the line's or document's value to here, as `message.content[2].is_error`."""
        if self.outer is None:
            return ""
        if isinstance(self.key, int):
            return f"{self.outer.field}[{self.key}]"
        name = self.key if self.key.isprintable() else ascii(self.key)
        return f"{self.outer.field}.{name}".removeprefix(".")

    def inner(self, key: str | int) -> Place:
        """Return the place of a field or element of this value."""
        return Place(self.path, self.line, self.report, self, key)

    def problem(self, message: str) -> None:
        """Report that this value is malformed."""
        self.report(TranscriptError(self.path, self.line, f"{self.field} {message}".lstrip()))


@dataclass(slots=True)
class Record:
    """
    A JSON object and its place; each method reads one field.

    What is missing or null reads as empty; what has the wrong type is reported and reads as empty.
    """

    fields: Mapping[str, object]
    place: Place

    def text(self, key: str) -> str:
        """Return a text."""
        value = self.fields.get(key)
        if value is None or isinstance(value, str):
            return value or ""
        self._refuse(key, "a text")
        return ""

    def label(self, key: str) -> str:
        """Return a name that may be written as a number."""
        value = self.fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(key)

    def flag(self, key: str) -> bool | None:
        """Return true, false or, if the field is empty, nothing."""
        value = self.fields.get(key)
        if value is None or isinstance(value, bool):
            return value
        self._refuse(key, "true or false")
        return None

    def lenient_flag(self, key: str) -> bool | None:
        """Return a flag that may be 1 or 0; else None."""
        value = self.fields.get(key)
        return bool(value) if isinstance(value, (bool, int, float)) and value in (0, 1) else None

    def integer(self, key: str, *, minimum: int = -(2**63), maximum: int = 2**63 - 1) -> int | None:
        """
        Return a whole number of 64 bits.

        It may be written as text, as JSON writers do with large ones.
        """
        value = self.fields.get(key)
        number = int(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value
        if number is None:
            return None
        if isinstance(number, int) and not isinstance(number, bool) and minimum <= number <= maximum:
            return number
        self._refuse(key, f"a whole number from {minimum} to {maximum}")
        return None

    def number(self, key: str) -> float | None:
        """Return a number."""
        value = self.fields.get(key)
        if value is None:
            return None
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LARGEST:
            return float(value)
        self._refuse(key, "a number")
        return None

    def time(self, key: str) -> int | None:
        """Return an ISO 8601 time in nanoseconds; UTC without a zone."""
        text = self.text(key)
        time_ns = parse_time(text)
        if text and time_ns is None:
            self._refuse(key, "a time such as 2026-01-31T12:00:00Z")
        return time_ns

    def unix_time(self, key: str, unit_ns: int) -> int | None:
        """Return a Unix time of another unit in nanoseconds."""
        number = self.number(key)
        if number is None or not 0 <= number < 2**63 // unit_ns:
            return None
        return int(number) * unit_ns + int(number % 1 * unit_ns)

    def prose(self, key: str) -> str:
        """Return a message's content: a text, or the texts of its parts."""
        if not isinstance(self.fields.get(key), list):
            return self.text(key)
        return "\n".join(part.text("text") for part in self.children(key) if "text" in part.fields)

    def json(self, key: str) -> str:
        """Return any value as JSON; a text as it is."""
        value = self.fields.get(key)
        if value is None or isinstance(value, str):
            return value or ""
        return as_json(value, self.place.inner(key))

    def first(self, *keys: str) -> str:
        """Return the first text that is not empty."""
        return next((text for key in keys if (text := self.text(key))), "")

    def first_json(self, *keys: str) -> str:
        """Return the first field that is there as JSON."""
        return next((self.json(key) for key in keys if key in self.fields), "")

    def child(self, key: str) -> Record:
        """Return an object."""
        value = self.fields.get(key)
        if value is not None and not is_object(value):
            self._refuse(key, "an object")
        return Record(fields_of(value), self.place.inner(key))

    def children(self, key: str) -> Iterator[Record]:
        """Return the objects of a list."""
        return records(self.items(key), self.place.inner(key))

    def items(self, key: str) -> list[object]:
        """Return a list as it is."""
        value = self.fields.get(key)
        if value is not None and not is_list(value):
            self._refuse(key, "a list")
        return items_of(value)

    def _refuse(self, key: str, wanted: str) -> None:
        self.place.inner(key).problem(f"must be {wanted}, not {_show_value(self.fields.get(key))}; it is ignored")


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Tell whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Tell whether a JSON value is a list."""
    return isinstance(value, list)


def fields_of(value: object) -> Mapping[str, object]:
    """Return the fields of a JSON object; anything else has none."""
    return value if is_object(value) else {}


def items_of(value: object) -> list[object]:
    """Return the elements of a JSON list; anything else has none."""
    return value if is_list(value) else []


def kind_of(value: object) -> str:
    """Return the `type` of a JSON object; empty for anything else."""
    kind = fields_of(value).get("type")
    return kind if isinstance(kind, str) else ""


def record(value: object, place: Place) -> Record | None:
    """Return a value as a record, or report that it is none."""
    if is_object(value):
        return Record(value, place)
    place.problem(f"must be an object, not {_show_value(value)}; it is ignored")
    return None


def documents(values: Iterable[Value]) -> Iterator[Record]:
    """Return the objects among the values of a file; report the others."""
    for value, place in values:
        found = record(value, place)
        if found is not None:
            yield found


def records(values: list[object], place: Place) -> Iterator[Record]:
    """Return the objects among the elements of a list; report the others."""
    for index, value in enumerate(values):
        found = record(value, place.inner(index))
        if found is not None:
            yield found


def conversations_in(value: object, place: Place, *, is_message: Callable[[object], bool]) -> Iterator[Record]:
    """Return the conversations of a value, whether one or a list."""
    items = items_of(value)
    if any(is_message(item) for item in items[:1]):
        yield Record({"messages": items}, place)
    elif is_list(value):
        yield from records(items, place)
    else:
        conversation = record(value, place)
        if conversation is not None:
            yield conversation


def as_json(value: object, place: Place) -> str:
    """Render a value as compact JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        place.problem("nests too deeply; it is ignored")
        return ""


def parse_time(text: str) -> int | None:
    """
    Parse an ISO 8601 time to nanoseconds since the epoch.

    Return None for any other text, and for times before 1970 or after 2262.
    """
    # `datetime` has no nanoseconds.
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    date, clock, fraction, sign, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{clock}+00:00")
    except ValueError:
        return None
    offset = timedelta(hours=int(hours), minutes=int(minutes)) if sign else timedelta()
    elapsed = moment - _EPOCH + (offset if sign == "-" else -offset)
    time_ns = (elapsed.days * 86_400 + elapsed.seconds) * 1_000_000_000 + int((fraction or "").ljust(9, "0"))
    return time_ns if 0 <= time_ns < 2**63 else None


def _show_value(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    shown = json.dumps(value[:_SHOWN] if isinstance(value, str) else value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
