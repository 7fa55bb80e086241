"""How far figures from few runs can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma, log, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Z: Final = 1.959963984540054
"""How many standard deviations to each side hold 95 %."""

_TAIL: Final = 0.025
"""What lies beyond each end of a 95 % interval."""


class Interval(NamedTuple):
    """Where a share lies with 95 % confidence."""

    low: float
    high: float


def wilson(hits: int, of: int) -> Interval:
    """
    Return the Wilson score interval of a share.

    It is right for few observations and at both ends, too.
    """
    if not of:
        return Interval(0.0, 1.0)
    p, spread = hits / of, Z * Z / of
    middle = p + spread / 2
    half = Z * sqrt(p * (1 - p) / of + spread / (4 * of))
    low = 0.0 if hits == 0 else (middle - half) / (1 + spread)
    high = 1.0 if hits == of else (middle + half) / (1 + spread)
    return Interval(low, high)


def fisher(hits: int, of: int, other_hits: int, of_others: int) -> float:
    """
    Return the chance that two equal shares differ at least that much.

    Fisher's exact test, two-sided: it is right for few observations, too.
    """
    both, hit = of + of_others, hits + other_hits
    lowest, highest = max(0, hit - of_others), min(hit, of)
    chances = [
        exp(_log_choose(hit, each) + _log_choose(both - hit, of - each) - _log_choose(both, of))
        for each in range(lowest, highest + 1)
    ]
    seen = chances[hits - lowest] * (1 + _ROUNDING)
    return min(1.0, sum(chance for chance in chances if chance <= seen))


_ROUNDING: Final = 1e-7


def _log_choose(of: int, chosen: int) -> float:
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)


@lru_cache(maxsize=1_024)
def poisson(events: int) -> Interval:
    """
    Return the exact (Garwood) interval of the mean of a Poisson count.

    It errs on the safe side.
    """
    low = 0.0 if not events else _mean_where(lambda mean: 1 - _at_most(events - 1, mean) >= _TAIL, events)
    return Interval(low, _mean_where(lambda mean: _at_most(events, mean) <= _TAIL, events))


def _mean_where(is_beyond: Callable[[float], bool], events: int) -> float:
    # Bisection.
    low, high = 0.0, 2.0 * events + 20
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return (low + high) / 2


def _at_most(events: int, mean: float) -> float:
    if mean <= 0:
        return 1.0
    return sum(exp(number * log(mean) - mean - lgamma(number + 1)) for number in range(events + 1))


@dataclass(slots=True)
class Ratio:
    """
    The ratio of two sums over runs, with its variation between runs.

    The sums are whole numbers: their order does not matter.
    """

    runs: int = 0
    part: int = 0
    whole: int = 0
    _parts: int = 0
    _products: int = 0
    _wholes: int = 0

    def add(self, part: int, whole: int) -> None:
        """Take one run."""
        self.runs += 1
        self.part += part
        self.whole += whole
        self._parts += part * part
        self._products += part * whole
        self._wholes += whole * whole

    def interval(self) -> Interval | None:
        """Return the 95 % interval; None for fewer than two runs."""
        if self.runs < 2 or not self.whole:  # noqa: PLR2004 - one run does not vary
            return None
        ratio = self.part / self.whole
        residue = self._parts - 2 * ratio * self._products + ratio * ratio * self._wholes
        half = Z * sqrt(max(residue, 0.0) * self.runs / (self.runs - 1)) / self.whole
        return Interval(max(ratio - half, 0.0), min(ratio + half, 1.0))
