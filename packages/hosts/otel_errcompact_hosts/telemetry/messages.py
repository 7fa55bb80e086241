"""
Read messages of OTLP, in protobuf or JSON, within one bound.

A field that is not in the table costs its count and no object; what is in it becomes plain dictionaries, with the
names of JSON. So a small request that unpacks to much is refused before objects are made of it.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from otel_errcompact.digest import encodable
from otel_errcompact_hosts.ports.edge import TOO_LARGE
from otel_errcompact_hosts.telemetry.bodies import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Found = dict[str, Any]
    Source = bytes | memoryview | Found

MAX_FIELDS: Final = 200_000
"""Fields of a request at most, at all levels; each costs a microsecond and a hundred bytes."""

MAX_DEPTH: Final = 40
"""Levels of messages that are read; what lies deeper is left out. A value in a list is two."""

MAX_TEXT: Final = 262_144
"""Bytes of one text, in JSON its characters; of a longer one begin and end are read."""

MAX_JSON: Final = 4 * 1_048_576
"""Bytes of a request in JSON, which has to be read at once."""

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED: Final = {_FIXED64: 8, _FIXED32: 4}
_LAST_SHIFT: Final = 63
_SIGN: Final = 1 << 63

_ENUMS: Final = {"STATUS_CODE_ERROR": 2, "SPAN_KIND_SERVER": 2}
"""The names of values that are looked at; protobuf writes them to JSON."""


class Kind(NamedTuple):
    """What a field holds that is no message."""

    wire: int
    """How protobuf writes it."""

    json: tuple[type, ...]
    """What it is in JSON."""

    read: Callable[[Any], Any]
    """Makes its value of either: of a number or a view of bytes, or of what stands in JSON."""


class Field(NamedTuple):
    """A field of a message."""

    name: str
    kind: Kind | Schema
    many: bool = False


class Schema:
    """
    The fields of a message that are read.

    Args:
        fields: By their numbers.
        make: Makes a value of the message; None to keep its fields.
    """

    wire: Final = _LENGTH
    json: Final = (dict,)

    def __init__(self, fields: Mapping[int, Field], make: Callable[[Found], Any] | None = None) -> None:
        self.make: Final = make
        self.tags: Final[dict[int, Field]] = {}
        self.names: Final[dict[str, Field]] = {}
        self.add(fields)

    def add(self, fields: Mapping[int, Field]) -> None:
        """Add fields, such as those that lead back to this message."""
        self.tags.update({number << 3 | field.kind.wire: field for number, field in fields.items()})
        self.names.update({field.name.lower(): field for field in fields.values()})


class Reader:
    """Reads the messages of one request."""

    def __init__(self) -> None:
        self._left = MAX_FIELDS

    def read(self, source: Source, schema: Schema, found: Found | None = None, depth: int = 0) -> Any:
        """
        Return a message, added to what an earlier piece had.

        Raises:
            RequestError: There are too many fields.
            ValueError: It is no such message.
        """
        found = {} if found is None else found
        for field, value in _list_json(source, schema) if isinstance(source, dict) else self._list_wire(source, schema):
            name, kind, many = field
            if isinstance(kind, Kind):
                try:
                    made = kind.read(value)
                except (OverflowError, ValueError) as error:
                    raise ValueError(f"{name} is {str(value)[:40]!r}, which it cannot be") from error
            elif depth < MAX_DEPTH:
                made = self.read(value, kind, None if many or kind.make else found.get(name), depth + 1)
            else:
                continue
            if many:
                found.setdefault(name, []).append(made)
            else:
                found[name] = made
        return schema.make(found) if schema.make else found

    def _list_wire(self, source: bytes | memoryview, schema: Schema) -> Iterator[tuple[Field, Any]]:
        data, at, end = memoryview(source), 0, len(source)
        while at < end:
            self._left -= 1
            if self._left < 0:
                raise RequestError(TOO_LARGE, f"the request has more than {MAX_FIELDS} fields; send smaller batches")
            tag, at = _read_varint(data, at)
            wire = tag & 7
            value: int | memoryview
            if wire == _VARINT:
                value, at = _read_varint(data, at)
            else:
                size, at = _read_varint(data, at) if wire == _LENGTH else (_FIXED.get(wire, -1), at)
                if size < 0:
                    raise ValueError(f"a field of the wire type {wire}, which OTLP has not")
                value, at = data[at : at + size], at + size
                if at > end:
                    raise ValueError("a field is longer than its message")
            if field := schema.tags.get(tag):
                yield field, value


def parse_json(body: bytes) -> Found:
    """
    Return a request in JSON, to be read.

    Raises:
        RequestError: It may have too many fields, or is too long.
        ValueError: It is no JSON, or no object.
    """
    if len(body) > MAX_JSON:
        raise RequestError(TOO_LARGE, f"the body is longer than {MAX_JSON} bytes of JSON; send smaller batches")
    # What stands in texts is counted too: that is as fast as memory, and texts have few of these.
    if sum(map(body.count, (b"{", b"[", b","))) > MAX_FIELDS:
        raise RequestError(TOO_LARGE, f"the body has more than {MAX_FIELDS} parts; send smaller batches")
    try:
        content: object = json.loads(body)
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error
    if not isinstance(content, dict):
        raise ValueError("a request is an object")  # noqa: TRY004 - of the sender's, not ours
    return cast("Found", content)


def _list_json(content: Found, schema: Schema) -> Iterator[tuple[Field, Any]]:
    for name, value in content.items():
        field = schema.names.get(name.replace("_", "").lower())
        if field is None or value is None:
            continue
        values: list[object] = value if field.many else [value]
        if isinstance(value, list) != field.many or not all(isinstance(each, field.kind.json) for each in values):
            raise ValueError(f"{name} is of another type")
        for each in values:
            yield field, each


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift <= _LAST_SHIFT:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follows
            return value, at
        shift += 7
    raise ValueError("a number without an end")


def cut_text(text: str, limit: int = MAX_TEXT) -> str:
    """Return begin and end of a text that is too long."""
    head = limit // 3
    return text if len(text) <= limit else f"{text[:head]}\n{text[-2 * head :]}"


def _read_text(value: memoryview | str) -> str:
    if isinstance(value, str):
        return encodable(cut_text(value))
    head = MAX_TEXT // 3
    data = value if len(value) <= MAX_TEXT else b"\n".join((value[:head], value[-2 * head :]))
    return str(data, "utf-8", "replace")


def _read_id(value: memoryview | str) -> int:
    return int.from_bytes((bytes.fromhex(value) if isinstance(value, str) else value)[:16], "big")


def _read_number(value: float | str) -> int:
    if isinstance(value, str) and not value.lstrip("-").isdecimal():
        return _ENUMS.get(value, 0)
    number = int(value)
    return number - 2 * _SIGN if number >= _SIGN else number


def _read_time(value: memoryview | float | str) -> int:
    return int.from_bytes(value, "little") if isinstance(value, memoryview) else int(value)


def _read_double(value: memoryview | float | str) -> float:
    found: float = struct.unpack("<d", value)[0] if isinstance(value, memoryview) else float(value)
    return found


def _read_bytes(value: memoryview | str) -> bytes | str:
    return bytes(value) if isinstance(value, memoryview) else encodable(cut_text(value))


def _keep(value: memoryview | Found) -> bytes | Found:
    return bytes(value) if isinstance(value, memoryview) else value


_NUMBERS: Final = (int, float, str)
_TEXT: Final = Kind(_LENGTH, (str,), _read_text)
_BYTES: Final = Kind(_LENGTH, (str,), _read_bytes)
_ID: Final = Kind(_LENGTH, (str,), _read_id)
_FLAG: Final = Kind(_VARINT, (bool,), bool)
_NUMBER: Final = Kind(_VARINT, _NUMBERS, _read_number)
_TIME: Final = Kind(_FIXED64, _NUMBERS, _read_time)
_DOUBLE: Final = Kind(_FIXED64, _NUMBERS, _read_double)
_LATER: Final = Kind(_LENGTH, (dict,), _keep)

_VALUE: Final = Schema(
    {
        1: Field("stringValue", _TEXT),
        2: Field("boolValue", _FLAG),
        3: Field("intValue", _NUMBER),
        4: Field("doubleValue", _DOUBLE),
        7: Field("bytesValue", _BYTES),
    },
    lambda found: next(iter(found.values()), None),
)
_PAIR: Final = Schema(
    {1: Field("key", _TEXT), 2: Field("value", _VALUE)}, lambda found: (found.get("key", ""), found.get("value"))
)
_LIST: Final = Schema({1: Field("values", _VALUE, many=True)}, lambda found: tuple(found.get("values", ())))
_MAPPING: Final = Schema({1: Field("values", _PAIR, many=True)}, lambda found: dict(found.get("values", ())))
_VALUE.add({5: Field("arrayValue", _LIST), 6: Field("kvlistValue", _MAPPING)})

_ATTRIBUTES: Final = Field("attributes", _PAIR, many=True)
_EVENT: Final = Schema({1: Field("timeUnixNano", _TIME), 2: Field("name", _TEXT), 3: _ATTRIBUTES})
_STATUS: Final = Schema({2: Field("message", _TEXT), 3: Field("code", _NUMBER)})

SPAN: Final = Schema(
    {
        1: Field("traceId", _ID),
        2: Field("spanId", _ID),
        4: Field("parentSpanId", _ID),
        5: Field("name", _TEXT),
        6: Field("kind", _NUMBER),
        7: Field("startTimeUnixNano", _TIME),
        8: Field("endTimeUnixNano", _TIME),
        9: _ATTRIBUTES,
        11: Field("events", _EVENT, many=True),
        15: Field("status", _STATUS),
    }
)

RECORD: Final = Schema(
    {
        1: Field("timeUnixNano", _TIME),
        5: Field("body", _VALUE),
        6: _ATTRIBUTES,
        9: Field("traceId", _ID),
        10: Field("spanId", _ID),
        11: Field("observedTimeUnixNano", _TIME),
        12: Field("eventName", _TEXT),
    }
)


def describe_request(groups: str, parts: str, entries: str) -> Schema:
    """Return the fields of a request, whose entries are read later."""
    scope, resource = Schema({1: Field("name", _TEXT)}), Schema({1: _ATTRIBUTES})
    part = Schema({1: Field("scope", scope), 2: Field(entries, _LATER, many=True)})
    group = Schema({1: Field("resource", resource), 2: Field(parts, part, many=True)})
    return Schema({1: Field(groups, group, many=True)})
