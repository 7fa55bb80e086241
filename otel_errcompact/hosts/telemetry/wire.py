"""MARK: put attributes into an encoded message, all else untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from otel_errcompact.hosts.telemetry.entries import Path

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
_FIXED: Final = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
_MAX_SHIFT: Final = 63

_GROUPS: Final = 1
_PARTS: Final = 2
_ENTRIES: Final = 2
_ATTRIBUTES: Final = {"traces": 9, "logs": 6}
_EVENTS: Final = 11
_EVENT_ATTRIBUTES: Final = 3
_STATUS_CODE: Final = 1
_STATUS_MESSAGE: Final = 2


class Mark(NamedTuple):
    """What is added to one entry."""

    attributes: Mapping[str, str]
    event: int = -1
    """The number of the span's event that gets them too; -1 for none."""


class Field(NamedTuple):
    """One field of an encoded message."""

    number: int
    kind: int
    start: int
    """Where the field begins, with its tag."""

    inside: int
    """Where its content begins."""

    end: int


def mark_message(signal: str, body: bytes, marks: Mapping[Path, Mark]) -> bytes:
    """
    Return an encoded request with marks, all other bytes as they were.

    Args:
        signal: `traces` or `logs`.
        body: The request.
        marks: The marks, by where their entries lie.

    Raises:
        ValueError: The bytes are no such request.
    """
    tree: dict[int, dict[int, dict[int, Mark]]] = {}
    for (i, j, k), mark in marks.items():
        tree.setdefault(i, {}).setdefault(j, {})[k] = mark
    edited_groups: dict[int, bytes] = {}
    for i, group in _select(body, _GROUPS, tree):
        edited_parts: dict[int, bytes] = {}
        for j, part in _select(group, _PARTS, tree[i]):
            entries = tree[i][j]
            edited = {k: _mark_entry(signal, entry, entries[k]) for k, entry in _select(part, _ENTRIES, entries)}
            edited_parts[j] = _replace(part, _ENTRIES, edited)
        edited_groups[i] = _replace(group, _PARTS, edited_parts)
    return _replace(body, _GROUPS, edited_groups)


def encode_status(code: int, message: str) -> bytes:
    """Return a `google.rpc.Status`, which OTLP answers errors with."""
    text = message.encode("utf-8")
    return _tag(_STATUS_CODE, _VARINT) + _varint(code) + _tag(_STATUS_MESSAGE, _LENGTH) + _varint(len(text)) + text


def _mark_entry(signal: str, entry: bytes, mark: Mark) -> bytes:
    if mark.event >= 0:
        edited = {n: event + _encode(_EVENT_ATTRIBUTES, mark) for n, event in _select(entry, _EVENTS, {mark.event: 0})}
        entry = _replace(entry, _EVENTS, edited)
    return entry + _encode(_ATTRIBUTES[signal], mark)


def _encode(number: int, mark: Mark) -> bytes:
    encoded = (
        KeyValue(key=key, value=AnyValue(string_value=value)).SerializeToString()
        for key, value in mark.attributes.items()
    )
    # A field that may stand several times may stand anywhere, so also behind all others.
    return b"".join(_tag(number, _LENGTH) + _varint(len(each)) + each for each in encoded)


def _select(data: bytes, number: int, wanted: Mapping[int, object]) -> Iterator[tuple[int, bytes]]:
    place = 0
    for field in _fields(data):
        if field.number == number and field.kind == _LENGTH:
            if place in wanted:
                yield place, data[field.inside : field.end]
            place += 1


def _replace(data: bytes, number: int, edited: Mapping[int, bytes]) -> bytes:
    pieces: list[bytes] = []
    place, kept = 0, 0
    for field in _fields(data):
        if field.number != number or field.kind != _LENGTH:
            continue
        if place in edited:
            content = edited[place]
            pieces += (data[kept : field.start], _tag(number, _LENGTH), _varint(len(content)), content)
            kept = field.end
        place += 1
    return b"".join((*pieces, data[kept:]))


def _fields(data: bytes) -> Iterator[Field]:
    at = 0
    while at < len(data):
        start = at
        tag, at = _read_varint(data, at)
        kind = tag & 7
        inside = at
        if kind == _VARINT:
            _, at = _read_varint(data, at)
        elif kind == _LENGTH:
            length, inside = _read_varint(data, at)
            at = inside + length
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            raise ValueError(f"a field of the wire type {kind}, which OTLP has not")
        if at > len(data):
            raise ValueError("a field is longer than its message")
        yield Field(tag >> 3, kind, start, inside, at)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift <= _MAX_SHIFT:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follows
            return value, at
        shift += 7
    raise ValueError("a number without an end")


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - as above
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
