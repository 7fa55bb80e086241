"""
Real agent runs, counted by hand: what the replay takes for a failure is what people took for one.

The counts are of all errors, ignored ones included. Those the format flags must be met exactly, or nearly so; those
that are in the text alone were counted from patterns, by their authors' word five to ten percent low: there is leeway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact_lab.replay import ReplayedRun, open_pipeline, total_of
from otel_errcompact_lab.transcripts import find, read

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def replayed(shared_data: Path) -> list[ReplayedRun]:
    """All runs, played once."""
    runs: list[ReplayedRun] = []
    with open_pipeline(Options(trajectory=TrajectoryOptions(enabled=False))) as pipeline:
        for file in find([shared_data / "transcripts"]):
            for record in read(file, on_problem=pytest.fail):
                runs += pipeline.play(record)
            runs += pipeline.finish()
    return runs


def of(runs: list[ReplayedRun], *names: str) -> list[ReplayedRun]:
    return [run for run in runs if any(name in run.source for name in names)]


@pytest.mark.parametrize(
    ("names", "results", "errors", "leeway"),
    [
        pytest.param(["8463c716"], 177, 13, 1, id="claude-code-recovery"),
        pytest.param(["ae4a77f8"], 242, 17, 0, id="claude-code-hook"),
        pytest.param(["subagent"], 33, 9, 1, id="claude-code-siblings"),
        pytest.param(["gpt-4o-airline"], 1164, 73, 0, id="tau-bench"),
        pytest.param(["multi_swe_bench"], 105, 45, 3, id="openhands-edits"),
        pytest.param(["resolver_mock"], 24, 8, 4, id="openhands-edit-lint"),
        pytest.param(["pandas-dev", "pydantic__"], 76, 7, 5, id="swe-agent-1"),
        pytest.param(["marshmallow", "pydicom"], 26, 5, 2, id="swe-agent-edit-lint"),
        pytest.param(["BabyEncryption", "katy", "rock"], 46, 7, 2, id="swe-agent-ctf"),
    ],
)
def test_errors_are_those_that_were_counted_by_hand(
    replayed: list[ReplayedRun], names: list[str], results: int, errors: int, leeway: int
) -> None:
    """Every result is seen, and about as many of them are errors."""
    total = total_of(of(replayed, *names))
    assert total.tool_calls == results
    assert abs(total.failures + total.ignored - errors) <= leeway


def test_all_together_they_are_within_a_tenth(replayed: list[ReplayedRun]) -> None:
    """What is missed in one place must not be made up for by false alarms in another beyond that."""
    total = total_of([run for run in replayed if "otel_jaeger" not in run.source])
    assert total.failures + total.ignored == pytest.approx(179, rel=0.1)


def test_sibling_notices_are_ignored(replayed: list[ReplayedRun]) -> None:
    """Seven in a row carry no information, and are no loop."""
    (run,) = of(replayed, "subagent")
    assert run.ignored == 7
    assert run.escalations == ()


def test_short_errors_of_api_agents_cost_no_more_than_themselves(replayed: list[ReplayedRun]) -> None:
    """There is nothing to compact in one line of prose, and nothing to detect or to ignore in it."""
    total = total_of(of(replayed, "gpt-4o-airline"))
    assert (total.stated, total.ignored, total.runs_with_failures) == (0, 0, 36)
    assert total.longest_streak <= 6


def test_one_edit_lint_error_over_and_over_is_a_loop(replayed: list[ReplayedRun]) -> None:
    """It came eight times in a row, which escalates, and the repeats cost little."""
    run = max(of(replayed, "resolver_mock"), key=lambda run: run.failures)
    assert run.longest_streak >= 8
    assert run.escalations[0].threshold == "rejected"
    assert run.digest_tokens < run.raw_error_tokens / 5


def test_cancellation_noise_of_a_trace_is_no_failure(replayed: list[ReplayedRun]) -> None:
    """Of 39 exception events none is the failure of a tool; the two failed HTTP requests count."""
    runs = of(replayed, "otel_jaeger")
    assert [run.failures for run in runs] == [1, 1]


def test_compaction_saves_most_of_the_error_tokens(replayed: list[ReplayedRun]) -> None:
    """What agents read costs less than half of the raw errors, though short ones stay whole; all are a small part."""
    total = total_of(replayed)
    assert total.digest_tokens < total.raw_error_tokens * 0.45
    assert total.raw_error_tokens < total.context_tokens / 20
