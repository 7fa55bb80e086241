"""Correlate: hold open boundary spans and their pending failures."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry import trace

from otel_errcompact.otel.sdk import watch_span
from otel_errcompact.otel.semconv import AGENTS, MODEL_OPERATIONS, SPAN_TOOL
from otel_errcompact.otel.spans.context import current_run_id
from otel_errcompact.otel.spans.conventions import BOUNDARIES, OFFICIAL, UNDECIDED, find_convention
from otel_errcompact.otel.spans.recorded import bare_name
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact.runtime.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span

    from otel_errcompact.errors import RawError
    from otel_errcompact.otel.sdk import WatchedSpan
    from otel_errcompact.otel.spans.unattended import UnattendedRuns

MAX_OPEN_SPANS: Final = 4_096
MAX_PLAIN_NAMES: Final = 4_096
MAX_PENDING: Final = 32
MAX_PENDING_CHARACTERS: Final = 1_000_000
"""Characters of pending failures in one boundary; beyond them the oldest ones are handled."""

STAYED: Final = 0
"""The origin of a failure that no other span passes on: it was handled where it was recorded."""


@dataclass(slots=True, eq=False)
class PendingFailure:
    """
    A failure inside a boundary, whose outcome the boundary's end decides.
    """

    raw: RawError
    origin: int
    """The id of the span that recorded it first; `STAYED` if it cannot have left its span."""

    span_name: str
    span_ids: list[int]
    """The spans that have recorded it, the first one first."""

    incidental: bool = False
    """Whether it is no occurrence without a boundary: a log record below ERROR."""

    recovered: bool = False
    """Whether a span of the same name has ended without failing since: then no later failure is due to it."""

    def inside(self, tool: str) -> PendingFailure:
        """Return it as an inner failure of a call, unless its own."""
        if self.raw.tool:
            return self
        return replace(self, raw=replace(self.raw, tool=tool))

    def is_part_of(self, failure: RawError | None, origins: frozenset[int]) -> bool:
        """
        Return whether this is the failure that ended a boundary.

        Some instrumentations misplace their spans: then type and message alone connect the two.
        """
        if self.origin in origins:
            return True
        same = failure is not None and self.origin != STAYED and bare_name(self.raw.type) == bare_name(failure.type)
        return same and failure is not None and self.raw.message == failure.message


@dataclass(slots=True, eq=False)
class Place:
    """
    Where an open span is.
    """

    boundary: Boundary
    """The boundary that it is, or is inside."""

    inside: Place | None = None
    """Where a plain span inside it is; None where that has to be looked for, or is not in a boundary."""

    is_agent: bool = False
    """Whether the span is an agent's: that agent sees the failures inside it, and not just the boundary."""

    watched: WatchedSpan | None = None
    """What a boundary's span says, and whether it is dropped; None of other spans, and of another SDK's."""


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
    """Its operation, or `UNDECIDED`."""

    began: int = 0
    """The ledger's tick at which it started."""

    failing: set[str] = field(default_factory=set[str])
    """Tools whose last call inside, by our own boundaries, failed: the agent has the digest of it."""

    pending: list[PendingFailure] = field(default_factory=list[PendingFailure])
    """Failures inside, oldest first, whose outcome its end decides; change it through the methods."""

    inner: Place = field(init=False)
    """Where its plain spans are, one place for all of them."""

    _closed: bool = False
    _lock: ReentrantLock = field(default_factory=ReentrantLock)

    def __post_init__(self) -> None:
        self.inner = Place(self)
        self.inner.inside = self.inner

    def defer(self, failure: PendingFailure) -> list[PendingFailure]:
        """
        Keep a failure pending, and return those that are settled instead.

        Those are the oldest beyond the bounds, or the failure itself if the boundary is closed.
        """
        with self._lock:
            if self._closed:
                return [failure]
            self.pending.append(failure)
            released: list[PendingFailure] = []
            while len(self.pending) > 1 and self._is_over():
                released.append(self.pending.pop(0))
            return released

    def link_spans(self, origins: frozenset[int], span_ids: Iterable[int]) -> None:
        """Record that more spans have recorded pending failures."""
        for pending in self.pending:
            if pending.origin in origins:
                pending.span_ids += span_ids

    def recover(self, span_name: str) -> None:
        """Record that a span of this name has ended without failing."""
        for pending in self.pending:
            pending.recovered = pending.recovered or pending.span_name == span_name

    def record_call(self, tool: str, *, failed: bool) -> None:
        """Record how an inner call ended that our own boundary counts."""
        (self.failing.add if failed else self.failing.discard)(tool)

    def close(self) -> list[PendingFailure]:
        """Return the pending failures; from now on none is kept."""
        with self._lock:
            self._closed = True
            self.inner.inside = None
            pending, self.pending = self.pending, []
            return pending

    def close_quietly(self) -> bool:
        """Close it unless failures are pending, and return whether it did."""
        with self._lock:
            if not self.pending:
                self._closed, self.inner.inside = True, None
            return self._closed

    @property
    def decider(self) -> Boundary | None:
        """
        The boundary whose end decides about this one's failure, if any.

        Not an undecided one: if it proves to be none, the failure would be pending until the end of the run. Nor does
        a model call decide about a tool's: its span is around the tool's only because the model asked for the call.
        """
        outer = self.outer
        while outer is not None and (not outer.decides or _is_asked_for(self, outer)):
            outer = outer.outer
        return outer

    @property
    def decides(self) -> bool:
        """Whether it is surely a boundary, and open."""
        return self.is_open and self.operation != UNDECIDED

    @property
    def is_open(self) -> bool:
        """Whether its span has not ended."""
        return not self._closed

    def _is_over(self) -> bool:
        characters = sum(len(pending.raw.text) for pending in self.pending)
        return len(self.pending) > MAX_PENDING or characters > MAX_PENDING_CHARACTERS


