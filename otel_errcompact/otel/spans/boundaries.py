"""The boundary spans that are open, and the failures inside them that wait for their outcome."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import ref

from opentelemetry import trace

from otel_errcompact.otel.semconv import MODEL_OPERATIONS, SCOPE, SPAN_TOOL
from otel_errcompact.otel.spans.context import current_run_id
from otel_errcompact.otel.spans.conventions import AGENTS, BOUNDARIES, OFFICIAL, UNDECIDED, find_convention
from otel_errcompact.otel.spans.recorded import bare_name
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from weakref import ReferenceType

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span

    from otel_errcompact.errors import RawError

MAX_OPEN_SPANS: Final = 4_096
MAX_PLAIN_NAMES: Final = 4_096
MAX_AGENTS: Final = 1_024
MAX_HELD: Final = 32
MAX_HELD_CHARACTERS: Final = 1_000_000
"""What one boundary holds at most; beyond it the oldest failures are let go as handled."""

STAYED: Final = 0
"""The origin of a failure that was handled where it was recorded: no other span passes it on."""


@dataclass(slots=True, eq=False)
class Held:
    """
    A failure inside a boundary, held until the boundary's outcome is known.
    """

    raw: RawError
    origin: int
    """The id of the span that recorded it first; `STAYED` if it cannot have left its span."""

    span_name: str
    span_ids: list[int]
    """The spans that have recorded it, the first one first."""

    alone: bool = True
    """Whether it is an occurrence of its own where no boundary decides: of a log record its severity tells."""

    recovered: bool = False
    """Whether the same kind of span has since ended without failing: then it is no reason for what fails later."""

    def inside(self, tool: str) -> Held:
        """Return the same as a failure inside a call of a tool, unless it is a tool's of its own."""
        if self.raw.tool:
            return self
        return replace(self, raw=replace(self.raw, tool=tool))

    def is_part_of(self, failure: RawError | None, origins: frozenset[int]) -> bool:
        """
        Tell whether this is what a boundary has failed with, and not one that it has got over.

        Not every instrumentation says where its span belongs: then only the same words can tell.
        """
        if self.origin in origins:
            return True
        same = failure is not None and self.origin != STAYED and bare_name(self.raw.type) == bare_name(failure.type)
        return same and failure is not None and self.raw.message == failure.message


@dataclass(slots=True, eq=False)
class Boundary:
    """
    An open boundary span.
    """

    span_id: int
    run_id: str
    """The run that was open where it started; empty if there was none."""

    outer: Boundary | None
    """The boundary it is itself a part of."""

    operation: str = SPAN_TOOL
    """What it is, or `UNTOLD`."""

    began: int = 0
    """The ledger's tick at which it started."""

    failing: set[str] = field(default_factory=set[str])
    """Tools whose last call inside, by our own boundaries, failed: the agent was told of it already."""

    _held: list[Held] = field(default_factory=list[Held])
    _closed: bool = False
    _lock: ReentrantLock = field(default_factory=ReentrantLock)

    def hold(self, failure: Held) -> list[Held]:
        """Hold a failure, and return what is not held for it: the oldest beyond the bounds, or itself if closed."""
        with self._lock:
            if self._closed:
                return [failure]
            self._held.append(failure)
            released: list[Held] = []
            while len(self._held) > 1 and self._is_over():
                released.append(self._held.pop(0))
            return released

    def pass_on(self, origins: frozenset[int], *span_ids: int) -> None:
        """Note that more spans have recorded failures that are held."""
        for held in self._held:
            if held.origin in origins:
                held.span_ids += span_ids

    def recover(self, span_name: str) -> None:
        """Note that a span of this name has ended without failing."""
        for held in self._held:
            held.recovered = held.recovered or held.span_name == span_name

    def tell(self, tool: str, *, failed: bool) -> None:
        """Note how a call inside ended that one of our own boundaries has settled."""
        if failed:
            self.failing.add(tool)
        else:
            self.failing.discard(tool)

    def close(self) -> list[Held]:
        """Let go of what is held; from now on nothing is."""
        with self._lock:
            self._closed = True
            held, self._held = self._held, []
            return held

    @property
    def holder(self) -> Boundary | None:
        """
        The boundary whose outcome decides of this one's failure, if there is one.

        Not one that may turn out to be none: to hold by it could be to hold until the end of the run. Nor does a model
        call decide of a tool's: that its span may be around it says only that the model asked for it.
        """
        outer = self.outer
        while outer is not None and (not outer.is_holding or _is_asked_for(self, outer)):
            outer = outer.outer
        return outer

    @property
    def is_holding(self) -> bool:
        """Whether it is a boundary for sure whose outcome is still unknown."""
        return self.is_open and self.operation != UNDECIDED

    @property
    def is_open(self) -> bool:
        """Whether the outcome is still unknown."""
        return not self._closed

    def _is_over(self) -> bool:
        return len(self._held) > MAX_HELD or sum(len(held.raw.text) for held in self._held) > MAX_HELD_CHARACTERS


class _Place(NamedTuple):
    boundary: Boundary
    is_agent: bool
    """Whether the span is an agent's: what fails inside it is seen by that agent, and not just by the boundary."""


