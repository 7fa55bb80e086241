"""
Read messages of OTLP, in protobuf or JSON, within one bound.

A field that is not in these tables costs its count and no object; what is in them becomes plain dictionaries, with the
names of JSON. So a small request that unpacks to much is refused before objects are made of it.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from otel_errcompact.digest import encodable
from otel_errcompact.exceptions import ErrcompactError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Found = dict[str, Any]

MAX_FIELDS: Final = 200_000
"""Fields of a request at most, at all levels; each costs a microsecond and a hundred bytes."""

MAX_DEPTH: Final = 40
"""Levels of messages that are read; what lies deeper is left out. A value in a list is two."""

MAX_TEXT: Final = 262_144
"""Characters of one text; of a longer one begin and end are read."""

MAX_JSON: Final = 4 * 1_048_576
"""Bytes of a request in JSON, which has to be read at once."""

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED: Final = {_FIXED64: 8, _FIXED32: 4}
_LAST_SHIFT: Final = 63
_SIGN: Final = 1 << 63

_ENUMS: Final = {"STATUS_CODE_ERROR": 2, "SPAN_KIND_SERVER": 2}
"""The names of values that are looked at; protobuf writes them to JSON."""


class TooManyFieldsError(ErrcompactError):
    """A request has more fields than are read."""


class Bound:
    """Counts down the fields of a request."""

    def __init__(self, fields: int = MAX_FIELDS) -> None:
        self._left = fields

    def take(self) -> None:
        """
        Count one field.

        Raises:
            TooManyFieldsError: There are too many.
        """
        self._left -= 1
        if self._left < 0:
            raise TooManyFieldsError(f"the request has more than {MAX_FIELDS} fields; send smaller batches")


class Piece(NamedTuple):
    """
    Holds a message that is not read yet.

    It is bytes from one place to another, or an object of JSON.
    """

    source: bytes | dict[str, Any]
    start: int = 0
    end: int = 0

    def read(self, schema: Schema, bound: Bound) -> Found:
        """
        Return its fields.

        Raises:
            TooManyFieldsError: There are too many.
            ValueError: It is no such message.
        """
        found: Found = {}
        if isinstance(self.source, bytes):
            _fill_from_wire(found, schema, self, bound, 0)
        else:
            _fill_from_json(found, schema, self.source, bound, 0)
        return found


class Kind(NamedTuple):
    """
    What a field holds.

    Attributes:
        wire: How protobuf writes it.
        read: Makes a value of what protobuf has written: a number, or bytes.
        convert: Makes it of what stands in JSON.
    """

    wire: int
    read: Callable[[Any], Any]
    convert: Callable[[Any], Any]


class Field(NamedTuple):
    """A field of a message."""

    name: str
    kind: Kind | None = None
    """None for a message."""

    schema: Schema | None = None
    """The message; None for one that is read later."""

    many: bool = False
    spelt: str = ""
    """What JSON calls it; empty where that is its name."""


class Schema:
    """
    The fields of a message that are read.

    Args:
        fields: By their numbers.
        make: Makes a value of the message; None to keep its fields.
    """

    def __init__(self, fields: Mapping[int, Field], make: Callable[[Found], Any] | None = None) -> None:
        self.fields: Final = dict(fields)
        self.make: Final = make
        self.names: Final = {
            name: field for field in self.fields.values() for name in _spell(field.spelt or field.name)
        }
        """By their names, in both styles."""


def parse_json(body: bytes) -> Piece:
    """
    Return a request in JSON, to be read.

    Raises:
        TooManyFieldsError: It may have too many.
        ValueError: It is no JSON, or no object.
    """
    # What stands in texts is counted too: that is as fast as memory, and texts have few of these.
    if sum(map(body.count, (b"{", b"[", b","))) > MAX_FIELDS:
        raise TooManyFieldsError(f"the body has more than {MAX_FIELDS} parts; send smaller batches")
    try:
        content: object = json.loads(body)
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error
    if not isinstance(content, dict):
        raise ValueError("a request is an object")  # noqa: TRY004 - of the sender's, not ours
    return Piece(cast("dict[str, Any]", content))


def _fill_from_wire(found: Found, schema: Schema, piece: Piece, bound: Bound, depth: int) -> None:
    data, at, end = cast("bytes", piece.source), piece.start, piece.end
    while at < end:
        bound.take()
        tag, at = _read_number(data, at, end)
        wire, field = tag & 7, schema.fields.get(tag >> 3)
        value: int | Piece
        if wire == _VARINT:
            value, at = _read_number(data, at, end)
        else:
            size, at = _read_number(data, at, end) if wire == _LENGTH else (_FIXED.get(wire, -1), at)
            if size < 0:
                raise ValueError(f"a field of the wire type {wire}, which OTLP has not")
            value, at = Piece(data, at, at + size), at + size
            if at > end:
                raise ValueError("a field is longer than its message")
        if field is None:
            continue
        if field.kind is None and wire == _LENGTH:
            _add_message(found, field, cast("Piece", value), bound, depth)
        elif field.kind is not None and field.kind.wire == wire:
            found[field.name] = field.kind.read(value)


def _add_message(found: Found, field: Field, piece: Piece, bound: Bound, depth: int) -> None:
    schema = field.schema
    if schema is None:
        found.setdefault(field.name, []).append(piece)
        return
    if depth >= MAX_DEPTH:
        return
    # A message that comes in several pieces is all of them.
    inner: Found = {} if field.many or schema.make else found.setdefault(field.name, {})
    if isinstance(piece.source, bytes):
        _fill_from_wire(inner, schema, piece, bound, depth + 1)
    else:
        _fill_from_json(inner, schema, piece.source, bound, depth + 1)
    made = schema.make(inner) if schema.make else inner
    if field.many:
        found.setdefault(field.name, []).append(made)
    else:
        found[field.name] = made


def _fill_from_json(found: Found, schema: Schema, content: dict[str, Any], bound: Bound, depth: int) -> None:
    for name, value in content.items():
        bound.take()
        field = schema.names.get(name)
        if field is None or value is None:
            continue
        if field.kind is not None:
            try:
                found[field.name] = field.kind.convert(value)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{name} is {str(value)[:40]!r}, which it cannot be") from error
            continue
        for each in value if field.many and isinstance(value, list) else [value]:
            bound.take()
            if not isinstance(each, dict) or (field.many and value is each):
                raise ValueError(f"{name} is {str(value)[:40]!r}, which it cannot be")
            _add_message(found, field, Piece(cast("dict[str, Any]", each)), bound, depth)


def _read_number(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift <= _LAST_SHIFT:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follows
            return value, at
        shift += 7
    raise ValueError("a number without an end")


def _spell(name: str) -> Iterator[str]:
    yield name
    yield "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def cut_text(text: str, limit: int = MAX_TEXT) -> str:
    """Return begin and end of a text that is too long."""
    head = limit // 3
    return text if len(text) <= limit else f"{text[:head]}\n{text[-2 * head :]}"


def _read_text(piece: Piece) -> str:
    data, start, end = cast("bytes", piece.source), piece.start, piece.end
    if end - start > 4 * MAX_TEXT:  # of its characters at most the middle is lost
        return _read_text(Piece(data[start : start + MAX_TEXT] + data[end - 2 * MAX_TEXT : end], 0, 3 * MAX_TEXT))
    return cut_text(data[start:end].decode("utf-8", "replace"))


def _convert_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return encodable(cut_text(value))


def _read_bytes(piece: Piece) -> bytes:
    return cast("bytes", piece.source)[piece.start : piece.end]


def _convert_number(value: object) -> int:
    if isinstance(value, str) and not value.lstrip("-").isdecimal():
        return _ENUMS.get(value, 0)
    return int(cast("int", value))


def _make_value(found: Found) -> object:
    for value in found.values():
        if isinstance(value, dict):  # of a list
            items = cast("list[object]", cast("Found", value).get("values", []))
            return dict(cast("list[tuple[str, object]]", items)) if "kvlistValue" in found else tuple(items)
        return value
    return None


def _make_pair(found: Found) -> tuple[str, object]:
    return found.get("key", ""), found.get("value")


_TEXT: Final = Kind(_LENGTH, _read_text, _convert_text)
_BYTES: Final = Kind(_LENGTH, _read_bytes, _convert_text)
_ID: Final = Kind(
    _LENGTH,
    lambda piece: int.from_bytes(_read_bytes(piece)[:16], "big"),
    lambda value: int.from_bytes(bytes.fromhex(value), "big"),
)
_FLAG: Final = Kind(_VARINT, bool, bool)
_NUMBER: Final = Kind(_VARINT, lambda value: value - 2 * _SIGN if value & _SIGN else value, _convert_number)
_TIME: Final = Kind(_FIXED64, lambda piece: int.from_bytes(_read_bytes(piece), "little"), _convert_number)
_DOUBLE: Final = Kind(_FIXED64, lambda piece: struct.unpack("<d", _read_bytes(piece))[0], float)

_VALUE: Final = Schema(
    {
        1: Field("stringValue", _TEXT),
        2: Field("boolValue", _FLAG),
        3: Field("intValue", _NUMBER),
        4: Field("doubleValue", _DOUBLE),
        7: Field("bytesValue", _BYTES),
    },
    _make_value,
)
_PAIR: Final = Schema({1: Field("key", _TEXT), 2: Field("value", schema=_VALUE)}, _make_pair)
_VALUE.fields[5] = Field("arrayValue", schema=Schema({1: Field("values", schema=_VALUE, many=True)}))
_VALUE.fields[6] = Field("kvlistValue", schema=Schema({1: Field("values", schema=_PAIR, many=True)}))
_VALUE.names.update({name: _VALUE.fields[number] for number in (5, 6) for name in _spell(_VALUE.fields[number].name)})

_ATTRIBUTES: Final = Field("attributes", schema=_PAIR, many=True)

RESOURCE: Final = Schema({1: _ATTRIBUTES})
SCOPE: Final = Schema({1: Field("name", _TEXT)})

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
        11: Field(
            "events",
            schema=Schema({1: Field("timeUnixNano", _TIME), 2: Field("name", _TEXT), 3: _ATTRIBUTES}),
            many=True,
        ),
        15: Field("status", schema=Schema({2: Field("message", _TEXT), 3: Field("code", _NUMBER)})),
    }
)
"""A span."""

RECORD: Final = Schema(
    {
        1: Field("timeUnixNano", _TIME),
        5: Field("body", schema=_VALUE),
        6: _ATTRIBUTES,
        9: Field("traceId", _ID),
        10: Field("spanId", _ID),
        11: Field("observedTimeUnixNano", _TIME),
        12: Field("eventName", _TEXT),
    }
)
"""A log record."""


def _describe_request(groups: str, parts: str, entries: str) -> Schema:
    part = Schema({1: Field("scope", schema=SCOPE), 2: Field("entries", spelt=entries, many=True)})
    group = Schema({1: Field("resource", schema=RESOURCE), 2: Field("parts", spelt=parts, schema=part, many=True)})
    return Schema({1: Field("groups", spelt=groups, schema=group, many=True)})


TRACES: Final = _describe_request("resourceSpans", "scopeSpans", "spans")
LOGS: Final = _describe_request("resourceLogs", "scopeLogs", "logRecords")
"""Requests, whose spans and log records are read one by one."""
