"""The state of one run, as a store keeps it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation, Mode, Threshold, Thresholds
    from otel_errcompact.history.history import History


@dataclass(slots=True, kw_only=True)
class RunState:
    """
    Everything that is known of one run.
    """

    run_id: str
    agent: str
    thresholds: Thresholds
    history: History
    mode: Mode = "enforce"
    handled: int = 0
    after_escalation: int = 0
    raw_tokens: int = 0
    digest_tokens: int = 0
    breach: Escalation | None = None
    """The escalation that stands: not yet answered, or answered with `Halt` or `Pause`."""

    answer: AnsweredEscalation | None = None
    """What the standing breach was answered with; None while nobody has answered."""

    guidance: str = ""
    """What a human said when the run was last allowed to go on."""

    answered: list[AnsweredEscalation] = field(default_factory=list["AnsweredEscalation"])
    attended: bool = False
    """Whether the application has opened the run and passes its gates; a run known from its spans alone has none."""

    asks: bool = False
    """Whether a handler answers escalations."""

    stoppable: bool = True
    """Whether the run has an agent that can be stopped; a server has none."""

    begun: bool = False
    """Whether the run's begin was told to listeners, which is at its first failure."""

    failed: bool = False
    """Whether the run itself has failed."""

    escalated_at: int = 0
    """The tick of the newest escalation."""

    raw_texts: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])
    """The newest raw error of each class, least recently seen first."""

    raw_characters: int = 0
    """How many characters `raw_texts` holds."""

    @property
    def can_halt(self) -> bool:
        """Whether the library may halt the run by itself."""
        return self.mode == "enforce" and self.attended and self.stoppable

    @property
    def loop_halt(self) -> int:
        """The number of identical calls at which the library halts the run; 0 where it does not."""
        return self.thresholds.loop_halt if self.can_halt and not self.asks else 0

    def asks_at(self, threshold: Threshold, *, halts: bool = False) -> bool:
        """Return whether the handler is asked when a threshold is reached."""
        return self.asks and self.mode == "enforce" and (halts or self.thresholds.asks(threshold))

    def may_escalate(self, began: int) -> bool:
        """
        Return whether a call that began at this tick may lead to an escalation.

        One turn takes one step at most, and while an escalation stands there is no other.
        """
        return self.breach is None and began > self.escalated_at
