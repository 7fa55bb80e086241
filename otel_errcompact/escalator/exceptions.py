"""The exceptions that the gates of a stopped run raise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from otel_errcompact.exceptions import ControlFlow

if TYPE_CHECKING:
    from otel_errcompact.escalator.escalation import Escalation


class RunHalted(ControlFlow, RuntimeError):  # noqa: N818 - it reports a decision, not a mistake
    """
    Raised at a gate after `Halt`, or after an escalation without answer.

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
    """Raised at a gate after `Pause`; `run.resume()` lets the run continue."""

    _STANDING: ClassVar = "paused"
