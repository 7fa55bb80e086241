"""
The paths whose instructions are counted: `python -m benchmarks.cost.paths NAME TURNS` walks one.

Each function of `PATHS` makes all that its path needs and returns the call of one turn.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Final

from benchmarks.cost import calls, ledger, spans
from benchmarks.cost.measure import make_record, make_span
from benchmarks.cost.metrics import make_hand_over
from benchmarks.cost.observation import make_judge_healthy, make_key_text, make_observe_exception, make_observe_text
from benchmarks.cost.window import make_turn

if TYPE_CHECKING:
    from collections.abc import Callable

PATHS: Final[dict[str, Callable[[], Callable[[], object]]]] = {
    "span": make_span,
    "record": make_record,
    "hand_over": make_hand_over,
    "observe_text": make_observe_text,
    "key_text": make_key_text,
    "observe_exception": make_observe_exception,
    "judge_healthy": make_judge_healthy,
    **spans.PATHS,
    "compact_again": make_turn,
    "call_healthy": calls.make_healthy_call,
    "function_healthy": calls.make_healthy_function,
    "call_hosted": calls.make_hosted_call,
    "call_failing_text": calls.make_failing_text,
    "call_failing_exception": calls.make_failing_exception,
    "run_empty": calls.make_empty_run,
    "run_of_one_call": calls.make_short_run,
    "trajectory_line": ledger.make_line,
    "failure_one_class": ledger.make_failure,
    "failure_many_classes": ledger.make_many_classes,
}

GUARDED: Final = (
    "span_closed",
    "span_elsewhere",
    "span_failing_repeat",
    "call_healthy",
    "function_healthy",
    "call_failing_text",
    "call_failing_exception",
    "trajectory_line",
    "hand_over",
    "observe_text",
    "key_text",
    "judge_healthy",
    "compact_again",
)
"""The paths that `guard` compares with the baseline: what every span, call and failure of a process takes."""


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
