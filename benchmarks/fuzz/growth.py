"""
Whether time grows faster than an input: by comparing a short input with a longer one, never by a clock alone.

Time is processor time, and the bound leaves room on both sides, since neighbours of a machine change such a ratio.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Input = TypeVar("Input", str, bytes)

LEAST_TIMES: Final = 4
MOST_TIMES: Final = 32
"""
How much longer the longer input is: the longer, the less doubt.

Where it is 32 times as long, linear and quadratic growth are both nearly six times away from the bound; neighbours
have been seen to change such a ratio by two.
"""

POWER: Final = 1.5
"""Of the length, from which on time grows too fast: half-way from linear, 1, to quadratic, 2."""

ROUNDS: Final = 7
"""Of which the fastest counts: what else a machine does makes a round slower, and none faster."""

LIMIT_S: Final = 1.0
"""
What the longer input may take decides how long it is, and how many rounds there are.

Whoever gives up a measurement does so no earlier.
"""


class Growth(NamedTuple):
    """
    Time that grows faster than the input.
    """

    short_s: float
    """Processor seconds for the short input."""

    long_s: float
    """At least, for the longer one."""


def find_growth(measure: Callable[[Input], float], input_of: Callable[[int], Input], size: int) -> Growth | None:
    """
    Return what two inputs take where the time grows faster than the input.

    Args:
        measure: Takes an input and returns the processor seconds that this took, or infinity where it gave up.
        input_of: Makes an input of about that many characters or bytes.
        size: Of the short input.
    """
    short = input_of(size)
    fastest = bound = min(measure(short) for _ in _turns(LIMIT_S / 10))
    most = min(MOST_TIMES, max(LEAST_TIMES, (LIMIT_S / fastest) ** (1 / POWER)))
    for times in (LEAST_TIMES, most):  # most that are linear pass by the first, which costs little
        longer = input_of(round(size * times))
        for _ in _turns(LIMIT_S):
            # What is linear passes by one good round; what grows has no good one.
            fastest = min(fastest, measure(short))
            bound = fastest * (len(longer) / len(short)) ** POWER
            if measure(longer) < bound:
                return None
    return Growth(fastest, bound)


def _turns(seconds: float) -> Iterator[int]:
    """Yield turns until they have taken so much processor time: what lasts needs few, since it is its own average."""
    until = time.thread_time() + seconds
    for turn in range(ROUNDS):
        yield turn
        if time.thread_time() >= until:
            return
