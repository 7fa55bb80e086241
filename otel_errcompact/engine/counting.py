"""Count a failure under the lock of its run: record, decide, render."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from otel_errcompact import late
from otel_errcompact.digest import Situation
from otel_errcompact.engine.events import Failed, Observation
from otel_errcompact.escalator.decision import Rows
from otel_errcompact.runtime.records import replace

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
        create: Returns the state of a run in which nothing has happened.
        timer: Nanoseconds for measuring our own cost.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        ladder: Ladder,
        limits: MemoryLimits,
        *,
        create: Callable[[str], RunState],
        timer: Callable[[], int],
    ) -> None:
        self._pipeline = pipeline
        self._ladder = ladder
        self._limits = limits
        self._create = create
        self._timer = timer

    def prepare(self, run_id: str, raw: RawError, *, whole: bool) -> Failed:
        """Prepare a failure for its count, without a lock."""
        started = self._timer()
        found = self._pipeline.classify(raw, started)
        kind = self._pipeline.kind_of(raw, found)
        call = ""
        if raw.boundary:
            call = raw.fingerprint or late.call_fingerprint(raw.tool, raw.arguments, raw.directory)
        return Failed(run_id=run_id, raw=raw, found=found, kind=kind, call=call, whole=whole, started=started)

    def count(self, state: RunState, failed: Failed, tick: int) -> tuple[object, ...]:
        """
        Count a failure in its run; return what has come of it.

        Args:
            state: The run.
            failed: What `prepare` has returned, or a record of it.
            tick: When it is recorded.
        """
        raw = failed.raw
        stopped = state.escalation is not None
        stopped_by = state.answer.action if stopped and state.answer is not None else None
        agent = raw.agent or state.agent
        state.agent = state.agent or raw.agent
        recorded = self._pipeline.record(
            state, raw, failed.found, kind=failed.kind, agent=agent, call=failed.call, hint=failed.hint, tick=tick
        )
        error_class = recorded.error_class
        after = stopped or error_class.unlifted
        state.keep_raw(error_class.key, raw.text, self._limits)
        stays = failed.call and not failed.kind.transient and not raw.stated
        repeated = state.history.repeats.find(agent, failed.call) if stays else None
        open_ns = raw.time_ns - error_class.open_since_ns if error_class.open_since_ns else 0
        rows = Rows(
            rejected=failed.kind.rejected,
            streak=recorded.attempts,
            repeated=repeated,
            history=state.history,
            transient=failed.kind.transient,
            waited=open_ns >= state.thresholds.wait_seconds * 1_000_000_000,
            declared=not raw.stated,
        )
        step = self._ladder.climb(state, error_class, rows, raw, tick)
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
            found=failed.found,
            outcome="after_escalation" if after else "repeat" if error_class.count > 1 else "new",
            count=error_class.count,
            streak=recorded.attempts.count,
            kind=failed.kind,
            counts=step.counts,
            taken_back=recorded.taken_back,
            text=text,
            raw_tokens=raw_tokens,
            sent_tokens=sent_tokens,
            digest_tokens=digest_tokens,
            tick=tick,
            call=failed.call,
            hint=error_class.hint,
            escalation=step.escalation,
            duration_ns=self._timer() - failed.started,
        )
        if failed.whole and state.history.total > 1:
            alone: Any = self.count(self._create(failed.run_id), failed, tick)[0]
            observation = replace(observation, text=alone.text, digest_tokens=alone.digest_tokens)
        return (observation, *step.effects)

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
        wait = late.find_wait(raw, error_class.facts) if error_class.kind.transient else ""
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
            unknown=error_class.kind.unknown and (step.decision.level != "carry_on" or late.is_worth_saying(raw)),
            wait=wait,
        )
        return self._pipeline.render(state, raw, error_class, situation)
