"""Anthropic Messages: https://platform.claude.com/docs/en/api/messages."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact_context.messages import FormatName, Message, Part, new_part
from otel_errcompact_context.providers.costs import block_tokens, count_texts, make_message, other_part, text_part
from otel_errcompact_context.providers.native import (
    copy_of,
    fields_at,
    fields_of,
    is_compaction,
    items_of,
    json_of,
    object_in,
    text_in,
)
from otel_errcompact_context.providers.provider import (
    LOST_TURN,
    UNKNOWN_OUTCOME,
    Provider,
    ToolDefinition,
    describe_orphan,
    register_provider,
)
from otel_errcompact_context.providers.telling import refuse_foreign, refuse_foreign_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Role

_NAME: Final[FormatName] = "anthropic"
_ROLES: Final = frozenset({"user", "assistant", "system"})
_BLOCKS: Final = frozenset(
    {"text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use",
     "search_result", "mcp_tool_use", "mcp_tool_result"}
)  # fmt: skip


def _read_message(native: object, index: int, count_tokens: TokenCounter) -> Message:
    # Results stand in messages of the user; thinking and what the provider's own tools did are `other`.
    fields = fields_at(index, native)
    role, content = text_in(fields, "role"), fields.get("content")
    if role not in _ROLES or not isinstance(content, (str, list, tuple)):
        refuse_foreign(fields, index, _NAME)
    if isinstance(content, str):
        return make_message(cast("Role", role), (text_part(content, None, count_tokens),), native)
    parts = [_read_part(block, index, count_tokens) for block in items_of(content)]
    return make_message(cast("Role", role), parts, native)


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
        return text_part(text_in(fields, "text"), block, count_tokens)
    refuse_foreign_block(kind, index, _NAME)
    # What the provider's own tools did belongs together as well: `server_tool_use` with `web_search_tool_result`.
    call_id = text_in(fields, "tool_use_id") or (text_in(fields, "id") if "name" in fields else "")
    return other_part(block, count_tokens, text_in(fields, "name"), call_id)


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
    return count_texts(texts, tokens, count_tokens)


def _write_message(message: Message) -> object:
    native, parts = message.native, message.parts
    made: dict[str, object] = {"role": message.role} if native is None else copy_of(native)
    is_text = len(parts) == 1 and parts[0].kind == "text" and parts[0].native is None
    made["content"] = parts[0].text if is_text else [_write_part(part) for part in parts]
    return made


def _write_part(part: Part) -> object:
    if part.native is not None and not part.edited:
        return part.native
    made = {} if part.native is None else copy_of(part.native)
    if part.kind == "result":
        return {**made, "content": part.text}
    if part.kind == "call":
        return {**made, "input": object_in(part.text)}
    return {**made, "type": "text", "text": part.text} if part.kind == "text" else {"type": "text", "text": part.text}


def _begins_compacted(message: Message) -> bool:
    first = message.parts[0] if message.parts else None
    return first is not None and first.kind == "other" and is_compaction(first.native)


def _count_opening(messages: Sequence[Message]) -> int:
    return 1 if messages and _begins_compacted(messages[0]) else 0


def _is_thinking(part: Part) -> bool:
    return part.kind == "other" and fields_of(part.native).get("type") in {"thinking", "redacted_thinking"}


class _Rules:
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

    def read_on(self, messages: Iterable[Message], start: int) -> None:
        """Read messages that follow those before."""
        for index, message in enumerate(messages, start):
            role, parts = message[0], message[1]
            if index == 0 and role == "assistant" and not _begins_compacted(message):
                self._empty.append("message 0: the first turn is the assistant's; it has to be the user's")
            self._note_emptiness(index, role, parts)
            if role != self._role:
                self._end_turn(role)
            if role == "assistant":
                self._read_answer(index, parts)
            else:
                self._read_results(index, parts)

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong if the list ends here."""
        return (*self._empty, *self._found, *self._find_thinking(), *self._find_unanswered())

    def _note_emptiness(self, index: int, role: str, parts: Sequence[Part]) -> None:
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

    def _read_answer(self, index: int, parts: Sequence[Part]) -> None:
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

    def _read_results(self, index: int, parts: Sequence[Part]) -> None:
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
        if self._last is None or not _is_thinking(self._last[1]):
            return []
        return [f"message {self._last[0]}: it ends with thinking"]

    def _find_unanswered(self) -> list[str]:
        return [
            f"message {at}: the call {call_id!r} has no result in the next turn" for call_id, at in self._open.items()
        ]


