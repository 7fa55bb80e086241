"""
Gemini CLI: log records `gemini_cli.tool_call`, and spans `tool_call`.

A command is a success to it whatever its exit status is: the record names the status beside, without the output, and
the span, which is sent only on request, holds both.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.hosts.calls import HostCall, HostResult
from otel_errcompact.hosts.telemetry.reports import Report, object_of, parse, report_unknown, text_of
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.hosts.telemetry.entries import Entry
    from otel_errcompact.hosts.telemetry.reports import Memory

NAME: Final = "gemini-cli"

_SERVICE: Final = "gemini-cli"
_CALL: Final = "gemini_cli.tool_call"
_PREFIX: Final = "gemini_cli."
_SPAN: Final = "tool_call"
_SHELL: Final = "run_shell_command"

_SESSION: Final = (semconv.SESSION_ID, semconv.GEN_AI_CONVERSATION_ID)
_TOOL: Final = ("function_name", semconv.GEN_AI_TOOL_NAME)
_ARGUMENTS: Final = "function_args"
_SUCCESS: Final = "success"
_DECISION: Final = "decision"
_ERROR: Final = "error"
_ERROR_TYPE: Final = ("error_type", semconv.ERROR_TYPE)
_METADATA: Final = "metadata"
_EXIT_CODE: Final = "exitCode"
_CALL_ID: Final = semconv.GEN_AI_TOOL_CALL_ID_OLD
_INPUT: Final = semconv.GEN_AI_INPUT_MESSAGES
_OUTPUT: Final = semconv.GEN_AI_OUTPUT_MESSAGES

_REFUSALS: Final = frozenset({"policy_violation"})
"""Types of calls that were not executed: by a policy, or by our own ladder."""

_DECLINED: Final = frozenset({"reject"})
_END: Final = lazy_pattern(
    r"(?:\n|\A)Exit Code: (?P<code>-?[0-9]{1,9})(?:\n[^\n]{0,300}){0,4}\s*(?:</untrusted_context>\s*)?\Z"
)
_OF_MCP: Final = lazy_pattern(
    r"MCP tool '[^'\n]{1,200}' reported tool error for function call: .{0,100000}?"
    r" with response: (?P<response>\[.*\])\Z",
    re.DOTALL,
)
_TAIL: Final = lazy_pattern(
    r"(?:\n(?:Process Group PGID|Background PIDs|Signal): [^\n]{0,300}){0,3}\s*(?:</untrusted_context>\s*)?\Z"
)
_PRINTED: Final = lazy_pattern(r"\s*(?:<untrusted_context>\s*)?Output: ")
_BEGIN: Final = lazy_pattern(r"\A\s*(?:<untrusted_context>\s*)?(?:Output: )?(?:\(empty\)(?=\n|\Z))?")


def owns(entry: Entry) -> bool:
    """Return whether an entry is the program's own."""
    return entry.event.startswith(_PREFIX) or entry.service == _SERVICE


def read(entry: Entry, memory: Memory) -> Report | None:
    """Return what an entry reports of a call."""
    if entry.is_log:
        return _read_record(entry, memory) if entry.event == _CALL else None
    return _read_span(entry, memory) if entry.name == _SPAN and entry.text(*_TOOL) == _SHELL else None


def _read_record(entry: Entry, memory: Memory) -> Report | None:
    error_type = entry.text(*_ERROR_TYPE)
    if error_type in _REFUSALS or entry.text(_DECISION) in _DECLINED:
        return None
    tool = entry.text(*_TOOL)
    call = HostCall(run_id=entry.text(*_SESSION), tool=tool, arguments=entry.text(_ARGUMENTS), call_id="", agent=NAME)
    aliases = _name(entry, entry.span.span_id, call, memory)
    if entry.flag(_SUCCESS) is False:
        error = entry.text(_ERROR)
        if error:
            return Report(call=call, result=HostResult(text=_unwrap(error), failed=True), aliases=aliases)
        return replace(report_unknown(call, error_type), aliases=aliases)
    if tool != _SHELL:
        return Report(call=call, result=HostResult(text="", failed=False), aliases=aliases)
    code = parse(entry.text(_METADATA)).get(_EXIT_CODE)
    # Without a status it may have failed: neither is counted.
    return replace(report_unknown(call, exit_code=code), aliases=aliases) if isinstance(code, int) and code else None


def _read_span(entry: Entry, memory: Memory) -> Report | None:
    output = parse(entry.text(_OUTPUT))
    parent = entry.span.parent
    if entry.span.failed or parent is None or not output:
        return None  # the log record has it, and nothing would join the two
    texts = _texts(output)
    found = next((end for text in texts if (end := _END.search(text))), None)
    request = object_of(output.get("request")) or parse(entry.text(_INPUT))
    call = HostCall(
        run_id=entry.text(*_SESSION),
        tool=_SHELL,
        arguments=json.dumps(object_of(request.get("args"))) if request.get("args") else "",
        call_id=entry.text(_CALL_ID),
        agent=NAME,
    )
    aliases = _name(entry, parent.span_id, call, memory)
    if found is None:
        printed = next((_TAIL.sub("", _BEGIN.sub("", text)) for text in texts if _PRINTED.match(text)), "")
        return Report(call=call, result=HostResult(text=printed, exit_code=0), aliases=aliases)
    text = _BEGIN.sub("", found.string[: found.start()])
    return Report(call=call, result=HostResult(text=text, exit_code=int(found["code"])), aliases=aliases)


def _name(entry: Entry, parent_id: int, call: HostCall, memory: Memory) -> tuple[str, ...]:
    # A record is written in the span around that of its call, and has no id: of the calls in there it is the one with
    # the same arguments, and of several of those the first record is of the first.
    if not parent_id:
        return ()
    arguments = json.dumps(parse(call.arguments), sort_keys=True)
    name = f"{NAME}/{entry.span.trace_id:032x}/{parent_id:016x}/{call.tool}/{arguments}"
    return (f"{name}/{memory.number(('record ' if entry.is_log else 'span ') + name)}",)


def _unwrap(error: str) -> str:
    found = _OF_MCP.match(error)
    if found is None:
        return error
    try:
        parts: object = json.loads(found["response"])
    except (ValueError, RecursionError):
        return error
    return "\n".join(_texts(parts, name="text")) or error


_DEPTH: Final = 12


def _texts(value: object, depth: int = 0, name: str = "") -> list[str]:
    # Those of the members with a name, or all.
    if depth > _DEPTH:
        return []
    if isinstance(value, dict):
        if name and (text := text_of(object_of(cast("object", value)).get(name))):
            return [text]
        value = list(cast("dict[str, object]", value).values())
    if isinstance(value, list):
        return [text for item in cast("list[object]", value) for text in _texts(item, depth + 1, name)]
    return [value] if isinstance(value, str) and value and not name else []
