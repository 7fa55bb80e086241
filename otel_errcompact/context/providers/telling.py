"""Which provider a message list is of, told by the roles, keys and types of blocks that only some of them have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from otel_errcompact.context.exceptions import ConversationError
from otel_errcompact.context.messages import FormatName
from otel_errcompact.context.providers.native import fields_at, fields_of, items_of, text_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.providers.native import Fields

_ALL: Final[frozenset[FormatName]] = frozenset(get_args(FormatName))
_NONE: Final[frozenset[FormatName]] = frozenset()
_GEMINI: Final[frozenset[FormatName]] = frozenset({"gemini"})
_ANTHROPIC: Final[frozenset[FormatName]] = frozenset({"anthropic"})
_CHAT: Final[frozenset[FormatName]] = frozenset({"openai-chat"})
_RESPONSES: Final[frozenset[FormatName]] = frozenset({"openai-responses"})
_ROLES: Final[dict[str, frozenset[FormatName]]] = {
    "user": _ALL - _GEMINI,
    "assistant": _ALL - _GEMINI,
    "system": _ALL - _GEMINI,
    "developer": _CHAT | _RESPONSES,
    "tool": _CHAT,
    "function": _CHAT,
}
_BLOCKS: Final[dict[str, frozenset[FormatName]]] = {
    "text": _ANTHROPIC | _CHAT,
    "refusal": _CHAT | _RESPONSES,
    "input_audio": _CHAT | _RESPONSES,
    **dict.fromkeys(("image_url", "file"), _CHAT),
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file"), _RESPONSES),
    **dict.fromkeys(("image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking"), _ANTHROPIC),
    **dict.fromkeys(("server_tool_use", "search_result", "mcp_tool_use", "mcp_tool_result"), _ANTHROPIC),
}
"""A type that does not stand here may be new, of any provider."""

DEFAULT: Final[FormatName] = "openai-chat"
"""What a list is taken for that says nothing: it is empty, or holds texts of users and assistants alone."""


def detect(messages: Sequence[object]) -> FormatName:
    """
    Tell which format a list has; looks no further than to the message that decides it.

    A list of texts without calls, images or thinking is the same list in three formats, and read as OpenAI chat.

    Raises:
        ConversationError: A message is of no known format, or of another one than those before it.
    """
    return decide(messages)[0]


def decide(messages: Sequence[object]) -> tuple[FormatName, int | None]:
    """
    Return a list's format, and how many messages decide it.

    None if no message decides.

    Raises:
        ConversationError: As `detect`.
    """
    left = _ALL
    for index, native in enumerate(messages):
        possible = _formats_of(fields_at(index, native))
        if not possible:
            raise ConversationError(_unknown(native), index)
        if not left & possible:
            raise ConversationError(_mixed(possible, left), index)
        left &= possible
        if len(left) == 1:
            return next(iter(left)), index + 1
    return DEFAULT, None


def refuse_foreign(fields: Fields, index: int, name: FormatName) -> None:
    """
    Check a message that has something unexpected.

    Raises:
        ConversationError: It is of another format than the list.
    """
    possible = _formats_of(fields)
    if name not in possible:
        raise ConversationError(_mixed(possible, frozenset({name})) if possible else _unknown(fields), index)


def refuse_foreign_block(kind: object, index: int, name: FormatName) -> None:
    """
    Check a block of a type that the adapter does not read.

    Raises:
        ConversationError: It is of another format than the list.
    """
    possible = _BLOCKS.get(kind, _ALL) if isinstance(kind, str) else _ALL
    if name not in possible:
        raise ConversationError(_mixed(possible, frozenset({name})), index)


def _formats_of(fields: Fields) -> frozenset[FormatName]:
    if fields.get("parts") is not None:
        return _GEMINI
    role = fields.get("role")
    if role is None:
        return _RESPONSES if isinstance(fields.get("type"), str) or set(fields) == {"id"} else _NONE
    possible = _ROLES.get(role, _NONE) if isinstance(role, str) else _NONE
    if fields.get("tool_calls") or fields.get("function_call"):
        possible &= _CHAT
    if fields.get("type") == "message":
        possible -= _CHAT
    for block in items_of(fields.get("content")):
        possible &= _BLOCKS.get(text_in(fields_of(block), "type"), _ALL)
    return possible


def _unknown(native: object) -> str:
    keys = ", ".join(sorted(str(key) for key in fields_of(native)))
    return f"no message of a known format (it has {keys}): hand in a list of {', '.join(sorted(_ALL))}"


def _mixed(found: frozenset[FormatName], expected: frozenset[FormatName]) -> str:
    is_of, list_of = " or ".join(sorted(found)), " or ".join(sorted(expected))
    return f"a message of {is_of} in a list of {list_of}: hand in a list of one format"
