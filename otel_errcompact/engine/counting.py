"""Count a failure under the lock of its run: record, decide, render."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.detector.operation import call_fingerprint
from otel_errcompact.detector.outcomes import find_wait, is_worth_saying
from otel_errcompact.digest import Situation
from otel_errcompact.engine.observations import FailureRecord, Observation
from otel_errcompact.escalator.decision import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.ladder import Ladder, Step
    from otel_errcompact.engine.pipeline import Pipeline
    from otel_errcompact.engine.state import RunState
    from otel_errcompact.errors import RawError
    from otel_errcompact.escalator.escalation import ActionName
    from otel_errcompact.history.history import Recorded
    from otel_errcompact.history.repeats import RepeatedCall
    from otel_errcompact.history.stores.memory import MemoryLimits


class FailureCounter:
    """
    Counts failures in the state of a run.

    Args:
        pipeline: Classifies, records and renders.
        ladder: Decides.
        limits: How much of raw errors is kept.
        next_tick: Returns the next number of the ledger's sequence.
        timer: Nanoseconds for measuring our own cost.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        ladder: Ladder,
        limits: MemoryLimits,
        *,
        next_tick: Callable[[], int],
        timer: Callable[[], int],
    ) -> None:
        self._pipeline = pipeline
        self._ladder = ladder
        self._limits = limits
        self._next_tick = next_tick
        self._timer = timer

    def prepare(self, raw: RawError) -> FailureRecord:
        """Prepare what a count needs, without a lock."""
        found = self._pipeline.classify(raw)
        kind = self._pipeline.kind_of(raw, found)
        call = ""
        if raw.boundary:
            call = raw.fingerprint or call_fingerprint(raw.tool, raw.arguments, raw.directory)
        return FailureRecord(found=found, kind=kind, call=call)

    def count(self, state: RunState, raw: RawError, record: FailureRecord, started: int) -> tuple[Observation, Step]:
        """
        Count a failure in its run.

        Args:
            state: The run.
            raw: The failure.
            record: What `prepare` has returned, or a record of it.
            started: When the compaction began, by the timer.
        """
        stopped = state.escalation is not None
        stopped_by = state.answer.action if stopped and state.answer is not None else None
        tick = self._next_tick() if record.tick is None else record.tick
        agent = raw.agent or state.agent
        state.agent = state.agent or raw.agent
        recorded = self._pipeline.record(
            state, raw, record.found, kind=record.kind, agent=agent, call=record.call, hint=record.hint, tick=tick
        )
        error_class = recorded.error_class
        after = stopped or error_class.unlifted
        state.keep_raw(error_class.key, raw.text, self._limits)
        stays = record.call and not record.kind.transient and not raw.stated
        repeated = state.history.repeats.find(agent, record.call) if stays else None
        open_ns = raw.time_ns - error_class.open_since_ns if error_class.open_since_ns else 0
        rows = Rows(
            rejected=record.kind.rejected,
            streak=recorded.attempts,
            repeated=repeated,
            history=state.history,
            transient=record.kind.transient,
            waited=open_ns >= state.thresholds.wait_seconds * 1_000_000_000,
            declared=not raw.stated,
        )
        step = self._ladder.climb(
            state, error_class, rows, arguments=raw.arguments, began=raw.began or tick, tick=tick, span=raw.span
        )
        # Where the library only observes, the agent reads the raw error.
        text = raw.text if state.mode == "observe" else self._render(state, raw, recorded, repeated, step, stopped_by)
        raw_tokens, digest_tokens = map(self._pipeline.count_tokens, (raw.text, text))
        sent_tokens = raw_tokens if raw.exception is None else self._pipeline.count_tokens(raw.sent)
        state.raw_tokens += raw_tokens
        state.sent_tokens += sent_tokens
        state.digest_tokens += digest_tokens
        state.after_escalation += after
        observation = Observation(
            run_id=state.run_id,
            agent=agent,
            raw=raw,
            found=record.found,
            outcome="after_escalation" if after else "repeat" if error_class.count > 1 else "new",
            count=error_class.count,
            streak=recorded.attempts.count,
            kind=record.kind,
            counts=step.counts,
            taken_back=recorded.taken_back,
            text=text,
            raw_tokens=raw_tokens,
            sent_tokens=sent_tokens,
            digest_tokens=digest_tokens,
            tick=tick,
            call=record.call,
            hint=error_class.hint,
            escalation=step.escalation,
            duration_ns=self._timer() - started,
        )
        return observation, step

    def _render(
        self,
        state: RunState,
        raw: RawError,
        recorded: Recorded,
        repeated: RepeatedCall | None,
        step: Step,
        stopped_by: ActionName | None,
    ) -> str:
        error_class = recorded.error_class
        wait = find_wait(raw, error_class.facts) if error_class.kind.transient else ""
        if step.decision.level == "carry_on" and wait.split(" ")[0] in (raw.sent if raw.is_exception else raw.text):
            wait = ""  # the agent reads it there
        situation = Situation(
            decision=step.decision,
            streak=recorded.attempts.count,
            repeats=repeated.attempts.count if repeated is not None else 0,
            executed=repeated.failed if repeated is not None else 0,
            action=step.answered.action if step.answered is not None else None,
            loop_halt=state.loop_halt,
            stopped_by=stopped_by,
            rejected=error_class.kind.rejected,
            transient=error_class.kind.transient,
            unknown=error_class.kind.unknown and (step.decision.level != "carry_on" or is_worth_saying(raw)),
            wait=wait,
        )
        return self._pipeline.render(state, raw, error_class, situation)
