"""JSON-RPC messages on lines, as MCP sends them."""

from __future__ import annotations

import json
from typing import Final, cast

Message = dict[str, object]

CONNECTION_CLOSED: Final = -32000
"""The code by which the SDKs of MCP say that the other side is gone."""

_PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
"""Stands in requests of the protocol without sessions, whose results name their type."""


def parse_line(line: bytes) -> list[Message]:
    """Return the messages of a line; more than one is a batch."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return []
    elements = cast("list[object]", value) if isinstance(value, list) else [value]
    return [cast("Message", element) for element in elements if isinstance(element, dict)]


def write_line(messages: list[Message], *, batch: bool = False) -> bytes:
    """Return messages as a line; a batch is an array."""
    value = messages if batch else messages[0]
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def is_batch(line: bytes) -> bool:
    """Return whether a line is an array of messages."""
    return line.lstrip()[:1] == b"["


def key_of(identifier: object) -> str:
    """Return what distinguishes the id of a request, 1 from "1"."""
    return json.dumps(identifier)


def method_of(message: Message) -> str:
    """Return the method of a request or notification; empty for an answer."""
    method = message.get("method")
    return method if isinstance(method, str) else ""


def is_request(message: Message) -> bool:
    """Return whether a message is to be answered."""
    return "method" in message and "id" in message


def is_answer(message: Message) -> bool:
    """Return whether a message answers a request."""
    return "method" not in message and "id" in message


def params_of(message: Message) -> Message:
    """Return the parameters of a request; empty without any."""
    params = message.get("params")
    return cast("Message", params) if isinstance(params, dict) else {}


def mapping_of(message: Message, name: str) -> Message:
    """Return a member that is an object; empty if it is none."""
    value = message.get(name)
    return cast("Message", value) if isinstance(value, dict) else {}


def make_answer(request: Message, result: Message) -> Message:
    """Return the answer to a request, in the form of its protocol."""
    typed: Message = {"resultType": "complete"} if _PROTOCOL_VERSION in mapping_of(params_of(request), "_meta") else {}
    return {"jsonrpc": "2.0", "id": request["id"], "result": {**result, **typed}}


def make_error(request: Message, text: str) -> Message:
    """Return the error that answers a request whose server is gone."""
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": CONNECTION_CLOSED, "message": text}}


def make_tool_error(text: str) -> Message:
    """Return the result of a tool that has failed."""
    return {"content": [{"type": "text", "text": text}], "isError": True}
