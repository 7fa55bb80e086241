"""JSON-RPC messages on lines, as MCP sends them."""

from __future__ import annotations

import json
from typing import Final

from otel_errcompact_hosts.payloads import as_list, as_records, record_of, text_of

Message = dict[str, object]

CONNECTION_CLOSED: Final = -32000
"""The code by which the SDKs of MCP say that the other side is gone."""

PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
"""Stands in requests of the protocol without sessions, whose results name their type."""


class LineBuffer:
    """Puts chunks together to lines, each with its line end."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, chunk: bytes) -> list[bytes]:
        """Return completed lines; an empty chunk is the end."""
        if not chunk:
            rest, self._parts = b"".join(self._parts), []
            return [rest + b"\n"] if rest.strip() else []
        if b"\n" not in chunk:
            self._parts.append(chunk)
            return []
        *lines, rest = b"".join((*self._parts, chunk)).split(b"\n")
        self._parts = [rest] if rest else []
        return [line + b"\n" for line in lines]


def parse_line(line: bytes) -> list[Message]:
    """Return the messages of a line; more than one is a batch."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return as_records(as_list(value) or [value])


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
    return text_of(message, "method")


def is_request(message: Message) -> bool:
    """Return whether a message is to be answered."""
    return "method" in message and "id" in message


def is_answer(message: Message) -> bool:
    """Return whether a message answers a request."""
    return "method" not in message and "id" in message


def params_of(message: Message) -> Message:
    """Return the parameters of a request; empty without any."""
    return record_of(message, "params")


def make_answer(request: Message, result: Message) -> Message:
    """Return the answer to a request, in the form of its protocol."""
    typed: Message = {"resultType": "complete"} if PROTOCOL_VERSION in record_of(params_of(request), "_meta") else {}
    return {"jsonrpc": "2.0", "id": request["id"], "result": {**result, **typed}}


def make_error(request: Message, text: str) -> Message:
    """Return the error that answers a request whose server is gone."""
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": CONNECTION_CLOSED, "message": text}}


def make_tool_error(text: str) -> Message:
    """Return the result of a tool that has failed."""
    return {"content": [{"type": "text", "text": text}], "isError": True}
