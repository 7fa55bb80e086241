"""
Gemini CLI: log records `gemini_cli.tool_call`, and spans `tool_call`.

A command is a success to it whatever its exit status is: the record names the status beside, without the output, and
the span, which is sent only on request, holds both.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.otel import semconv
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.decorations import undecorate
from otel_errcompact_hosts.payloads import number_of, open_envelope, parse_record, record_of
from otel_errcompact_hosts.telemetry.reports import Report, report_unknown

if TYPE_CHECKING:
    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Memory

NAME: Final = "gemini-cli"

_HOST: Final = "gemini"
_SHELL: Final = "run_shell_command"
_SESSION: Final = (semconv.SESSION_ID, semconv.GEN_AI_CONVERSATION_ID)
_TOOL: Final = ("function_name", semconv.GEN_AI_TOOL_NAME)
_REFUSED: Final = "policy_violation"
"""The type of a call that was not executed: by a policy, or by our own ladder."""

_DEPTH: Final = 12


def owns_entry(entry: Entry) -> bool:
    """Return whether an entry is the program's own."""
    return (entry.is_log and entry.name.startswith("gemini_cli.")) or entry.service == NAME


def read_entry(entry: Entry, memory: Memory) -> Report | None:
    """Return what an entry reports of a call."""
    if entry.is_log:
        return _read_record(entry, memory) if entry.name == "gemini_cli.tool_call" else None
    return _read_span(entry, memory) if entry.name == "tool_call" and entry.text(*_TOOL) == _SHELL else None


def _read_record(entry: Entry, memory: Memory) -> Report | None:
    error_type = entry.text("error_type", semconv.ERROR_TYPE)
    if error_type == _REFUSED or entry.text("decision") == "reject":
        return None
    tool = entry.text(*_TOOL)
    call = HostCall(run_id=entry.text(*_SESSION), tool=tool, arguments=entry.text("function_args"), agent=NAME)
    aliases = _name_call(entry, entry.span.span_id, call, memory)
    if entry.flag("success") is False:
        error = entry.text("error")
        if error:
            return Report(call=call, result=HostResult(text=open_envelope(error), failed=True), aliases=aliases)
        return replace(report_unknown(call, error_type), aliases=aliases)
    if tool != _SHELL:
        return Report(call=call, result=HostResult(text="", failed=False), aliases=aliases)
    code = number_of(parse_record(entry.text("metadata")), "exitCode")
    # Without a status it may have failed: neither is counted.
    return replace(report_unknown(call, exit_code=code), aliases=aliases) if code else None


def _read_span(entry: Entry, memory: Memory) -> Report | None:
    output = parse_record(entry.text(semconv.GEN_AI_OUTPUT_MESSAGES))
    parent = entry.span.parent
    if entry.span.failed or parent is None or not output:
        return None  # the log record has it, and nothing would join the two
    request = record_of(output, "request") or parse_record(entry.text(semconv.GEN_AI_INPUT_MESSAGES))
    call = HostCall(
        run_id=entry.text(*_SESSION),
        tool=_SHELL,
        arguments=json.dumps(record_of(request, "args")) if request.get("args") else "",
        call_id=entry.text(semconv.GEN_AI_TOOL_CALL_ID_OLD),
        agent=NAME,
    )
    found = [each for text in _list_texts(output) if (each := undecorate(_HOST, text)).text != text]
    ended = next((each for each in found if each.exit_code is not None), None)
    result = HostResult(text=found[0].text if found else "", exit_code=0)
    if ended is not None:
        result = HostResult(text=ended.text, exit_code=ended.exit_code)
    return Report(call=call, result=result, aliases=_name_call(entry, parent.span_id, call, memory))


def _name_call(entry: Entry, parent_id: int, call: HostCall, memory: Memory) -> tuple[str, ...]:
    # A record is written in the span around that of its call, and has no id: of the calls in there it is the one with
    # the same arguments, and of several of those the first record is of the first.
    if not parent_id:
        return ()
    arguments = json.dumps(parse_record(call.arguments), sort_keys=True)
    name = f"{NAME}/{entry.span.trace_id:032x}/{parent_id:016x}/{call.tool}/{arguments}"
    return (f"{name}/{memory.number(('record ' if entry.is_log else 'span ') + name)}",)


def _list_texts(value: object, depth: int = 0) -> list[str]:
    if depth > _DEPTH:
        return []
    if isinstance(value, dict):
        value = list(cast("dict[str, object]", value).values())
    if isinstance(value, list):
        return [text for item in cast("list[object]", value) for text in _list_texts(item, depth + 1)]
    return [value] if isinstance(value, str) else []
