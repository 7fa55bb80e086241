"""From counts to a decision: carry on, notice, or escalate; and what an escalation may be answered with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from otel_errcompact.errors import SpanRef  # noqa: TC001 - pydantic reads the annotations
from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from otel_errcompact.history import ErrorClass, History

Threshold = Literal["same", "consecutive", "total"]
Level = Literal["carry_on", "notice", "escalate"]
ActionName = Literal["halt", "continue", "pause", "unhandled"]


class Thresholds(BaseModel):
    """
    When a run escalates.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    same: int = Field(default=3, ge=1)
    """The streak of one class."""

    consecutive: int = Field(default=6, ge=1)
    """Boundary failures in a row, of any class, with no success between."""

    total: int = Field(default=30, ge=1)
    """Occurrences in the run: the error budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    What the counts say after one occurrence.
    """

    level: Level = "carry_on"
    threshold: Threshold = "same"
    count: int = 0
    limit: int = 0


CARRY_ON: Final = Decision()


def decide(error_class: ErrorClass, history: History, thresholds: Thresholds) -> Decision:
    """
    Return the most serious decision any threshold calls for after an occurrence of `error_class`.
    """
    streak, row, spent = error_class.streak, history.consecutive, history.spent
    # Below half of a limit nothing is near it.
    if 2 * streak < thresholds.same and 2 * row < thresholds.consecutive and 2 * spent < thresholds.total:
        return CARRY_ON
    counts: tuple[tuple[Threshold, int, int], ...] = (
        ("same", streak, thresholds.same),
        ("consecutive", row, thresholds.consecutive),
        ("total", spent, thresholds.total),
    )
    worst = CARRY_ON
    for threshold, count, limit in counts:
        decision = _compare(threshold, count, limit)
        if decision.level == "escalate":
            return decision
        worst = worst if worst.level == "notice" else decision
    return worst


def _compare(threshold: Threshold, count: int, limit: int) -> Decision:
    if count >= limit:
        return Decision(level="escalate", threshold=threshold, count=count, limit=limit)
    # The last tenth is near, and so is the last step; the very first failure of all is not news.
    if count > 1 and limit - count <= max(1, limit // 10):
        return Decision(level="notice", threshold=threshold, count=count, limit=limit)
    return CARRY_ON


class Escalation(BaseModel):
    """
    A threshold was reached: what a handler is given to decide on.
    """

    model_config = ConfigDict(frozen=True)

    run_id: str
    agent: str
    threshold: Threshold
    count: int
    limit: int
    key: str
    """The dedup key of the class whose occurrence reached the threshold."""

    type: str
    location: str
    cause: str
    tool: str
    digest: str
    """What the agent is shown: the block of recent errors."""

    time_ns: int

    span: SpanRef | None = Field(default=None, exclude=True, repr=False)
    """The span of that occurrence, if there is one."""

    def __str__(self) -> str:
        return f"{_REACHED[self.threshold]} ({self.count} of {self.limit}): [{self.type}] {self.cause}"


_REACHED: Final[dict[Threshold, str]] = {
    "same": "one error class keeps recurring",
    "consecutive": "calls keep failing in a row",
    "total": "the run's error budget is spent",
}


@dataclass(frozen=True, slots=True)
class Halt:
    """
    Stop the run: the next gate raises `RunHalted`.
    """

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Continue:
    """
    Let the run go on with fresh counters.
    """

    message: str = ""
    """What the human said; the agent reads it in the next digest."""


@dataclass(frozen=True, slots=True)
class Pause:
    """
    Hold the run until a human answers: gates raise `RunPaused` until `run.resume()`.
    """

    reason: str = ""


Action = Halt | Continue | Pause
Handler = Callable[[Escalation], "Action | Awaitable[Action]"]


_WORDS: Final[dict[str, type[Halt | Continue | Pause]]] = {"halt": Halt, "continue": Continue, "pause": Pause}


def action_of(reply: object) -> Action:
    """
    Return the action that a human's reply stands for.

    Args:
        reply: An action; yes or no as a bool; a text, which lets the agent go on and is shown to it; or a mapping with
            an `action` (`halt`, `continue`, `pause`) and a `message`.

    Raises:
        ConfigurationError: `reply` is none of these.
    """
    if isinstance(reply, Halt | Continue | Pause):
        return reply
    if isinstance(reply, bool):
        return Continue() if reply else Halt("a human said no")
    if isinstance(reply, str):
        return _WORDS[reply.lower()]() if reply.lower() in _WORDS else Continue(reply)
    if isinstance(reply, Mapping):
        told = cast("Mapping[str, object]", reply)
        if (kind := _WORDS.get(str(told.get("action")))) is not None:
            return kind(str(told.get("message") or ""))
    raise ConfigurationError(
        f"the answer to an escalation was {reply!r}; answer Halt(), Continue() or Pause(), yes or no, a text for the "
        "agent, or {'action': 'continue', 'message': '...'}"
    )


def action_name(action: Action) -> ActionName:
    """Return what an answer is called in telemetry and reports."""
    if isinstance(action, Halt):
        return "halt"
    return "continue" if isinstance(action, Continue) else "pause"
