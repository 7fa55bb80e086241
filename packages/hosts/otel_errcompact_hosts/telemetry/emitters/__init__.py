"""
The programs whose telemetry is known, a module for each.

To know another one takes a module and a row here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact_hosts.telemetry.emitters import claude_code, codex, copilot, gemini_cli, genai, opencode

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Memory, Report

_ORDER: Final[tuple[tuple[Callable[[Entry], bool], Callable[[Entry, Memory], Report | None]], ...]] = (
    (claude_code.owns_entry, claude_code.read_entry),
    (codex.owns_entry, codex.read_entry),
    (gemini_cli.owns_entry, gemini_cli.read_entry),
    (opencode.owns_entry, opencode.read_entry),
    (copilot.owns_entry, copilot.read_entry),
    (lambda _: True, genai.read_entry),
)
"""The first one that owns an entry reads it; the last one is for all programs."""


def read_report(entry: Entry, memory: Memory) -> Report | None:
    """Return what an entry reports of a call, if any."""
    return next(read for owns, read in _ORDER if owns(entry))(entry, memory)
