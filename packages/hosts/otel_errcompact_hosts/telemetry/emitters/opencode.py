"""
OpenCode: spans `Tool.execute` of tools that throw, else `ai.toolCall`.

The exit status of a command stands in the result, behind what a plugin has made of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.otel.spans.recorded import NO_DETAIL, read_failures
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.payloads import number_of, parse_record, record_of, text_of
from otel_errcompact_hosts.telemetry.emitters.genai import find_run
from otel_errcompact_hosts.telemetry.reports import Report, is_telling, report_unknown

if TYPE_CHECKING:
    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Memory

NAME: Final = "opencode"

_CALL: Final = "ai.toolCall"
_CUT: Final = "...\n"
"""How an output begins whose head was cut."""


def owns_entry(entry: Entry) -> bool:
    """Return whether an entry is the program's own."""
    return entry.service == NAME


def read_entry(entry: Entry, memory: Memory) -> Report | None:
    """Return what an entry reports of a call."""
    if entry.is_log or entry.name not in {"Tool.execute", _CALL}:
        return None
    span = entry.span
    call = HostCall(
        run_id=find_run(entry, memory),
        tool=entry.text("tool.name", f"{_CALL}.name"),
        arguments=entry.text(f"{_CALL}.args"),
        call_id=entry.text("tool.call_id", f"{_CALL}.id"),
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
    result = parse_record(entry.text(f"{_CALL}.result"))
    if entry.name != _CALL or not result:
        return None  # what has not thrown may have failed: its result is on the other span
    metadata = record_of(result, "metadata")
    text = text_of(metadata, "output") or text_of(result, "output")
    code = number_of(metadata, "exit")
    if code and text.startswith(_CUT) and not is_telling(text):
        return report_unknown(call, exit_code=code)
    failed = False if code is None else None
    return Report(call=call, result=HostResult(text=text, failed=failed, exit_code=code))
