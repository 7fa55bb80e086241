"""
Real agent runs: the figures are those of the replay, and near those that people counted by hand.

By hand, tokens were counted by a tokenizer, and ignored results were errors too; here tokens are a quarter of the
characters, which for output of tools is about a tenth too few, and up to a third where it is numbers and paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact_lab.analysis import Analyzer, Calibration, RunAnalysis, Total
from otel_errcompact_lab.analysis.counts import Counts
from otel_errcompact_lab.replay import ReplayedRun, open_pipeline
from otel_errcompact_lab.transcripts import RecordedRun, find, read

if TYPE_CHECKING:
    from pathlib import Path

Both = list[tuple[RunAnalysis, ReplayedRun]]


@pytest.fixture(scope="module")
def both(shared_data: Path) -> Both:
    """All runs, analyzed and replayed."""
    pairs: Both = []
    analyzer = Analyzer()
    with open_pipeline(Options(trajectory=TrajectoryOptions(enabled=False))) as pipeline:
        for file in find([shared_data / "transcripts"]):
            for record in read(file, on_problem=pytest.fail):
                if isinstance(record, RecordedRun):
                    (replayed,) = pipeline.play(record)
                    pairs.append((analyzer.analyze(record), replayed))
    return pairs


def counts_of(both: Both, *names: str) -> Counts:
    counts = Counts()
    for found, _ in both:
        if any(name in found.source for name in names):
            counts.add(found.counts)
    return counts


def test_the_replay_counts_the_same(both: Both) -> None:
    """Run for run: one pipeline makes spans, the other only numbers."""
    for found, replayed in both:
        counts = found.counts
        assert (counts.failures, counts.silent + counts.unflagged, counts.ignored) == (
            replayed.failures,
            replayed.stated,
            replayed.ignored,
        )
        assert (counts.classes, found.longest_streak) == (replayed.classes, replayed.longest_streak)
        assert (counts.error_tokens, counts.context_tokens) == (replayed.raw_error_tokens, replayed.context_tokens)
        first = next((escalation.call for escalation in replayed.escalations), None)
        assert (found.stop.call if found.stop else None) == first


@pytest.mark.parametrize(
    ("names", "errors", "leeway", "tokens", "results"),
    [
        pytest.param(["8463c716"], 13, 1, 13_939, 124_891, id="claude-code-recovery"),
        pytest.param(["ae4a77f8"], 17, 0, 6_909, 66_400, id="claude-code-hook"),
        pytest.param(["gpt-4o-airline"], 73, 0, 1_033, 270_137, id="tau-bench"),
        pytest.param(["multi_swe_bench"], 45, 3, 2_870, 48_686, id="openhands-edits"),
        pytest.param(["resolver_mock"], 11, 1, 5_537, 11_718, id="openhands-edit-lint"),
        pytest.param(["marshmallow", "pydicom"], 5, 2, 2_587, 11_546, id="swe-agent-edit-lint"),
    ],
)
def test_errors_and_their_share_are_near_those_counted_by_hand(
    both: Both, names: list[str], errors: int, leeway: int, tokens: int, results: int
) -> None:
    """The share within a half; edits that were not applied count as failures."""
    counts = counts_of(both, *names)
    assert abs(counts.failures + counts.ignored - errors) <= leeway
    found, by_hand = counts.error_tokens / counts.result_tokens, tokens / results
    guessed = counts.stated_tokens / counts.result_tokens
    assert found - guessed <= by_hand * 1.5
    assert found >= by_hand / 1.5


def test_the_runs_with_errors_end_worse(both: Both) -> None:
    """Of tau-bench's runs 36 have errors, and fewer of them succeed than of the others; the longest row is six."""
    runs = [found for found, _ in both if "gpt-4o-airline" in found.source]
    erring = [found for found in runs if found.counts.failures]
    flawless = [found for found in runs if not found.counts.failures]
    assert (len(runs), len(erring), sum(found.counts.failures for found in erring)) == (200, 36, 73)
    assert [round(sum(bool(run.succeeded) for run in some) / len(some), 2) for some in (erring, flawless)] == [
        0.25,
        0.46,
    ]
    assert max(found.longest_row for found in runs) <= 6


def test_what_halts_by_itself_stops_no_good_run(both: Both) -> None:
    """Nor any other of these; what asks does so in at most two of 94 good runs."""
    calibration = Calibration(Thresholds())
    for found, _ in both:
        calibration.add(found)
    table = calibration
    assert (table.good, table.bad) == (94, 117)
    halt = table.row("loop", Thresholds().loop_halt)
    assert (halt.good.stopped.runs, halt.bad.stopped.runs) == (0, 0)
    assert table.together().good.stopped.runs <= 2
    assert calibration.refusals.worked == 0


def test_errors_are_a_small_part_of_the_context(both: Both) -> None:
    """Which the verdict says, although the runs were chosen for their errors."""
    total = Total(Thresholds())
    for found, _ in both:
        total.add(found)
    assert (total.runs, total.recommendation.advice) == (216, "leave")
    assert total.runs_by_advice["must"] == 2
