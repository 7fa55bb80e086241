"""The bodies of OTLP requests and answers, as protobuf and as JSON."""

from __future__ import annotations

import json
import zlib
from typing import Final, NamedTuple

from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact_hosts.ports.edge import BUSY, FORBIDDEN, TOO_LARGE, UNAUTHORIZED

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"

MAX_BYTES: Final = 8 * 1_048_576
"""Bytes of a request at most, as it comes and unpacked."""

MAX_MEMBERS: Final = 16
"""Packed pieces of a body at most: each new one costs a copy of the rest."""

BAD_REQUEST, NOT_FOUND, NOT_ALLOWED, UNSUPPORTED = 400, 404, 405, 415

_CODES: Final = {
    BAD_REQUEST: 3,
    UNAUTHORIZED: 16,
    FORBIDDEN: 7,
    NOT_FOUND: 5,
    NOT_ALLOWED: 12,
    TOO_LARGE: 8,
    UNSUPPORTED: 3,
    BUSY: 14,
}
"""The codes of gRPC for statuses of HTTP."""

_UNPACKED: Final = zlib.MAX_WBITS | 32
"""Reads what gzip has packed, and what zlib has."""


class RequestError(ErrcompactError):
    """A request that cannot be taken."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status
        self.code = _CODES[status]


class Reply(NamedTuple):
    """What a sender is answered."""

    status: int
    content_type: str
    body: bytes


def read_content_type(header: str) -> str:
    """Return `PROTOBUF` or `JSON`."""
    kind = header.partition(";")[0].strip().lower()
    if kind in {PROTOBUF, JSON}:
        return kind
    raise RequestError(UNSUPPORTED, f"the content type is {kind[:200]!r}; send {PROTOBUF} or {JSON}")


def unpack(body: bytes, encoding: str) -> bytes:
    """Return a body as it was before it was packed."""
    encoding = encoding.strip().lower()
    if len(body) > MAX_BYTES:
        raise RequestError(TOO_LARGE, f"the body is longer than {MAX_BYTES} bytes; send smaller batches")
    if encoding in {"", "identity"}:
        return body
    if encoding not in {"gzip", "deflate"}:
        raise RequestError(UNSUPPORTED, f"the content encoding is {encoding[:200]!r}; send gzip, or none")
    pieces: list[bytes] = []
    size, packed = 0, body
    while packed or not pieces:  # what is packed in several pieces is all of them
        if len(pieces) == MAX_MEMBERS:
            raise RequestError(TOO_LARGE, f"the body is packed in more than {MAX_MEMBERS} pieces; pack it as one")
        unpacker = zlib.decompressobj(_UNPACKED)
        try:
            piece = unpacker.decompress(packed, MAX_BYTES - size + 1)
        except zlib.error as error:
            raise RequestError(BAD_REQUEST, f"the body is no {encoding}: {error}") from error
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BYTES:
            raise RequestError(TOO_LARGE, f"the body unpacks to more than {MAX_BYTES} bytes; send smaller batches")
        if not unpacker.eof:
            raise RequestError(BAD_REQUEST, f"the body is a {encoding} without its end; send it whole")
        packed = unpacker.unused_data
    return b"".join(pieces)


def answer(signal: str, content_type: str, rejected: int = 0, problem: str = "") -> Reply:
    """Return the answer to a request, with what was rejected of it."""
    if content_type == JSON:
        name = "rejectedSpans" if signal == "traces" else "rejectedLogRecords"
        content = {"partialSuccess": {name: str(rejected), "errorMessage": problem}} if rejected else {}
        return Reply(200, JSON, json.dumps(content).encode())
    partial = _encode_fields(rejected, problem) if rejected else b""
    return Reply(200, PROTOBUF, b"\x0a" + _encode_number(len(partial)) + partial if partial else b"")


def answer_error(error: RequestError, content_type: str) -> Reply:
    """Return the answer to a request that was not taken, a `google.rpc.Status`."""
    if PROTOBUF in content_type.lower():
        return Reply(error.status, PROTOBUF, _encode_fields(error.code, str(error)))
    return Reply(error.status, JSON, json.dumps({"code": error.code, "message": str(error)}).encode())


def _encode_fields(number: int, text: str) -> bytes:
    # A message with a number and a text: `google.rpc.Status`, and what a partial success says.
    encoded = text.encode("utf-8", "replace")
    return b"\x08" + _encode_number(number) + b"\x12" + _encode_number(len(encoded)) + encoded


def _encode_number(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - the highest bit says that more follows
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
