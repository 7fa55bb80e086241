"""
Bounds on time that hold on a busy machine: what must be fast is a benchmark, what must end is bounded generously.

Processor time leaves out what other programs take; what stays is bounded by far more than it costs, and by far less
than it would cost if it were not linear.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MOMENT_S: Final = 10.0
"""What takes a fraction of a second on an idle machine takes less on any; what is not linear takes minutes."""

PATIENCE_S: Final = 60.0
"""How long a test waits for what comes at once on an idle machine."""

PROMPT_S: Final = 20.0
"""Far longer than an end may take, and shorter than the thirty seconds that the SDK would wait for a collector."""

_TIMES: Final = 32


def processor_seconds(work: Callable[[], object], *, runs: int = 1) -> float:
    """Return the processor time of the fastest of some runs."""
    taken = []
    for _ in range(runs):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


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
