"""OpenAI Responses, the items of `input`: https://platform.openai.com/docs/api-reference/responses/create."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from otel_errcompact_context.messages import FormatName, Message, Part, new_part
from otel_errcompact_context.providers.costs import block_tokens, count_texts, make_message, other_part, text_part
from otel_errcompact_context.providers.native import (
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
from otel_errcompact_context.providers.provider import (
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

_NAME: Final[FormatName] = "openai-responses"
_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_BLOCKS: Final = frozenset({"refusal", "input_audio", "input_text", "output_text", "input_image", "input_file"})
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


def _read_message(native: object, index: int, count_tokens: TokenCounter) -> Message:
    # An item is a message: calls and reasoning are the assistant's, outputs are the tool's.
    fields = fields_at(index, native)
    kind = text_in(fields, "type")
    called = _CALLS.get(kind)
    if called is not None:
        value = fields.get(called.key)
        text = value if isinstance(value, str) else json_of(value, index)
        tool = called.tool or text_in(fields, "name")
        part = new_part(("call", text, count_tokens(text), tool, text_in(fields, "call_id"), None, native, False))
        return make_message("assistant", (part,), native)
    if kind in _OUTPUTS:
        output = fields.get("output")
        text, tokens = (output, count_tokens(output)) if isinstance(output, str) else _read_output(output, count_tokens)
        failed = fields.get("status") == "failed" or None
        call_id = text_in(fields, "call_id") or text_in(fields, "id")
        part = new_part(("result", text, tokens, text_in(fields, "name"), call_id, failed, native, False))
        return make_message("tool", (part,), native)
    if fields.get("role") is None or kind not in {"", "message"}:
        return _read_other(native, fields, kind, index, count_tokens)
    return _read_text(native, fields, index, count_tokens)


def _write_message(message: Message) -> object:
    native, parts = message.native, message.parts
    made: dict[str, object] = {"role": message.role} if native is None else copy_of(native)
    if len(parts) == 1 and parts[0].kind == "call":
        key = _CALLS[str(made["type"])].key
        is_text = isinstance(made.get(key), str)
        return {**made, key: parts[0].text if is_text else object_in(parts[0].text)}
    if len(parts) == 1 and parts[0].kind == "result":
        return {**made, "output": _write_output(made, parts[0].text)}
    if len(parts) == 1 and parts[0].native is None:
        return {**made, "content": parts[0].text}
    kind = "output_text" if message.role == "assistant" else "input_text"
    return {**made, "content": [_write_part(part, kind) for part in parts]}


def _settle_messages(messages: list[Message]) -> list[Message]:
    # The output of a local shell names the call by an `id`, which is the call's own or that of its item ("Local shell"
    # in OpenAI's documentation, and the types of its SDK).
    if not any(message[1] and message[1][0][3] == _LOCAL_SHELL for message in messages):
        return messages
    names = {
        text_in(fields_of(message.native), "id"): part.call_id
        for message in messages
        for part in message.parts
        if part.kind == "call" and part.tool == _LOCAL_SHELL and part.call_id
    }
    return [_under_call_id(message, names) for message in messages]


def _under_call_id(message: Message, names: Mapping[str, str]) -> Message:
    part = message.parts[0] if message.parts else None
    if part is None or part.kind != "result" or part.call_id not in names:
        return message
    if text_in(fields_of(message.native), "type") != f"{_LOCAL_SHELL}_call_output":
        return message
    return message._replace(parts=(part._replace(call_id=names[part.call_id]),))


def _count_opening(messages: Sequence[Message]) -> int:
    # Outputs of calls in the response before, after `previous_response_id`, or what the provider has compacted.
    return sum(1 for _ in takewhile(_is_opening, messages))


class _Rules:
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

    def read_on(self, messages: Iterable[Message], start: int) -> None:
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
                is_loose = part is not None and part.kind == "other" and _is_reasoning(message.native)
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


def _is_reasoning(native: object) -> bool:
    return fields_of(native).get("type") == "reasoning"


def _read_text(native: object, fields: Fields, index: int, count_tokens: TokenCounter) -> Message:
    role = _ROLES.get(text_in(fields, "role"))
    content = fields.get("content")
    if role is None or "tool_calls" in fields or "parts" in fields:
        refuse_foreign(fields, index, _NAME)
    if isinstance(content, str):
        return make_message(cast("Role", role), (text_part(content, None, count_tokens),), native)
    parts: list[Part] = []
    for block in items_of(content):
        inner = fields_of(block)
        text = inner.get("text")
        if isinstance(text, str) and text_in(inner, "type") in _TEXTS:
            parts.append(text_part(text, block, count_tokens))
        else:
            refuse_foreign_block(inner.get("type"), index, _NAME)
            parts.append(other_part(block, count_tokens))
    return make_message(cast("Role", role), parts, native)


def _read_other(native: object, fields: Fields, kind: str, index: int, count_tokens: TokenCounter) -> Message:
    # Reasoning, what the provider's own tools did, and items of types that are not known.
    refuse_foreign(fields, index, _NAME)
    call_id = text_in(fields, "call_id") or text_in(fields, "approval_request_id")
    if kind == "mcp_approval_request":
        call_id = text_in(fields, "id")
    is_answer = kind.endswith(("_output", "mcp_approval_response"))
    return make_message(
        "tool" if is_answer else "assistant", (other_part(native, count_tokens, call_id=call_id),), native
    )


def _read_output(output: object, count_tokens: TokenCounter) -> tuple[str, int]:
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
    return count_texts(texts, tokens, count_tokens)


def _write_output(made: dict[str, object], text: str) -> object:
    # In the form that its type asks for.
    if made.get("type") != "shell_call_output":
        return text
    first = next(iter(items_of(made.get("output"))), None)
    outcome = fields_of(first).get("outcome") or {"type": "exit", "exit_code": 0}
    return [{"stdout": text, "stderr": "", "outcome": outcome}]


def _write_part(part: Part, kind: str) -> object:
    if part.native is not None and not part.edited:
        return part.native
    made = copy_of(part.native) if part.native is not None and part.kind == "text" else {"type": kind}
    return {**made, "text": part.text}


def _repair_messages(messages: Sequence[Message]) -> list[object]:
    # Outputs for all calls, and no others.
    opening = _count_opening(messages)
    answered = _find_answered(messages)
    doubled = _find_doubled(messages)
    made: list[object] = [message.native for message in messages[:opening]]
    waiting: list[object] = []
    for index in range(opening, len(messages)):
        message = messages[index]
        part = message.parts[0] if message.parts else None
        if message.role != "assistant":
            made += waiting
            waiting = []
        if part is not None and part.kind == "result" and index not in answered.values():
            made.append({"role": "user", "content": describe_orphan(part.tool, part.text)})
        elif not (_is_reasoning(message.native) and _leads_nowhere(messages, index)):
            made.append(message.native)
        if part is not None and part.kind == "call" and index not in answered and part.call_id not in doubled:
            # Behind the whole answer, since reasoning and parallel calls stand together.
            waiting.append(_answer_call(message.native, part))
    return [*made, *waiting]


def _find_answered(messages: Sequence[Message]) -> dict[int, int]:
    open_calls: dict[str, int] = {}
    found: dict[int, int] = {}
    for index, message in enumerate(messages):
        for part in message.parts:
            if part.kind == "call":
                open_calls[part.call_id] = index
            elif part.kind == "result" and part.call_id in open_calls:
                found[open_calls.pop(part.call_id)] = index
    return found


def _find_doubled(messages: Sequence[Message]) -> set[str]:
    # Of two calls with one id nobody can tell which was answered.
    counts = Counter(part.call_id for message in messages for part in message.parts if part.kind == "call")
    return {call_id for call_id, count in counts.items() if count > 1}


def _leads_nowhere(messages: Sequence[Message], index: int) -> bool:
    following = (message for message in messages[index + 1 :] if not _is_reasoning(message.native))
    after = next(following, None)
    return after is None or after.role != "assistant"


def _answer_call(native: object, call: Part) -> object:
    kind = text_in(fields_of(native), "type")
    made: dict[str, object] = {"type": f"{kind}_output", "call_id": call.call_id, "output": UNKNOWN_OUTCOME}
    if kind == "local_shell_call":
        return {"type": made["type"], "id": call.call_id, "output": UNKNOWN_OUTCOME}
    if kind == "shell_call":
        # No outcome of a command can say that it is unknown; a time-out comes nearest.
        return {**made, "output": [{"stdout": "", "stderr": UNKNOWN_OUTCOME, "outcome": {"type": "timeout"}}]}
    return {**made, "status": "failed"} if kind == "apply_patch_call" else made


def _define_tools(tools: Sequence[ToolDefinition]) -> list[dict[str, Any]]:
    # Strict schemas have no optional arguments, and strict is what the Responses API takes if nothing is said.
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            "strict": False,
        }
        for tool in tools
    ]


OPENAI_RESPONSES: Final = register_provider(
    Provider(
        name=_NAME,
        roles=frozenset(_ROLES),
        blocks=_BLOCKS,
        read_message=_read_message,
        write_message=_write_message,
        make_rules=_Rules,
        repair_messages=_repair_messages,
        define_tools=_define_tools,
        count_opening=_count_opening,
        settle_messages=_settle_messages,
    )
)
