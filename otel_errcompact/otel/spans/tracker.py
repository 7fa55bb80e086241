"""
Track failures from first record to outcome, so that each counts once.

Three steps, for a span that ends and for a log record alike: READ the failure (`reading`, `recorded`), CORRELATE it
with the records of the same failure and with the open boundary around it (`occurrences`, `boundaries`), SETTLE it by
the one table (`settling`).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry import context as otel_context
from opentelemetry.trace import INVALID_SPAN_CONTEXT

from otel_errcompact import late
from otel_errcompact.detector.control_flow import is_control_flow
from otel_errcompact.otel.data import EndedSpan
from otel_errcompact.otel.sdk import copy_attributes
from otel_errcompact.otel.semconv import CLASS, EXCEPTION_EVENT, MODEL_OPERATIONS, RAW, SCOPE, SPAN_TOOL
from otel_errcompact.otel.spans.boundaries import STAYED, OpenBoundaries, PendingFailure
from otel_errcompact.otel.spans.claims import claims_of
from otel_errcompact.otel.spans.context import is_unbound
from otel_errcompact.otel.spans.conventions import find_convention, translate
from otel_errcompact.otel.spans.occurrences import HANDLED, Occurrences, SeenFailure
from otel_errcompact.otel.spans.recorded import (
    bare_name,
    build_logged_error,
    build_raw_error,
    is_control_flow_name,
    match_live,
    read_failures,
    read_recorded,
)
from otel_errcompact.otel.spans.settling import Outcome, Situation, decide
from otel_errcompact.otel.spans.unattended import UnattendedRuns
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.errors import RawError
    from otel_errcompact.otel.data import BoundaryCall, LoggedFailure, Recorded
    from otel_errcompact.otel.spans.boundaries import Boundary, LeftBoundary
    from otel_errcompact.runtime.guard import Guard

OPEN_SPAN_EVICTED: Final = "open_span_evicted"
BOUNDARY_DROPPED: Final = "boundary_dropped"
"""The stage that counts boundaries whose span was dropped without an end."""

_UNKNOWN: Final = EndedSpan("", INVALID_SPAN_CONTEXT, 0, 0)
"""The span of a boundary of which nothing is known any more."""


class _Found(NamedTuple):
    """
    The failures that a span has recorded.
    """

    failure: RawError | None
    """The failure that ended the span."""

    whole: bool
    """Whether it is known in full, and not just from the span's status."""

    mentions: list[RawError]
    """The failures that did not end it."""


_NOTHING: Final = _Found(None, whole=True, mentions=[])


class _Ended(NamedTuple):
    """
    Holds an ended span with its failure and all records of it.
    """

    span: EndedSpan
    failure: RawError | None
    whole: bool
    origins: frozenset[int]
    span_ids: list[int]
    """The spans that have recorded the failure, as far as they share its class."""

    boundary: Boundary | None
    """The boundary that has ended with the span."""

    around: Boundary | None
    """The open boundary whose end decides, if there is one."""

    part: bool = False
    """Whether a failure that was pending in the boundary is part of it."""


