"""
Good and bad runs that each value of a threshold stops.

A halt that ends good runs is worse than none, so that a value is as good as the share of good runs it leaves alone. And
since failing runs are longer, every count is reached more often in them: a rule knows something of runs only if fewer
of those it stops were good than of all runs of their agent that were still going at that call.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from otel_errcompact.escalator.thresholds import THRESHOLDS
from otel_errcompact.lab.analysis.counts import share
from otel_errcompact.lab.analysis.intervals import Interval, poisson, wilson
from otel_errcompact.lab.analysis.refusals import Refusals
from otel_errcompact.lab.analysis.stops import MAX_VALUE
from otel_errcompact.lab.analysis.total import Stopped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.escalator.thresholds import Threshold, Thresholds
    from otel_errcompact.lab.analysis.runs import RunAnalysis
    from otel_errcompact.lab.analysis.stops import Reached
    from otel_errcompact.lab.analysis.total import Rule

TOLERANCE: Final = 0.05
"""The share of good runs that a threshold may stop, if nothing else is said."""

MAX_AGENTS: Final = 100
"""Agents with a table of their own; further ones are counted as `other`."""

OTHER: Final = "other"


class Side(NamedTuple):
    """Good or bad runs under one value of a threshold."""

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


Power = Literal["few", "none", "bad", "good"]
"""What a rule knows: too few stops to tell, no more than the run's age, which runs are bad, or which are good."""

FEW_STOPS: Final = 10


class Control(NamedTuple):
    """Good runs among the stopped, beside the number that their age explains."""

    stopped: int
    """Good runs and bad ones."""

    observed: int
    expected: float

    @property
    def ratio(self) -> float | None:
        """Observed over expected good runs; None where none were expected."""
        return self.observed / self.expected if self.expected else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the ratio, as of a Poisson count."""
        if not self.expected:
            return None
        low, high = poisson(self.observed)
        return Interval(low / self.expected, high / self.expected)

    @property
    def power(self) -> Power:
        """What the rule knows."""
        interval = self.interval
        if interval is None or self.stopped < FEW_STOPS:
            return "few"
        if interval.low > 1:
            return "good"
        if interval.high < 1:
            return "bad"
        # Where so few good runs are expected, not even none of them would be a surprise.
        return "few" if self.expected < poisson(0).high else "none"

    def to_json(self) -> dict[str, object]:
        """Return it under stable names."""
        ratio, interval = self.ratio, self.interval
        return {
            "observed": self.observed,
            "expected": round(self.expected, 6),
            "ratio": None if ratio is None else round(ratio, 6),
            "interval": None if interval is None else [round(bound, 6) for bound in interval],
            "power": self.power,
        }


class Row(NamedTuple):
    """One value of a threshold, or all thresholds as set."""

    rule: Rule
    limit: int | None
    """The value; None for all together."""

    good: Side
    bad: Side
    control: Control

    def to_json(self) -> dict[str, object]:
        """Return it under stable names."""
        return {
            "threshold": self.rule,
            "limit": self.limit,
            "good": self.good.to_json(),
            "bad": self.bad.to_json(),
            "control": self.control.to_json(),
        }


@dataclass(slots=True)
class _Group:
    """Runs that ended alike."""

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


@dataclass(slots=True)
class _Stratum:
    """The lengths and stops of one agent's runs."""

    lengths: Counter[tuple[int, bool]] = field(default_factory=Counter["tuple[int, bool]"])
    """Runs by their number of calls, and whether they were good."""

    stops: dict[tuple[Rule, int], Counter[int]] = field(default_factory=dict["tuple[Rule, int]", "Counter[int]"])
    """Of each rule and value the calls at which it stops, with the runs that it stops there."""

    def add(self, run: RunAnalysis, together: Reached | None) -> None:
        self.lengths[run.counts.calls, bool(run.succeeded)] += 1
        for name, reached in run.reached.items():
            for limit, place in enumerate(reached, start=1):
                self.stops.setdefault((name, limit), Counter())[place.call] += 1
        if together is not None:
            self.stops.setdefault(("any", 0), Counter())[together.call] += 1

    def expect_good(self, rule: Rule, limit: int) -> float:
        # The number of good runs among the stopped if each were any run of the agent still going at that call.
        stops = self.stops.get((rule, limit)) or Counter[int]()
        return sum(runs * self._share_of_good(call) for call, runs in sorted(stops.items()))

    def _share_of_good(self, call: int) -> float:
        going = [(good, runs) for (length, good), runs in self.lengths.items() if length >= call]
        return share(sum(runs for good, runs in going if good), sum(runs for _, runs in going))


