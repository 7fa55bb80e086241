"""Blocks of runs and calls, which any context may leave."""

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

    from otel_errcompact.boundary.scope import RunScope


class Block:
    """
    A `with` block of a run or call, and the context before.

    Event loops and the garbage collector close generators in a context of their own, and servers enter and leave a
    dependency in two. No token is kept, which only its own context takes back: in the context of the block `leave`
    restores what was there before, and in any other one it marks the block as left, which all contexts look at.

    Args:
        scope: The run.
        owner: The `Run` or the `Call` of the block.
        is_call: Whether the block is a call's.
    """

    __slots__ = ("_before", "_inside", "_owner", "has_left", "is_call", "outer", "scope")

    def __init__(self, scope: RunScope, owner: object, *, is_call: bool = False) -> None:
        self.scope: Final = scope
        self.is_call: Final = is_call
        # A `with` statement holds its owner. A block whose end an interrupt has cut off is over when nothing holds it.
        self._owner: Final = ref(owner)
        self.outer: Block | None = None
        """The block around this one."""
        self.has_left = False
        """Whether the block was left, in whichever context."""
        self._before: Context | None = None
        self._inside: Context | None = None

    @property
    def run_id(self) -> str:
        """The id of the run that is open inside."""
        return self.scope.run_id

    @property
    def owner(self) -> object:
        """The run or the call; None if it is garbage."""
        return self._owner()

    @property
    def is_over(self) -> bool:
        """Whether the block was left, in whichever context, or never will be."""
        return self.has_left or self._owner() is None

    @property
    def is_open(self) -> bool:
        """Whether a failure inside belongs to the run, or to the call."""
        return not self.is_over and not self.scope.is_closed

    def enter(self, span: Span) -> None:
        """Make the block and its span current; `discard_left_blocks` comes before that."""
        self.outer = _innermost.get()
        self._before = otel_context.get_current()
        self._inside = with_opened(self, span, self._before)
        _innermost.set(self)
        otel_context.attach(self._inside)

    def leave(self) -> None:
        """Restore the state before the block; in another context, only mark it."""
        self.has_left = True
        if _innermost.get() is self:
            discard_left_blocks()

    def restore(self, current: Context) -> Context:
        """Return the context before, or `current` while a span inside is open."""
        before, inside = self._before, self._inside
        self._before = self._inside = None  # a context and its block would keep each other alive
        if before is None or inside is None:
            return current
        if current is inside:
            return before
        if opened_in(current) is not self:
            return current
        span = trace.get_current_span(current)
        is_host_s = span is not trace.get_current_span(inside) and span.is_recording()
        return current if is_host_s else before


_innermost: Final[ContextVar[Block | None]] = ContextVar("errcompact-block", default=None)


def discard_left_blocks() -> None:
    """Take blocks that are over, wherever left, out of this context."""
    block = _innermost.get()
    if block is None or not block.is_over:
        return
    current = otel_context.get_current()
    while block is not None and block.is_over:
        current = block.restore(current)
        block = block.outer
    _innermost.set(block)
    otel_context.attach(current)


def find_owner(*, of_call: bool) -> object:
    """Return the owner of the innermost open block; None without one."""
    block = _innermost.get()
    while block is not None and not (block.is_call == of_call and block.is_open):
        block = block.outer
    return block.owner if block is not None else None
