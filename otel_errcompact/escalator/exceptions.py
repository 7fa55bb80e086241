"""The exceptions that the gates of a stopped run raise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from otel_errcompact.exceptions import ControlFlow

if TYPE_CHECKING:
    from otel_errcompact.escalator.escalation import Escalation


class RunHalted(ControlFlow, RuntimeError):  # noqa: N818 - it reports a decision, not a mistake
    """
    The run was stopped: an escalation was answered with `Halt`, or not at all.

    Args:
        escalation: The escalation that led to the stop.
        reason: Why, in one line.
    """

    _STANDING: ClassVar = "halted"

    def __init__(self, escalation: Escalation, reason: str) -> None:
        reached = str(escalation)
        account = reached if reason == reached else f"{reason} ({reached})"
        super().__init__(f"run {escalation.run_id!r} {self._STANDING}: {account}")
        self.escalation = escalation
        self.reason = reason


class RunPaused(RunHalted):
    """The run waits for a human: an escalation was answered with `Pause`. `run.resume()` lets it continue."""

    _STANDING: ClassVar = "paused"
