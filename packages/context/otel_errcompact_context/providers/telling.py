"""Which provider a message list is of, told by the roles, keys and types of blocks that only some of them have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from otel_errcompact_context.exceptions import ConversationError
from otel_errcompact_context.messages import FormatName
from otel_errcompact_context.providers.native import fields_at, fields_of, items_of
from otel_errcompact_context.providers.provider import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact_context.providers.native import Fields

_ALL: Final[frozenset[FormatName]] = frozenset(get_args(FormatName))
_GEMINI: Final[frozenset[FormatName]] = frozenset({"gemini"})
_CHAT: Final[frozenset[FormatName]] = frozenset({"openai-chat"})
_RESPONSES: Final[frozenset[FormatName]] = frozenset({"openai-responses"})

DEFAULT: Final[FormatName] = "openai-chat"
"""What a list is taken for that says nothing: it is empty, or holds texts of users and assistants alone."""


def decide_format(messages: Sequence[object]) -> tuple[FormatName, int | None]:
    """
    Return a list's format, and how many messages decide it, if any.

    Looks no further than to the message that decides. A list of texts without calls, images or thinking is the same
    list in three formats, and read as OpenAI chat.

    Raises:
        ConversationError: A message is of no known format, or of another one than those before it.
    """
    left = _ALL
    for index, native in enumerate(messages):
        possible = _formats_of(fields_at(index, native))
        _expect(left, possible, native, index)
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
    _expect(frozenset({name}), _formats_of(fields), fields, index)


def refuse_foreign_block(kind: object, index: int, name: FormatName) -> None:
    """
    Check a block of a type that the adapter does not read.

    Raises:
        ConversationError: It is of another format than the list.
    """
    _expect(frozenset({name}), _formats_of_block(kind), kind, index)


def _expect(names: frozenset[FormatName], possible: frozenset[FormatName], native: object, index: int) -> None:
    if not names & possible:
        raise ConversationError(_describe_mixed(possible, names) if possible else _describe_unknown(native), index)


def _formats_of(fields: Fields) -> frozenset[FormatName]:
    if fields.get("parts") is not None:
        return _GEMINI
    role = fields.get("role")
    if role is None:
        return _RESPONSES if isinstance(fields.get("type"), str) or set(fields) == {"id"} else frozenset()
    spoken = role if isinstance(role, str) else ""
    possible: frozenset[FormatName] = frozenset(one.name for one in PROVIDERS.values() if spoken in one.roles)
    if fields.get("tool_calls") or fields.get("function_call"):
        possible &= _CHAT
    if fields.get("type") == "message":
        possible -= _CHAT
    for block in items_of(fields.get("content")):
        possible &= _formats_of_block(fields_of(block).get("type"))
    return possible


def _formats_of_block(kind: object) -> frozenset[FormatName]:
    named = kind if isinstance(kind, str) else ""
    possible: frozenset[FormatName] = frozenset(one.name for one in PROVIDERS.values() if named in one.blocks)
    return possible or _ALL


def _describe_unknown(native: object) -> str:
    keys = ", ".join(sorted(str(key) for key in fields_of(native)))
    return f"no message of a known format (it has {keys}): hand in a list of {', '.join(sorted(_ALL))}"


def _describe_mixed(found: frozenset[FormatName], expected: frozenset[FormatName]) -> str:
    is_of, list_of = " or ".join(sorted(found)), " or ".join(sorted(expected))
    return f"a message of {is_of} in a list of {list_of}: hand in a list of one format"
