"""
Bounds that hold on a busy machine: what work costs is compared with other work, what must end is waited for.

Processor time leaves out what other programs take, and a ratio leaves out how fast a machine is. Each bound is three
times or more away from what is right and from what is wrong; neighbours have been seen to change a ratio by three.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LITTLE: Final = 500
"""How often the yardstick goes into what costs little: about ten seconds where what is linear takes one at most."""

PATIENCE_S: Final = 60.0
"""How long a test waits for what comes at once on an idle machine."""

_TIMES: Final = 32


def processor_seconds(work: Callable[[], object], *, runs: int = 1) -> float:
    """Return the processor time of the fastest of some runs."""
    taken = []
    for _ in range(runs):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def costs_little(work: Callable[[], object], *, times: int = 1) -> bool:
    """
    Whether work takes less than some fixed work beside it, 500 times over; `times` as often where there is more to do.

    For hostile texts of a size: what is linear takes a tenth of it, what is quadratic hundreds of times as much.
    """
    taken = processor_seconds(work)
    return taken < LITTLE * times * processor_seconds(_yardstick, runs=3)


def _yardstick() -> int:
    return sum(number * number for number in range(500_000))


def grows_linearly(work: Callable[[int], Callable[[], object]], *, small: int, runs: int = 5) -> bool:
    """
    Whether work on a thing 32 times as large takes about 32 times as long; `work` makes what is timed from a size.

    The bound is the geometric mean of linear growth, 32, and quadratic growth, 1,024: each is nearly six times away,
    where caches and neighbours have been seen to change such a ratio by three. Both sizes take turns.
    """
    large = _TIMES * small
    little, much = work(small), work(large)
    pairs = [(processor_seconds(little), processor_seconds(much)) for _ in range(runs)]
    return min(of_much for _, of_much in pairs) < _TIMES**1.5 * min(of_little for of_little, _ in pairs)


def waits_until(holds: Callable[[], bool], *, within_s: float = PATIENCE_S) -> bool:
    """Whether something comes to hold in time."""
    deadline = time.monotonic() + within_s
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.002)
    return holds()
