"""OpenAI Responses, the items of `input`: https://platform.openai.com/docs/api-reference/responses/create."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.context.messages import FormatName, Message, Part, new_message, new_part
from otel_errcompact.context.providers.costs import BLOCK_TOKENS, FRAME_TOKENS, block_tokens
from otel_errcompact.context.providers.native import (
    Fields,
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
    from collections.abc import Iterable, Mapping, Sequence

    from otel_errcompact.context.messages import Role
    from otel_errcompact.digest.tokens import TokenCounter

name: Final[FormatName] = "openai-responses"
_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_TEXTS: Final = frozenset({"input_text", "output_text"})


class _Called(NamedTuple):
    """How an item holds the arguments of a call."""

    key: str
    tool: str = ""
    """The tool's name, where the item has none because its type says it."""


_LOCAL_SHELL: Final = "local_shell"
_CALLS: Final[Mapping[str, _Called]] = {
    "function_call": _Called("arguments"),
    "custom_tool_call": _Called("input"),
    f"{_LOCAL_SHELL}_call": _Called("action", _LOCAL_SHELL),
    "shell_call": _Called("action", "shell"),
    "apply_patch_call": _Called("operation", "apply_patch"),
}
_OUTPUTS: Final = frozenset(f"{kind}_output" for kind in _CALLS)
"""Other results, as screenshots, cannot be replaced by a text."""


def read(native: object, index: int, count_tokens: TokenCounter) -> Message:
    """Read an item, which is a message: calls and reasoning are the assistant's, outputs are the tool's."""
    fields = fields_at(index, native)
    kind = text_in(fields, "type")
    called = _CALLS.get(kind)
    if called is not None:
        value = fields.get(called.key)
        text = value if isinstance(value, str) else json_of(value, index)
        tokens = count_tokens(text)
        tool = called.tool or text_in(fields, "name")
        part = new_part(("call", text, tokens, tool, text_in(fields, "call_id"), None, native, False))
        return new_message(("assistant", (part,), tokens + FRAME_TOKENS + BLOCK_TOKENS, native, False))
    if kind in _OUTPUTS:
        output = fields.get("output")
        text, tokens = (output, count_tokens(output)) if isinstance(output, str) else _read_result(output, count_tokens)
        failed = fields.get("status") == "failed" or None
        call_id = text_in(fields, "call_id") or text_in(fields, "id")
        part = new_part(("result", text, tokens, text_in(fields, "name"), call_id, failed, native, False))
        return new_message(("tool", (part,), tokens + FRAME_TOKENS + BLOCK_TOKENS, native, False))
    named = fields.get("role")
    if named is None or kind not in {"", "message"}:
        return _read_other(native, fields, kind, index, count_tokens)
    return _read_text(native, fields, index, count_tokens)


def write(message: Message) -> object:
    """Return a new dict: the provider's item."""
    native, parts = message.native, message.parts
    made: dict[str, object] = {"role": message.role} if native is None else copy_of(native)
    if len(parts) == 1 and parts[0].kind == "call":
        key = _CALLS[str(made["type"])].key
        is_text = isinstance(made.get(key), str)
        return {**made, key: parts[0].text if is_text else object_in(parts[0].text)}
    if len(parts) == 1 and parts[0].kind == "result":
        return {**made, "output": _read_output(made, parts[0].text)}
    if len(parts) == 1 and parts[0].native is None:
        return {**made, "content": parts[0].text}
    kind = "output_text" if message.role == "assistant" else "input_text"
    return {**made, "content": [_write_item(part, kind) for part in parts]}


def settle(messages: list[Message]) -> list[Message]:
    """
    Return messages with local shells' outputs under their calls' ids.

    Such an output names the call by an `id`, which is the call's own or that of its item ("Local shell" in OpenAI's
    documentation, and the types of its SDK).
    """
    names = {
        text_in(fields_of(message.native), "id"): part.call_id
        for message in messages
        for part in message.parts
        if part.kind == "call" and part.tool == _LOCAL_SHELL and part.call_id
    }
    if not names:
        return messages
    return [_under_call_id(message, names) for message in messages]


def has_local_shell(messages: Iterable[Message]) -> bool:
    """Return whether an item is a call of a local shell."""
    return any(message.parts and message.parts[0].tool == _LOCAL_SHELL for message in messages)


def _under_call_id(message: Message, names: Mapping[str, str]) -> Message:
    part = message.parts[0] if message.parts else None
    if part is None or part.kind != "result" or part.call_id not in names:
        return message
    if text_in(fields_of(message.native), "type") != f"{_LOCAL_SHELL}_call_output":
        return message
    return message._replace(parts=(part._replace(call_id=names[part.call_id]),))


def count_opening(messages: Sequence[Message]) -> int:
    """
    Return how many messages continue what the provider keeps.

    Outputs of calls in the response before, after `previous_response_id`, or what the provider has compacted.
    """
    for index, message in enumerate(messages):
        if not _is_opening(message):
            return index
    return len(messages)