def _repair_messages(messages: Sequence[Message]) -> list[object]:
    # All calls answered, and nothing empty.
    made: list[object] = []
    asked: dict[str, Part] = {}
    if messages and messages[0].role == "assistant" and not _begins_compacted(messages[0]):
        made.append({"role": "user", "content": LOST_TURN})
    for role, group in groupby(messages, key=lambda message: message.role):
        turn = list(group)
        if role == "assistant":
            if asked:
                made.append({"role": "user", "content": [_answer_call(call) for call in asked.values()]})
            said = [kept for message in turn if (kept := _without_loose_ends(message)) is not None]
            made += said
            asked = {part.call_id: part for message in turn for part in message.parts if part.kind == "call"}
        else:
            made += _repair_turn(turn, asked)
            asked = {}
    if asked:
        made.append({"role": "user", "content": [_answer_call(call) for call in asked.values()]})
    return made


def _repair_turn(turn: Sequence[Message], asked: Mapping[str, Part]) -> list[object]:
    if _is_in_order(turn, asked):
        return [message.native for message in turn]
    open_calls = dict(asked)
    results: list[object] = []
    rest: list[object] = []
    for message in turn:
        blocks: list[object] = []
        for part in message.parts:
            if part.kind == "result" and open_calls.pop(part.call_id, None) is not None:
                results.append(part.native)
            elif part.kind == "result":
                blocks.append({"type": "text", "text": describe_orphan(part.tool, part.text)})
            elif not _is_empty(part):
                blocks.append(_write_part(part))
        if len(blocks) == len(message.parts) and all(part.kind != "result" for part in message.parts):
            rest.append(message.native)
        elif blocks:
            rest.append({**copy_of(message.native), "content": blocks})
    results += [_answer_call(call) for call in open_calls.values()]
    return [*([{"role": "user", "content": results}] if results else []), *rest]


def _is_in_order(turn: Sequence[Message], asked: Mapping[str, Part]) -> bool:
    # Each call is answered once, the results stand before anything else, and nothing is empty.
    parts = [part for message in turn for part in message.parts]
    answered = [part.call_id for part in parts if part.kind == "result"]
    first = parts[: len(answered)]
    return (
        sorted(answered) == sorted(asked)
        and all(part.kind == "result" for part in first)
        and all(message.parts for message in turn)
        and not any(map(_is_empty, parts))
    )


def _without_loose_ends(message: Message) -> object:
    kept = [part for part in message.parts if not _is_empty(part)]
    while kept and _is_thinking(kept[-1]):
        kept.pop()
    if not kept:
        return None
    if len(kept) == len(message.parts):
        return message.native
    return {**copy_of(message.native), "content": [_write_part(part) for part in kept]}


def _is_empty(part: Part) -> bool:
    return part.kind == "text" and not part.text.strip()


def _answer_call(call: Part) -> object:
    return {"type": "tool_result", "tool_use_id": call.call_id, "content": UNKNOWN_OUTCOME, "is_error": True}


def _define_tools(tools: Sequence[ToolDefinition]) -> list[dict[str, Any]]:
    return [{"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools]


ANTHROPIC: Final = register_provider(
    Provider(
        name=_NAME,
        roles=_ROLES,
        blocks=_BLOCKS,
        read_message=_read_message,
        write_message=_write_message,
        make_rules=_Rules,
        repair_messages=_repair_messages,
        define_tools=_define_tools,
        count_opening=_count_opening,
    )
)
