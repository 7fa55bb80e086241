"""
What each value of each threshold would have stopped, where records tell how runs ended: of good runs and of bad ones.

A halt that ends good runs is worse than none, so that a value is as good as the share of good runs it leaves alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.analysis.counts import share
from otel_errcompact.analysis.intervals import wilson
from otel_errcompact.analysis.stops import MAX_VALUE
from otel_errcompact.analysis.total import Stopped
from otel_errcompact.escalation import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.analysis.intervals import Interval
    from otel_errcompact.analysis.runs import RunAnalysis
    from otel_errcompact.analysis.stops import Reached
    from otel_errcompact.analysis.total import Rule
    from otel_errcompact.escalation import Threshold, Thresholds

TOLERANCE: Final = 0.05
"""The share of good runs that a threshold may stop, if nothing else is said."""

MAX_AGENTS: Final = 100
"""Agents that are told apart; what comes later is counted as `other`."""

OTHER: Final = "other"


class Side(NamedTuple):
    """
    The good runs, or the bad ones, under one value of a threshold.
    """

    stopped: Stopped
    of: int
    """How many runs there are."""

    @property
    def share(self) -> float:
        """The share that would have been stopped."""
        return share(self.stopped.runs, self.of)

    @property
    def interval(self) -> Interval:
        """Where that share lies with 95 % confidence."""
        return wilson(self.stopped.runs, self.of)

    def to_json(self) -> dict[str, object]:
        """Return it under stable names."""
        interval = [round(bound, 6) for bound in self.interval]
        figures = self.stopped.to_json()
        return {"stopped": figures.pop("runs"), "of": self.of, "share": round(self.share, 6), "interval": interval} | (
            figures
        )


class Row(NamedTuple):
    """
    One value of a threshold, or the three of them as they are set.
    """

    rule: Rule
    limit: int | None
    """The value; None for all three together."""

    good: Side
    bad: Side

    def to_json(self) -> dict[str, object]:
        """Return it under stable names."""
        return {"threshold": self.rule, "limit": self.limit, "good": self.good.to_json(), "bad": self.bad.to_json()}


@dataclass(slots=True)
class _Group:
    """
    Runs that ended alike.
    """

    runs: int = 0
    stopped: dict[Threshold, list[Stopped]] = field(default_factory=lambda: {name: [] for name in THRESHOLDS})
    """For the values 1, 2, 3 and so on."""

    together: Stopped = field(default_factory=Stopped)

    def add(self, run: RunAnalysis, together: Reached | None) -> None:
        self.runs += 1
        for name, reached in run.reached.items():
            cells = self.stopped[name]
            cells.extend(Stopped() for _ in range(len(reached) - len(cells)))
            for cell, place in zip(cells, reached, strict=False):
                cell.add(place.after)
        if together is not None:
            self.together.add(together.after)

    def side(self, threshold: Threshold, limit: int) -> Side:
        cells = self.stopped[threshold]
        return Side(cells[limit - 1] if limit <= len(cells) else Stopped(), self.runs)


class Table:
    """
    The rows of some runs: of all, or of one agent.

    Args:
        thresholds: Those whose effect together is told.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._good = _Group()
        self._bad = _Group()

    @property
    def good(self) -> int:
        """Runs that reached their goal."""
        return self._good.runs

    @property
    def bad(self) -> int:
        """Runs that did not."""
        return self._bad.runs

    def add(self, run: RunAnalysis) -> None:
        """Take a run that tells how it ended."""
        group = self._good if run.succeeded else self._bad
        group.add(run, first(run, self._thresholds))

    def row(self, threshold: Threshold, limit: int) -> Row:
        """Return the effect of one value."""
        return Row(threshold, limit, self._good.side(threshold, limit), self._bad.side(threshold, limit))

    def rows(self, threshold: Threshold) -> Iterator[Row]:
        """Yield the effect of every value from 1, up to the first that stops nothing, or the highest that is told."""
        highest = max(len(group.stopped[threshold]) for group in (self._good, self._bad))
        return (self.row(threshold, limit) for limit in range(1, min(highest + 1, MAX_VALUE) + 1))

    def together(self) -> Row:
        """Return the effect of the three thresholds together, as they are set."""
        good, bad = (Side(group.together, group.runs) for group in (self._good, self._bad))
        return Row("any", None, good, bad)

    def lowest(self, threshold: Threshold, tolerance: float, *, surely: bool = False) -> int | None:
        """
        Return the lowest value that stops no larger share of good runs; None if none does, or there are no good runs.

        Args:
            threshold: Which one.
            tolerance: That share.
            surely: Whether the upper end of the 95 % interval must not lie above it either.
        """
        fitting = (
            row.limit
            for row in self.rows(threshold)
            if row.good.of and (row.good.interval.high if surely else row.good.share) <= tolerance
        )
        return next(fitting, None)

    def to_json(self, tolerance: float) -> dict[str, object]:
        """Return it under stable names."""
        return {
            "good": self.good,
            "bad": self.bad,
            "rows": [row.to_json() for name in THRESHOLDS for row in self.rows(name)] + [self.together().to_json()],
            "lowest": {
                name: {
                    "observed": self.lowest(name, tolerance),
                    "with_95_percent": self.lowest(name, tolerance, surely=True),
                }
                for name in THRESHOLDS
            },
        }


class Calibration:
    """
    The tables of all runs that tell how they ended, together and by agent.

    Args:
        thresholds: Those whose effect together is told.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self.thresholds = thresholds
        self.all = Table(thresholds)
        self.by_agent: dict[str, Table] = {}
        self.without_outcome = 0

    def add(self, run: RunAnalysis) -> None:
        """Take one run; one that does not tell how it ended is only counted."""
        if run.succeeded is None:
            self.without_outcome += 1
            return
        self.all.add(run)
        agent = run.agent if run.agent in self.by_agent or len(self.by_agent) < MAX_AGENTS else OTHER
        if agent not in self.by_agent:
            self.by_agent[agent] = Table(self.thresholds)
        self.by_agent[agent].add(run)

    def to_json(self, tolerance: float = TOLERANCE) -> dict[str, object]:
        """Return it under stable names."""
        return {
            "tolerance": tolerance,
            "without_outcome": self.without_outcome,
            **self.all.to_json(tolerance),
            "by_agent": {agent: self.by_agent[agent].to_json(tolerance) for agent in sorted(self.by_agent)},
        }


def first(run: RunAnalysis, thresholds: Thresholds) -> Reached | None:
    """Return where the first of the thresholds was reached."""
    limits: Sequence[tuple[Threshold, int]] = [(name, int(getattr(thresholds, name))) for name in THRESHOLDS]
    places = [run.reached[name][limit - 1] for name, limit in limits if limit <= len(run.reached[name])]
    return min(places, key=lambda place: place.call, default=None)
