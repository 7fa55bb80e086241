"""Which run is open in the current context."""

from __future__ import annotations

from typing import Final

from opentelemetry import context as otel_context

_RUN: Final = otel_context.create_key("errcompact-run")


def with_run(run_id: str, context: otel_context.Context | None = None) -> otel_context.Context:
    """Return a context in which the run `run_id` is open."""
    return otel_context.set_value(_RUN, run_id, context)


def current_run_id(context: otel_context.Context | None = None) -> str:
    """Return the id of the run that is open in `context`, the current one if None; empty if none is."""
    found = otel_context.get_value(_RUN, context)
    return found if isinstance(found, str) else ""
