"""
Lists of Bedrock's Converse as lists of Anthropic, and back.

Strands has them for all models.
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact_context.memory.markers import is_marked
from otel_errcompact_context.providers.native import NO_FIELDS, fields_at, fields_of, items_of, json_of, text_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact_context.providers.native import Fields

_TYPES: Final = {"reasoningContent": "thinking"}
"""What Anthropic calls a block that a rule for turns is about; all others keep their name, and are left alone."""


class _Origin(NamedTuple):
    native: object
    segments: tuple[object, ...]
    """What it is read as: more than one message where a marker has joined it."""


class ConverseList:
    """
    A list of Converse messages, readable as a list of Anthropic's.

    Compact `messages` with the format `anthropic`, and hand what came of it to `restore`. Converse refuses two messages
    of the user in a row ("must alternate between user and assistant roles"): a marker or a summary joins the message
    of the user beside it, and is read as a message of its own again.

    Args:
        messages: The list; neither it nor anything in it is changed.

    Raises:
        ConversationError: A message has no role and content.
    """

    def __init__(self, messages: Sequence[object]) -> None:
        self.messages: list[object] = []
        """The same list in the form of Anthropic's."""

        self._origins: dict[int, _Origin] = {}
        """By the id of its first segment."""

        self._blocks: dict[int, tuple[object, object]] = {}
        """By the id of a block that was read: the block, which so stays alive, and the caller's own."""

        self._by_call: dict[tuple[str, str], Fields] = {}
        """The caller's own calls and results, by their kind and the call's id."""

        for index, native in enumerate(messages):
            self._read_message(native, index)

    def restore(self, messages: Sequence[object]) -> list[object]:
        """
        Return a list in the form of Converse.

        What was not changed is the caller's own, the very objects.

        Args:
            messages: What became of `self.messages`.
        """
        restored: list[object] = []
        was_made = False
        for message, is_made in self._gather_messages(messages):
            one, before = fields_of(message), fields_of(restored[-1]) if restored else NO_FIELDS
            if (is_made or was_made) and before.get("role") == "user" == one["role"]:
                restored[-1] = {**before, "content": [*items_of(before["content"]), *items_of(one["content"])]}
                was_made = True
            else:
                restored.append(message)
                was_made = is_made
        return restored

    def _gather_messages(self, messages: Sequence[object]) -> Iterator[tuple[object, bool]]:
        at = 0
        while at < len(messages):
            origin = self._origins.get(id(messages[at]))
            end = at + len(origin.segments) if origin is not None else at + 1
            if origin is not None and [*map(id, origin.segments)] == [*map(id, messages[at:end])]:
                yield origin.native, False
                at = end
            else:
                yield self._write_message(messages[at]), True
                at += 1

    def _read_message(self, native: object, index: int) -> None:
        fields = fields_at(index, native)
        segments: list[dict[str, object]] = []
        content: list[object] = []
        after_marker = True
        for block in items_of(fields.get("content")):
            read = self._read_block(block, index)
            self._blocks[id(read)] = (read, block)
            is_marker = fields.get("role") == "user" and is_marked(text_in(read, "text"))
            if is_marker or after_marker:
                content = []
                segments.append({"role": fields.get("role"), "content": content})
            content.append(read)
            after_marker = is_marker
        # What else a message says, such as its metadata, stays with its beginning.
        first = {**fields, **(segments[0] if segments else {"content": []})}
        segments[:1] = [first]
        self._origins[id(first)] = _Origin(native, tuple(segments))
        self.messages += segments

    def _read_block(self, block: object, index: int) -> dict[str, object]:
        kind, value = next(iter(fields_of(block).items()), ("", None))
        said = fields_of(value)
        if kind == "text":
            return {"type": "text", "text": value}
        if kind == "json":
            return {"type": "text", "text": json_of(value, index)}
        call_id = text_in(said, "toolUseId")
        if kind == "toolUse":
            self._by_call[kind, call_id] = said
            return {"type": "tool_use", "id": call_id, "name": said.get("name"), "input": said.get("input")}
        if kind == "toolResult":
            self._by_call[kind, call_id] = said
            content = [self._read_block(item, index) for item in items_of(said.get("content"))]
            failed = said.get("status") == "error"
            return {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": failed}
        return {"type": _TYPES.get(kind, kind), kind: value}

    def _write_message(self, message: object) -> object:
        fields = fields_of(message)
        content = fields["content"]
        blocks = [{"text": content}] if isinstance(content, str) else [*map(self._write_block, items_of(content))]
        return {**fields, "content": blocks}

    def _write_block(self, block: object) -> object:
        if id(block) in self._blocks:
            return self._blocks[id(block)][1]
        fields = fields_of(block)
        if fields["type"] == "tool_use":
            call = self._by_call["toolUse", text_in(fields, "id")]
            return {"toolUse": {**call, "input": fields["input"]}}
        if fields["type"] == "tool_result":
            result = self._by_call["toolResult", text_in(fields, "tool_use_id")]
            return {"toolResult": {**result, "content": [{"text": fields["content"]}]}}
        return {"text": fields["text"]}
