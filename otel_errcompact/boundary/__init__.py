"""The public way to wrap tool calls: runs, calls, the decorator."""

from __future__ import annotations

from otel_errcompact import audit, digest, late
from otel_errcompact.boundary.call import Call
from otel_errcompact.boundary.decorator import compacted
from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.boundary.runs import Run, current_run, run
from otel_errcompact.boundary.scope import RunSettings
from otel_errcompact.runtime.forks import load_names

# Before a run begins: a signal handler may fail in the middle of the first failure, when half of it is loaded.
load_names(late, digest, audit)

__all__ = ["Call", "Run", "RunRegistry", "RunSettings", "compacted", "current_run", "run"]
