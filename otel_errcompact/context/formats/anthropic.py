"""Anthropic Messages: https://platform.claude.com/docs/en/api/messages."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.context.formats.costs import BLOCK_TOKENS, FRAME_TOKENS, block_tokens
from otel_errcompact.context.formats.native import (
    copy_of,
    fields_at,
    fields_of,
    is_compaction,
    items_of,
    json_of,
    object_in,
    text_in,
)
from otel_errcompact.context.formats.telling import refuse_foreign, refuse_foreign_block
from otel_errcompact.context.messages import FormatName, Message, Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.context.messages import Role
    from otel_errcompact.digest.tokens import TokenCounter

name: Final[FormatName] = "anthropic"
_PAIRED: Final = frozenset({"call", "result"})
_ROLES: Final = frozenset({"user", "assistant", "system"})


def read(native: object, index: int, count_tokens: TokenCounter) -> Message:
    """Read a message; results stand in those of the user, thinking and what a provider's own tools did are `other`."""
    fields = fields_at(index, native)
    role, content = text_in(fields, "role"), fields.get("content")
    if isinstance(content, str) and role in _ROLES:
        tokens = count_tokens(content)
        return Message(cast("Role", role), (Part("text", content, tokens),), tokens + FRAME_TOKENS, native)
    if role not in _ROLES or not isinstance(content, (list, tuple)):
        refuse_foreign(fields, index, name)
    parts: list[Part] = []
    total = FRAME_TOKENS
    for block in items_of(fields.get("content")):
        part = _read_part(block, index, count_tokens)
        total += part.tokens
        if part.kind in _PAIRED:
            total += BLOCK_TOKENS
        parts.append(part)
    return Message(cast("Role", role), tuple(parts), total, native)


def write(message: Message) -> object:
    """Return a new dict: the provider's message."""
    native, parts = message.native, message.parts
    made: dict[str, object] = {"role": message.role} if native is None else copy_of(native)
    is_text = len(parts) == 1 and parts[0].kind == "text" and parts[0].native is None
    made["content"] = parts[0].text if is_text else [_write_part(part) for part in parts]
    return made


def problems(messages: Sequence[Message]) -> Iterator[str]:
    """
    Say where a list breaks the rules for turns.

    Messages of the same role in a row are one turn (API reference of Messages). The first turn is the user's,
    unless it begins with a `compaction` block, in whose place the provider has what stood before. Every
    `tool_use` has exactly one `tool_result` in the very next turn, the results stand there before anything else, and
    ids are unique ("Handle tool calls" in the documentation of tool use, and the errors that the API answers with). No
    text is empty, and thinking is not the last block of an answer ("Building with extended thinking").
    """
    yield from _empty(messages)
    open_calls: dict[str, int] = {}
    known: set[str] = set()
    for role, group in groupby(enumerate(messages), key=lambda numbered: numbered[1].role):
        turn = [(index, part) for index, message in group for part in message.parts]
        if role == "assistant":
            yield from _find_unanswered(open_calls)
            open_calls.clear()
            yield from _find_asked(turn, open_calls, known)
        else:
            yield from _find_answered(turn, open_calls)
    yield from _find_unanswered(open_calls)


def _empty(messages: Sequence[Message]) -> Iterator[str]:
    if messages and messages[0].role == "assistant" and not begins_compacted(messages[0]):
        yield "message 0: the first turn is the assistant's; it has to be the user's"
    last = len(messages) - 1
    for index, message in enumerate(messages):
        if not message.parts and (message.role != "assistant" or index != last):
            yield f"message {index}: it has no content"
        for part in message.parts:
            if part.kind == "text" and (not part.text or part.text.isspace()):
                yield f"message {index}: a text is empty"


def _find_asked(turn: list[tuple[int, Part]], open_calls: dict[str, int], known: set[str]) -> Iterator[str]:
    for index, part in turn:
        if part.kind == "call":
            if part.call_id in known:
                yield f"message {index}: a second call has the id {part.call_id!r}"
            known.add(part.call_id)
            open_calls[part.call_id] = index
        elif part.kind == "result":
            yield f"message {index}: the result {part.call_id!r} stands in a turn of the assistant"
    if turn and is_thinking(turn[-1][1]):
        yield f"message {turn[-1][0]}: it ends with thinking"


def _find_answered(turn: list[tuple[int, Part]], open_calls: dict[str, int]) -> Iterator[str]:
    said_something = False
    for index, part in turn:
        if part.kind == "call":
            yield f"message {index}: the call {part.call_id!r} does not stand in a turn of the assistant"
        elif part.kind != "result":
            said_something = True
        elif open_calls.pop(part.call_id, None) is None:
            yield f"message {index}: the result {part.call_id!r} has no call in the turn before it"
        elif said_something:
            yield f"message {index}: the result {part.call_id!r} stands after other content"


def _find_unanswered(open_calls: dict[str, int]) -> Iterator[str]:
    for call_id, index in open_calls.items():
        yield f"message {index}: the call {call_id!r} has no result in the next turn"


def begins_compacted(message: Message) -> bool:
    """Tell whether a message begins with what the provider has compacted."""
    first = message.parts[0] if message.parts else None
    return first is not None and first.kind == "other" and is_compaction(first.native)


def count_opening(messages: Sequence[Message]) -> int:
    """Return how many messages continue what the provider keeps."""
    return 1 if messages and begins_compacted(messages[0]) else 0


def is_thinking(part: Part) -> bool:
    """Tell whether a block is thinking."""
    return part.kind == "other" and fields_of(part.native).get("type") in {"thinking", "redacted_thinking"}


def _read_part(block: object, index: int, count_tokens: TokenCounter) -> Part:
    fields = fields_of(block)
    kind = fields.get("type")
    if kind == "tool_result":
        content, failed = fields.get("content"), fields.get("is_error")
        text, tokens = (
            (content, count_tokens(content)) if isinstance(content, str) else _read_texts(content, count_tokens)
        )
        flag = failed if isinstance(failed, bool) else None
        return Part("result", text, tokens, "", text_in(fields, "tool_use_id"), flag, block)
    if kind == "tool_use":
        text = json_of(fields.get("input"), index)
        return Part("call", text, count_tokens(text), text_in(fields, "name"), text_in(fields, "id"), None, block)
    if kind == "text":
        text = text_in(fields, "text")
        return Part("text", text, count_tokens(text), "", "", None, block)
    refuse_foreign_block(kind, index, name)
    # What the provider's own tools did belongs together as well: `server_tool_use` with `web_search_tool_result`.
    call_id = text_in(fields, "tool_use_id") or (text_in(fields, "id") if "name" in fields else "")
    return Part("other", "", block_tokens(block, count_tokens), text_in(fields, "name"), call_id, None, block)


def _read_texts(content: object, count_tokens: TokenCounter) -> tuple[str, int]:
    texts: list[str] = []
    tokens = 0
    for block in items_of(content):
        fields = fields_of(block)
        text = fields.get("text")
        if fields.get("type") == "text" and isinstance(text, str):
            texts.append(text)
        else:
            tokens += block_tokens(block, count_tokens)
    text = texts[0] if len(texts) == 1 else "\n".join(texts)
    return text, tokens + count_tokens(text)


def _write_part(part: Part) -> object:
    if part.native is not None and not part.edited:
        return part.native
    made = {} if part.native is None else copy_of(part.native)
    if part.kind == "result":
        return {**made, "content": part.text}
    if part.kind == "call":
        return {**made, "input": object_in(part.text)}
    return {**made, "type": "text", "text": part.text} if part.kind == "text" else {"type": "text", "text": part.text}
