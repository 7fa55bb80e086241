"""
OpenCode: spans `Tool.execute` of tools that throw, else `ai.toolCall`.

The exit status of a command stands in the result, behind what a plugin has made of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.calls import HostCall, HostResult
from otel_errcompact.hosts.telemetry.emitters.genai import find_run
from otel_errcompact.hosts.telemetry.reports import Report, is_telling, object_of, parse, report_unknown, text_of
from otel_errcompact.otel.spans.recorded import NO_DETAIL, read_failures

if TYPE_CHECKING:
    from otel_errcompact.hosts.telemetry.entries import Entry
    from otel_errcompact.hosts.telemetry.reports import Memory

NAME: Final = "opencode"

_SERVICE: Final = "opencode"
_EXECUTE: Final = "Tool.execute"
_CALL: Final = "ai.toolCall"
_TOOL: Final = ("tool.name", "ai.toolCall.name")
_CALL_ID: Final = ("tool.call_id", "ai.toolCall.id")
_ARGUMENTS: Final = "ai.toolCall.args"
_RESULT: Final = "ai.toolCall.result"
_METADATA: Final = "metadata"
_OUTPUT: Final = "output"
_EXIT: Final = "exit"
_CUT: Final = "...\n"
"""How an output begins whose head was cut."""


def owns(entry: Entry) -> bool:
    """Return whether an entry is the program's own."""
    return entry.service == _SERVICE


def read(entry: Entry, memory: Memory) -> Report | None:
    """Return what an entry reports of a call."""
    if entry.is_log or entry.name not in {_EXECUTE, _CALL}:
        return None
    span = entry.span
    call = HostCall(
        run_id=find_run(entry, memory),
        tool=entry.text(*_TOOL),
        arguments=entry.text(_ARGUMENTS),
        call_id=entry.text(*_CALL_ID),
        agent=NAME,
    )
    failures, _ = read_failures(span)
    if span.failed:
        recorded = failures[-1] if failures else None
        if recorded is None or recorded.text == NO_DETAIL:
            return report_unknown(call)
        # The stack is that of the program itself, and other in each release of it.
        text = recorded.message or recorded.text
        return Report(call=call, result=HostResult(text=text, failed=True))
    result = parse(entry.text(_RESULT))
    if entry.name != _CALL or not result:
        return None  # what has not thrown may have failed: its result is on the other span
    metadata = object_of(result.get(_METADATA))
    text = text_of(metadata.get(_OUTPUT)) or text_of(result.get(_OUTPUT))
    code = metadata.get(_EXIT)
    if code and text.startswith(_CUT) and not is_telling(text):
        return report_unknown(call, exit_code=code if isinstance(code, int) else None)
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    return Report(
        call=call, result=HostResult(text=text, failed=None if status is not None else False, exit_code=status)
    )
