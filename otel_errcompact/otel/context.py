"""Contexts: which run is open in one, and one in which a span that has ended is the current one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

from opentelemetry import context as otel_context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

if TYPE_CHECKING:
    from otel_errcompact.errors import SpanRef

PROCESS_RUN: Final = "default"
"""The run of what fails outside any run and any trace."""

_RUN: Final = otel_context.create_key("errcompact-run")
_CALL: Final = otel_context.create_key("errcompact-call")
_EMPTY: Final = otel_context.Context()
_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
_NOT_SAMPLED: Final = TraceFlags(TraceFlags.DEFAULT)


def with_run(run_id: str, context: otel_context.Context | None = None) -> otel_context.Context:
    """Return a context in which the run `run_id` is open."""
    return otel_context.set_value(_RUN, run_id, context)


def current_run_id(context: otel_context.Context | None = None) -> str:
    """Return the id of the run that is open in `context`, the current one if None; empty if none is."""
    found = otel_context.get_value(_RUN, context)
    return found if isinstance(found, str) else ""


class OpenCall(Protocol):
    """
    One of our own boundaries.
    """

    is_open: bool
    """Whether its outcome is still unknown; a task that was started inside may outlive it."""


def with_call(call: OpenCall, context: otel_context.Context) -> otel_context.Context:
    """Return a context in which one of our own boundaries is open: what fails there is its to count."""
    return otel_context.set_value(_CALL, call, context)


def is_in_call(context: otel_context.Context | None = None) -> bool:
    """Tell whether one of our own boundaries is open in `context`, the current one if None."""
    call = cast("OpenCall | None", otel_context.get_value(_CALL, context))
    return call is not None and call.is_open


def context_of(span: SpanRef | None) -> otel_context.Context | None:
    """Return a context in which the span of an occurrence is the current one: in `on_end` its parent is."""
    if span is None:
        return None
    flags = _SAMPLED if span.sampled else _NOT_SAMPLED
    context = SpanContext(span.trace_id, span.span_id, is_remote=False, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(context), _EMPTY)
