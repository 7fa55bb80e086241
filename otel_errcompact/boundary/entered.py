"""Runs and calls that are open in a context: entered in one, and left there or in any other."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final
from weakref import ref

from opentelemetry import context as otel_context
from opentelemetry import trace

from otel_errcompact.otel.spans.context import opened_in, with_opened

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from otel_errcompact.boundary.call import Call
    from otel_errcompact.boundary.runs import Run


class Entered:
    """
    A `with` block of a run or of a call: what is current inside of it, and what was current before.

    Event loops and the garbage collector close generators in a context of their own, and servers enter and leave a
    dependency in two. No token is kept, which only its own context takes back: in the context of the block `leave`
    restores what was there before, and in any other one it marks the block as left, which all contexts look at.

    Args:
        run: The run.
        call: The call, if the block is a call's.
    """

    __slots__ = ("_before", "_call", "_inside", "has_left", "outer", "run")

    def __init__(self, run: Run, call: Call | None = None) -> None:
        self.run: Final = run
        # A `with` statement holds its call. One whose end an interrupt has cut off is over when nothing holds it.
        self._call = ref(call) if call is not None else None
        self.outer: Entered | None = None
        """The block around this one."""
        self.has_left = False
        """Whether the block was left, in whichever context."""
        self._before: Context | None = None
        self._inside: Context | None = None

    @property
    def run_id(self) -> str:
        """The id of the run that is open inside."""
        return self.run.run_id

    @property
    def call(self) -> Call | None:
        """The call, if the block is a call's and may still end."""
        return self._call() if self._call is not None else None

    @property
    def is_call(self) -> bool:
        """Whether the block is a call's."""
        return self._call is not None

    @property
    def is_over(self) -> bool:
        """Whether the block was left, in whichever context, or never will be."""
        return self.has_left or (self._call is not None and self._call() is None)

    @property
    def is_open(self) -> bool:
        """Whether what fails here belongs to the run, or to the call."""
        return not self.is_over and not self.run.closed

    def enter(self, span: Span) -> None:
        """Make the run or the call, and its span, the current ones; call `forget_left` before the span starts."""
        self.outer = _innermost.get()
        self._before = otel_context.get_current()
        self._inside = with_opened(self, trace.set_span_in_context(span, self._before))
        _innermost.set(self)
        otel_context.attach(self._inside)

    def leave(self) -> None:
        """Restore what was current before, where this is the context of the block; raise nothing in any other."""
        self.has_left = True
        if _innermost.get() is self:
            forget_left()

    def restored(self, current: Context) -> Context:
        """Return the OpenTelemetry context to restore for `current`, which stays if a span inside is still open."""
        before, inside = self._before, self._inside
        self._before = self._inside = None  # a context and its block would keep each other alive
        if before is None or inside is None or opened_in(current) is not self:
            return current
        span = trace.get_current_span(current)
        is_host_s = current is not inside and span is not trace.get_current_span(inside) and span.is_recording()
        return current if is_host_s else before


_innermost: Final[ContextVar[Entered | None]] = ContextVar("errcompact-entered", default=None)


def forget_left() -> None:
    """Take blocks that are over, wherever they were left, out of this context."""
    entered = _innermost.get()
    if entered is None or not entered.is_over:
        return
    current = otel_context.get_current()
    while entered is not None and entered.is_over:
        current = entered.restored(current)
        entered = entered.outer
    _innermost.set(entered)
    otel_context.attach(current)


def current_run() -> Run | None:
    """Return the run that is open in this context."""
    entered = _innermost.get()
    while entered is not None and (entered.is_call or not entered.is_open):
        entered = entered.outer
    return entered.run if entered is not None else None


def current_call() -> Call | None:
    """Return the innermost call that is open in this context."""
    entered = _innermost.get()
    while entered is not None and not (entered.is_call and entered.is_open):
        entered = entered.outer
    return entered.call if entered is not None else None
