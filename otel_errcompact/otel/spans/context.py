"""Find the open run of a context, or the ended span's context."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final, Protocol, cast

from opentelemetry import context as otel_context
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from otel_errcompact.errors import SpanRef

_UNBOUND: Final = "unbound-"
_RUN: Final = otel_context.create_key("errcompact-run")
_OPENED: Final = otel_context.create_key("errcompact-opened")
_EMPTY: Final = otel_context.Context()
_SPAN: Final[str] = next(iter(set_span_in_context(INVALID_SPAN, _EMPTY)))
"""The key of the current span."""

_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
_NOT_SAMPLED: Final = TraceFlags(TraceFlags.DEFAULT)


def unbound_run_id() -> str:
    """Return a new run id for a failure outside runs and traces."""
    return f"{_UNBOUND}{uuid.uuid4().hex}"


def is_unbound(run_id: str) -> bool:
    """Return whether a run holds one failure outside runs and traces."""
    return run_id.startswith(_UNBOUND)


def with_run(run_id: str, context: otel_context.Context | None = None) -> otel_context.Context:
    """Return a context in which the run `run_id` is open."""
    return otel_context.set_value(_RUN, run_id, context)


class Opened(Protocol):
    """
    Holds a block of one of our own runs or calls.

    A copied context may outlive the block in which it was made.
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


def with_opened(block: Opened, span: Span, context: otel_context.Context) -> otel_context.Context:
    """Return a context inside of `block`, in which its span is current."""
    # As `set_span_in_context` and `set_value` do, in one copy.
    return otel_context.Context({**context, _SPAN: span, _OPENED: block})


def opened_in(context: otel_context.Context | None = None) -> Opened | None:
    """
    Return the innermost block of `context`, which may be over.

    None stands for the current context.
    """
    return cast("Opened | None", otel_context.get_value(_OPENED, context))


def current_run_id(context: otel_context.Context | None = None) -> str:
    """
    Return the id of the open run in `context`, or nothing.

    None stands for the current context.
    """
    block = opened_in(context)
    while block is not None and not block.is_open:
        block = block.outer
    if block is not None:
        return block.run_id
    found = otel_context.get_value(_RUN, context)
    return found if isinstance(found, str) else ""


def is_in_call(context: otel_context.Context | None = None) -> bool:
    """
    Return whether `context` is inside a call that counts its failures.

    None stands for the current context.
    """
    block = opened_in(context)
    while block is not None and not (block.is_call and block.is_open):
        block = block.outer
    return block is not None


def context_of(span: SpanRef | None) -> otel_context.Context | None:
    """
    Return a context in which an occurrence's span is current.

    In `on_end` its parent is.
    """
    if span is None:
        return None
    flags = _SAMPLED if span.sampled else _NOT_SAMPLED
    context = SpanContext(span.trace_id, span.span_id, is_remote=False, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(context), _EMPTY)
