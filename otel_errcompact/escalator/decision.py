"""From counts and thresholds to a decision: carry on, notice, or escalate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.escalator.thresholds import Threshold, Thresholds
    from otel_errcompact.history.history import History
    from otel_errcompact.history.repeats import RepeatedCall
    from otel_errcompact.history.streaks import Attempts

Level = Literal["carry_on", "notice", "escalate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the thresholds are compared with, after one occurrence."""

    same: int = 0
    rejected: int = 0
    loop: int = 0
    consecutive: int = 0
    total: int = 0

    def __getitem__(self, threshold: Threshold) -> int:
        return int(getattr(self, threshold))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the counts call for after one occurrence or refusal."""

    level: Level = "carry_on"
    threshold: Threshold = "same"
    count: int = 0
    limit: int = 0
    halts: bool = False
    """Whether the run halts unless a handler decides otherwise."""


CARRY_ON: Final = Decision()


@dataclass(slots=True, kw_only=True)
class Rows:
    """The rows of failures that one occurrence or refusal belongs to."""

    rejected: bool
    """Whether nothing was executed."""

    streak: Attempts | None
    """The failures of the class in the operation; None for a refusal, which is no failure of the class."""

    repeated: RepeatedCall | None
    """The identical calls; None where the call is not known."""

    history: History
    transient: bool = False
    """Whether waiting may help."""

    waited: bool = False
    """Whether it has not helped for as long as `Thresholds.wait_seconds`."""

    declared: bool = True
    """Whether something declared the failure."""

    @property
    def stays(self) -> bool:
        """Whether it is declared, and waiting does not help; nothing else halts."""
        return self.declared and not self.transient

    @property
    def counts(self) -> Counts:
        """What the thresholds are compared with."""
        streak = self.streak.count if self.streak is not None else 0
        return Counts(
            same=0 if self.rejected or (self.transient and not self.waited) else streak,
            rejected=streak if self.rejected else 0,
            loop=self.repeated.attempts.count if self.repeated is not None else 0,
            consecutive=self.history.row.count if self.stays else 0,
            total=self.history.spent,
        )


def decide(rows: Rows, thresholds: Thresholds, *, may_escalate: bool = True, counts: Counts | None = None) -> Decision:
    """
    Return the most serious due step; a row escalates once.

    Args:
        rows: The rows that the newest occurrence or refusal belongs to.
        thresholds: When the run escalates.
        may_escalate: Whether a step of the ladder is left in this turn.
        counts: The counts of the rows; counted if None.
    """
    counts = counts or rows.counts
    if may_escalate:
        reached = list(_list_reached(rows, counts, thresholds))
        if reached:
            return max(reached, key=lambda step: (step.halts, thresholds.asks(step.threshold)))
    if rows.transient:
        waits = rows.streak is not None and rows.streak.count > 1
        return Decision(level="notice", count=rows.streak.count) if waits and rows.streak else CARRY_ON
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


def _list_reached(rows: Rows, counts: Counts, thresholds: Thresholds) -> Iterator[Decision]:
    """Yield the steps that are due and not taken yet."""
    if rows.repeated is not None:
        row = rows.repeated.attempts
        if counts.loop >= thresholds.loop_halt and not row.halted:
            yield _make_step("loop", counts.loop, thresholds.loop_halt, halts=True)
        if counts.loop >= thresholds.loop and not row.escalated:
            yield _make_step("loop", counts.loop, thresholds.loop, halts="loop" in thresholds.halts)
    if rows.streak is None:
        return
    steps: tuple[tuple[Threshold, int, int], ...] = (
        ("rejected", counts.rejected, thresholds.rejected) if rows.rejected else ("same", counts.same, thresholds.same),
        ("consecutive", counts.consecutive, thresholds.consecutive),
        ("total", counts.total, thresholds.total),
    )
    for threshold, count, limit in steps:
        halts = threshold in thresholds.halts
        if threshold == "total" and halts and not rows.stays:
            continue  # the next failure that stays takes the step
        if count >= limit and not _is_taken(rows, rows.streak, threshold):
            yield _make_step(threshold, count, limit, halts=halts and rows.stays)


def _is_taken(rows: Rows, streak: Attempts, threshold: Threshold) -> bool:
    if threshold == "total":
        return rows.history.budget_escalated
    return (rows.history.row if threshold == "consecutive" else streak).escalated


def _make_step(threshold: Threshold, count: int, limit: int, *, halts: bool) -> Decision:
    return Decision(level="escalate", threshold=threshold, count=count, limit=limit, halts=halts)
