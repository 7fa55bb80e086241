"""The bodies of OTLP requests and answers, as protobuf and as JSON."""

from __future__ import annotations

import base64
import hmac
import json
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
)

from otel_errcompact.exceptions import ErrcompactError

if TYPE_CHECKING:
    from google.protobuf.message import Message

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"

MAX_BYTES: Final = 32 * 1024 * 1024
"""Bytes of a request at most, as it comes and unpacked."""

MAX_MEMBERS: Final = 16
"""Packed pieces of a body at most: each new one costs a copy of the rest."""

MAX_PARTS: Final = 1_000_000
"""Objects, lists and members of a request in JSON at most, some hundred bytes each."""

BAD_REQUEST, UNAUTHORIZED, NOT_FOUND = 400, 401, 404
TIMED_OUT, TOO_LARGE, UNSUPPORTED = 408, 413, 415

_CODES: Final = {BAD_REQUEST: 3, UNAUTHORIZED: 16, NOT_FOUND: 5, TIMED_OUT: 4, TOO_LARGE: 8, UNSUPPORTED: 3}
"""The codes of gRPC for statuses of HTTP."""

_UNPACKED: Final = zlib.MAX_WBITS | 32
"""Reads what gzip has packed, and what zlib has."""

_REQUESTS: Final[dict[str, type[Message]]] = {"traces": ExportTraceServiceRequest, "logs": ExportLogsServiceRequest}
_IDS: Final = frozenset({"traceId", "trace_id", "spanId", "span_id", "parentSpanId", "parent_span_id"})


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


def check_token(header: str, token: str) -> None:
    """Check that a header brings the token; nothing if it is empty."""
    if token and not hmac.compare_digest(header.encode(), f"Bearer {token}".encode()):
        raise RequestError(
            UNAUTHORIZED,
            "the token is missing or wrong; set OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20<token>",
        )


def read_content_type(header: str) -> str:
    """Return `PROTOBUF` or `JSON`."""
    kind = header.partition(";")[0].strip().lower()
    if kind in {PROTOBUF, JSON}:
        return kind
    raise RequestError(UNSUPPORTED, f"the content type is {kind!r}; send {PROTOBUF} or {JSON}")


def unpack(body: bytes, encoding: str, limit: int = MAX_BYTES) -> bytes:
    """Return a body as it was before it was packed."""
    encoding = encoding.strip().lower()
    if len(body) > limit:
        raise RequestError(TOO_LARGE, f"the body is longer than {limit} bytes; send smaller batches")
    if encoding in {"", "identity"}:
        return body
    if encoding not in {"gzip", "deflate"}:
        raise RequestError(UNSUPPORTED, f"the content encoding is {encoding!r}; send gzip, or none")
    pieces: list[bytes] = []
    size, packed = 0, body
    while packed or not pieces:  # what is packed in several pieces is all of them
        if len(pieces) == MAX_MEMBERS:
            raise RequestError(TOO_LARGE, f"the body is packed in more than {MAX_MEMBERS} pieces; pack it as one")
        unpacker = zlib.decompressobj(_UNPACKED)
        try:
            piece = unpacker.decompress(packed, limit - size + 1)
        except zlib.error as error:
            raise RequestError(BAD_REQUEST, f"the body is no {encoding}: {error}") from error
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise RequestError(TOO_LARGE, f"the body unpacks to more than {limit} bytes; send smaller batches")
        if not unpacker.eof:
            raise RequestError(BAD_REQUEST, f"the body is a {encoding} without its end; send it whole")
        packed = unpacker.unused_data
    return b"".join(pieces)


def encode(signal: str, body: bytes) -> bytes:
    """Return a request in JSON as protobuf."""
    if sum(map(body.count, (b"{", b"[", b","))) > MAX_PARTS:
        raise RequestError(TOO_LARGE, f"the body has more than {MAX_PARTS} parts; send smaller batches")
    try:
        content: object = json.loads(body, object_hook=_convert_ids)
        if not isinstance(content, dict):
            raise TypeError("a request is an object")  # noqa: TRY301 - one answer for all
        message = _REQUESTS[signal]()
        json_format.ParseDict(cast("dict[str, Any]", content), message, ignore_unknown_fields=True)
        encoded: bytes = message.SerializeToString()
    except (json_format.ParseError, ValueError, TypeError, AttributeError, RecursionError) as error:
        problem = str(error).partition("\n")[0][:200] or type(error).__name__
        raise RequestError(BAD_REQUEST, f"the body is no request with {signal} in JSON: {problem}") from error
    return encoded


def answer_error(error: RequestError, content_type: str) -> Reply:
    """Return the answer to a request that was not taken, a `google.rpc.Status`."""
    if PROTOBUF in content_type.lower():
        # In its first two fields it is the same message, which alone comes without the extra `otlp`.
        status = ExportTracePartialSuccess(rejected_spans=error.code, error_message=str(error))
        return Reply(error.status, PROTOBUF, status.SerializeToString())
    return Reply(error.status, JSON, json.dumps({"code": error.code, "message": str(error)}).encode())


def _convert_ids(content: dict[str, Any]) -> dict[str, Any]:
    # OTLP writes ids in hexadecimal digits, where the JSON of protobuf has Base64.
    for name in _IDS & content.keys():
        value = content[name]
        try:
            content[name] = base64.b64encode(bytes.fromhex(value or "")).decode("ascii")
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name} is {str(value)[:40]!r}, which is no id in hexadecimal digits") from error
    return content
