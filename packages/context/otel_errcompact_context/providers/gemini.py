"""Gemini, `contents` as REST and the SDK have them (camelCase, snake_case): https://ai.google.dev/api/caching#Content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_errcompact_context.messages import FormatName, Message, Part, new_part
from otel_errcompact_context.providers.costs import block_tokens, make_message, other_part, text_part
from otel_errcompact_context.providers.native import (
    copy_of,
    fields_at,
    fields_of,
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
from otel_errcompact_context.providers.telling import refuse_foreign

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Role

_NAME: Final[FormatName] = "gemini"
_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "model": "assistant",
    "": "user",
    "function": "tool",
    "tool": "tool",
    "system": "system",
}
_OUTPUT: Final = "output"
_ERROR: Final = "error"
_KEYS: Final[Mapping[bool | None, str]] = {True: _ERROR, False: _OUTPUT, None: "result"}


def _read_message(native: object, index: int, count_tokens: TokenCounter) -> Message:
    # Results stand in contents of the user; thoughts and what the provider's own tools did are `other`.
    fields = fields_at(index, native)
    role = _ROLES.get(text_in(fields, "role"))
    if role is None or not isinstance(fields.get("parts"), (list, tuple)):
        refuse_foreign(fields, index, _NAME)
    parts = [_read_part(block, index, count_tokens) for block in items_of(fields.get("parts"))]
    return make_message(role or "user", parts, native)


def _write_message(message: Message) -> object:
    native = message.native
    made: dict[str, object] = {"role": message.role} if native is None else copy_of(native)
    return {**made, "parts": [_write_part(part) for part in message.parts]}


class _Rules:
    """
    Finds where a list breaks the rules for turns.

    A content with function calls comes right after one of the user or one of function responses, the content right
    after it has as many responses as there were calls, and responses stand nowhere else ("Function calling" in the
    Gemini API's documentation, and the errors that the API answers with: "function call turn comes immediately after
    a user turn or after a function response turn", "number of function response parts is equal to the number of
    function call parts"). Each content has parts.
    """

    def __init__(self) -> None:
        self._found: list[str] = []
        self._asked = 0
        self._before: Role | None = None
        self._end = 0

    def read_on(self, messages: Iterable[Message], start: int) -> None:
        """Read contents that follow those before."""
        found, asked, before = self._found, self._asked, self._before
        index = start - 1
        for index, message in enumerate(messages, start):
            if not message.parts:
                found.append(f"message {index}: it has no parts")
            calls = results = 0
            for part in message.parts:
                if part.kind == "call":
                    calls += 1
                elif part.kind == "result":
                    results += 1
            if asked and results != asked:
                found.append(f"message {index - 1}: {asked} function calls are followed by {results} responses")
            elif results and not asked:
                found.append(f"message {index}: {results} function responses do not follow a function call")
            if calls and (before is None or before == "assistant"):
                found.append(f"message {index}: function calls do not follow the user or function responses")
            asked, before = calls, message.role
        self._asked, self._before, self._end = asked, before, index + 1

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong if the list ends here."""
        if not self._asked:
            return tuple(self._found)
        return (*self._found, f"message {self._end - 1}: {self._asked} function calls are followed by 0 responses")


def _read_part(block: object, index: int, count_tokens: TokenCounter) -> Part:
    fields = fields_of(block)
    text = fields.get("text")
    if isinstance(text, str) and not fields.get("thought"):
        return text_part(text, block, count_tokens)
    call = fields.get("functionCall") or fields.get("function_call")
    if call is not None:
        asked = fields_of(call)
        arguments = asked.get("args")
        text = json_of(arguments if arguments is not None else {}, index)
        call_id = text_in(asked, "id")
        return new_part(("call", text, count_tokens(text), text_in(asked, "name"), call_id, None, block, False))
    answer = fields.get("functionResponse") or fields.get("function_response")
    if answer is not None:
        said = fields_of(answer)
        text, failed = _read_result(said.get("response"), index)
        tokens = count_tokens(text)
        for inner in items_of(said.get("parts")):
            tokens += block_tokens(inner, count_tokens)
        return new_part(("result", text, tokens, text_in(said, "name"), text_in(said, "id"), failed, block, False))
    own = fields_of(
        fields.get("toolCall") or fields.get("tool_call") or fields.get("toolResponse") or fields.get("tool_response")
    )
    return other_part(block, count_tokens, call_id=text_in(own, "id"))


def _read_result(response: object, index: int) -> tuple[str, bool | None]:
    # Return the text of a response, and whether it says that the call failed. The API knows two keys: `output` for
    # what came out, `error` for what went wrong; without them the whole is output.
    said = fields_of(response)
    failed = True if said.get(_ERROR) else False if _OUTPUT in said else None
    if len(said) == 1:
        (value,) = said.values()
        if isinstance(value, str):
            return value, failed
    return json_of(said, index) if said else "", failed


def _write_part(part: Part) -> object:
    if part.native is None:
        return {"text": part.text}
    if not part.edited:
        return part.native
    made = copy_of(part.native)
    if part.kind == "text":
        return {**made, "text": part.text}
    if part.kind == "call":
        key = "functionCall" if made.get("functionCall") is not None else "function_call"
        return {**made, key: {**copy_of(made[key]), "args": object_in(part.text)}}
    if part.kind == "result":
        key = "functionResponse" if made.get("functionResponse") is not None else "function_response"
        answer = copy_of(made[key])
        answer.pop("parts", None)
        answer["response"] = {_find_key(answer.get("response"), part): part.text}
        made[key] = answer
        return made
    return {"text": part.text}


def _find_key(response: object, part: Part) -> str:
    # Return under which key an edited response says its text: the one it had, or one that says of success what it
    # said. An empty `error` is no failure, and a text under that key would be one.
    said = fields_of(response)
    if len(said) == 1 and _ERROR not in said:
        return next(iter(said))
    return _KEYS[part.failed]


def _repair_messages(messages: Sequence[Message]) -> list[object]:
    # As many responses as calls.
    made: list[object] = []
    asked: list[Part] = []
    spoke = ""
    for message in messages:
        if not message.parts:
            continue
        results = [part for part in message.parts if part.kind == "result"]
        if asked and not results:
            made.append({"role": "user", "parts": [_answer_call(call) for call in asked]})
            asked, spoke = [], "user"
        calls = [part for part in message.parts if part.kind == "call"]
        if calls and spoke in ("", "assistant"):
            made.append({"role": "user", "parts": [{"text": LOST_TURN}]})
        made.append(_with_answers(message, asked) if results else message.native)
        asked, spoke = calls, message.role
    return [*made, {"role": "user", "parts": [_answer_call(call) for call in asked]}] if asked else made


def _with_answers(message: Message, asked: list[Part]) -> object:
    left = list(asked)
    parts: list[object] = []
    for part in message.parts:
        if part.kind != "result":
            parts.append(part.native)
            continue
        call = next((call for call in left if _is_answer_of(part, call)), None)
        if call is None:
            parts.append({"text": describe_orphan(part.tool, part.text)})
        else:
            left.remove(call)
            parts.append(part.native)
    if not left and all(part.native is native for part, native in zip(message.parts, parts, strict=True)):
        return message.native
    return {**copy_of(message.native), "parts": [*parts, *map(_answer_call, left)]}


def _is_answer_of(result: Part, call: Part) -> bool:
    if result.call_id and call.call_id:
        return result.call_id == call.call_id
    return result.tool == call.tool


def _answer_call(call: Part) -> object:
    response: dict[str, object] = {"name": call.tool, "response": {"error": UNKNOWN_OUTCOME}}
    return {"functionResponse": {"id": call.call_id, **response} if call.call_id else response}


def _define_tools(tools: Sequence[ToolDefinition]) -> list[dict[str, Any]]:
    return [{"function_declarations": [_declare_tool(tool) for tool in tools]}]


def _declare_tool(tool: ToolDefinition) -> dict[str, Any]:
    # Types are in capitals there, and an object without properties is refused.
    declaration: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if not tool.properties:
        return declaration
    typed = {name: {**what, "type": str(what["type"]).upper()} for name, what in tool.properties.items()}
    return {**declaration, "parameters": {**tool.schema, "type": "OBJECT", "properties": typed}}


GEMINI: Final = register_provider(
    Provider(
        name=_NAME,
        roles=frozenset(),
        blocks=frozenset(),
        read_message=_read_message,
        write_message=_write_message,
        make_rules=_Rules,
        repair_messages=_repair_messages,
        define_tools=_define_tools,
    )
)
