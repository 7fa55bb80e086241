"""The public way to wrap tool calls: runs, calls, the decorator."""

from __future__ import annotations

from otel_errcompact.boundary.call import Call
from otel_errcompact.boundary.decorator import compacted
from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.boundary.runs import Run, current_run, run
from otel_errcompact.boundary.scope import RunSettings

__all__ = ["Call", "Run", "RunRegistry", "RunSettings", "compacted", "current_run", "run"]