class LeftBoundary(NamedTuple):
    """
    Holds a boundary whose end will not be seen.
    """

    boundary: Boundary
    watched: WatchedSpan | None
    """What its span has said, if that is known."""

    evicted: bool
    """Whether it was forgotten to bound memory, and not because its span was dropped without an end."""


class OpenBoundaries:
    """
    Holds the open spans that are, contain or may become a boundary's.

    The spans of boundaries are held weakly: a call that is dropped without an end is given up.

    Args:
        runs: The runs that no program opens: a boundary or an agent outside any open run may begin one.
        tick: Returns the next number of the ledger's sequence.
        on_evict: Called when an open span was forgotten to bound memory.
    """

    def __init__(self, runs: UnattendedRuns, tick: Callable[[], int], on_evict: Callable[[], object]) -> None:
        self._runs = runs
        self._tick = tick
        self._on_evict = on_evict
        self._places: BoundedTable[int, Place] = BoundedTable(MAX_OPEN_SPANS, on_evict)
        self.spans: Final = self._places.entries
        """All of them by span id; always the same object, so that a look whether there are any is cheap."""
        self.most_spans: Final = MAX_OPEN_SPANS
        """How many are kept before the oldest is dropped."""

        self.left: Final[deque[WatchedSpan | LeftBoundary]] = deque()
        """Boundaries that were dropped or evicted, until `take_left`; always the same object."""

        self.plain: Final[dict[str, set[str]]] = {}
        """Names of spans, and the scopes in which those are of no interest; always the same object."""

    def start(self, span: Span, parent_context: Context | None) -> None:
        """Record a span that starts as, or inside, a boundary or agent."""
        scope = span.instrumentation_scope.name if span.instrumentation_scope is not None else ""
        operation = "" if scope in self.plain.get(span.name, ()) else self._find_operation(span, scope)
        around = self._find_parent(span)
        context = span.get_span_context()
        if operation not in BOUNDARIES and operation != UNDECIDED:
            self._start_inner(span, scope, around, operation)
            if operation in AGENTS and not current_run_id(parent_context):
                self._runs.begin_agent(context, scope)
            return
        run_id = current_run_id(parent_context) or (around.run_id if around is not None else "")
        if not run_id:
            self._runs.begin(context.trace_id)
        boundary = Boundary(context.span_id, run_id, around, operation, self._tick())
        # What a finaliser calls may come in the middle of anything: it only puts the dropped span down.
        watched = watch_span(span, scope, context, self.left.append)
        inside = None if operation == UNDECIDED else boundary.inner
        self._keep_place(boundary.span_id, Place(boundary, inside, watched=watched))

    def start_plain(self, span: Span) -> None:
        """Record a span of no interest that may start inside a boundary."""
        around = self._find_parent(span)
        if around is not None:
            self._start_inner(span, "", around, "")

    def is_inner(self, span_id: int) -> bool:
        """Return whether an open span is inside a boundary, and none itself."""
        place = self.spans.get(span_id)
        return place is not None and place.boundary.span_id != span_id

    def end_quiet(self, span_id: int) -> bool:
        """Forget a call of a run unless something depends on its end."""
        place = self.spans.get(span_id)
        boundary = place.boundary if place is not None else None
        if boundary is None or boundary.span_id != span_id or boundary.outer is not None or not boundary.run_id:
            return False
        return boundary.close_quietly() and self._places.pop(span_id) is not None

    def end(self, span_id: int) -> Boundary | None:
        """
        Forget a span that ends, and return its boundary, if any.

        That is the span itself, or the open boundary around it.
        """
        place = self._places.pop(span_id)
        boundary = place.boundary if place is not None else None
        # Two instrumentations of one framework: the span of the one may outlive that of the other it began in.
        return boundary if boundary is None or boundary.span_id == span_id or boundary.decides else boundary.decider

    def find(self, span_id: int) -> Boundary | None:
        """Return the open boundary of an open span, if any."""
        place = self.spans.get(span_id)
        boundary = place.boundary if place is not None else None
        return boundary if boundary is None or boundary.decides else boundary.decider

    def take_left(self) -> LeftBoundary | None:
        """
        Return a boundary that has left its table, or None.

        Each is returned once; its end will not be seen.
        """
        while self.left:
            with suppress(IndexError):  # another thread was faster
                left = self.left.popleft()
                found = left if isinstance(left, LeftBoundary) else self._drop_span(left)
                if found is not None:
                    return found
        return None

    def clear(self) -> None:
        """Forget everything."""
        self._places.clear()
        self.left.clear()

    def _drop_span(self, watched: WatchedSpan) -> LeftBoundary | None:
        span_id = watched.context.span_id
        place = self.spans.get(span_id)
        if place is None or place.watched is not watched:
            return None
        return LeftBoundary(place.boundary, watched, evicted=False) if self._places.pop(span_id) else None

    def _find_operation(self, span: Span, scope: str) -> str:
        convention = find_convention(scope)
        operation = convention.classify(span.name, span.attributes or {})
        if span.name not in self.plain:
            if len(self.plain) >= MAX_PLAIN_NAMES:
                self.plain.clear()
            self.plain[span.name] = set()  # also of a boundary: a name that is missing costs an exception
        if not operation and convention is OFFICIAL:
            self.plain.setdefault(span.name, set()).add(scope)
        return operation

    def _start_inner(self, span: Span, scope: str, around: Boundary | None, operation: str) -> None:
        is_agent = operation in AGENTS
        if is_agent:
            self._runs.keep_agent(span)
        elif around is not None and around.operation == UNDECIDED:
            around = around.decider
        if around is not None:
            # What may hide an error is read when it ends, and what is inside an agent is not inside the boundary.
            alone = is_agent or find_convention(scope).hidden_error
            place = Place(around, None if is_agent else around.inner, is_agent) if alone else around.inner
            self._keep_place(span.get_span_context().span_id, place)

    def _keep_place(self, span_id: int, place: Place) -> None:
        while len(self.spans) >= self.most_spans:
            self._evict_oldest()
        self._places.put(span_id, place)

    def _evict_oldest(self) -> None:
        with suppress(StopIteration, RuntimeError):  # another thread was faster
            span_id = next(iter(self.spans))
            place = self._places.pop(span_id)
            if place is not None:
                self._on_evict()
                if place.boundary.span_id == span_id:
                    self.left.append(LeftBoundary(place.boundary, place.watched, evicted=True))

    def _find_parent(self, span: Span) -> Boundary | None:
        place = self.spans.get(span.parent.span_id) if span.parent is not None else None
        if self.spans and (place is None or place.boundary.operation == UNDECIDED):
            # Some instrumentations choose the parent by ids of their framework: the current span is around it too.
            place = self.spans.get(trace.get_current_span().get_span_context().span_id) or place
        return place.boundary if place is not None and not place.is_agent and place.boundary.is_open else None


def _is_asked_for(inner: Boundary, outer: Boundary) -> bool:
    return inner.operation not in MODEL_OPERATIONS and outer.operation in MODEL_OPERATIONS
