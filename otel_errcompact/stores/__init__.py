"""Where the state of runs lives."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from otel_errcompact.escalation import Escalation, Thresholds
    from otel_errcompact.history import History
    from otel_errcompact.report import AnsweredEscalation


@dataclass(slots=True, kw_only=True)
class RunState:
    """
    Everything that is known of one run.
    """

    run_id: str
    agent: str
    thresholds: Thresholds
    history: History
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
    """Whether somebody opened the run and will pass a gate; nobody answers for a run known from its spans alone."""

    raw_texts: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])
    """The newest raw error of each class, least recently seen first."""

    raw_characters: int = 0
    """How many characters `raw_texts` holds."""


class Store(Protocol):
    """
    Where the state of runs lives.
    """

    evicted_runs: int
    """Runs that were forgotten to bound memory."""

    def edit(self, run_id: str, create: RunFactory) -> AbstractContextManager[RunState]:
        """Hand out the run's state, alone under the run's lock; a run that is unknown is created."""
        ...

    def find(self, run_id: str) -> AbstractContextManager[RunState | None]:
        """Hand out the run's state, alone under the run's lock; None for a run that is unknown."""
        ...

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all known runs, least recently used first."""
        ...

    def discard(self, run_id: str) -> RunState | None:
        """Forget a run and return its last state."""
        ...


class RunFactory(Protocol):
    """
    What makes the state of a run that is not known yet.
    """

    def __call__(self, run_id: str) -> RunState:
        """Return a fresh state."""
        ...
