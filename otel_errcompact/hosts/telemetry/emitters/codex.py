"""
Codex: log records `codex.tool_result`, whose output says how a command has ended.

A command is a success to it whatever its exit status is. Its spans, hundreds for each call, are its own internals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.calls import HostCall, HostResult
from otel_errcompact.hosts.telemetry.reports import Report, is_telling, report_unknown
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.hosts.telemetry.entries import Entry
    from otel_errcompact.hosts.telemetry.reports import Memory

NAME: Final = "codex"

_SCOPES: Final = "codex"
_RESULT: Final = "codex.tool_result"
_CONVERSATION: Final = "conversation.id"
_TOOL: Final = "tool_name"
_SERVER: Final = "mcp_server"
_CALL_ID: Final = "call_id"
_ARGUMENTS: Final = "arguments"
_SUCCESS: Final = "success"
_OUTPUT: Final = "output"
_TRUNCATED: Final = "output_truncated"
"""Whether only the head of the output is there; the cause is mostly at its end."""

_HEADER: Final = lazy_pattern(
    r"(?:(?:Chunk ID|Wall time|Original token count|Total output lines)\b[^\n]{0,200}\n){0,4}"
    r"(?:(?:Process exited with code|Exit code:) (?P<code>-?[0-9]{1,9})\n)?"
    r"(?:(?:Wall time|Original token count|Total output lines)\b[^\n]{0,200}\n){0,4}(?:\n?Output:(?:\n|\Z))?"
)
"""The lines above the output of a command, which differ from call to call."""

_CUT: Final = lazy_pattern(r"\AWarning: truncated output[^\n]{0,200}\n+")
_PREVIEW: Final = lazy_pattern(r"\n?\[\.\.\. telemetry preview truncated \.\.\.\]\s*\Z")


def owns(entry: Entry) -> bool:
    """Return whether an entry is the program's own."""
    return entry.scope.startswith(_SCOPES) or entry.service.startswith(_SCOPES)


def read(entry: Entry, memory: Memory) -> Report | None:  # noqa: ARG001 - the signature of all emitters
    """Return what an entry reports of a call."""
    if not entry.is_log or entry.event != _RESULT:
        return None
    server, tool = entry.text(_SERVER), entry.text(_TOOL)
    call = HostCall(
        run_id=entry.text(_CONVERSATION),
        tool=f"mcp__{server}__{tool}" if server and not tool.startswith("mcp__") else tool,
        arguments=entry.text(_ARGUMENTS),
        call_id=entry.text(_CALL_ID),
        agent=NAME,
    )
    output = entry.text(_OUTPUT)
    header = _HEADER.match(output)
    text = _CUT.sub("", output[header.end() :]) if header is not None else output
    code = int(header["code"]) if header is not None and header["code"] else None
    failed = entry.flag(_SUCCESS) is False
    is_cut = entry.flag(_TRUNCATED) is True
    text = _PREVIEW.sub("", text) if is_cut else text
    if (failed and not output) or (is_cut and (failed or code) and not is_telling(text)):
        return report_unknown(call, exit_code=code)
    return Report(call=call, result=HostResult(text=text, failed=True if failed else None, exit_code=code))
