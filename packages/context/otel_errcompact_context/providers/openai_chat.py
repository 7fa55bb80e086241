"""OpenAI Chat Completions, and all who speak it: https://platform.openai.com/docs/api-reference/chat/create."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_errcompact_context.messages import FormatName, Message, Part, new_part
from otel_errcompact_context.providers.costs import block_tokens, count_texts, make_message, other_part, text_part
from otel_errcompact_context.providers.native import Fields, copy_of, fields_at, fields_of, items_of, json_of, text_in
from otel_errcompact_context.providers.provider import (
    UNKNOWN_OUTCOME,
    Provider,
    ToolDefinition,
    describe_orphan,
    register_provider,
)
from otel_errcompact_context.providers.telling import refuse_foreign, refuse_foreign_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Role

_NAME: Final[FormatName] = "openai-chat"
_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_BLOCKS: Final = frozenset({"text", "refusal", "input_audio", "image_url", "file"})
_UNSAID: Final = ("reasoning_content", "reasoning", "refusal", "audio")
"""Fields of an answer beside its content that cost tokens where providers take them back."""


def _read_message(native: object, index: int, count_tokens: TokenCounter) -> Message:
    # Each result is a message of the tool; what an answer holds beside texts and calls is `other`.
    fields = fields_at(index, native)
    role = _ROLES.get(text_in(fields, "role"))
    if role is None or fields.get("parts") is not None:
        refuse_foreign(fields, index, _NAME)
    content = fields.get("content")
    if role == "tool":
        return make_message(role, (_read_result(native, fields, index, count_tokens),), native)
    if isinstance(content, str):
        parts = [text_part(content, None, count_tokens)]
    else:
        parts = [_read_content_part(block, index, count_tokens) for block in items_of(content)]
    # Beside role and content; `model_dump(exclude_none=True)` leaves out a content that is None.
    if role == "assistant" and (content is None or len(fields) > 2):  # noqa: PLR2004
        parts += _read_answer(fields, index, count_tokens)
    return make_message(role or "user", parts, native)


def _write_message(message: Message) -> object:
    native, parts = message.native, message.parts
    made: dict[str, object] = {"role": message.role} if native is None else copy_of(native)
    calls = [part for part in parts if part.kind == "call"]
    said = [part for part in parts if part.kind != "call" and (part.native is not None or part.kind != "other")]
    if len(said) == 1 and (said[0].native is None or said[0].kind == "result"):
        made["content"] = said[0].text
    elif said:
        made["content"] = [_write_part(part) for part in said]
    elif "content" in made:
        made["content"] = None
    if "tool_calls" in made or "function_call" in made:
        _write_calls(made, calls)
    return made


class _Rules:
    """
    Finds where a list breaks the rules for turns.

    An answer with `tool_calls` is followed by one message of the tool for each of their ids, before anybody else
    speaks; such a message stands nowhere else ("Function calling" in OpenAI's documentation, and the errors that the
    API answers with: "must be followed by tool messages", "must be a response to a preceding message with
    'tool_calls'"). Ids need only be unique within an answer. An answer has content or calls (API reference).
    """

    def __init__(self) -> None:
        self._found: list[str] = []
        self._open: dict[str, int] = {}

    def read_on(self, messages: Iterable[Message], start: int) -> None:
        """Read messages that follow those before."""
        open_calls, found = self._open, self._found
        for index, message in enumerate(messages, start):
            if message.role == "tool":
                for part in message.parts:
                    if part.kind == "result" and open_calls.pop(_call_name(part), None) is None:
                        found.append(
                            f"message {index}: the result {_call_name(part)!r} has no call in the answer before it"
                        )
                continue
            if open_calls:
                found += _find_unanswered(open_calls)
                open_calls.clear()
            if not message.parts and message.role == "assistant":
                found.append(f"message {index}: the answer has neither content nor calls")
            for part in message.parts:
                if part.kind == "call":
                    if _call_name(part) in open_calls:
                        found.append(f"message {index}: a second call has the id {_call_name(part)!r}")
                    open_calls[_call_name(part)] = index

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong if the list ends here."""
        return (*self._found, *_find_unanswered(self._open))


def _find_unanswered(open_calls: dict[str, int]) -> list[str]:
    return [
        f"message {index}: the call {call_id!r} is not followed by its result" for call_id, index in open_calls.items()
    ]


def _call_name(part: Part) -> str:
    # The old functions have no id, and there is but one in an answer.
    return part.call_id or part.tool


def _read_answer(fields: Fields, index: int, count_tokens: TokenCounter) -> Iterator[Part]:
    for key in _UNSAID:
        value = fields.get(key)
        if value:
            yield Part("other", "", block_tokens(value, count_tokens))
    for call in items_of(fields.get("tool_calls")):
        yield _read_call(call, index, count_tokens)
    function = fields.get("function_call")
    if function is not None:
        asked = fields_of(function)
        text = text_in(asked, "arguments")
        yield Part("call", text, count_tokens(text), text_in(asked, "name"), "", None, function)


def _read_call(call: object, index: int, count_tokens: TokenCounter) -> Part:
    fields = fields_of(call)
    function = fields_of(fields.get("function") or fields.get("custom"))
    arguments = function.get("arguments", function.get("input"))
    text = arguments if isinstance(arguments, str) else json_of(arguments, index)
    tool, call_id = text_in(function, "name"), text_in(fields, "id")
    return new_part(("call", text, count_tokens(text), tool, call_id, None, call, False))


def _read_result(native: object, fields: Fields, index: int, count_tokens: TokenCounter) -> Part:
    content, block = fields.get("content"), None
    if isinstance(content, str):
        text, tokens = content, count_tokens(content)
    else:
        # With it all that is no text is kept when the result is cut.
        block = native
        parts = [_read_content_part(block, index, count_tokens) for block in items_of(content)]
        texts = [part.text for part in parts if part.kind == "text"]
        text, tokens = count_texts(texts, sum(part.tokens for part in parts if part.kind != "text"), count_tokens)
    return new_part(
        ("result", text, tokens, text_in(fields, "name"), text_in(fields, "tool_call_id"), None, block, False)
    )


def _read_content_part(block: object, index: int, count_tokens: TokenCounter) -> Part:
    fields = fields_of(block)
    text = fields.get("text")
    if fields.get("type") == "text" and isinstance(text, str):
        return text_part(text, block, count_tokens)
    refuse_foreign_block(fields.get("type"), index, _NAME)
    return other_part(block, count_tokens)


def _write_part(part: Part) -> object:
    if part.native is not None and not part.edited:
        return part.native
    made = copy_of(part.native) if part.native is not None and part.kind == "text" else {}
    return {**made, "type": "text", "text": part.text}


def _write_calls(made: dict[str, object], calls: list[Part]) -> None:
    function = made.pop("function_call", None)
    made.pop("tool_calls", None)
    written: list[object] = []
    for part in calls:
        if part.native is function:
            made["function_call"] = {**copy_of(function), "arguments": part.text} if part.edited else function
        else:
            written.append(_write_call(part))
    if written:
        made["tool_calls"] = written


def _write_call(part: Part) -> object:
    if not part.edited:
        return part.native
    made = copy_of(part.native)
    kind, key = ("custom", "input") if made.get("custom") else ("function", "arguments")
    return {**made, kind: {**copy_of(made.get(kind)), key: part.text}}


def _repair_messages(messages: Sequence[Message]) -> list[object]:
    # All calls answered, and no other results.
    made: list[object] = []
    asked: dict[str, Part] = {}
    orphans: list[object] = []
    for message in messages:
        if message.role == "tool":
            part = message.parts[0]
            if asked.pop(_call_name(part), None) is not None:
                made.append(message.native)
            else:
                # A text of the user must not stand between results.
                orphans.append({"role": "user", "content": describe_orphan(part.tool, part.text)})
            continue
        made += [*map(_answer_call, asked.values()), *orphans]
        asked, orphans = {}, []
        if message.role != "assistant" or message.parts:
            made.append(message.native)
            asked = {_call_name(part): part for part in message.parts if part.kind == "call"}
    return [*made, *map(_answer_call, asked.values()), *orphans]


def _answer_call(call: Part) -> object:
    if call.call_id:
        return {"role": "tool", "tool_call_id": call.call_id, "content": UNKNOWN_OUTCOME}
    return {"role": "function", "name": call.tool, "content": UNKNOWN_OUTCOME}


def _define_tools(tools: Sequence[ToolDefinition]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in tools
    ]


OPENAI_CHAT: Final = register_provider(
    Provider(
        name=_NAME,
        roles=frozenset(_ROLES),
        blocks=_BLOCKS,
        read_message=_read_message,
        write_message=_write_message,
        make_rules=_Rules,
        repair_messages=_repair_messages,
        define_tools=_define_tools,
    )
)