class OpenBoundaries:
    """
    The open spans that are a boundary or lie inside one, and those that may turn out to be one.

    Args:
        on_evict: Called when an open span was forgotten to bound memory.
        on_begin: Called with the id of a trace in which an agent, a tool or a model begins outside any open run.
        tick: Orders what happens, as the ledger does.
    """

    def __init__(
        self,
        on_evict: Callable[[], object],
        on_begin: Callable[[int], object] = lambda _: None,
        tick: Callable[[], int] = lambda: 0,
    ) -> None:
        self._on_begin = on_begin
        self._tick = tick
        self._places: BoundedTable[int, _Place] = BoundedTable(MAX_OPEN_SPANS, on_evict)
        self._agents: BoundedTable[int, ReferenceType[Span]] = BoundedTable(MAX_AGENTS)
        self._open_agents: BoundedTable[int, bool] = BoundedTable(MAX_AGENTS)
        self.agents: Final = self._open_agents.entries
        """The agents' spans that are open outside any open run, by span id; the same object for good."""
        self.spans: Final = self._places.entries
        """All of them by span id; the same object for good, so that it is cheap to ask whether there are any."""

        self.plain: Final[dict[str, set[str]]] = {}
        """Names of spans that are of no interest, and the scopes in which they are not; the same object for good."""

    def enter(self, span: Span, parent_context: Context | None) -> None:
        """Take note of a span that starts."""
        scope = span.instrumentation_scope.name if span.instrumentation_scope is not None else ""
        operation = "" if scope in self.plain.get(span.name, ()) else self._operation(span, scope)
        around = self._around(span)
        if operation not in BOUNDARIES and operation != UNDECIDED:
            self._pass(span, around, operation)
            if operation in AGENTS and not current_run_id(parent_context):
                self._begin_agent(span, scope)
            return
        run_id = current_run_id(parent_context) or (around.run_id if around is not None else "")
        if not run_id:
            self._on_begin(span.get_span_context().trace_id)
        boundary = Boundary(span.get_span_context().span_id, run_id, around, operation, self._tick())
        self._places.put(boundary.span_id, _Place(boundary, is_agent=False))

    def leave(self, span_id: int) -> Boundary | None:
        """Forget a span that ends, and return the boundary that it is or lies in whose outcome is still unknown."""
        place = self._places.pop(span_id)
        boundary = place.boundary if place is not None else None
        if boundary is None or boundary.span_id == span_id:
            return boundary
        # Two instrumentations of one framework: the span of the one may outlive that of the other it began in.
        return boundary if boundary.is_holding else boundary.holder

    def leave_agent(self, span_id: int) -> bool:
        """Forget a span that ends, and tell whether it was an agent's outside any open run."""
        return self._open_agents.pop(span_id) is not None

    def around(self, span_id: int) -> Boundary | None:
        """Return the boundary that an open span is or lies in, if its outcome is still unknown."""
        place = self.spans.get(span_id)
        boundary = place.boundary if place is not None else None
        return boundary if boundary is None or boundary.is_holding else boundary.holder

    def agent_of(self, trace_id: int) -> Span | None:
        """Return the span of the outermost agent of a trace, if it is still there."""
        found = self._agents.get(trace_id)
        return found() if found is not None else None

    def clear(self) -> None:
        """Forget everything."""
        self._places.clear()
        self._agents.clear()
        self._open_agents.clear()

    def _operation(self, span: Span, scope: str) -> str:
        convention = find_convention(scope)
        operation = convention.classify(span.name, span.attributes or {})
        if not operation and convention is OFFICIAL:
            if len(self.plain) >= MAX_PLAIN_NAMES:
                self.plain.clear()
            self.plain.setdefault(span.name, set()).add(scope)
        return operation

    def _pass(self, span: Span, around: Boundary | None, operation: str) -> None:
        """Take note of a span that is no boundary: where it lies, and whether it is an agent's."""
        if operation in AGENTS:
            trace_id = span.get_span_context().trace_id
            if self._agents.get(trace_id) is None:
                with suppress(TypeError):  # another SDK's span need not allow it
                    self._agents.put(trace_id, ref(span))
        elif around is not None and around.operation == UNDECIDED:
            around = around.holder
        if around is not None:
            self._places.put(span.get_span_context().span_id, _Place(around, operation in AGENTS))

    def _begin_agent(self, span: Span, scope: str) -> None:
        if scope != SCOPE:
            context = span.get_span_context()
            self._open_agents.put(context.span_id, True)
            self._on_begin(context.trace_id)

    def _around(self, span: Span) -> Boundary | None:
        place = self.spans.get(span.parent.span_id) if span.parent is not None else None
        if self.spans and (place is None or place.boundary.operation == UNDECIDED):
            # Some instrumentations choose the parent by ids of their framework; what is open here is around it too.
            place = self.spans.get(trace.get_current_span().get_span_context().span_id) or place
        return place.boundary if place is not None and not place.is_agent and place.boundary.is_open else None


def _is_asked_for(inner: Boundary, outer: Boundary) -> bool:
    return inner.operation not in MODEL_OPERATIONS and outer.operation in MODEL_OPERATIONS
