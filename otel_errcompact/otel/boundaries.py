"""The boundary spans that are open, and the failures inside them that wait for their outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry import trace

from otel_errcompact.bounded import BoundedTable
from otel_errcompact.otel.context import current_run_id
from otel_errcompact.otel.spans import AGENT_WORDS, BOUNDARY_WORDS, bare, first_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span

    from otel_errcompact.errors import RawError

MAX_OPEN_SPANS: Final = 4_096
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

    def is_part_of(self, failure: RawError | None, origins: frozenset[int]) -> bool:
        """
        Tell whether this is what a boundary has failed with, and not one that it has got over.

        Not every instrumentation says where its span belongs: then only the same words can tell.
        """
        if self.origin in origins:
            return True
        same = failure is not None and self.origin != STAYED and bare(self.raw.type) == bare(failure.type)
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

    failing: set[str] = field(default_factory=set[str])
    """Tools whose last call inside, by our own boundaries, failed: the agent was told of it already."""

    _held: list[Held] = field(default_factory=list[Held])
    _closed: bool = False
    _lock: Lock = field(default_factory=Lock)

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
    The open spans that are a boundary or lie inside one.

    Args:
        on_evict: Called when an open span was forgotten to bound memory.
    """

    def __init__(self, on_evict: Callable[[], object]) -> None:
        self._places: BoundedTable[int, _Place] = BoundedTable(MAX_OPEN_SPANS, on_evict)
        self.spans: Final = self._places.entries
        """All of them by span id; the same object for good, so that it is cheap to ask whether there are any."""

    def enter(self, span: Span, parent_context: Context | None) -> bool:
        """
        Take note of a span that starts, and return whether its name makes it a boundary.
        """
        word = first_word(span.name)
        around = self._around(span)
        if word not in BOUNDARY_WORDS:
            if around is not None:
                self._places.put(span.get_span_context().span_id, _Place(around, word in AGENT_WORDS))
            return False
        run_id = current_run_id(parent_context) or (around.run_id if around is not None else "")
        boundary = Boundary(span.get_span_context().span_id, run_id, around)
        self._places.put(boundary.span_id, _Place(boundary, is_agent=False))
        return True

    def leave(self, span_id: int) -> Boundary | None:
        """Forget a span that ends, and return the boundary that it is or lies in, if its outcome is still unknown."""
        place = self._places.pop(span_id)
        return place.boundary if place is not None and place.boundary.is_open else None

    def around(self, span_id: int) -> Boundary | None:
        """Return the boundary that an open span is or lies in, if its outcome is still unknown."""
        place = self.spans.get(span_id)
        return place.boundary if place is not None and place.boundary.is_open else None

    def clear(self) -> None:
        """Forget everything."""
        self._places.clear()

    def _around(self, span: Span) -> Boundary | None:
        place = self.spans.get(span.parent.span_id) if span.parent is not None else None
        if place is None and self.spans:
            # Some instrumentations choose the parent by ids of their framework; what is open here is around it too.
            place = self.spans.get(trace.get_current_span().get_span_context().span_id)
        return place.boundary if place is not None and not place.is_agent and place.boundary.is_open else None
