"""Whether an identical call is made again, and what the agent reads where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from otel_errcompact.detector.operation import call_fingerprint
from otel_errcompact.digest import refusal

if TYPE_CHECKING:
    from otel_errcompact.digest import DigestOptions
    from otel_errcompact.engine.state import RunState
    from otel_errcompact.history.history import ErrorClass
    from otel_errcompact.history.repeats import RepeatedCall


class RefusedCall(NamedTuple):
    """
    A call that has failed before and is not made again.
    """

    repeated: RepeatedCall
    error_class: ErrorClass
    """The class of its newest failure."""

    def render(self, state: RunState, options: DigestOptions, *, attempt: int = 0) -> str:
        """Return why the call is refused; `attempt` is 1 where this attempt is not counted yet."""
        attempts = self.repeated.attempts.count + attempt
        return refusal(
            self.error_class,
            self.repeated.failed,
            attempts,
            loop_halt=state.loop_halt,
            reported=attempts >= state.thresholds.loop and not state.asks,
            options=options,
        )


def find_refused(
    state: RunState | None, tool: str, arguments: str, *, agent: str, directory: str, now_ns: int, call: str = ""
) -> RefusedCall | None:
    """
    Return the call if it is refused; None if it may be made.

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
    call = call or call_fingerprint(tool, arguments, directory)
    repeated = state.history.repeats.find(agent or state.agent, call) if call else None
    if repeated is None or not repeated.is_refused(state.thresholds.refuse, now_ns):
        return None
    error_class = state.history.get(repeated.key)
    return None if error_class is None else RefusedCall(repeated, error_class)