class Rules:
    """
    Finds where a list breaks the rules for items.

    A list may begin with outputs: of calls that the provider keeps, after `previous_response_id`. Any other output
    stands after the call with its id, and each call has its output ("Function calling" in OpenAI's documentation, and
    the errors that the API answers with: "No tool call found for function call output", "No tool output found for
    function call"). A reasoning item is followed by the item it led to ("provided without its required following
    item"). Two calls with one id are not said to be wrong, but nobody can tell their outputs apart.
    """

    def __init__(self) -> None:
        self._found: list[str] = []
        self._open: dict[str, int] = {}
        self._known: set[str] = set()
        self._reasoning = -1
        self._is_opening = True

    def take(self, messages: Iterable[Message], start: int) -> None:
        """Read items that follow those before."""
        found, open_calls = self._found, self._open
        for index, message in enumerate(messages, start):
            if self._is_opening:
                self._is_opening = _is_opening(message)
            if self._reasoning >= 0 and message.role != "assistant":
                found += self._find_loose()
                self._reasoning = -1
            part = message.parts[0] if message.parts else None
            if part is None or part.kind in {"text", "other"}:
                is_loose = part is not None and part.kind == "other" and is_reasoning(message.native)
                self._reasoning = index if is_loose else -1
            elif part.kind == "call":
                self._reasoning = -1
                if part.call_id in self._known:
                    found.append(f"message {index}: a second call has the id {part.call_id!r}")
                self._known.add(part.call_id)
                open_calls[part.call_id] = index
            elif open_calls.pop(part.call_id, None) is None and not self._is_opening:
                found.append(f"message {index}: the output {part.call_id!r} has no call before it")

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong if the list ends here."""
        unanswered = (f"message {index}: the call {call_id!r} has no output" for call_id, index in self._open.items())
        return (*self._found, *unanswered, *self._find_loose())

    def _find_loose(self) -> list[str]:
        at = self._reasoning
        return [f"message {at}: the reasoning is not followed by what it led to"] if at >= 0 else []


def _is_opening(message: Message) -> bool:
    return message.role == "tool" or is_compaction(message.native)


def is_reasoning(native: object) -> bool:
    """Tell whether an item is reasoning."""
    return fields_of(native).get("type") == "reasoning"


def _read_text(native: object, fields: Fields, index: int, count_tokens: TokenCounter) -> Message:
    role = _ROLES.get(text_in(fields, "role"))
    content = fields.get("content")
    if role is None or "tool_calls" in fields or "parts" in fields:
        refuse_foreign(fields, index, name)
    if isinstance(content, str):
        tokens = count_tokens(content)
        return Message(cast("Role", role), (Part("text", content, tokens),), tokens + FRAME_TOKENS, native)
    parts: list[Part] = []
    for block in items_of(content):
        inner = fields_of(block)
        text = inner.get("text")
        if isinstance(text, str) and text_in(inner, "type") in _TEXTS:
            parts.append(Part("text", text, count_tokens(text), "", "", None, block))
        else:
            refuse_foreign_block(inner.get("type"), index, name)
            parts.append(Part("other", "", block_tokens(block, count_tokens), "", "", None, block))
    return Message(cast("Role", role), tuple(parts), FRAME_TOKENS + sum(part.tokens for part in parts), native)


def _read_other(native: object, fields: Fields, kind: str, index: int, count_tokens: TokenCounter) -> Message:
    """Read reasoning, what the provider's own tools did, and items of types that are not known."""
    refuse_foreign(fields, index, name)
    call_id = text_in(fields, "call_id") or text_in(fields, "approval_request_id")
    if kind == "mcp_approval_request":
        call_id = text_in(fields, "id")
    part = Part("other", "", block_tokens(native, count_tokens), "", call_id, None, native)
    is_answer = kind.endswith(("_output", "mcp_approval_response"))
    return Message("tool" if is_answer else "assistant", (part,), part.tokens + FRAME_TOKENS, native)


def _read_result(output: object, count_tokens: TokenCounter) -> tuple[str, int]:
    texts: list[str] = []
    tokens = 0
    for block in items_of(output):
        inner = fields_of(block)
        text = inner.get("text")
        if isinstance(text, str) and text_in(inner, "type") in _TEXTS:
            texts.append(text)
        elif "stdout" in inner:
            texts += [printed for key in ("stdout", "stderr") if (printed := text_in(inner, key))]
        else:
            tokens += block_tokens(block, count_tokens)
    text = texts[0] if len(texts) == 1 else "\n".join(texts)
    return text, tokens + count_tokens(text)


def _read_output(made: dict[str, object], text: str) -> object:
    """Return an output with a text for all it holds, in the form that its type asks for."""
    if made.get("type") != "shell_call_output":
        return text
    first = next(iter(items_of(made.get("output"))), None)
    outcome = fields_of(first).get("outcome") or {"type": "exit", "exit_code": 0}
    return [{"stdout": text, "stderr": "", "outcome": outcome}]


def _write_item(part: Part, kind: str) -> object:
    if part.native is not None and not part.edited:
        return part.native
    made = copy_of(part.native) if part.native is not None and part.kind == "text" else {"type": kind}
    return {**made, "text": part.text}
