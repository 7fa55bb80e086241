"""From counts to a decision: carry on, notice, or escalate; and what an escalation may be answered with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from otel_errcompact.errors import SpanRef  # noqa: TC001 - pydantic reads the annotations
from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from otel_errcompact.history.history import History
    from otel_errcompact.history.repeats import RepeatedCall
    from otel_errcompact.history.streaks import Attempts

Threshold = Literal["same", "rejected", "loop", "consecutive", "total"]
Level = Literal["carry_on", "notice", "escalate"]
ActionName = Literal["halt", "continue", "pause", "unhandled"]
Mode = Literal["observe", "advise", "enforce"]
"""What the library may do: count, record and alert; also write digests, notices and refusals; also ask and halt."""

MODES: Final[tuple[Mode, ...]] = ("observe", "advise", "enforce")

THRESHOLDS: Final[tuple[Threshold, ...]] = ("same", "rejected", "loop", "consecutive", "total")
ASKING: Final[frozenset[Threshold]] = frozenset({"same", "rejected", "loop"})
"""Thresholds that ask the escalation handler, whatever `Thresholds.halts` holds."""


class Thresholds(BaseModel):
    """
    When a run escalates. All but `total` count turns: failures that the agent could not have read yet count once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    same: int = Field(default=3, ge=1)
    """Failures of one class in one operation since that operation last succeeded, where the calls were executed."""

    rejected: int = Field(default=5, ge=1)
    """The same where nothing was executed: input that was refused, unknown tools, commands that do not exist."""

    loop: int = Field(default=4, ge=1)
    """Failures and refusals of identical calls of an agent since any of its calls succeeded."""

    loop_halt: int = Field(default=6, ge=1)
    """The same count, at which a run is halted that no handler has answered for."""

    refuse: int = Field(default=2, ge=1)
    """Failures of identical calls, none of them transient, after which the next one is refused."""

    consecutive: int = Field(default=6, ge=1)
    """Failures in a row, of any class, with no success between; an alert."""

    total: int = Field(default=30, ge=1)
    """Occurrences in the run: the error budget; an alert."""

    halts: frozenset[Threshold] = frozenset()
    """Thresholds that halt the run where no handler decides, and that ask the handler where there is one."""

    def asks(self, threshold: Threshold) -> bool:
        """Return whether the escalation handler is asked when `threshold` is reached."""
        return threshold in ASKING or threshold in self.halts


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """
    What the thresholds are compared with, after one occurrence.
    """

    same: int = 0
    rejected: int = 0
    loop: int = 0
    consecutive: int = 0
    total: int = 0

    def __getitem__(self, threshold: Threshold) -> int:
        return int(getattr(self, threshold))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    What the counts call for after one occurrence or refusal.
    """

    level: Level = "carry_on"
    threshold: Threshold = "same"
    count: int = 0
    limit: int = 0
    halts: bool = False
    """Whether the run halts unless a handler decides otherwise."""


CARRY_ON: Final = Decision()


@dataclass(slots=True, kw_only=True)
class Rows:
    """
    The rows of failures that one occurrence or refusal belongs to.
    """

    rejected: bool
    """Whether nothing was executed."""

    streak: Attempts | None
    """The failures of the class in the operation; None for a refusal, which is no failure of the class."""

    repeated: RepeatedCall | None
    """The identical calls; None where the call is not known."""

    history: History

    @property
    def counts(self) -> Counts:
        """What the thresholds are compared with."""
        streak = self.streak.count if self.streak is not None else 0
        return Counts(
            same=0 if self.rejected else streak,
            rejected=streak if self.rejected else 0,
            loop=self.repeated.attempts.count if self.repeated is not None else 0,
            consecutive=self.history.row.count,
            total=self.history.spent,
        )


def decide(rows: Rows, thresholds: Thresholds, *, may_escalate: bool = True) -> Decision:
    """
    Return the most serious step that any threshold calls for; a row escalates once.

    Args:
        rows: The rows that the newest occurrence or refusal belongs to.
        thresholds: When the run escalates.
        may_escalate: Whether a step of the ladder is left in this turn.
    """
    counts = rows.counts
    if may_escalate:
        reached = [step for step in _steps(rows, counts, thresholds) if step.count >= step.limit]
        if reached:
            return max(reached, key=lambda step: (step.halts, thresholds.asks(step.threshold)))
    streak = max(counts.same, counts.rejected)
    if counts.loop >= max(streak, 2):
        return Decision(level="notice", threshold="loop", count=counts.loop, limit=thresholds.loop)
    if streak < 2:  # noqa: PLR2004 - a first failure is no news
        return CARRY_ON
    name: Threshold = "rejected" if rows.rejected else "same"
    return Decision(level="notice", threshold=name, count=streak, limit=int(getattr(thresholds, name)))


def mark_escalated(rows: Rows, decision: Decision) -> None:
    """Note on its row that an escalation was raised for it."""
    if decision.threshold == "total":
        rows.history.budget_escalated = True
        return
    row = rows.history.row if decision.threshold == "consecutive" else rows.streak
    if decision.threshold == "loop":
        row = rows.repeated.attempts if rows.repeated is not None else None
    if row is not None:
        row.mark_escalated(halted=decision.threshold == "loop" and decision.halts)


def _steps(rows: Rows, counts: Counts, thresholds: Thresholds) -> Iterator[Decision]:
    """Yield the steps that have not been taken yet, whether their counts are reached or not."""
    if rows.repeated is not None:
        yield from _loop_steps(rows.repeated.attempts, counts.loop, thresholds)
    if rows.streak is None:
        return
    if not rows.streak.escalated:
        yield _step("rejected" if rows.rejected else "same", counts, thresholds)
    if not rows.history.row.escalated:
        yield _step("consecutive", counts, thresholds)
    if not rows.history.budget_escalated:
        yield _step("total", counts, thresholds)


def _loop_steps(row: Attempts, count: int, thresholds: Thresholds) -> Iterator[Decision]:
    if not row.halted:
        yield Decision(level="escalate", threshold="loop", count=count, limit=thresholds.loop_halt, halts=True)
    if not row.escalated:
        halts = "loop" in thresholds.halts
        yield Decision(level="escalate", threshold="loop", count=count, limit=thresholds.loop, halts=halts)


def _step(threshold: Threshold, counts: Counts, thresholds: Thresholds) -> Decision:
    return Decision(
        level="escalate",
        threshold=threshold,
        count=counts[threshold],
        limit=int(getattr(thresholds, threshold)),
        halts=threshold in thresholds.halts,
    )


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

    tick: int = Field(default=0, exclude=True, repr=False)
    """When it was raised, in the sequence of the ledger."""

    span: SpanRef | None = Field(default=None, exclude=True, repr=False)
    """The span of that occurrence, if there is one."""

    def __str__(self) -> str:
        return f"{_REACHED[self.threshold]} ({self.count} of {self.limit}): [{self.type}] {self.cause}"


class AnsweredEscalation(BaseModel):
    """
    An escalation and what was done about it.
    """

    model_config = ConfigDict(frozen=True)

    escalation: Escalation
    action: ActionName
    message: str = ""

    tick: int = Field(default=0, exclude=True, repr=False)
    """When it was answered, in the ledger's sequence."""


_REACHED: Final[dict[Threshold, str]] = {
    "same": "one error class keeps recurring",
    "rejected": "input is rejected for the same reason again and again",
    "loop": "the identical call is repeated while nothing succeeds",
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
