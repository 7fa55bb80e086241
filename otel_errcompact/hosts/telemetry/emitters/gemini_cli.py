"""
Gemini CLI: log records `gemini_cli.tool_call`, and spans `tool_call`.

A command is a success to it whatever its exit status is: the record names the status beside, without the output, and
the span, which is sent only on request, holds both.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.hosts.calls import HostCall, HostResult
from otel_errcompact.hosts.telemetry.emitters.emitter import Emitter, object_of, parse, text_of
from otel_errcompact.hosts.telemetry.reports import Report, report_unknown
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.hosts.telemetry.emitters.emitter import Memory
    from otel_errcompact.hosts.telemetry.entries import Entry

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
_START: Final = "start_time"
_CALL_ID: Final = semconv.GEN_AI_TOOL_CALL_ID_OLD
_INPUT: Final = semconv.GEN_AI_INPUT_MESSAGES
_OUTPUT: Final = semconv.GEN_AI_OUTPUT_MESSAGES

_REFUSALS: Final = frozenset({"policy_violation"})
"""Types of calls that were not executed: by a policy, or by our own ladder."""

_DECLINED: Final = frozenset({"reject"})
_END: Final = lazy_pattern(
    r"(?:\n|\A)Exit Code: (?P<code>-?[0-9]{1,9})(?:\n[^\n]{0,300}){0,4}\s*(?:</untrusted_context>\s*)?\Z"
)
_BEGIN: Final = lazy_pattern(r"\A\s*(?:<untrusted_context>\s*)?(?:Output: )?(?:\(empty\)(?=\n|\Z))?")


def _owns(entry: Entry) -> bool:
    return entry.event.startswith(_PREFIX) or entry.service == _SERVICE


def _read(entry: Entry, memory: Memory) -> Report | None:  # noqa: ARG001 - the signature of all emitters
    if entry.is_log:
        return _read_record(entry) if entry.event == _CALL else None
    return _read_span(entry) if entry.name == _SPAN and entry.text(*_TOOL) == _SHELL else None


def _read_record(entry: Entry) -> Report | None:
    error_type = entry.text(*_ERROR_TYPE)
    if error_type in _REFUSALS or entry.text(_DECISION) in _DECLINED:
        return None
    tool = entry.text(*_TOOL)
    call = HostCall(run_id=entry.text(*_SESSION), tool=tool, arguments=entry.text(_ARGUMENTS), call_id="", agent=NAME)
    aliases = _name_start(call, entry.text(_START))
    if entry.flag(_SUCCESS) is False:
        error = entry.text(_ERROR)
        if error:
            return Report(call=call, result=HostResult(text=error, failed=True), aliases=aliases)
        return _with(report_unknown(call, error_type), aliases)
    if tool != _SHELL:
        return Report(call=call, result=HostResult(text="", failed=False), aliases=aliases)
    code = parse(entry.text(_METADATA)).get(_EXIT_CODE)
    # Without a status it may have failed: neither is counted.
    return _with(report_unknown(call, exit_code=code), aliases) if isinstance(code, int) and code else None


def _read_span(entry: Entry) -> Report | None:
    output = parse(entry.text(_OUTPUT))
    started = output.get("startTime")
    if entry.span.failed or not isinstance(started, int):
        return None  # the log record has it, and nothing would join the two
    found = next((end for text in _texts(output, 0) if (end := _END.search(text))), None)
    request = object_of(output.get("request")) or parse(entry.text(_INPUT))
    call = HostCall(
        run_id=entry.text(*_SESSION),
        tool=_SHELL,
        arguments=json.dumps(object_of(request.get("args"))) if request.get("args") else "",
        call_id=entry.text(_CALL_ID),
        agent=NAME,
    )
    aliases = _name_start(call, str(started))
    if found is None:
        return Report(call=call, result=HostResult(text="", failed=None, exit_code=0), aliases=aliases)
    text = _BEGIN.sub("", found.string[: found.start()])
    return Report(call=call, result=HostResult(text=text, exit_code=int(found["code"])), aliases=aliases)


def _name_start(call: HostCall, started: str) -> tuple[str, ...]:
    return (f"{NAME}/{call.run_id}/{call.tool}/{started}",) if started else ()


def _with(report: Report, aliases: tuple[str, ...]) -> Report:
    return Report(call=report.call, result=report.result, unknown=report.unknown, aliases=aliases)


_DEPTH: Final = 12


def _texts(value: object, depth: int) -> list[str]:
    if depth > _DEPTH:
        return []
    if isinstance(value, dict):
        return [text for item in cast("dict[str, object]", value).values() for text in _texts(item, depth + 1)]
    if isinstance(value, list):
        return [text for item in cast("list[object]", value) for text in _texts(item, depth + 1)]
    return [text] if (text := text_of(value)) else []


EMITTER: Final = Emitter(name=NAME, owns=_owns, read=_read)
