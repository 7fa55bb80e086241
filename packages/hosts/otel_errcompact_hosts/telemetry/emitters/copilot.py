"""
GitHub Copilot, as a command and in VS Code: spans `execute_tool`.

They have the exit status of commands. Texts are there only where the capture of contents is switched on. The log
records of the same calls say less, and are not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import read_text
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.decorations import undecorate
from otel_errcompact_hosts.telemetry.emitters.genai import find_run, read_events
from otel_errcompact_hosts.telemetry.reports import Report, report_unknown

if TYPE_CHECKING:
    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Memory

_HOST: Final = "copilot"
CLI: Final = "copilot-cli"
VS_CODE: Final = "vscode-copilot"

_SERVICES: Final = {"github-copilot": CLI, "copilot-cli": CLI, "github-copilot-cli": CLI, "copilot-chat": VS_CODE}
_SCOPES: Final = {"github.copilot": CLI, "copilot-chat": VS_CODE, "copilot_chat": VS_CODE}
_EVENTS: Final = "copilot_chat."
_OWN: Final = "github.copilot."
"""How attributes begin that stand beside those of the convention."""

_NO_TEXTS: Final = frozenset({"", "Tool failed"})
"""What stands in place of a message that is not exported."""

_ELSEWHERE: Final = "Output too large to read at once"
"""How a result begins whose text is in a file, with a few lines of its head behind."""

_DENIED: Final = frozenset({"denied", "rejected"})
"""Types of calls that were not executed: by a person, or by our own ladder."""


def owns_entry(entry: Entry) -> bool:
    """Return whether an entry is the program's own."""
    return bool(_name_agent(entry))


def _name_agent(entry: Entry) -> str:
    name = _SERVICES.get(entry.service)
    if found := name or next((name for scope, name in _SCOPES.items() if entry.scope.startswith(scope)), ""):
        return found
    if entry.is_log:
        return VS_CODE if entry.name.startswith(_EVENTS) else ""
    return CLI if any(key.startswith(_OWN) for key in entry.span.attributes) else ""


def read_entry(entry: Entry, memory: Memory) -> Report | None:
    """Return what an entry reports of a call."""
    span = entry.span
    operation = entry.text(semconv.GEN_AI_OPERATION_NAME) or span.name.partition(" ")[0]
    if entry.is_log or operation != semconv.SPAN_TOOL:
        return None
    call = HostCall(
        run_id=find_run(entry, memory),
        tool=entry.text(semconv.GEN_AI_TOOL_NAME) or span.name.partition(" ")[2],
        arguments=entry.text(semconv.GEN_AI_TOOL_CALL_ARGUMENTS),
        call_id=entry.text(semconv.GEN_AI_TOOL_CALL_ID),
        agent=_name_agent(entry),
    )
    found = read_events(span)
    error_type = entry.text(semconv.ERROR_TYPE) or read_text(found, semconv.EXCEPTION_TYPE)
    message = read_text(found, semconv.EXCEPTION_MESSAGE) or span.description or ""
    if error_type.lower() in _DENIED or message.lower() in _DENIED:
        return None
    code = entry.number(semconv.PROCESS_EXIT_CODE)
    shown = entry.text(semconv.GEN_AI_TOOL_CALL_RESULT)
    if span.failed or found or error_type:
        return _report_failure(call, shown if message in _NO_TEXTS else message, error_type, code)
    if code:
        return _report_failure(call, shown, "", code)
    text = undecorate(_HOST, shown).text
    return Report(call=call, result=HostResult(text=text, failed=None if text else False, exit_code=code))


def _report_failure(call: HostCall, text: str, error_type: str, code: int | None) -> Report:
    text = "" if text.startswith(_ELSEWHERE) else undecorate(_HOST, text).text
    if not text:
        return report_unknown(call, error_type, code)
    return Report(call=call, result=HostResult(text=text, failed=True, exit_code=code))
