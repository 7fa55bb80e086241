"""An escalation: a threshold that was reached, and its answer."""

from __future__ import annotations

from typing import Final, Literal

from otel_errcompact.errors import SpanRef  # noqa: TC001 - pydantic reads the annotations
from otel_errcompact.escalator.thresholds import Threshold  # noqa: TC001 - as above
from otel_errcompact.runtime.models import FrozenModel, setting

MAX_ARGUMENTS: Final = 200
"""Characters of the arguments in an escalation's text."""

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
    arguments: str = ""
    """The arguments of that call, as JSON and redacted; empty if unknown."""

    mark: str = ""
    """The mark of the class: `run.raw(escalation.mark)` returns the raw error."""

    digest: str
    """What the agent is shown: the block of recent errors."""

    time_ns: int

    tick: int = setting(default=0, exclude=True, repr=False)
    """When it was raised, in the sequence of the ledger."""

    span: SpanRef | None = setting(default=None, exclude=True, repr=False)
    """The span of that occurrence, if there is one."""

    @property
    def reached(self) -> str:
        """What was reached, by which class."""
        return f"{self.breach}: [{self.type}] {self.cause}"

    @property
    def breach(self) -> str:
        """What was reached, in our words alone."""
        return f"{_REACHED[self.threshold]} ({self.count} of {self.limit})"

    def describe_plainly(self) -> str:
        """Return what failed, and how often, in words for an end user."""
        if self.threshold in {"consecutive", "total"}:
            return f"{self.count} steps have failed{' in a row' if self.threshold == 'consecutive' else ''}"
        return f"{self.tool or 'a step'} was tried {self.count} times without success"

    def __str__(self) -> str:
        shown = "".join(filter(str.isprintable, self.arguments[: MAX_ARGUMENTS + 1]))
        arguments = shown if len(self.arguments) <= MAX_ARGUMENTS else f"{shown[:MAX_ARGUMENTS]}..."
        call = f"{self.tool}({arguments})" if arguments else self.tool
        where = (("agent", self.agent), ("run", self.run_id), ("call", call), ("class", self.mark))
        return f"{self.reached} ({', '.join(f'{name} {value}' for name, value in where if value)})"


class AnsweredEscalation(FrozenModel, checks=False):
    """An escalation and its answer."""

    escalation: Escalation
    action: ActionName
    message: str = ""

    by_default: bool = setting(default=False, exclude=True, repr=False)
    """Whether no handler has given it."""

    tick: int = setting(default=0, exclude=True, repr=False)
    """When it was answered, in the ledger's sequence."""


_REACHED: Final[dict[Threshold, str]] = {
    "same": "one error class keeps recurring",
    "rejected": "input is rejected for the same reason again and again",
    "loop": "the identical call is repeated while nothing succeeds",
    "consecutive": "calls keep failing in a row",
    "total": "the run's error budget is spent",
}
