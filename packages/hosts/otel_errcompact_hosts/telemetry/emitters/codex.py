"""
Codex: log records `codex.tool_result`, whose output says how a command has ended.

A command is a success to it whatever its exit status is. Its spans, hundreds for each call, are its own internals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.decorations import undecorate
from otel_errcompact_hosts.telemetry.reports import Report, is_telling, report_unknown

if TYPE_CHECKING:
    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Memory

NAME: Final = "codex"

_PREVIEW: Final = lazy_pattern(r"\n?\[\.\.\. telemetry preview truncated \.\.\.\]\s*\Z")


def owns_entry(entry: Entry) -> bool:
    """Return whether an entry is the program's own."""
    return entry.scope.startswith(NAME) or entry.service.startswith(NAME)


def read_entry(entry: Entry, memory: Memory) -> Report | None:  # noqa: ARG001 - the signature of all emitters
    """Return what an entry reports of a call."""
    if not entry.is_log or entry.name != "codex.tool_result":
        return None
    server, tool = entry.text("mcp_server"), entry.text("tool_name")
    call = HostCall(
        run_id=entry.text("conversation.id"),
        tool=f"mcp__{server}__{tool}" if server and not tool.startswith("mcp__") else tool,
        arguments=entry.text("arguments"),
        call_id=entry.text("call_id"),
        agent=NAME,
    )
    output = entry.text("output")
    text, code, *_ = undecorate(NAME, output)
    failed = entry.flag("success") is False
    # Only the head of the output is there; the cause is mostly at its end.
    is_cut = entry.flag("output_truncated") is True
    text = _PREVIEW.sub("", text) if is_cut else text
    if (failed and not output) or (is_cut and (failed or code) and not is_telling(text)):
        return report_unknown(call, exit_code=code)
    return Report(call=call, result=HostResult(text=text, failed=True if failed else None, exit_code=code))
