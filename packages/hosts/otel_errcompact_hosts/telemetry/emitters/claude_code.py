"""
Claude Code: log records `tool_result`, spans of tools and their executions.

No telemetry of it holds the text of a failed command: that class is the head of the command and the type of the error.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from otel_errcompact.otel import semconv
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.payloads import parse_record, text_of
from otel_errcompact_hosts.telemetry.messages import cut_text
from otel_errcompact_hosts.telemetry.reports import MAX_NAME, MAX_SAID, Report, hash_name, report_unknown

if TYPE_CHECKING:
    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Memory

NAME: Final = "claude-code"

_PREFIX: Final = "claude_code."
_RESULT: Final = "tool_result"

_CALL_ID: Final = ("tool_use_id", semconv.GEN_AI_TOOL_CALL_ID)
_ERROR_TYPE: Final = ("error_type", "error_class", semconv.ERROR_TYPE)
_COMMANDS: Final = ("full_command", "bash_command")
"""Parameters, and attributes of spans."""

_ANY_MCP_TOOL: Final = "mcp_tool"
"""What all tools of MCP servers are called while details are switched off."""

_NO_TEXTS: Final = frozenset({"", "Shell command failed"})
"""What stands in place of a text that is not exported."""


def owns_entry(entry: Entry) -> bool:
    """Return whether an entry is the program's own."""
    return entry.scope.startswith("com.anthropic.claude_code")


def read_entry(entry: Entry, memory: Memory) -> Report | None:
    """Return what an entry reports of a call."""
    if entry.is_log:
        is_result = entry.name.removeprefix(_PREFIX) == _RESULT or (not entry.name and entry.body == _PREFIX + _RESULT)
        return _report(entry, _read_outcome(entry)) if is_result else None
    if entry.name == f"{_PREFIX}tool.execution":
        # It has the outcome but not the tool; the span around it ends later, and has the tool but not the outcome.
        if call_id := entry.text(*_CALL_ID):
            memory.halves.put(hash_name(call_id), _read_outcome(entry))
        return None
    if entry.name != f"{_PREFIX}tool":
        return None
    execution = memory.halves.pop(hash_name(entry.text(*_CALL_ID)))
    return _report(entry, execution) if execution is not None else None


def _read_outcome(entry: Entry) -> HostResult:
    succeeded = entry.flag("success")
    return HostResult(
        text=cut_text(entry.text("error"), MAX_SAID),
        failed=None if succeeded is None and not entry.span.failed else not succeeded,
        type=entry.text(*_ERROR_TYPE)[:MAX_NAME],
    )


def _report(entry: Entry, outcome: HostResult) -> Report | None:
    if outcome.failed is None:
        return None
    parameters = parse_record(entry.text("tool_parameters"))
    call = HostCall(
        run_id="/".join(filter(None, (entry.text(semconv.SESSION_ID), entry.text("agent_id")))),
        tool=_name_tool(entry.text("tool_name"), parameters),
        arguments=entry.text("tool_input") or _name_command(entry, parameters),
        call_id=entry.text(*_CALL_ID),
        agent=NAME,
    )
    if not outcome.failed:
        return Report(call=call, result=HostResult(text="", failed=False))
    if outcome.text in _NO_TEXTS or outcome.text == outcome.type:
        return report_unknown(call, outcome.type)
    return Report(call=call, result=HostResult(text=outcome.text, failed=True))


def _name_tool(tool: str, parameters: dict[str, object]) -> str:
    server, name = (text_of(parameters, key) for key in ("mcp_server_name", "mcp_tool_name"))
    return f"mcp__{server}__{name}" if tool == _ANY_MCP_TOOL and server and name else tool


def _name_command(entry: Entry, parameters: dict[str, object]) -> str:
    command = next((found for key in _COMMANDS if (found := text_of(parameters, key) or entry.text(key))), "")
    file = entry.text("file_path")
    return json.dumps({"command": command} if command else {"file_path": file}) if command or file else ""
