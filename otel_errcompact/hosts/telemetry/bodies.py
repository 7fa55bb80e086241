"""The bodies of OTLP requests and answers, as protobuf and as JSON."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact.hosts.telemetry.entries import encode_bytes
from otel_errcompact.hosts.telemetry.wire import encode_status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.hosts.telemetry.entries import Path
    from otel_errcompact.hosts.telemetry.wire import Mark

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"

MAX_BYTES: Final = 32 * 1024 * 1024
"""Bytes of a request at most, as it comes and unpacked."""

BAD_REQUEST, UNAUTHORIZED, NOT_FOUND, NO_METHOD = 400, 401, 404, 405
TIMED_OUT, TOO_LARGE, UNSUPPORTED = 408, 413, 415

_CODES: Final = {
    BAD_REQUEST: 3,
    UNAUTHORIZED: 16,
    NOT_FOUND: 5,
    NO_METHOD: 12,
    TIMED_OUT: 4,
    TOO_LARGE: 8,
    UNSUPPORTED: 3,
}
"""The codes of gRPC for statuses of HTTP."""

_UNPACKED: Final = zlib.MAX_WBITS | 32
"""Reads what gzip has packed, and what zlib has."""


class Kind(NamedTuple):
    """What one signal's messages are called."""

    request: type[Message]
    response: type[Message]
    groups: str
    parts: str
    entries: str
    rejected: str


KINDS: Final[Mapping[str, Kind]] = {
    "traces": Kind(
        ExportTraceServiceRequest, ExportTraceServiceResponse, "resourceSpans", "scopeSpans", "spans", "rejected_spans"
    ),
    "logs": Kind(
        ExportLogsServiceRequest,
        ExportLogsServiceResponse,
        "resourceLogs",
        "scopeLogs",
        "logRecords",
        "rejected_log_records",
    ),
    "metrics": Kind(
        ExportMetricsServiceRequest,
        ExportMetricsServiceResponse,
        "resourceMetrics",
        "scopeMetrics",
        "metrics",
        "rejected_data_points",
    ),
}


class RequestError(ErrcompactError):
    """
    A request that cannot be taken.

    Args:
        status: The status of HTTP.
        problem: What is wrong and what to do, in one sentence.
    """

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
    """
    Return `PROTOBUF` or `JSON`.

    Raises:
        RequestError: It is neither.
    """
    kind = header.partition(";")[0].strip().lower()
    if kind in {PROTOBUF, JSON}:
        return kind
    raise RequestError(UNSUPPORTED, f"the content type is {kind!r}; send {PROTOBUF} or {JSON}")


def unpack(body: bytes, encoding: str, limit: int = MAX_BYTES) -> bytes:
    """
    Return a body as it was before it was packed.

    Args:
        body: The body as it came.
        encoding: Its content encoding; empty for none.
        limit: Bytes at most; no more is unpacked.

    Raises:
        RequestError: It is no such packed body, or longer.
    """
    encoding = encoding.strip().lower()
    if encoding in {"", "identity"}:
        return body
    if encoding not in {"gzip", "deflate"}:
        raise RequestError(UNSUPPORTED, f"the content encoding is {encoding!r}; send gzip, or none")
    pieces: list[bytes] = []
    size, packed = 0, body
    while packed or not pieces:  # what is packed in several pieces is all of them
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


