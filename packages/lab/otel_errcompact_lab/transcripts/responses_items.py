"""Items of OpenAI's Responses API: messages, calls and their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import is_list, kind_of

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.records import Record
    from otel_errcompact_lab.transcripts.run_builder import RunBuilder

_OUTPUT: Final = "_output"
"""The end of the kind of an item with a call's result; the kind of the call stands before it."""

_LOCAL_SHELL: Final = "local_shell"
_TOOL_OF_CALL: Final = {
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
    "local_shell_call": _LOCAL_SHELL,
    "shell_call": "shell",
}
"""Calls of tools without a name."""

_CALLS: Final = frozenset({"custom_tool_call", "function_call", *_TOOL_OF_CALL})
_WHOLE: Final = frozenset({"code_interpreter_call", "mcp_call"})
"""Calls that the provider made itself, with their result in the same item."""

KINDS: Final = frozenset({"message", "reasoning", *_CALLS, *(f"{call}{_OUTPUT}" for call in _CALLS), *_WHOLE})
"""Kinds of items by which a list of them is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a call."""

    call_id: str = ""
    result: str = ""
    flagged: bool | None = None
    exit_code: int | None = None


def is_item(value: object) -> bool:
    """
    Recognise an item with a kind of its own.

    A message without a kind may be that of another interface.
    """
    return kind_of(value) in KINDS


def take_item(item: Record, builder: RunBuilder, *, line: int | None = None, time_ns: int | None = None) -> None:
    """
    Read an item into a run.

    Reasoning does not count: the record of it is not what the model saw.
    """
    kind = item.text("type") or "message"
    if kind == "message":
        builder.say(item.prose("content"))
    elif kind in _CALLS | _WHOLE:
        tool = _TOOL_OF_CALL.get(kind, kind.removesuffix("_call"))
        builder.request_call(item, tool=tool, time_ns=time_ns)
    if kind in _WHOLE or kind.endswith(_OUTPUT):
        answer = _answer_within(item, kind) if kind in _WHOLE else answer_of(item)
        take_answer(answer, builder, line=line, time_ns=time_ns)


def take_answer(answer: Answer, builder: RunBuilder, *, line: int | None = None, time_ns: int | None = None) -> None:
    """Read the result of a call into a run."""
    builder.answer(
        answer.call_id,
        result=answer.result,
        flagged=answer.flagged,
        exit_code=answer.exit_code,
        line=line,
        time_ns=time_ns,
    )


def answer_of(item: Record) -> Answer:
    """Read the result of a call, whatever its form."""
    streams = (
        [part for part in item.children("output") if "stdout" in part.fields]
        if is_list(item.fields.get("output"))
        else []
    )
    codes = [part.child("outcome").integer("exit_code") for part in streams]
    return Answer(
        call_id=item.first("call_id", "id"),
        result="\n".join(map(_text_of_streams, streams)) if streams else item.prose("output"),
        flagged=True if item.text("status") == "failed" else None,
        exit_code=next((code for code in codes if code), codes[-1] if codes else None),
    )


def _answer_within(item: Record, kind: str) -> Answer:
    call_id = item.first("call_id", "id")
    if kind == "mcp_call":
        error = item.json("error")
        return Answer(call_id=call_id, result=error or item.prose("output"), flagged=bool(error))
    logs = "\n".join(part.text("logs") for part in item.children("outputs") if "logs" in part.fields)
    return Answer(call_id=call_id, result=logs, flagged=True if item.text("status") == "failed" else None)


def _text_of_streams(part: Record) -> str:
    return "\n".join(text for text in (part.text("stdout"), part.text("stderr")) if text)
