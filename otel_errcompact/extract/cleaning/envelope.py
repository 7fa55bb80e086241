"""Envelopes: what a tool protocol or a framework wraps the output of a tool in, taken off before anything is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_ENVELOPE: Final = 262_144
"""Characters of an envelope that is opened; a larger one is read as the text it is."""

_MARGIN: Final = 64
_STREAMS: Final = ("stderr", "stdout", "output", "error")
_STATUSES: Final = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_MAX_STATUS: Final = 255
_ABOUT: Final = frozenset((
    *_STATUSES, "isError", "is_error", "success", "ok", "type", "tool", "tool_name", "tool_call_id", "tool_use_id",
    "metadata", "interrupted", "isImage", "timed_out", "duration", "duration_ms", "duration_seconds", "command", "cmd",
    "cwd", "structuredContent", "_meta", "meta", "noOutputExpected", "result_type",
))  # fmt: skip
"""Fields that say something of the output and are none of it."""


class Opened(NamedTuple):
    """What an envelope holds."""

    text: str
    exit_code: int | None = None


def open_envelope(text: str) -> Opened | None:
    """
    Return the output that `text` wraps, or nothing where it is the output itself.

    Envelopes are MCP's results and lists of content blocks, and objects whose only content are the streams of a
    command. One line in a flag's company is left to those who read error bodies: that is the answer of an API.
    """
    if text[:_MARGIN].lstrip()[:1] not in ("{", "[") or len(text) > MAX_ENVELOPE:
        return None
    if text[-_MARGIN:].rstrip()[-1:] not in ("}", "]"):
        return None
    if not any(f'"{name}"' in text for name in ("text", *_STREAMS)):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _open_value(value)


def _open_value(value: object) -> Opened | None:
    if _is_list(value):
        return _join_blocks(value)
    return _open_object(value) if _is_object(value) else None


def _open_object(value: Mapping[str, Any]) -> Opened | None:
    content = value.get("content")
    if _is_list(content) and _is_about(value, {"content", "role"}):
        return _join_blocks(content)
    return _join_streams(value)


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_about(fields: Mapping[str, Any], besides: set[str]) -> bool:
    return all(name in _ABOUT or name in besides for name in fields)


def _join_blocks(blocks: list[Any]) -> Opened | None:
    """Join the texts of content blocks; nothing if the list holds anything else than blocks."""
    if not all(_is_object(block) and isinstance(block.get("type"), str) for block in blocks):
        return None
    texts = [block["text"] for block in blocks if block["type"] == "text" and isinstance(block.get("text"), str)]
    return Opened("\n".join(texts)) if texts else None


def _join_streams(fields: Mapping[str, Any]) -> Opened | None:
    """Join standard error and standard output, errors first, as they matter."""
    if not _is_about(fields, set(_STREAMS)):
        return None
    texts = [text for text in _list_texts(fields) if text.strip()]
    exit_code = next(_list_exit_codes(fields), None)
    if not texts or ("\n" not in "\n".join(texts).strip() and exit_code is None):
        return None
    return Opened("\n".join(texts), exit_code)


def _list_texts(fields: Mapping[str, Any]) -> Iterator[str]:
    for name in _STREAMS:
        value = fields.get(name)
        if isinstance(value, str):
            yield value


def _list_exit_codes(fields: Mapping[str, Any]) -> Iterator[int]:
    metadata = fields.get("metadata")
    for source in (fields, metadata if _is_object(metadata) else {}):
        for name in _STATUSES:
            value = source.get(name)
            if type(value) is int and abs(value) <= _MAX_STATUS:
                yield value
