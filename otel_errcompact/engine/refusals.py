"""Decide whether an identical call is refused, and write the refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact import digest, late
from otel_errcompact.escalator.decision import Rows
from otel_errcompact.runtime.records import dataclass, replace

if TYPE_CHECKING:
    from otel_errcompact.digest import DigestOptions
    from otel_errcompact.engine.events import Refused
    from otel_errcompact.engine.ladder import Ladder
    from otel_errcompact.engine.state import RunState
    from otel_errcompact.history.history import ErrorClass
    from otel_errcompact.history.repeats import RepeatedCall


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A call that has failed before and is not made again."""

    call: Refused
    """The call, named completely."""

    repeated: RepeatedCall
    error_class: ErrorClass
    """The class of its newest failure."""

    def render(self, state: RunState, options: DigestOptions, *, attempt: int = 0) -> str:
        """
        Return why the call is refused.

        `attempt` is 1 where this attempt is not counted yet.
        """
        attempts = self.repeated.attempts.count + attempt
        # Of parallel calls another one may have taken the step of this turn.
        may_stop = attempt > 0 and state.may_escalate(self.call.began or state.newest_tick + 1)
        return digest.render_refusal(
            self.error_class,
            self.repeated.failed,
            attempts,
            loop_halt=state.loop_halt,
            stopped=state.verdict().standing == "halt" or (may_stop and 0 < state.loop_halt <= attempts),
            reported=attempts >= state.thresholds.loop and not state.asks,
            options=options,
        )

    def count(self, state: RunState, ladder: Ladder, options: DigestOptions, tick: int) -> tuple[object, ...]:
        """Count the refusal as an attempt of the loop, not an occurrence."""
        repeated = self.repeated
        repeated.attempts.fail(self.call.began or tick, tick)
        rows = Rows(rejected=False, streak=None, repeated=repeated, history=state.history)
        step = ladder.climb(state, self.error_class, rows, self.call, tick)
        counted = replace(
            self.call,
            tick=tick,
            key=self.error_class.key,
            failures=repeated.failed,
            count=repeated.attempts.count,
            text=self.render(state, options),
            escalation=step.escalation,
        )
        return (counted, *step.effects)


def find_refused(state: RunState | None, call: Refused) -> RefusedCall | None:
    """
    Return the call if it is refused, or None.

    Args:
        state: The run; None if it is unknown.
        call: The call, not counted yet.
    """
    # A fingerprint costs more than all else of a healthy call.
    if state is None or not state.history.repeats or state.mode == "observe" or not state.attended:
        return None
    agent = call.agent or state.agent
    fingerprint = call.call or late.call_fingerprint(call.tool, call.arguments, call.directory)
    repeated = state.history.repeats.find(agent, fingerprint) if fingerprint else None
    thresholds = state.thresholds
    if repeated is None or not repeated.is_refused(thresholds.refuse, thresholds.refuse_seconds, call.time_ns):
        return None
    error_class = state.history.get(repeated.key)
    if error_class is None:
        return None
    return RefusedCall(replace(call, agent=agent, call=fingerprint), repeated, error_class)
