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
        final_text: What the end user reads; plain words about what failed if empty.
    """

    _STANDING: ClassVar = "halted"
    _OPENING: ClassVar = "I have stopped"

    def __init__(self, escalation: Escalation, reason: str, final_text: str = "") -> None:
        reached = escalation.reached
        account = reached if reason == reached else f"{reason} ({reached})"
        super().__init__(f"run {escalation.run_id!r} {self._STANDING}: {account}")
        self.escalation = escalation
        self.reason = reason
        self.final_text = final_text or f"{self._OPENING}: {escalation.describe_plainly()}."
        """What the end user may read: nothing of handlers, thresholds or ids."""


class RunPaused(RunHalted):
    """Raised at a gate after `Pause`; `run.resume()` lets the run continue."""

    _STANDING: ClassVar = "paused"
    _OPENING: ClassVar = "I am waiting for a person"
