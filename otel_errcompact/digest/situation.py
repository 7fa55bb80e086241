"""Describe one failure in its run: counts and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.escalator.decision import CARRY_ON, Decision
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from otel_errcompact.escalator.escalation import ActionName


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What one failure means for its run."""

    decision: Decision = CARRY_ON
    streak: int = 1
    """Turns in which the operation failed with the class since it last succeeded."""

    repeats: int = 0
    """Turns in which the identical call failed for good or was refused while nothing succeeded."""

    executed: int = 0
    """Those of them in which it was executed and failed."""

    action: ActionName | None = None
    """The answer to the escalation; None where there is no escalation, or no answer yet."""

    loop_halt: int = 0
    """The number of identical calls at which the run is halted; 0 where it is not."""

    stopped_by: ActionName | None = None
    """The answer that stopped the run before this failure; None if the run continues."""

    rejected: bool = False
    """Whether nothing was executed."""

    transient: bool = False
    """Whether the failure's own words say that waiting helps."""

    unknown: bool = False
    """Whether a transient failure leaves open if the call took effect."""

    wait: str = ""
    """How long the server asks to wait: `7 s`; empty where it does not say."""