def decode(signal: str, body: bytes, content_type: str, *, whole: bool = False) -> Any:
    """
    Return a request as a message.

    Of metrics in JSON it is empty, since nothing reads them.

    Args:
        signal: `traces`, `logs` or `metrics`.
        body: The body, unpacked.
        content_type: `PROTOBUF` or `JSON`.
        whole: Whether metrics in JSON are decoded too, which nothing reads.

    Raises:
        RequestError: The body is no such request.
    """
    message = KINDS[signal].request()
    try:
        if content_type == PROTOBUF:
            message.ParseFromString(body)
            return message
        loaded = json.loads(body)
        if not isinstance(loaded, dict):
            raise TypeError("a request is an object")  # noqa: TRY301 - one answer for all
        content = cast("dict[str, Any]", loaded)
        if whole or signal != "metrics":
            _convert_ids(content)
            json_format.ParseDict(content, message, ignore_unknown_fields=True)
    except DecodeError as error:
        raise RequestError(BAD_REQUEST, f"the body is no request with {signal} in protobuf: {error}") from error
    except (json_format.ParseError, ValueError, TypeError, AttributeError, RecursionError) as error:
        problem = str(error).partition("\n")[0][:200] or type(error).__name__
        raise RequestError(BAD_REQUEST, f"the body is no request with {signal} in JSON: {problem}") from error
    return message


def mark_json(signal: str, body: bytes, marks: Mapping[Path, Mark]) -> bytes:
    """Return a request in JSON with marks, all else as it was."""
    kind = KINDS[signal]
    content = json.loads(body)
    for (i, j, k), mark in marks.items():
        entry = _member(_member(_member(content, kind.groups)[i], kind.parts)[j], kind.entries)[k]
        parts = [entry, *(_member(entry, "events")[mark.event : mark.event + 1] if mark.event >= 0 else [])]
        for part in parts:
            part["attributes"] = [
                *(part.get("attributes") or ()),
                *({"key": key, "value": {"stringValue": value}} for key, value in mark.attributes.items()),
            ]
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def answer(signal: str, content_type: str, rejected: int = 0, problem: str = "") -> Reply:
    """
    Return the answer to a request that was taken.

    Args:
        signal: `traces`, `logs` or `metrics`.
        content_type: The request's.
        rejected: How many of its entries are lost.
        problem: Why, in one sentence.
    """
    kind = KINDS[signal]
    response: Any = kind.response()
    if rejected:
        setattr(response.partial_success, kind.rejected, rejected)
        response.partial_success.error_message = problem
    if content_type == JSON:
        return Reply(200, JSON, json_format.MessageToJson(response, indent=None).encode())
    return Reply(200, PROTOBUF, response.SerializeToString())


def answer_error(error: RequestError, content_type: str) -> Reply:
    """Return the answer to a request that was not taken."""
    if PROTOBUF in content_type.lower():
        return Reply(error.status, PROTOBUF, encode_status(error.code, str(error)))
    return Reply(error.status, JSON, json.dumps({"code": error.code, "message": str(error)}).encode())


def _convert_ids(content: dict[str, Any]) -> None:
    # OTLP writes ids in hexadecimal digits, where the JSON of protobuf has Base64.
    for kind in KINDS.values():
        for group in _member(content, kind.groups):
            for part in _member(group, kind.parts):
                for entry in _member(part, kind.entries):
                    for part_with_ids in (entry, *_member(entry, "links"), *_exemplars(entry)):
                        _convert(part_with_ids)


def _exemplars(metric: dict[str, Any]) -> list[Any]:
    data = (cast("dict[str, Any]", metric[name]) for name in _METRIC_DATA if name in metric)
    points = (point for each in data for point in _member(each, "dataPoints"))
    return [exemplar for point in points for exemplar in _member(point, "exemplars")]


def _convert(entry: dict[str, Any]) -> None:
    for name in _IDS:
        value = entry.get(name)
        if value:
            try:
                entry[name] = encode_bytes(value)
            except (ValueError, TypeError) as error:
                raise ValueError(f"{name} is {str(value)[:40]!r}, which is no id in hexadecimal digits") from error


_METRIC_DATA: Final = ("gauge", "sum", "histogram", "exponentialHistogram", "exponential_histogram")
_IDS: Final = ("traceId", "trace_id", "spanId", "span_id", "parentSpanId", "parent_span_id")


def _member(content: dict[str, Any], name: str) -> list[Any]:
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return cast("list[Any]", content.get(name) or content.get(snake) or [])
