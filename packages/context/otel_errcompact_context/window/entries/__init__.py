"""
Entries of any log as what was run and how it ended.

Fields are read by what their names mean, in any spelling (`exit_code`, `exitCode`, `returncode`), at the top and in the
containers that logs wrap around them (`payload`, `data`, `event`, `result`, `item` ...).
"""

from __future__ import annotations

from otel_errcompact_context.window.entries.fields import ErrorEvent
from otel_errcompact_context.window.entries.names import FAILED
from otel_errcompact_context.window.entries.reading import read_events

__all__ = ["FAILED", "ErrorEvent", "read_events"]
