"""
Correlate: find the runs of spans, and end runs without an owner.

Those are known from their spans alone: traces and conversations.
"""

from __future__ import annotations

import atexit
import weakref
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from opentelemetry.trace import format_trace_id

from otel_errcompact.engine.events import Ended, Evicted
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.otel.semconv import SCOPE
from otel_errcompact.otel.spans.claims import claims_of
from otel_errcompact.otel.spans.context import current_run_id, is_unbound, unbound_run_id
from otel_errcompact.otel.spans.conventions import read_span
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.sdk.trace import Span
    from opentelemetry.trace import SpanContext

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.listeners import Receivers
    from otel_errcompact.otel.data import EndedSpan

MAX_TRACES: Final = 4_096
MAX_CONVERSATIONS: Final = 1_000
MAX_ENDED: Final = 4_096
MAX_AGENTS: Final = 1_024


@dataclass(slots=True)
class _Known:
    """
    What is known of a trace or a conversation so far.
    """

    has_begun: bool = False
    """Whether the span of an agent, a tool or a model has begun in it outside any open run."""

    is_run: bool = False
    """Whether an agent, a tool or a model took part; a plain trace is no agent run."""

    is_late: bool = False
    """Whether the run is counted already: only a further local root span ends one more."""

    observed: bool = False
    """Whether the ledger has counted a failure in it."""

    failed: bool = False
    """Whether its outermost agent, or its local root span, ended with status ERROR."""


