"""Contexts: the run that is open in one, and one in which a span that has ended is current."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final, Protocol, cast

from opentelemetry import context as otel_context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

if TYPE_CHECKING:
    from otel_errcompact.errors import SpanRef

_UNBOUND: Final = "unbound-"
_RUN: Final = otel_context.create_key("errcompact-run")
_OPENED: Final = otel_context.create_key("errcompact-opened")
_EMPTY: Final = otel_context.Context()
_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
_NOT_SAMPLED: Final = TraceFlags(TraceFlags.DEFAULT)


def unbound_run_id() -> str:
    """Return a new run id for one failure outside every run and trace."""
    return f"{_UNBOUND}{uuid.uuid4().hex}"


def is_unbound(run_id: str) -> bool:
    """Return whether a run is that of one failure outside every run and trace."""
    return run_id.startswith(_UNBOUND)


def with_run(run_id: str, context: otel_context.Context | None = None) -> otel_context.Context:
    """Return a context in which the run `run_id` is open."""
    return otel_context.set_value(_RUN, run_id, context)


class Opened(Protocol):
    """
    A block of one of our own runs or calls. A copied context may outlive the block in which it was made.
    """

    @property
    def run_id(self) -> str:
        """The id of the run."""
        ...

    @property
    def is_call(self) -> bool:
        """Whether it is a call's block, and not a run's."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether the run, or the outcome of the call, is still open."""
        ...

    @property
    def outer(self) -> Opened | None:
        """The block around it."""
        ...


def with_opened(block: Opened, context: otel_context.Context) -> otel_context.Context:
    """Return a context inside of `block`."""
    return otel_context.set_value(_OPENED, block, context)


def opened_in(context: otel_context.Context | None = None) -> Opened | None:
    """Return the innermost block that `context` was made in, the current context if None; it may be over."""
    return cast("Opened | None", otel_context.get_value(_OPENED, context))


def current_run_id(context: otel_context.Context | None = None) -> str:
    """Return the id of the run that is open in `context`, the current one if None; empty if none is."""
    block = opened_in(context)
    while block is not None and not block.is_open:
        block = block.outer
    if block is not None:
        return block.run_id
    found = otel_context.get_value(_RUN, context)
    return found if isinstance(found, str) else ""


def is_in_call(context: otel_context.Context | None = None) -> bool:
    """Return whether a call of ours is open in `context`, the current one if None: it counts the failures there."""
    block = opened_in(context)
    while block is not None and not (block.is_call and block.is_open):
        block = block.outer
    return block is not None


def context_of(span: SpanRef | None) -> otel_context.Context | None:
    """Return a context in which the span of an occurrence is the current one: in `on_end` its parent is."""
    if span is None:
        return None
    flags = _SAMPLED if span.sampled else _NOT_SAMPLED
    context = SpanContext(span.trace_id, span.span_id, is_remote=False, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(context), _EMPTY)
