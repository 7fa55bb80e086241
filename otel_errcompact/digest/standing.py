"""How a run stands after a failure: what the agent is to know beside what failed."""

from __future__ import annotations

from dataclasses import dataclass

from otel_errcompact.escalator.escalation import CARRY_ON, ActionName, Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """
    How a run stands after one failure.
    """

    decision: Decision = CARRY_ON
    streak: int = 1
    """Turns in which the operation failed with the class since it last succeeded."""

    repeats: int = 0
    """Turns in which the identical call failed or was refused while nothing succeeded."""

    action: ActionName | None = None
    """What the escalation was answered with; None where there is none, or where it waits for its answer."""

    loop_halt: int = 0
    """The number of identical calls at which the run is halted; 0 where it is not."""

    rejected: bool = False
    """Whether nothing was executed."""

    transient: bool = False
    """Whether the failure's own words say that waiting helps."""