class FailureTracker:
    """
    Tracks failures of spans and log records until a ledger counts them.

    The processors of one ledger share it, so that a failure that several of them see counts once.

    Args:
        ledger: Where failures become numbers.
        guard: Keeps our own faults away from the application; the ledger's if None.
    """

    def __init__(self, ledger: Ledger, guard: Guard | None = None) -> None:
        self.ledger: Final = ledger
        self.guard: Final = guard or ledger.guard
        self.duplicates = 0
        """Records of failures that were recognised as known occurrences."""
        self.runs: Final = UnattendedRuns(ledger)
        self.boundaries: Final = OpenBoundaries(
            self.runs, ledger.next_tick, partial(self.guard.count, OPEN_SPAN_EVICTED)
        )
        self._occurrences = Occurrences()
        self._claims = claims_of(ledger)
        self._control_flow = ledger.options.control_flow
        self._users = 0
        reset_in_child(self._forget_state)

    def open(self) -> None:
        """Register one more processor of spans."""
        if not self._users:
            self.runs.open()
        self._users += 1

    def close(self) -> None:
        """Unregister a span processor; the last one ends span-only runs."""
        self._users -= 1
        if self._users:
            return
        with self.guard.stage("shutdown"):
            self._settle_left()
            self.runs.close()
        # The classes stay: exporters that are shut down later still ask for them.
        self.boundaries.clear()
        self.runs.clear()

    def start(self, span: Span, parent_context: Context | None) -> None:
        """Record a span that starts."""
        self._settle_left()
        self.boundaries.start(span, parent_context)

    def start_plain(self, span: Span) -> None:
        """Record a span of no interest that may start inside a boundary."""
        self._settle_left()
        self.boundaries.start_plain(span)

    def end_healthy(self, name: str, span_id: int, scope: str) -> bool:
        """Record a healthy span's end; False if it has to be read."""
        if scope == SCOPE:
            return self.boundaries.end_quiet(span_id)
        if not self.boundaries.is_inner(span_id) or find_convention(scope).hidden_error:
            return False
        around = self.boundaries.end(span_id)
        if around is not None:
            around.recover(name)
        return True

    def end(self, span: EndedSpan) -> None:
        """Settle the failure of a span that ends, and pending ones inside."""
        self._settle_left()
        if not span.context.is_valid:
            return
        boundary = self.boundaries.end(span.span_id) if self.boundaries.spans else None
        is_boundary = boundary is not None and boundary.span_id == span.span_id
        if boundary is not None and is_boundary:
            self._end_boundary(boundary, span)
        else:
            self._end_plain(span, boundary)
        if not self.runs.traces:
            return
        # An agent's span that names its kind only at its end has started as a boundary.
        if self.runs.end_agent(span.span_id) or (is_boundary and span.is_agent):
            self.runs.conclude_agent(span)
        if self._is_local_root(span):
            self.runs.end_root(span)

    def record(self, logged: LoggedFailure) -> str | None:
        """
        Settle a log record's failure, and return its class or None.

        None if it is no failure, or counts elsewhere.
        """
        self._settle_left()
        if not self._is_failure(logged.recorded, logged.live, None):
            return None
        place = logged.place
        raw = build_logged_error(logged)
        boundary = self.boundaries.find(place.span_id)
        origins = self._occurrences.find_logged(place, raw, named=logged.named)
        situation = Situation(
            "record",
            known=origins is not None,
            inside=boundary is not None,
            incidental=logged.incidental,
            settled=logged.in_call,
        )
        match decide(situation):
            case Outcome.LINK:
                self.duplicates += 1
                return self._find_class(origins or ()) or late.classify(raw, self.ledger.roots).key
            case Outcome.DEFER if boundary is not None:
                origin = self._occurrences.remember_logged(place, raw, named=logged.named)
                lean = replace(raw, exception=None)
                pending = PendingFailure(lean, origin, place.name, [origin], incidental=logged.incidental)
                self._defer_failure(place, boundary, pending)
                # The record is exported before the outcome is known; its own class is that of either.
                return late.classify(raw, self.ledger.roots).key
            case Outcome.COUNT:
                origin = self._occurrences.remember_logged(place, raw, named=logged.named)
                return self._count_failure(place, None, raw, (origin,))
            case _:
                return None

    def find_class(self, span_id: int) -> str | None:
        """Return the dedup key of a span's recent failure, or None."""
        return self._occurrences.find_class(span_id)

    def _end_plain(self, span: EndedSpan, around: Boundary | None) -> None:
        if not span.failed:
            if around is not None:
                around.recover(span.name)
            if not span.events:
                return
        found = self._read_failure(span, None)
        origins = self._occurrences.find_origins(span, found.failure, whole=found.whole)
        settled = span.is_settled_by_maker
        for raw in found.mentions:
            self._settle_mention(span, around, raw, settled=settled)
        situation = Situation(
            "span",
            failed=found.failure is not None,
            settled=settled,
            known=bool(origins),
            inside=around is not None,
        )
        ended = _Ended(span, found.failure, found.whole, origins, [span.span_id], None, around)
        self._apply_outcome(decide(situation), ended)

    def _end_boundary(self, boundary: Boundary, span: EndedSpan) -> None:
        pending = boundary.close()
        if span.failed and not pending and boundary.run_id and span.is_made_here and self._follow_own(boundary, span):
            return
        call = span.read_call()
        if call is None:
            # As it turns out a plain span, and no boundary.
            outer = boundary.decider
            self._settle_void(boundary, outer, span, pending)
            self._end_plain(span, outer)
            return
        run_id = self.runs.find_run(span, boundary.run_id)
        if not (boundary.run_id or span.is_serving):
            self.runs.take_part(run_id, span)
        settled = span.is_settled_by_maker or self._is_claimed(call, span)
        ended = self._correlate_failure(boundary, span, call, pending, settled=settled)
        failed = ended.failure is not None
        situation = Situation(
            "boundary",
            failed=failed,
            erred=span.failed,
            settled=settled,
            counted=failed and bool(self._find_class(ended.origins)),
            told=call.tool in boundary.failing and not ended.part,
            inside=ended.around is not None,
            steered=not failed and self._is_steered(),
            routine=not failed and self._is_routine(boundary, call, run_id),
        )
        outcome = decide(situation)
        if failed:
            self._apply_outcome(outcome, ended)
        elif outcome is Outcome.SUCCEED:
            self.ledger.succeed(run_id, call.tool, arguments=call.arguments, agent=span.agent, began=boundary.began)
        if settled and boundary.outer is not None:
            boundary.outer.record_call(call.tool, failed=span.is_refused or failed)

    def _follow_own(self, boundary: Boundary, span: EndedSpan) -> bool:
        """
        Follow our own call's failure, if its span holds no more.

        The boundary has counted it: no raw error is built a second time.
        """
        key = span.dedup_key
        if not key or len(span.events) != 1 or span.events[0].name != EXCEPTION_EVENT:
            return False
        attributes = copy_attributes(span.events[0].attributes)
        if not self._occurrences.has_children(span):
            # Then nothing is looked for in the text, and to decode one of lone surrogates costs as much as all else.
            attributes.pop(RAW, None)
        call = span.read_call() if attributes.get(CLASS) == key else None
        recorded = read_recorded(span, attributes) if call is not None else None
        if call is None or recorded is None or not recorded.traced:
            return False
        recorded, live = _match_live(span, recorded)
        situation = Situation("boundary", failed=True, erred=True, settled=True)
        if not self._is_failure(recorded, live, call) or decide(situation) is not Outcome.FOLLOW:
            return False
        failure = SeenFailure(recorded.type, recorded.message, recorded.text, live)
        origins = self._occurrences.find_origins(span, failure)
        self._occurrences.remember(span, failure, min(origins, default=span.span_id))
        self._occurrences.set_class(key, (span.span_id,))
        if boundary.outer is not None:
            boundary.outer.record_call(call.tool, failed=True)
        return True

    def _correlate_failure(
        self, boundary: Boundary, span: EndedSpan, call: BoundaryCall, pending: list[PendingFailure], *, settled: bool
    ) -> _Ended:
        """Read the failure that ended a boundary, and settle the others inside."""
        found = self._read_failure(span, call)
        failure, whole = found.failure, found.whole
        origins = self._occurrences.find_origins(span, failure, whole=whole)
        # The raw error of a boundary of ours may be a log record, which leaves no more than a status on the span.
        cause = None if failure is None or whole or settled else _find_cause(pending, origins)
        nested = None if failure is None else _nested_duplicate(pending, call)
        part = [each for each in pending if each in {cause, nested} or each.is_part_of(failure, origins)]
        if pending:
            self._settle_pending(boundary, span, call, pending, part)
        for raw in found.mentions:
            self._settle_mention(span, None, raw, settled=settled and _passes_on(raw, failure))
        span_ids = [span.span_id]
        if failure is not None and not settled:
            span_ids.append(min(origins, default=span.span_id))
            failure, whole = replace(_add_cause(failure, cause), began=boundary.began), whole or cause is not None
        span_ids += [span_id for each in part for span_id in each.span_ids]
        return _Ended(span, failure, whole, origins, span_ids, boundary, boundary.decider, bool(part))

    def _apply_outcome(self, outcome: Outcome, ended: _Ended) -> None:
        """Carry out what was decided about the failure that ended a span."""
        span, failure, span_ids = ended.span, ended.failure, ended.span_ids
        if failure is None:
            return
        origin = min(ended.origins, default=span.span_id)
        self._occurrences.remember(span, failure, origin, whole=ended.whole)
        key = self._find_class(ended.origins)
        match outcome:
            case Outcome.FOLLOW:
                if key := span.dedup_key or key:
                    self._occurrences.set_class(key, span_ids)
            case Outcome.LINK:
                self.duplicates += 1
                if ended.around is not None and ended.boundary is None:
                    ended.around.link_spans(ended.origins, span_ids)
                self._occurrences.set_class(key, span_ids)
            case Outcome.DEFER if ended.around is not None:
                pending = PendingFailure(replace(failure, exception=None), origin, span.name, [span.span_id])
                self._defer_failure(span, ended.around, pending)
                ended.around.link_spans(frozenset({origin}), span_ids)
            case _:
                self._count_failure(span, ended.boundary, failure, span_ids)

    def _settle_mention(self, span: EndedSpan, around: Boundary | None, raw: RawError, *, settled: bool) -> None:
        outcome = decide(Situation("mention", settled=settled, inside=around is not None))
        pending = PendingFailure(replace(raw, exception=None), STAYED, span.name, [span.span_id])
        if outcome is Outcome.DEFER and around is not None:
            self._defer_failure(span, around, pending)
        elif outcome is Outcome.HANDLE:
            self._mark_handled(span, None, [pending])

    def _settle_pending(
        self,
        boundary: Boundary,
        span: EndedSpan,
        call: BoundaryCall,
        pending: list[PendingFailure],
        part: list[PendingFailure],
    ) -> None:
        """Settle the failures that were pending in a boundary that has ended."""
        outcomes = [(decide(Situation("pending", part=each in part)), each) for each in pending]
        self.duplicates += sum(outcome is Outcome.LINK for outcome, _ in outcomes)
        handled = [each.inside(call.tool) for outcome, each in outcomes if outcome is Outcome.HANDLE]
        self._mark_handled(span, boundary, handled)

    def _settle_void(
        self, boundary: Boundary, outer: Boundary | None, span: EndedSpan, pending: list[PendingFailure]
    ) -> None:
        for each in pending:
            situation = Situation("pending", void=True, inside=outer is not None, incidental=each.incidental)
            outcome = decide(situation)
            if outcome is Outcome.DEFER and outer is not None:
                self._defer_failure(span, outer, each)
            elif outcome is Outcome.COUNT:
                self._count_failure(span, boundary, each.raw, each.span_ids)
            else:
                self._mark_handled(span, boundary, [each])

    def _settle_left(self) -> None:
        """
        Settle the pending failures of boundaries that have left their table.

        A span that is dropped without an end is that of no boundary. One that was forgotten to bound memory may still
        end: what is pending there has no room any more.
        """
        if not self.boundaries.left:
            return
        # The span that settles them may be inside another run.
        token = otel_context.attach(otel_context.Context())
        try:
            while (left := self.boundaries.take_left()) is not None:
                with self.guard.stage("settle_left"):
                    self._settle_one_left(left)
        finally:
            otel_context.detach(token)

    def _settle_one_left(self, left: LeftBoundary) -> None:
        boundary, pending = left.boundary, left.boundary.close()
        if not left.evicted:
            self.guard.failures[BOUNDARY_DROPPED] += 1
        if not pending:
            return
        span = translate(left.watched.read()) if left.watched is not None else _UNKNOWN
        if left.evicted:
            self._mark_handled(span, boundary, pending)
        else:
            self._settle_void(boundary, boundary.decider, span, pending)

    def _count_failure(self, span: EndedSpan, boundary: Boundary | None, raw: RawError, span_ids: Iterable[int]) -> str:
        """Count a failure, and return its class."""
        run_id = self._find_run(span, boundary)
        self.runs.observe(run_id, span)
        found = self.ledger.observe(run_id, raw).found
        if is_unbound(run_id):
            self.ledger.store.discard(run_id)
        self._occurrences.set_class(found.key, span_ids)
        return found.key

    def _defer_failure(self, span: EndedSpan, boundary: Boundary, pending: PendingFailure) -> None:
        self._mark_handled(span, boundary, boundary.defer(pending))

    def _mark_handled(self, span: EndedSpan, boundary: Boundary | None, handled: list[PendingFailure]) -> None:
        run_id = self._find_run(span, boundary) if handled else ""
        for each in handled:
            self._occurrences.set_class(HANDLED, each.span_ids)
            self.ledger.handled(run_id, each.raw)

    def _read_failure(self, span: EndedSpan, call: BoundaryCall | None) -> _Found:
        records, repeated = read_failures(span)
        if not records:
            return _NOTHING
        self.duplicates += repeated
        last, live = _match_live(span, records.pop())
        mentions = [
            build_raw_error(span, record, exception=None, call=call)
            for record in records
            if self._is_failure(record, None, call)
        ]
        newest = build_raw_error(span, last, exception=live, call=call) if self._is_failure(last, live, call) else None
        whole = last.traced or live is not None
        if newest is not None and not span.failed:
            mentions.append(newest)
            newest = None
        return _Found(newest, whole, [raw for raw in mentions if self._occurrences.note_mention(span, raw)])

    def _is_failure(self, recorded: Recorded, live: BaseException | None, call: BoundaryCall | None) -> bool:
        """Return whether a record is a failure, not control flow or decline."""
        if live is not None:
            return not is_control_flow(live, self._control_flow)
        if is_control_flow_name(recorded.type, self._control_flow):
            return False
        if call is None or recorded.traced:
            return True
        text = recorded.message or recorded.text
        return late.classify_result(text, tool=call.tool, arguments=call.arguments, flagged=True).outcome != "ignored"

    def _is_steered(self) -> bool:
        """Return whether control flow is under way and ends spans."""
        live = sys.exc_info()[1]
        return live is not None and is_control_flow(live, self._control_flow)

    def _is_routine(self, boundary: Boundary, call: BoundaryCall, run_id: str) -> bool:
        """Return whether a model answered and none of its failures is open."""
        is_model = boundary.operation != SPAN_TOOL and call.tool in MODEL_OPERATIONS
        return is_model and not self.ledger.is_failing(run_id, call.operation)

    def _is_claimed(self, call: BoundaryCall, span: EndedSpan) -> bool:
        """Return whether our boundary counts the call that a span hides."""
        if not call.call_id:
            return self._claims.take_expected(call.tool)
        return self._claims.is_expected(call.call_id) or self._claims.is_settled(call.call_id, span.start_ns)

    def _is_local_root(self, span: EndedSpan) -> bool:
        parent = span.parent
        return parent is None or (parent.is_remote and parent.span_id not in self.boundaries.spans)

    def _find_run(self, span: EndedSpan, boundary: Boundary | None) -> str:
        return self.runs.find_run(span, boundary.run_id if boundary is not None else "")

    def _find_class(self, origins: Iterable[int]) -> str:
        """Return the class of the first counted occurrence, or nothing."""
        return next(filter(None, map(self._occurrences.find_class, origins)), "")

    def _forget_state(self) -> None:
        self.boundaries.clear()
        self._occurrences.clear()
        self.runs.clear()


