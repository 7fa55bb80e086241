"""OpenAI Chat Completions, and all who speak it: https://platform.openai.com/docs/api-reference/chat/create."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.context.messages import FormatName, Message, Part, new_message, new_part
from otel_errcompact.context.providers.costs import BLOCK_TOKENS, FRAME_TOKENS, block_tokens
from otel_errcompact.context.providers.native import Fields, copy_of, fields_at, fields_of, items_of, json_of, text_in
from otel_errcompact.context.providers.telling import refuse_foreign, refuse_foreign_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from otel_errcompact.context.messages import Role
    from otel_errcompact.digest.tokens import TokenCounter

name: Final[FormatName] = "openai-chat"
_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_UNSAID: Final = ("reasoning_content", "reasoning", "refusal", "audio")
"""Fields of an answer beside its content that cost tokens where providers take them back."""


def read(native: object, index: int, count_tokens: TokenCounter) -> Message:
    """Read a message; each result is one of the tool, and what an answer holds beside texts and calls is `other`."""
    fields = fields_at(index, native)
    role = _ROLES.get(text_in(fields, "role"))
    if role is None or fields.get("parts") is not None:
        refuse_foreign(fields, index, name)
    content = fields.get("content")
    if role == "tool":
        return _read_result(native, fields, index, count_tokens)
    parts: list[Part] = []
    total = FRAME_TOKENS
    if isinstance(content, str):
        tokens = count_tokens(content)
        total += tokens
        parts.append(new_part(("text", content, tokens, "", "", None, None, False)))
    else:
        for block in items_of(content):
            part = _read_content_part(block, index, count_tokens)
            total += part.tokens
            parts.append(part)
    # Beside role and content; `model_dump(exclude_none=True)` leaves out a content that is None.
    if role == "assistant" and (content is None or len(fields) > 2):  # noqa: PLR2004
        total += _take_answer(fields, index, count_tokens, parts)
    return new_message((role, tuple(parts), total, native, False))


def write(message: Message) -> object:
    """Return a new dict: the provider's message."""
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


class Rules:
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

    def take(self, messages: Iterable[Message], start: int) -> None:
        """Read messages that follow those before."""
        open_calls, found = self._open, self._found
        for index, message in enumerate(messages, start):
            if message.role == "tool":
                for part in message.parts:
                    if part.kind == "result" and open_calls.pop(_key(part), None) is None:
                        found.append(f"message {index}: the result {_key(part)!r} has no call in the answer before it")
                continue
            if open_calls:
                found += _find_unanswered(open_calls)
                open_calls.clear()
            if not message.parts and message.role == "assistant":
                found.append(f"message {index}: the answer has neither content nor calls")
            for part in message.parts:
                if part.kind == "call":
                    if _key(part) in open_calls:
                        found.append(f"message {index}: a second call has the id {_key(part)!r}")
                    open_calls[_key(part)] = index

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong if the list ends here."""
        return (*self._found, *_find_unanswered(self._open))


def _find_unanswered(open_calls: dict[str, int]) -> list[str]:
    return [
        f"message {index}: the call {call_id!r} is not followed by its result" for call_id, index in open_calls.items()
    ]


def _key(part: Part) -> str:
    """Return the id; the old functions have none, and there is but one in an answer."""
    return part.call_id or part.tool


def _take_answer(fields: Fields, index: int, count_tokens: TokenCounter, parts: list[Part]) -> int:
    """Add what an answer holds beside its content, and return what it costs."""
    total = 0
    for key in _UNSAID:
        value = fields.get(key)
        if value:
            part = Part("other", "", block_tokens(value, count_tokens))
            total += part.tokens
            parts.append(part)
    for call in items_of(fields.get("tool_calls")):
        part = _read_call(call, index, count_tokens)
        total += part.tokens + BLOCK_TOKENS
        parts.append(part)
    function = fields.get("function_call")
    if function is not None:
        asked = fields_of(function)
        text = text_in(asked, "arguments")
        part = Part("call", text, count_tokens(text), text_in(asked, "name"), "", None, function)
        total += part.tokens + BLOCK_TOKENS
        parts.append(part)
    return total


def _read_call(call: object, index: int, count_tokens: TokenCounter) -> Part:
    fields = fields_of(call)
    function = fields_of(fields.get("function") or fields.get("custom"))
    arguments = function.get("arguments", function.get("input"))
    text = arguments if isinstance(arguments, str) else json_of(arguments, index)
    tool, call_id = text_in(function, "name"), text_in(fields, "id")
    return new_part(("call", text, count_tokens(text), tool, call_id, None, call, False))


def _read_result(native: object, fields: Fields, index: int, count_tokens: TokenCounter) -> Message:
    content, block = fields.get("content"), None
    if isinstance(content, str):
        text, tokens = content, count_tokens(content)
    else:
        # With it all that is no text is kept when the result is cut.
        block = native
        parts = [_read_content_part(block, index, count_tokens) for block in items_of(content)]
        texts = [part.text for part in parts if part.kind == "text"]
        text = texts[0] if len(texts) == 1 else "\n".join(texts)
        tokens = count_tokens(text) + sum(part.tokens for part in parts if part.kind != "text")
    tool, call_id = text_in(fields, "name"), text_in(fields, "tool_call_id")
    part = new_part(("result", text, tokens, tool, call_id, None, block, False))
    return new_message(("tool", (part,), tokens + FRAME_TOKENS + BLOCK_TOKENS, native, False))


def _read_content_part(block: object, index: int, count_tokens: TokenCounter) -> Part:
    fields = fields_of(block)
    text = fields.get("text")
    if fields.get("type") == "text" and isinstance(text, str):
        return Part("text", text, count_tokens(text), "", "", None, block)
    refuse_foreign_block(fields.get("type"), index, name)
    return Part("other", "", block_tokens(block, count_tokens), "", "", None, block)


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
