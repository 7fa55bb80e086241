"""Decide whether an identical call is refused, and write the refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.detector.operation import call_fingerprint
from otel_errcompact.digest import render_refusal
from otel_errcompact.engine.observations import Refusal
from otel_errcompact.escalator.decision import Rows
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from otel_errcompact.digest import DigestOptions
    from otel_errcompact.engine.ladder import Ladder, Step
    from otel_errcompact.engine.state import RunState
    from otel_errcompact.history.history import ErrorClass
    from otel_errcompact.history.repeats import RepeatedCall


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A call that has failed before and is not made again."""

    tool: str
    arguments: str
    agent: str
    directory: str
    fingerprint: str
    repeated: RepeatedCall
    error_class: ErrorClass
    """The class of its newest failure."""

    def render(self, state: RunState, options: DigestOptions, *, attempt: int = 0) -> str:
        """
        Return why the call is refused.

        `attempt` is 1 where this attempt is not counted yet.
        """
        attempts = self.repeated.attempts.count + attempt
        return render_refusal(
            self.error_class,
            self.repeated.failed,
            attempts,
            loop_halt=state.loop_halt,
            reported=attempts >= state.thresholds.loop and not state.asks,
            options=options,
        )

    def count(self, state: RunState, ladder: Ladder, *, began: int, tick: int, now_ns: int) -> tuple[Refusal, Step]:
        """Count the refusal as an attempt of the loop, not an occurrence."""
        repeated = self.repeated
        repeated.attempts.fail(began or tick, tick)
        rows = Rows(rejected=False, streak=None, repeated=repeated, history=state.history)
        step = ladder.climb(state, self.error_class, rows, arguments=self.arguments, began=began or tick, tick=tick)
        counted = Refusal(
            run_id=state.run_id,
            agent=self.agent,
            tool=self.tool,
            arguments=self.arguments,
            key=self.error_class.key,
            failures=repeated.failed,
            count=repeated.attempts.count,
            directory=self.directory,
            call=self.fingerprint,
            began=began,
            tick=tick,
            time_ns=now_ns,
            escalation=step.escalation,
        )
        return counted, step


def find_refused(
    state: RunState | None, tool: str, arguments: str, *, agent: str, directory: str, now_ns: int, call: str = ""
) -> RefusedCall | None:
    """
    Return the call if it is refused, or None.

    Args:
        state: The run; None if it is unknown.
        tool: The tool's name.
        arguments: The call's arguments as JSON.
        agent: Whose call it is; the run's agent if empty.
        directory: The call's working directory.
        now_ns: The time in nanoseconds since the epoch; 0 if unknown.
        call: The call's fingerprint; that of tool, arguments and directory if empty.
    """
    # A fingerprint costs more than all else of a healthy call.
    if state is None or not state.history.repeats or state.mode == "observe" or not state.attended:
        return None
    agent = agent or state.agent
    call = call or call_fingerprint(tool, arguments, directory)
    repeated = state.history.repeats.find(agent, call) if call else None
    if repeated is None or not repeated.is_refused(state.thresholds.refuse, state.thresholds.refuse_seconds, now_ns):
        return None
    error_class = state.history.get(repeated.key)
    if error_class is None:
        return None
    return RefusedCall(tool, arguments, agent, directory, call, repeated, error_class)
