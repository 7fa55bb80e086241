"""The short form of the hour in which everything around the library fails, and proof that its laws can break."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.endurance import laws, outage, run
from benchmarks.endurance.laws import Seen
from benchmarks.endurance.truth import Truth

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork") or not Path("/proc/self/statm").exists(), reason="Linux alone"),
]


@pytest.mark.programs
@pytest.mark.parametrize(
    ("kinds", "seed"),
    [
        pytest.param(("prefork", "plugin"), 3, id="forks, reinstalled"),
        pytest.param(("disk", "clock"), 5, id="disk, clock"),
    ],
)
def test_counts_stay_exact_while_all_around_fails(tmp_path, capsys, kinds, seed):
    """Truth, metrics, spans and the trajectory agree at the end, less what was counted as given up."""
    broken = run.endure(tmp_path, minutes=0.08, seed=seed, kinds=kinds, lives_s=(3.0, 4.0), elders=("threads",))

    assert broken == []
    printed = capsys.readouterr().out
    assert [kind for kind in kinds if f"| {kind} | " not in printed] == []


@pytest.mark.programs
def test_an_outage_loses_nothing_within_the_bound(tmp_path, capsys):
    """Spans wait, and counters are cumulative."""
    assert outage.endure(tmp_path, minutes=0.03, seed=1, before_s=1.0, after_s=2.0) == []
    assert "| spans dropped and counted, healthy ones included | 0 |" in capsys.readouterr().out


@pytest.mark.programs
def test_the_truth_outlives_a_kill(tmp_path):
    """It is in memory that is shared with the file: no failure that was begun is forgotten."""
    path = tmp_path / "truth-1.bin"
    program = (
        "import os, sys, signal; from pathlib import Path; from benchmarks.endurance.truth import Truth\n"
        "truth = Truth(Path(sys.argv[1]))\n"
        "truth.begin(0); truth.finish(0); truth.begin(0); truth.finish(0, unwatched=True); truth.begin(3)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, path], check=False)

    assert ended.returncode == -signal.SIGKILL
    assert Truth(path).counts() == (3, 2, 1, 1)


def account_of(
    folder: Path,
    *,
    failures: int,
    lines: list[int],
    spans: int,
    metrics: int,
    dropped: int = 0,
    kind: str = "threads",
    exports: list[int] | None = None,
) -> list[str]:
    """The laws that are broken by a worker with these numbers."""
    folder.mkdir()
    truth = Truth(folder / "truth-7.bin")
    for _ in range(failures):
        truth.begin(0)
        truth.finish(0)
    result = {
        "unwritten": 0,
        "failures": {"export_dropped": dropped},
        "shutdown_s": 0.1,
        "most_waiting": 0,
        "calm": True,
        "exports": exports,
    }
    (folder / "result-7.json").write_text(json.dumps(result))
    (folder / "trajectory.jsonl").write_text("".join(f'"[id w:7:0:{number}]"\n' for number in lines))
    seen = Seen({f"w:7:0:{number}" for number in range(spans)}, {"instance": (1, metrics)})
    return laws.judge(kind, folder, seen, {}, {})[1]


@pytest.mark.meta
@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        pytest.param({}, [], id="exact"),
        pytest.param({"spans": 1, "dropped": 2}, [], id="dropped and counted"),
        pytest.param(
            {"lines": [1, 2]},
            ["trajectory: 1 lines are missing, 0 given up, at most 0 cut by SIGKILL"],
            id="a line is missing",
        ),
        pytest.param({"lines": [1, 2, 3, 3]}, ["1 raw errors stand twice in the trajectory"], id="a line stands twice"),
        pytest.param(
            {"metrics": 2},
            ["metrics: 2 of 3 failures, at least 3 were due; last exports [None]"],
            id="a count is missing",
        ),
        pytest.param(
            {"metrics": 4}, ["metrics: 4 of 3 failures, at least 3 were due; last exports [None]"], id="counted twice"
        ),
        pytest.param(
            {"kind": "clock", "metrics": 2, "exports": []}, [], id="a clock jumps, nothing exported at the end"
        ),
        pytest.param({"kind": "clock", "metrics": 2, "exports": [-1]}, [], id="a clock jumps, the last export fails"),
        pytest.param(
            {"kind": "clock", "metrics": 2, "exports": [-1, 3]},
            ["metrics: 2 of 3 failures, at least 3 were due; last exports [[-1, 3]]"],
            id="a clock jumps, the last export arrives",
        ),
        pytest.param({"spans": 2}, ["spans: 2 arrived and 0 were dropped of 3"], id="a span is missing"),
    ],
)
def test_a_broken_law_is_reported(tmp_path, numbers, expected):
    """What is not exact is not passed over."""
    exact = {"failures": 3, "lines": [1, 2, 3], "spans": 3, "metrics": 3}

    assert account_of(tmp_path / "w", **{**exact, **numbers}) == expected
