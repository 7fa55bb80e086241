"""What holds of any runs."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact_lab.analysis import Analyzer, Calibration, Total
from otel_errcompact_lab.replay import open_pipeline
from otel_errcompact_lab.transcripts import RecordedRun
from packages.lab.tests.analysis.records import DECLINED, Step, run

CHARACTERS = "aE:r 0\n/.\u00e9"
SAID = st.sampled_from(
    ["3 rows", "ConnectionError: no such host found", "Error: no such file /tmp/a1", "same\nsame\nother", DECLINED]
) | st.text(alphabet=CHARACTERS, min_size=1, max_size=60).filter(str.strip)


def runs_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[RecordedRun]:
    """Make runs of calls and of several calls at once, with results of such texts."""
    steps = st.builds(
        Step,
        texts,
        st.sampled_from([True, False, None]),
        st.sampled_from(["db.query", "bash", "read_file"]),
        st.sampled_from(["{}", '{"command": "pytest -q"}', '{"command": "ls"}', ""]),
        st.sampled_from([None, None, 0, 1, -1]),
    )
    return st.builds(
        lambda turns, succeeded, answer: run(*turns, succeeded=succeeded, answer=answer),
        st.lists(steps | st.lists(steps, min_size=1, max_size=3).map(tuple), max_size=12),
        st.sampled_from([True, False, None]),
        st.text(alphabet=CHARACTERS, max_size=20),
    )


RUNS = runs_of(st.sampled_from(["", " "]) | SAID)
LIMITS = st.builds(Thresholds, same=st.integers(1, 5), consecutive=st.integers(1, 8), total=st.integers(1, 12))


@given(RUNS)
def test_shares_lie_between_nothing_and_all(recorded) -> None:
    """Whatever the run; only what digests save may be below nothing."""
    counts = Analyzer().analyze(recorded).counts
    figures = counts.to_json()
    assert all(0 <= value <= 1 for name, value in figures.items() if "share" in name and "saved" not in name)
    assert counts.classes + counts.class_repeats == counts.failures
    assert counts.failures + counts.ignored <= counts.calls


@given(RUNS)
def test_a_higher_value_is_reached_no_earlier(recorded) -> None:
    """And what comes after it is no more."""
    for reached in Analyzer().analyze(recorded).reached.values():
        for lower, higher in pairwise(reached):
            assert lower.call <= higher.call
            assert all(before >= after >= 0 for before, after in zip(lower.after, higher.after, strict=True))


@given(st.lists(RUNS, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(runs, random) -> None:
    """For the total as for the calibration."""
    shuffled = list(runs)
    random.shuffle(shuffled)
    assert told(runs) == told(shuffled)


def told(runs) -> tuple[object, object]:
    total, calibration, analyzer = Total(Thresholds()), Calibration(Thresholds()), Analyzer()
    for recorded in runs:
        found = analyzer.analyze(recorded)
        total.add(found)
        calibration.add(found)
    return total.to_json(), calibration.to_json()


@given(st.lists(runs_of(SAID), max_size=4), LIMITS)
def test_the_live_pipeline_counts_the_same(runs, thresholds: Thresholds) -> None:
    """
    Failures, classes, streaks, and where the first threshold is reached: by real spans, and without any.

    Of a result that says nothing at all a span says that it does, in words of its own.
    """
    options = Options(thresholds=thresholds, trajectory=TrajectoryOptions(enabled=False))
    analyzer = Analyzer(options)
    with open_pipeline(options) as pipeline:
        for recorded in runs:
            (replayed,) = pipeline.play(recorded)
            found = analyzer.analyze(recorded)
            counts = found.counts
            assert (counts.calls, counts.failures, counts.silent + counts.unflagged, counts.ignored) == (
                replayed.tool_calls,
                replayed.failures,
                replayed.stated,
                replayed.ignored,
            )
            assert (counts.classes, found.longest_streak) == (replayed.classes, replayed.longest_streak)
            first = next(iter(replayed.escalations), None)
            assert (first is None) == (found.stop is None)
            if first is not None and found.stop is not None:
                assert first.call == found.stop.call


def test_a_long_loop_is_counted_to_its_end() -> None:
    """Only the values of thresholds that are told have a bound."""
    found = Analyzer().analyze(run(*[Step("Error: x", flagged=True)] * 1_000))
    assert (found.counts.failures, found.longest_streak, found.longest_row) == (1_000, 1_000, 1_000)
    assert {name: len(reached) for name, reached in found.reached.items()} == {
        "same": 200,
        "rejected": 0,
        "loop": 200,
        "consecutive": 200,
        "total": 200,
    }
