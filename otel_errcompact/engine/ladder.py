"""Take a step of the ladder: decision, escalation, answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact import late
from otel_errcompact.digest import quote
from otel_errcompact.errors import RawError
from otel_errcompact.escalator.decision import Counts, Decision, decide, mark_escalated
from otel_errcompact.escalator.escalation import ActionName, AnsweredEscalation, Escalation
from otel_errcompact.escalator.thresholds import ASKING

if TYPE_CHECKING:
    from otel_errcompact.engine.events import Refused
    from otel_errcompact.engine.pipeline import Pipeline
    from otel_errcompact.engine.state import RunState
    from otel_errcompact.escalator.decision import Rows
    from otel_errcompact.history.history import ErrorClass

NO_HANDLER: Final = "no escalation handler was given"
"""Why a run was halted by a threshold that halts where no handler decides."""


def explain_stop(escalation: Escalation | None, reason: str) -> str:
    """
    Say what a run has reached, and the reason that was given.

    An agent reads it: the words of others stand in quotation marks.

    Args:
        escalation: The threshold that was reached; None if none is known.
        reason: What the answer to it says, if anything.
    """
    if escalation is None:
        return "" if reason == NO_HANDLER else reason
    reached = f"{escalation.breach}: {quote(f'[{escalation.type}] {escalation.cause}')}"
    return reached if reason in {"", NO_HANDLER, escalation.reached} else f"{reached}; {reason}"


class Step(NamedTuple):
    """What the counts of one failure or refusal have led to."""

    decision: Decision
    counts: Counts
    escalation: Escalation | None = None
    answered: AnsweredEscalation | None = None
    """The answer, where no handler is asked."""

    @property
    def effects(self) -> tuple[object, ...]:
        """What comes of it, for listeners."""
        return () if self.escalation is None else tuple(filter(None, (self.escalation, self.answered)))


class Ladder:
    """
    Takes steps on the state of a run.

    At most one escalation is open in a run at a time.

    Args:
        pipeline: Renders what an escalation shows.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def climb(self, state: RunState, error_class: ErrorClass, rows: Rows, call: RawError | Refused, tick: int) -> Step:
        """
        Decide on a failure or refusal, and raise an escalation if due.

        Args:
            state: The run.
            error_class: The class of the failure, or of what the refused call has failed with.
            rows: The rows of failures it belongs to.
            call: What it is recorded of.
            tick: When it was recorded.
        """
        counts = rows.counts
        decision = decide(rows, state.thresholds, may_escalate=state.may_escalate(call.began or tick), counts=counts)
        step = Step(decision, counts)
        if decision.level != "escalate":
            return step
        mark_escalated(rows, decision)
        state.escalated_at = tick
        if decision.threshold in ASKING:
            state.history.mark_escalated(error_class)
        state.escalation = self._escalation(state, error_class, decision, call, tick)
        step = step._replace(escalation=state.escalation)
        if state.asks_at(decision.threshold, halts=decision.halts):
            return step
        if decision.halts and state.can_halt:
            return step._replace(answered=self.answer(state, "halt", NO_HANDLER, tick, by_default=True))
        return step._replace(answered=self.answer(state, "unhandled", "", tick, by_default=True))

    def answer(
        self, state: RunState, action: ActionName, message: str, tick: int, *, by_default: bool = False
    ) -> AnsweredEscalation | None:
        """
        Answer the open escalation; return None if nothing changes.

        That is so if none is open, or the answer is the one it had.
        """
        if state.escalation is None or (state.answer is not None and state.answer.action == action):
            return None
        state.asker = ""
        by_default = by_default or action == "unhandled"
        answered = AnsweredEscalation(
            escalation=state.escalation, action=action, message=message, by_default=by_default, tick=tick
        )
        state.answered.append(answered)
        state.answer = answered
        if action == "continue":
            state.resume(message)
        elif action == "unhandled":
            state.escalation = state.answer = None
        return answered

    def answer_by_default(self, state: RunState, message: str, tick: int) -> AnsweredEscalation | None:
        """
        Answer the open escalation as without a handler.

        Return None if none is open, or if it has its answer.
        """
        if state.escalation is None or state.answer is not None:
            return None
        action: ActionName = "halt" if state.escalation.halts and state.can_halt else "unhandled"
        return self.answer(state, action, message, tick, by_default=True)

    def _escalation(
        self, state: RunState, error_class: ErrorClass, decision: Decision, call: RawError | Refused, tick: int
    ) -> Escalation:
        facts = error_class.facts
        return Escalation(
            run_id=state.run_id,
            agent=state.agent,
            threshold=decision.threshold,
            count=decision.count,
            limit=decision.limit,
            halts=decision.halts,
            key=error_class.key,
            type=facts.type,
            location=str(facts.location),
            cause=facts.cause,
            tool=error_class.tool,
            arguments=late.redact(call.arguments),
            mark=f"#{error_class.short}",
            digest=state.render_block(self._pipeline),
            time_ns=error_class.last_seen_ns,
            tick=tick,
            span=call.span if isinstance(call, RawError) else None,
        )
