"""Error answers of JSON-RPC and MCP, GraphQL, and gRPC in the forms in which its clients print a status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.extract.grammar import Facts, Format, Member, Text, clip, details, facts_of_members, form
from otel_errcompact.extract.members import to_member
from otel_errcompact.extract.messages.grpc import MARKER, read_status
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.payload.advice import strip_advice
from otel_errcompact.extract.payload.error import VALIDATION, Body
from otel_errcompact.extract.payload.literals import find_values
from otel_errcompact.extract.payload.values import is_list, is_object
from otel_errcompact.extract.payload.walk import read_body
from otel_errcompact.extract.reading import NO_MESSAGE, Reading
from otel_errcompact.extract.stacks.chain import public_name
from otel_errcompact.extract.statements import GENERIC_TYPES, statement_of, strip_timestamp
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

_JSON_RPC: Final = {
    -32700: "ParseError",
    -32600: "InvalidRequest",
    -32601: "MethodNotFound",
    -32602: "InvalidParams",
    -32603: "InternalError",
    -32000: "ServerError",
    -32001: "RequestTimeout",
    -32002: "ResourceNotFound",
    -32042: "UrlElicitationRequired",
}
"""Codes of JSON-RPC 2.0, and those that MCP adds."""

_ABOUT_INPUT: Final = frozenset({"InvalidParams", "InvalidRequest", "error"})

_GRPC: Final = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
"""Codes of gRPC by number."""

_MCP: Final = form(r"(?:Error: |McpError: )?MCP error (?P<code>-?{number}): (?P<message>\S.{0,20000})", re.DOTALL)
_OF_GO: Final = "rpc error: code = "
_GO: Final = form(rf"{_OF_GO}(?P<code>\w{{1,40}}) desc = (?P<message>[^\n]*)")
_GRPCURL: Final = form(
    r"(?:ERROR:)?\n  Code: (?P<code>\w{1,40})\n  Message: (?P<message>[^\n]*)(?P<details>.{0,2000})", re.DOTALL
)
_MAX_ERRORS: Final = 100
_OF_GRAPHQL: Final = frozenset({"errors", "data", "extensions", "message", "status"})
_OF_STATUS: Final = frozenset({"code", "message", "details", "status", "error"})


def read(text: Text) -> Facts | None:
    """Return the facts of an answer, or of the line in which a client reports one."""
    body = text.body
    if "{" in body and ("errors" in body or "jsonrpc" in body or '"details"' in body):
        facts = _read_json(body)
        if facts is not None:
            return facts
    return _read_mcp(body) or _read_python(body) or _read_go(body) or _read_grpcurl(body)


def _build_facts(kind: str, cause: str, more: tuple[str, ...] = (), key: str = "") -> Facts:
    return Facts(type=kind, cause=clip(cause) or kind, details=details(more), key_cause=key)


# --- JSON ------------------------------------------------------------------------------------------------------------


def _read_json(body: str) -> Facts | None:
    # Read the object that a text comes down to: an answer of JSON-RPC or GraphQL, or a status as gRPC gateways send it.
    for value, start, end in find_values(body):
        if body[end:].strip() or not _is_head(body[:start]):
            return None
        if is_list(value):
            return _read_batch(value)
        if is_object(value):
            return _read_json_rpc(value) or _read_graphql(value) or _read_gateway(value)
    return None


def _is_head(before: str) -> bool:
    return "\n" not in before.strip() or before.startswith("HTTP/")


def _read_json_rpc(answer: Mapping[str, Any]) -> Facts | None:
    error = answer.get("error")
    if "jsonrpc" not in answer or not is_object(error):
        return None
    name, message = _name_of(error.get("code")), str(error.get("message") or "")
    reading = read_message(message)
    data = error.get("data")
    body = read_body(data) if is_object(data) or is_list(data) else None
    if reading.type or (body is not None and body.is_validation and name in _ABOUT_INPUT):
        return _build_validation_facts(reading, body)
    if body is not None and body.violations:
        body = read_body({"message": message, "data": data}) or body
        return _build_facts(name, body.message, body.details, body.key)
    said, more = (body.summary(), body.details) if body is not None else _read_data(data)
    cause = f"{reading.cause}: {said}" if said and said not in message else reading.cause
    key = f"{reading.key}: {said}" if reading.key and said else reading.key
    return _build_facts(name, cause, (*reading.details, *more), key)


def _build_validation_facts(reading: Reading, body: Body | None) -> Facts:
    if body is None or not body.is_validation:
        kind = reading.type or VALIDATION
        return replace(_build_facts(kind, reading.cause, reading.details, reading.key), key_is_whole=True)
    cause = body.message if reading.cause == NO_MESSAGE else f"{reading.cause}: {body.message}"
    return replace(
        _build_facts(VALIDATION, cause, (*reading.details, *body.details), body.whole_key), key_is_whole=True
    )


def _read_batch(answers: list[Any]) -> Facts | None:
    errors = (_read_json_rpc(answer) for answer in answers[:_MAX_ERRORS] if is_object(answer))
    return facts_of_members(map(to_member, filter(None, errors)), unit="error")


def _name_of(code: object) -> str:
    return _JSON_RPC.get(code, str(code)) if isinstance(code, int) else str(code or "error")


def _read_data(data: object) -> tuple[str, tuple[str, ...]]:
    if not isinstance(data, str):
        return "", ()
    reading = read_message(data)
    return reading.cause, reading.details


def _read_graphql(answer: Mapping[str, Any]) -> Facts | None:
    errors = answer.get("errors")
    if not is_list(errors) or not _OF_GRAPHQL.issuperset(answer):
        return None
    members = [_graphql_error(error) for error in errors[:_MAX_ERRORS] if is_object(error) and "message" in error]
    if not members or not any("locations" in error or "path" in error or "extensions" in error for error in errors):
        return None
    return facts_of_members(members, unit="error", total=len(errors))


def _graphql_error(error: Mapping[str, Any]) -> Member:
    extensions = error.get("extensions")
    code = extensions.get("code") if is_object(extensions) else None
    reading = read_message(str(error["message"]))
    body = read_body({"message": reading.cause, "extensions": extensions}) if is_object(extensions) else None
    return Member(
        type=str(code or "GraphQLError"),
        cause=reading.cause,
        name=_find_path(error),
        details=(*reading.details, *(body.details if body is not None else ())),
        key=reading.key or (body.key if body is not None else ""),
    )


def _find_path(error: Mapping[str, Any]) -> str:
    path, locations = error.get("path"), error.get("locations")
    if is_list(path) and path:
        return ".".join(map(str, path))
    place = locations[0] if is_list(locations) and locations else None
    return f"query:{place.get('line')}:{place.get('column')}" if is_object(place) else ""


def _read_gateway(answer: Mapping[str, Any]) -> Facts | None:
    code = answer.get("code")
    if not _OF_STATUS.issuperset(answer) or not is_list(answer.get("details")) or not isinstance(code, int):
        return None
    body = read_body(answer)
    if body is None or not 0 < code < len(_GRPC):
        return None
    return _build_facts(body.code if body.code in _GRPC else _GRPC[code], body.message, body.details, body.key)


# --- lines -----------------------------------------------------------------------------------------------------------


def _read_mcp(body: str) -> Facts | None:
    found = _MCP.match(body) if "MCP error " in body else None
    if found is None:
        return None
    reading = read_message(found["message"])
    if reading.type:
        return _build_validation_facts(reading, None)
    return _build_facts(_name_of(int(found["code"])), reading.cause, reading.details, reading.key)


def _read_python(body: str) -> Facts | None:
    status = read_status(body)
    if status is None:
        return None
    stated = statement_of(body.partition("\n")[0])
    if stated is not None and stated.type not in GENERIC_TYPES:
        return _build_facts(public_name(stated.type), str(status))
    return _build_facts(status.code, status.details)


def _read_go(body: str) -> Facts | None:
    start = body.find(_OF_GO)
    found = _GO.match(body, start) if start >= 0 else None
    if found is None:
        return None
    before = strip_timestamp(body[body.rfind("\n", 0, start) + 1 : start]).strip()
    message = strip_advice(found["message"])
    return _build_facts(found["code"], f"{before} {message}" if before else message)


def _read_grpcurl(body: str) -> Facts | None:
    found = _GRPCURL.match(body)
    if found is None:
        return None
    more = (line.strip(" {}[],") for line in found["details"].split("\n") if '"' in line and "@type" not in line)
    return _build_facts(found["code"], found["message"], tuple(more)[:3])


FORMAT: Final = Format(
    name="rpc",
    rejects=("InvalidParams", "MethodNotFound", "InvalidRequest", "ParseError", "ValidationError"),
    is_of_service=True,
    read=read,
    markers=("jsonrpc", "MCP error ", '"errors"', MARKER, "rpc error: code = ", "\n  Code: ", '"details"'),
)
