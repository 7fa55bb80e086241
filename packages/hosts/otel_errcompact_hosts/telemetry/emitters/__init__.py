"""
The programs whose telemetry is known, a module for each.

To know another one takes a module and a row here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact_hosts.telemetry.emitters import claude_code, codex, copilot, gemini_cli, genai, opencode

if TYPE_CHECKING:
    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Memory, Report

_PROGRAMS: Final = (claude_code, codex, gemini_cli, opencode, copilot)


def read_report(entry: Entry, memory: Memory) -> Report | None:
    """Return what an entry reports of a call, if any."""
    emitter = next((each for each in _PROGRAMS if each.owns_entry(entry)), genai)
    report: Report | None = emitter.read_entry(entry, memory)
    return report