def _match_live(span: EndedSpan, recorded: Recorded) -> tuple[Recorded, BaseException | None]:
    live = sys.exc_info()[1]
    matched = match_live(live, recorded, span) if live is not None else None
    return (recorded, None) if matched is None else (matched, live)


def _passes_on(raw: RawError, failure: RawError | None) -> bool:
    """
    Return whether a mention repeats a span's failure in other words.

    Our boundary has recorded its cause.
    """
    return failure is not None and f"{bare_name(failure.type)}: {failure.message}" in raw.text


def _find_cause(pending: list[PendingFailure], origins: frozenset[int]) -> PendingFailure | None:
    """Return the failure that a boundary passes on, or the newest unrecovered."""
    passed_on = [each for each in pending if each.origin in origins]
    candidates = passed_on or [each for each in pending if not each.recovered]
    return candidates[-1] if candidates else None


def _nested_duplicate(pending: list[PendingFailure], call: BoundaryCall) -> PendingFailure | None:
    """Return the same call inside itself, as two instrumentations record it."""
    newest = pending[-1] if pending else None
    return newest if newest is not None and newest.raw.boundary and newest.raw.tool == call.tool else None


def _add_cause(failure: RawError, cause: PendingFailure | None) -> RawError:
    """Return a boundary's failure with its cause's words, the operation unchanged."""
    if cause is None or (failure.message and not cause.raw.message):
        return failure
    return replace(failure, text=cause.raw.text, type=cause.raw.type, message=cause.raw.message)
