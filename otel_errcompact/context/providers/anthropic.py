"""Anthropic Messages: https://platform.claude.com/docs/en/api/messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.context.messages import FormatName, Message, Part, new_message, new_part
from otel_errcompact.context.providers.costs import BLOCK_TOKENS, FRAME_TOKENS, block_tokens
from otel_errcompact.context.providers.native import (
    copy_of,
    fields_at,
    fields_of,
    is_compaction,
    items_of,
    json_of,
    object_in,
    text_in,
)
from otel_errcompact.context.providers.telling import refuse_foreign, refuse_foreign_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from otel_errcompact.digest.tokens import TokenCounter

name: Final[FormatName] = "anthropic"
_PAIRED: Final = frozenset({"call", "result"})
_ROLES: Final = frozenset({"user", "assistant", "system"})


def read(native: object, index: int, count_tokens: TokenCounter) -> Message:
    """Read a message; results stand in those of the user, thinking and what a provider's own tools did are `other`."""
    fields = fields_at(index, native)
    role, content = text_in(fields, "role"), fields.get("content")
    if role not in _ROLES or not isinstance(content, (str, list, tuple)):
        refuse_foreign(fields, index, name)
    if isinstance(content, str):
        tokens = count_tokens(content)
        part = new_part(("text", content, tokens, "", "", None, None, False))
        return new_message((role, (part,), tokens + FRAME_TOKENS, native, False))
    parts = [_read_part(block, index, count_tokens) for block in items_of(content)]
    total = FRAME_TOKENS
    for part in parts:
        total += part[2]
        if part[0] in _PAIRED:
            total += BLOCK_TOKENS
    return new_message((role, tuple(parts), total, native, False))


def write(message: Message) -> object:
    """Return a new dict: the provider's message."""
    native, parts = message.native, message.parts
    made: dict[str, object] = {"role": message.role} if native is None else copy_of(native)
    is_text = len(parts) == 1 and parts[0].kind == "text" and parts[0].native is None
    made["content"] = parts[0].text if is_text else [_write_part(part) for part in parts]
    return made


class Rules:
    """
    Finds where a list breaks the rules for turns.

    Messages of the same role in a row are one turn (API reference of Messages). The first turn is the user's,
    unless it begins with a `compaction` block, in whose place the provider has what stood before. Every
    `tool_use` has exactly one `tool_result` in the very next turn, the results stand there before anything else, and
    ids are unique ("Handle tool calls" in the documentation of tool use, and the errors that the API answers with). No
    text is empty, and thinking is not the last block of an answer ("Building with extended thinking").
    """

    def __init__(self) -> None:
        self._empty: list[str] = []
        self._found: list[str] = []
        self._open: dict[str, int] = {}
        self._known: set[str] = set()
        self._role = ""
        self._last: tuple[int, Part] | None = None
        """The last part of the assistant's unfinished turn."""
        self._has_spoken = False
        """Whether the user's unfinished turn has text beside results."""
        self._hollow = -1
        """The last message, if it is an answer without content, as the last one may be."""

    def take(self, messages: Iterable[Message], start: int) -> None:
        """Read messages that follow those before."""
        for index, message in enumerate(messages, start):
            role, parts = message[0], message[1]
            if index == 0 and role == "assistant" and not begins_compacted(message):
                self._empty.append("message 0: the first turn is the assistant's; it has to be the user's")
            self._take_emptiness(index, role, parts)
            if role != self._role:
                self._end_turn(role)
            if role == "assistant":
                self._take_answer(index, parts)
            else:
                self._take_results(index, parts)

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong if the list ends here."""
        return (*self._empty, *self._found, *self._find_thinking(), *self._find_unanswered())

    def _take_emptiness(self, index: int, role: str, parts: Sequence[Part]) -> None:
        if self._hollow >= 0:
            self._empty.append(f"message {self._hollow}: it has no content")
            self._hollow = -1
        if not parts:
            if role == "assistant":
                self._hollow = index
            else:
                self._empty.append(f"message {index}: it has no content")
        for part in parts:
            if part[0] == "text" and (not part[1] or part[1].isspace()):
                self._empty.append(f"message {index}: a text is empty")

    def _end_turn(self, role: str) -> None:
        if self._last is not None:
            self._found += self._find_thinking()
            self._last = None
        if role == "assistant":
            self._found += self._find_unanswered()
            self._open.clear()
        self._role, self._has_spoken = role, False

    def _take_answer(self, index: int, parts: Sequence[Part]) -> None:
        for part in parts:
            if part[0] == "call":
                if part.call_id in self._known:
                    self._found.append(f"message {index}: a second call has the id {part.call_id!r}")
                self._known.add(part.call_id)
                self._open[part.call_id] = index
            elif part[0] == "result":
                self._found.append(f"message {index}: the result {part.call_id!r} stands in a turn of the assistant")
        if parts:
            self._last = (index, parts[-1])

    def _take_results(self, index: int, parts: Sequence[Part]) -> None:
        for part in parts:
            if part[0] == "call":
                self._found.append(
                    f"message {index}: the call {part.call_id!r} does not stand in a turn of the assistant"
                )
            elif part[0] != "result":
                self._has_spoken = True
            elif self._open.pop(part.call_id, None) is None:
                self._found.append(f"message {index}: the result {part.call_id!r} has no call in the turn before it")
            elif self._has_spoken:
                self._found.append(f"message {index}: the result {part.call_id!r} stands after other content")

    def _find_thinking(self) -> list[str]:
        if self._last is None or not is_thinking(self._last[1]):
            return []
        return [f"message {self._last[0]}: it ends with thinking"]

    def _find_unanswered(self) -> list[str]:
        return [
            f"message {at}: the call {call_id!r} has no result in the next turn" for call_id, at in self._open.items()
        ]


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
        return new_part(("result", text, tokens, "", text_in(fields, "tool_use_id"), flag, block, False))
    if kind == "tool_use":
        text = json_of(fields.get("input"), index)
        call_id = text_in(fields, "id")
        return new_part(("call", text, count_tokens(text), text_in(fields, "name"), call_id, None, block, False))
    if kind == "text":
        text = text_in(fields, "text")
        return new_part(("text", text, count_tokens(text), "", "", None, block, False))
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