class Table:
    """
    The rows of some runs: of all, or of one agent.

    Args:
        thresholds: The thresholds as set, for their effect together.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._good = _Group()
        self._bad = _Group()
        self._strata: dict[str, _Stratum] = {}

    @property
    def good(self) -> int:
        """Runs that reached their goal."""
        return self._good.runs

    @property
    def bad(self) -> int:
        """Runs that did not."""
        return self._bad.runs

    def add(self, run: RunAnalysis, agent: str = "") -> None:
        """
        Add a run with a known outcome.

        Args:
            run: The run.
            agent: The agent whose runs it is compared with.
        """
        group = self._good if run.succeeded else self._bad
        together = first(run, self._thresholds)
        group.add(run, together)
        self._strata.setdefault(agent, _Stratum()).add(run, together)

    def row(self, threshold: Threshold, limit: int) -> Row:
        """Return the effect of one value."""
        return self._row(threshold, limit, self._good.side(threshold, limit), self._bad.side(threshold, limit))

    def rows(self, threshold: Threshold) -> Iterator[Row]:
        """Yield each value's effect, up to the first without a stop."""
        highest = max(len(group.stopped[threshold]) for group in (self._good, self._bad))
        return (self.row(threshold, limit) for limit in range(1, min(highest + 1, MAX_VALUE) + 1))

    def together(self) -> Row:
        """Return the effect of all thresholds together, as they are set."""
        good, bad = (Side(group.together, group.runs) for group in (self._good, self._bad))
        return self._row("any", None, good, bad)

    def _row(self, rule: Rule, limit: int | None, good: Side, bad: Side) -> Row:
        expected = sum(self._strata[agent].expect_good(rule, limit or 0) for agent in sorted(self._strata))
        control = Control(good.stopped.runs + bad.stopped.runs, good.stopped.runs, expected)
        return Row(rule, limit, good, bad, control)

    def lowest(self, threshold: Threshold, tolerance: float, *, surely: bool = False) -> int | None:
        """
        Return the lowest value that spares enough good runs; None without one.

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
    Tables of all runs with a known outcome, together and by agent.

    Args:
        thresholds: The thresholds as set, for their effect together.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self.thresholds = thresholds
        self.all = Table(thresholds)
        self.by_agent: dict[str, Table] = {}
        self.without_outcome = 0
        self.refusals = Refusals()

    def add(self, run: RunAnalysis) -> None:
        """Add one run; without a known outcome it is only counted."""
        self.refusals.add(run.refusals)
        if run.succeeded is None:
            self.without_outcome += 1
            return
        agent = run.agent if run.agent in self.by_agent or len(self.by_agent) < MAX_AGENTS else OTHER
        if agent not in self.by_agent:
            self.by_agent[agent] = Table(self.thresholds)
        self.all.add(run, agent)
        self.by_agent[agent].add(run)

    def to_json(self, tolerance: float = TOLERANCE) -> dict[str, object]:
        """Return it under stable names."""
        return {
            "tolerance": tolerance,
            "without_outcome": self.without_outcome,
            "refusals": self.refusals.to_json(),
            **self.all.to_json(tolerance),
            "by_agent": {agent: self.by_agent[agent].to_json(tolerance) for agent in sorted(self.by_agent)},
        }


def first(run: RunAnalysis, thresholds: Thresholds) -> Reached | None:
    """Return where the first of the thresholds was reached."""
    limits: Sequence[tuple[Threshold, int]] = [(name, int(getattr(thresholds, name))) for name in THRESHOLDS]
    places = [run.reached[name][limit - 1] for name, limit in limits if limit <= len(run.reached[name])]
    return min(places, key=lambda place: place.call, default=None)