class UnattendedRuns(Listener):
    """
    Holds the runs without an owner, and each span's run.

    A trace without a conversation is a run until its local root span ends. A conversation may span traces: it is a run
    until it is the least recently seen of too many, or until the end of the process.

    Only what an agent, a tool or a model took part in is an agent run and is counted; of plain traces the failures are
    counted, and their state is forgotten when their local root span ends.

    Args:
        ledger: Where runs end.
    """

    stage = "unattended"

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._claims = claims_of(ledger)
        self._traces: BoundedTable[int, _Known] = BoundedTable(MAX_TRACES)
        self._conversations: BoundedTable[str, _Known] = BoundedTable(MAX_CONVERSATIONS)
        self._ended: BoundedTable[str, bool] = BoundedTable(MAX_ENDED)
        self._agents: BoundedTable[int, weakref.ReferenceType[Span]] = BoundedTable(MAX_AGENTS)
        self._open_agents: BoundedTable[int, bool] = BoundedTable(MAX_AGENTS)
        self.traces: Final = self._traces.entries
        """The open traces, by id; always the same object, so that a look whether there are any is cheap."""
        self.agents: Final = self._open_agents.entries
        """The spans of agents that are open outside any open run, by id; always the same object."""
        self._at_exit: Callable[[], None] | None = None

    def open(self) -> None:
        """Listen to the ledger, and end open runs at process end."""
        self._ledger.listeners.add(self)
        # The SDK shuts down meter providers before tracer providers: what ends with the latter, no metric would say.
        self._at_exit = partial(_end_living, weakref.ref(self))
        atexit.register(self._at_exit)

    def close(self) -> None:
        """End all runs, and listen no more."""
        self.end_all()
        if self._at_exit is not None:
            atexit.unregister(self._at_exit)
            self._at_exit = None
        self._ledger.listeners.remove(self)

    def clear(self) -> None:
        """Forget everything."""
        for table in (self._traces, self._conversations, self._ended, self._agents, self._open_agents):
            table.clear()

    def find_run(self, span: EndedSpan, open_run: str = "") -> str:
        """
        Return the run that a span or a log record belongs to.

        Args:
            span: The span.
            open_run: The run that was open where its boundary started; empty if none was, or it has no boundary.
        """
        return self._find_named(span, open_run or current_run_id()) or _name_by_trace(span)

    def keep_agent(self, span: Span) -> None:
        """Keep an agent's span: spans inside belong to its conversation."""
        trace_id = span.get_span_context().trace_id
        if self._agents.get(trace_id) is None:
            with suppress(TypeError):  # another SDK's span need not allow it
                self._agents.put(trace_id, weakref.ref(span))

    def begin_agent(self, context: SpanContext, scope: str) -> None:
        """Record that an agent's span starts outside any open run."""
        if scope != SCOPE:
            self._open_agents.put(context.span_id, True)
            self.begin(context.trace_id)

    def end_agent(self, span_id: int) -> bool:
        """Forget an agent's ended span; return whether it is outside open runs."""
        return self._open_agents.pop(span_id) is not None

    def begin(self, trace_id: int) -> None:
        """
        Record that a trace has an agent, a tool or a model.

        Its span names the run when it ends.
        """
        (self.traces.get(trace_id) or self._add_trace(trace_id)).has_begun = True

    def take_part(self, run_id: str, span: EndedSpan) -> None:
        """Record an ended agent's, tool's or model's span in a run."""
        self._find_known(run_id, span).is_run = True

    def observe(self, run_id: str, span: EndedSpan) -> None:
        """Record that a failure counts in a run."""
        self._find_known(run_id, span).observed = True

    def conclude_agent(self, span: EndedSpan) -> None:
        """
        Record how an agent's span has ended, and so its run.

        An agent around it may end otherwise.
        """
        run_id = _name_by_trace(span) if self._is_booked(span.trace_id) else self.find_run(span)
        self.take_part(run_id, span)
        self._conclude_run(run_id, span, failed=span.failed)

    def end_root(self, root: EndedSpan) -> None:
        """End the run of a trace whose local root span has ended."""
        # A failed tool or model call is no end of the conversation.
        if root.failed and (run_id := root.conversation) and root.read_call() is None:
            self._conclude_run(run_id, root, failed=True)
        known = self._traces.pop(root.trace_id)
        if known is not None:
            known.failed = known.failed or root.failed
            self._end_run(format_trace_id(root.trace_id), known)

    def end_all(self) -> None:
        """End all runs that are open."""
        for trace_id in tuple(self.traces):
            self._close_trace(trace_id)
        for run_id in tuple(self._conversations.entries):
            self._end_conversation(run_id)

    def receivers(self) -> Receivers:
        """Return what receives the ends of runs."""
        return {Ended: self._forget_ended, Evicted: self._count_evicted}

    def _forget_ended(self, ended: Ended) -> None:
        # Its owner has ended it, and it is counted.
        run_id = ended.report.run_id
        self._conversations.pop(run_id)
        self._ended.put(run_id, True)

    def _count_evicted(self, evicted: Evicted) -> None:
        # As it is when the ledger evicts it.
        report = evicted.report
        known = self._conversations.pop(report.run_id) or self._traces.pop(_trace_id(report.run_id))
        if known is not None and known.is_run and not known.is_late:
            report = report.model_copy(update={"result": "failed"}) if known.failed else report
            self._ledger.listeners.notify(Ended(report=report))

    def _find_named(self, span: EndedSpan, open_run: str) -> str:
        """Return a span's conversation, the open run, its agent's, or nothing."""
        if self._is_booked(span.trace_id) and span.is_agent:
            # It names its conversation when it ends, and all before has counted for the trace.
            return open_run
        if found := span.conversation or open_run:
            return found
        kept = self._agents.get(span.trace_id)
        agent = kept() if kept is not None else None
        return read_span(agent).conversation if agent is not None else ""

    def _is_booked(self, trace_id: int) -> bool:
        """Return whether anything counted for a trace as its own run."""
        known = self.traces.get(trace_id)
        return known is not None and (known.is_run or known.observed)

    def _conclude_run(self, run_id: str, span: EndedSpan, *, failed: bool) -> None:
        """Record how a run's last agent or local root span ended."""
        known = self.traces.get(span.trace_id) if _is_traced(run_id, span) else self._conversations.get(run_id)
        if known is not None:
            known.failed = failed

    def _find_known(self, run_id: str, span: EndedSpan) -> _Known:
        """Return an ownerless run that is not counted yet, or a stray."""
        if is_unbound(run_id):
            return _Known()
        if _is_traced(run_id, span):
            return self.traces.get(span.trace_id) or self._add_trace(span.trace_id)
        if run_id in self._ended.entries or self._is_attended(run_id):
            return _Known()
        # The least recently seen conversation goes first.
        known = self._conversations.pop(run_id) or _Known()
        if len(self._conversations.entries) >= MAX_CONVERSATIONS:
            with suppress(StopIteration):  # another thread was faster
                self._end_conversation(next(iter(self._conversations.entries)))
        self._conversations.put(run_id, known)
        return known

    def _add_trace(self, trace_id: int) -> _Known:
        if len(self.traces) >= MAX_TRACES:
            with suppress(StopIteration):  # as above
                self._close_trace(next(iter(self.traces)))
        known = _Known(is_late=format_trace_id(trace_id) in self._ended.entries)
        self._traces.put(trace_id, known)
        return known

    def _close_trace(self, trace_id: int) -> None:
        """End the run of a trace whose local root span is open."""
        known = self._traces.pop(trace_id)
        if known is not None:
            known.is_run = (known.is_run or (known.has_begun and known.observed)) and not known.is_late
            self._end_run(format_trace_id(trace_id), known)

    def _end_conversation(self, run_id: str) -> None:
        known = self._conversations.pop(run_id)
        if known is not None:
            self._end_run(run_id, known)

    def _end_run(self, run_id: str, known: _Known) -> None:
        with self._ledger.store.find(run_id) as state:
            # A run in which failures counted and of which nothing is known has been evicted, or ended by its owner.
            over = state.attended if state is not None else known.observed
        if over or (not known.observed and self._claims.is_trace_claimed(run_id)):
            return
        if known.is_run:
            self._ledger.end(run_id, failed=known.failed)
        else:
            self._ledger.store.discard(run_id)

    def _is_attended(self, run_id: str) -> bool:
        with self._ledger.store.find(run_id) as state:
            return state is not None and state.attended


def _is_traced(run_id: str, span: EndedSpan) -> bool:
    return run_id == format_trace_id(span.trace_id)


def _name_by_trace(span: EndedSpan) -> str:
    return format_trace_id(span.trace_id) if span.trace_id else unbound_run_id()


def _trace_id(run_id: str) -> int:
    try:
        return int(run_id, 16)
    except ValueError:
        return 0


def _end_living(runs: weakref.ref[UnattendedRuns]) -> None:
    if (found := runs()) is not None:
        found.end_all()
