"""
The paths whose instructions are counted: `python -m benchmarks.cost.paths NAME TURNS` walks one.

Each function of `PATHS` makes all that its path needs and returns the call of one turn.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Final

from benchmarks.cost.measure import make_record, make_span
from benchmarks.cost.metrics import make_hand_over

if TYPE_CHECKING:
    from collections.abc import Callable

PATHS: Final[dict[str, Callable[[], Callable[[], object]]]] = {
    "span": make_span,
    "record": make_record,
    "metrics hand-over": make_hand_over,
}

GUARDED: Final = tuple(name for name in PATHS if name not in {"span", "record"})
"""The paths that `guard` compares with the baseline."""


def main() -> None:
    """Walk one path."""
    name, turns = sys.argv[1], int(sys.argv[2])
    turn = PATHS[name]()
    turn()
    gc.collect()
    gc.disable()
    for _ in range(turns):
        turn()


if __name__ == "__main__":
    main()
