"""
Good and bad runs that each value of a threshold stops.

A halt that ends good runs is worse than none, so that a value is as good as the share of good runs it leaves alone. And
since failing runs are longer, every count is reached more often in them: a rule knows something of runs only if fewer
of those it stops were good than of all runs of their agent that were still going at that call.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from otel_errcompact.escalator.thresholds import THRESHOLDS
from otel_errcompact_lab.analysis.counts import Refusals, share
from otel_errcompact_lab.analysis.intervals import Interval, poisson, wilson
from otel_errcompact_lab.analysis.stops import MAX_VALUE
from otel_errcompact_lab.analysis.total import Stopped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.escalator.thresholds import Threshold, Thresholds
    from otel_errcompact_lab.analysis.runs import RunAnalysis
    from otel_errcompact_lab.analysis.stops import Reached
    from otel_errcompact_lab.analysis.total import Rule

TOLERANCE: Final = 0.05
"""The share of good runs that a threshold may stop, if nothing else is said."""

MAX_AGENTS: Final = 100
"""Agents that are compared with their own runs; further ones are compared with one another."""


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


_Limit = tuple["Rule", "int | None"]
"""A threshold and its value; None for all together."""


@dataclass(slots=True)
class _Group:
    """Runs that ended alike."""

    runs: int = 0
    stopped: dict[_Limit, Stopped] = field(default_factory=lambda: defaultdict[_Limit, Stopped](Stopped))

    def side(self, rule: Rule, limit: int | None) -> Side:
        return Side(self.stopped.get((rule, limit)) or Stopped(), self.runs)


@dataclass(slots=True)
class _Stratum:
    """The lengths and stops of one agent's runs."""

    lengths: Counter[tuple[int, bool]] = field(default_factory=Counter["tuple[int, bool]"])
    """Runs by their number of calls, and whether they were good."""

    stops: dict[_Limit, Counter[int]] = field(default_factory=lambda: defaultdict[_Limit, Counter[int]](Counter))
    """The calls at which a value stops, with the runs that it stops there."""

    def expect_good(self, limit: _Limit) -> float:
        # The number of good runs among the stopped if each were any run of the agent still going at that call.
        stops = self.stops.get(limit) or Counter[int]()
        return sum(runs * self._share_of_good(call) for call, runs in sorted(stops.items()))

    def _share_of_good(self, call: int) -> float:
        going = [(good, runs) for (length, good), runs in self.lengths.items() if length >= call]
        return share(sum(runs for good, runs in going if good), sum(runs for _, runs in going))


class Calibration:
    """The rows of all runs with a known outcome."""

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self.without_outcome = 0
        self.refusals = Refusals()
        self._good = _Group()
        self._bad = _Group()
        self._strata: dict[str, _Stratum] = {}
        self._highest: Counter[Rule] = Counter()

    @property
    def good(self) -> int:
        """Runs that reached their goal."""
        return self._good.runs

    @property
    def bad(self) -> int:
        """Runs that did not."""
        return self._bad.runs

    def add(self, run: RunAnalysis) -> None:
        """Add one run; without a known outcome it is only counted."""
        self.refusals.add(run.refusals)
        if run.succeeded is None:
            self.without_outcome += 1
            return
        # Memory does not grow with the names of agents.
        agent = run.agent if run.agent in self._strata or len(self._strata) < MAX_AGENTS else ""
        group, stratum = self._good if run.succeeded else self._bad, self._strata.setdefault(agent, _Stratum())
        group.runs += 1
        stratum.lengths[run.counts.calls, bool(run.succeeded)] += 1
        for limit, place in _list_stops(run, self._thresholds):
            group.stopped[limit].add(place.after)
            stratum.stops[limit][place.call] += 1
            self._highest[limit[0]] = max(self._highest[limit[0]], limit[1] or 0)

    def row(self, rule: Rule, limit: int | None) -> Row:
        """Return the effect of one value."""
        good, bad = self._good.side(rule, limit), self._bad.side(rule, limit)
        expected = sum(self._strata[agent].expect_good((rule, limit)) for agent in sorted(self._strata))
        control = Control(good.stopped.runs + bad.stopped.runs, good.stopped.runs, expected)
        return Row(rule, limit, good, bad, control)

    def rows(self, threshold: Threshold) -> Iterator[Row]:
        """Yield each value's effect, up to the first without a stop."""
        return (self.row(threshold, limit) for limit in range(1, min(self._highest[threshold] + 1, MAX_VALUE) + 1))

    def together(self) -> Row:
        """Return the effect of all thresholds together, as they are set."""
        return self.row("any", None)

    def lowest(self, threshold: Threshold, tolerance: float, *, surely: bool = False) -> int | None:
        """Return the lowest value that spares enough good runs; None without one."""
        fitting = (
            row.limit
            for row in self.rows(threshold)
            if row.good.of and (row.good.interval.high if surely else row.good.share) <= tolerance
        )
        return next(fitting, None)

    def to_json(self, tolerance: float = TOLERANCE) -> dict[str, object]:
        """Return it under stable names."""
        return {
            "tolerance": tolerance,
            "without_outcome": self.without_outcome,
            "refusals": self.refusals.to_json(),
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


def _list_stops(run: RunAnalysis, thresholds: Thresholds) -> Iterator[tuple[_Limit, Reached]]:
    for name, reached in run.reached.items():
        for limit, place in enumerate(reached, start=1):
            yield (name, limit), place
    limits = [(reached, int(getattr(thresholds, name))) for name, reached in run.reached.items()]
    places = [reached[limit - 1] for reached, limit in limits if limit <= len(reached)]
    if places:
        yield ("any", None), min(places, key=lambda place: place.call)
