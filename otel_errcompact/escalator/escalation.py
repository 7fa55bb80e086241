"""An escalation: a threshold that was reached, and its answer."""

from __future__ import annotations

from typing import Final, Literal

from otel_errcompact.errors import SpanRef  # noqa: TC001 - pydantic reads the annotations
from otel_errcompact.escalator.thresholds import Threshold  # noqa: TC001 - as above
from otel_errcompact.runtime.models import FrozenModel, setting

ActionName = Literal["halt", "continue", "pause", "unhandled"]


class Escalation(FrozenModel, checks=False):
    """A threshold was reached; a handler decides on it."""

    run_id: str
    agent: str
    threshold: Threshold
    count: int
    limit: int
    halts: bool = False
    """Whether the run halts unless the handler decides otherwise."""

    key: str
    """The dedup key of the class whose occurrence reached the threshold."""

    type: str
    location: str
    cause: str
    tool: str
    digest: str
    """What the agent is shown: the block of recent errors."""

    time_ns: int

    tick: int = setting(default=0, exclude=True, repr=False)
    """When it was raised, in the sequence of the ledger."""

    span: SpanRef | None = setting(default=None, exclude=True, repr=False)
    """The span of that occurrence, if there is one."""

    def __str__(self) -> str:
        return f"{_REACHED[self.threshold]} ({self.count} of {self.limit}): [{self.type}] {self.cause}"


class AnsweredEscalation(FrozenModel, checks=False):
    """An escalation and its answer."""

    escalation: Escalation
    action: ActionName
    message: str = ""

    tick: int = setting(default=0, exclude=True, repr=False)
    """When it was answered, in the ledger's sequence."""


_REACHED: Final[dict[Threshold, str]] = {
    "same": "one error class keeps recurring",
    "rejected": "input is rejected for the same reason again and again",
    "loop": "the identical call is repeated while nothing succeeds",
    "consecutive": "calls keep failing in a row",
    "total": "the run's error budget is spent",
}
