"""
The paths whose instructions are counted: `python -m benchmarks.cost.paths NAME TURNS` walks one.

A path is a function that makes all that it needs and returns the call of one turn.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

PATHS: Final = {
    **dict.fromkeys(("span", "record"), "measure"),
    **dict.fromkeys(("span_bare", "span_empty", "span_batch", "span_closed", "span_elsewhere"), "spans"),
    **dict.fromkeys(("span_leaked", "span_leaked_kept", "span_inside", "span_inside_bare"), "spans"),
    **dict.fromkeys(("span_in_run", "span_in_run_bare"), "spans"),
    **dict.fromkeys(("span_start", "span_start_bare", "span_call", "span_call_bare"), "spans"),
    **dict.fromkeys(("span_failing_bare", "span_failing_repeat", "span_failing_first"), "spans"),
    **dict.fromkeys(("call_healthy", "function_healthy", "call_hosted", "run_empty", "run_of_one_call"), "calls"),
    "call_healthy_failed": "calls",
    **dict.fromkeys(("call_failing_text", "call_failing_exception"), "calls"),
    **dict.fromkeys(("call_failing_new_text", "call_failing_new_exception"), "calls"),
    **dict.fromkeys(("trajectory_line", "failure_one_class", "failure_many_classes"), "ledger"),
    **dict.fromkeys(
        ("observe_text", "observe_text_seen", "key_text", "key_text_seen", "observe_exception"), "observation"
    ),
    "judge_healthy": "observation",
    "hand_over": "metrics",
    **dict.fromkeys(("compact_again", "compact_first"), "window"),
}
"""The module whose `PATHS` makes each path. Only that one is imported: under valgrind an import takes seconds."""

GUARDED: Final = {
    "span_closed": 40,
    "span_elsewhere": 40,
    "span_failing_repeat": 100,
    "call_healthy": 400,
    "function_healthy": 400,
    "call_failing_text": 100,
    "call_failing_new_text": 100,
    "call_failing_exception": 100,
    "call_failing_new_exception": 100,
    "trajectory_line": 800,
    "hand_over": 4_000,
    "observe_text": 100,
    "observe_text_seen": 200,
    "observe_exception": 100,
    "key_text": 100,
    "judge_healthy": 400,
    "compact_again": 6,
}
"""The paths that `guard` compares with the baseline, with turns enough to count."""


def make_path(name: str) -> Callable[[], object]:
    """Make all that a path needs, and return the call of one turn."""
    module = importlib.import_module(f"benchmarks.cost.{PATHS[name]}")
    turn: Callable[[], object] = module.PATHS[name]()
    return turn


def main() -> None:
    """Walk one path."""
    name, turns = sys.argv[1], int(sys.argv[2])
    os.chdir("/")  # what fails lies in the working directory, below any checkout
    turn = make_path(name)
    turn()
    gc.collect()
    gc.disable()
    for _ in range(turns):
        turn()


if __name__ == "__main__":
    main()
