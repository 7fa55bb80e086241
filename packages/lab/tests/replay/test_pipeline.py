"""The pipeline is the real one: escalations, exporters, metrics and the trajectory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, MetricsData
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.installation.install import _installed
from otel_errcompact_lab.replay import ReplayedRun, open_pipeline, total_of
from otel_errcompact_lab.transcripts import read
from packages.lab.tests.replay.records import MISSING, REFUSED, call, failing, healthy, run, tool_span, trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan

    from otel_errcompact_lab.transcripts import RecordedCall
    from packages.lab.tests.replay.conftest import Play

QUIET = Options(trajectory=TrajectoryOptions(enabled=False))


def fired(replayed: ReplayedRun) -> list[tuple[str, int]]:
    return [(escalation.threshold, escalation.call) for escalation in replayed.escalations]


def test_no_escalation_stops_a_recorded_run(play: Play) -> None:
    """What the run reached is told, each threshold once, and it goes on as the record does."""
    (replayed,) = play(run(*[failing()] * 7), same=3).runs
    assert fired(replayed) == [("same", 3), ("consecutive", 6)]
    assert {escalation.key for escalation in replayed.escalations} == set(replayed.class_keys)
    assert replayed.longest_streak == 7
    assert [answered.action for answered in replayed.report.escalations] == ["unhandled", "unhandled"]


def test_a_loop_is_reported_where_it_would_have_halted(play: Play) -> None:
    """Identical calls that keep failing reach `loop` and then `loop_halt`, and the record goes on."""
    identical = call(result=REFUSED, failed=True, arguments='{"sql": "select 1"}')
    (replayed,) = play(run(*[identical] * 7), same=100, consecutive=100).runs
    assert [(found.call, found.limit, found.halts) for found in replayed.escalations] == [(4, 4, False), (6, 6, True)]
    assert replayed.result == "unresolved"


def test_calls_of_one_turn_are_one_attempt(play: Play) -> None:
    """Calls that were asked for before the first of them was answered could not know better."""
    turn = [call(result=REFUSED, failed=True, start=1, end=9) for _ in range(5)]
    (replayed,) = play(run(*turn)).runs
    assert (fired(replayed), replayed.longest_streak, replayed.failures) == ([], 1, 5)


@pytest.mark.parametrize(
    ("calls", "thresholds", "expected"),
    [
        pytest.param([failing("a"), failing("b", MISSING)] * 2, {"consecutive": 4}, [("consecutive", 4)], id="row"),
        pytest.param([failing(), healthy()] * 3, {"total": 3}, [("total", 5)], id="budget"),
        pytest.param([failing(), healthy()] * 3, {}, [], id="recovered"),
    ],
)
def test_each_threshold_fires_at_its_call(
    play: Play, calls: list[RecordedCall], thresholds: dict[str, int], expected: list[tuple[str, int]]
) -> None:
    """The number of the call says where to look in the record."""
    (replayed,) = play(run(*calls), **thresholds).runs
    assert fired(replayed) == expected


def test_a_success_between_ends_what_was_carried_over(play: Play) -> None:
    """Fresh counters do not make two streaks one."""
    (replayed,) = play(run(*[failing()] * 3, healthy(), *[failing()] * 2), same=3).runs
    assert (fired(replayed), replayed.longest_streak) == ([("same", 3)], 3)


CALLS = st.lists(
    st.tuples(st.sampled_from(["read", "write"]), st.sampled_from([REFUSED, MISSING, ""])), min_size=1, max_size=24
)


def streak_of(calls: list[tuple[str, str]]) -> int:
    """The longest streak, counted by hand: for each error and tool the failures since the tool last succeeded."""
    live: dict[tuple[str, str], int] = {}
    longest = 0
    for tool, error in calls:
        if error:
            live[error, tool] = live.get((error, tool), 0) + 1
            longest = max(longest, live[error, tool])
        else:
            live = {place: streak for place, streak in live.items() if place[1] != tool}
    return longest


@given(calls=CALLS, same=st.integers(1, 4), consecutive=st.integers(1, 5), total=st.integers(1, 6))
def test_thresholds_change_no_count(calls: list[tuple[str, str]], same: int, consecutive: int, total: int) -> None:
    """Failures, classes and the longest streak are those of the record, whatever escalates."""
    thresholds = Thresholds(same=same, consecutive=consecutive, total=total)
    recorded = run(*(call(tool, error or "fine", failed=bool(error)) for tool, error in calls))
    with open_pipeline(QUIET.model_copy(update={"thresholds": thresholds})) as pipeline:
        (replayed,) = pipeline.play(recorded)
    errors = [error for _, error in calls if error]
    assert replayed.failures == len(errors)
    assert replayed.classes == len(set(errors))
    assert replayed.longest_streak == streak_of(calls)


def test_the_total_is_that_of_all_runs(play: Play) -> None:
    """Sums, the longest streak, and the distinct classes."""
    played = play(
        run(*[failing()] * 3, run_id="a"), run(failing(), failing("ls", MISSING), run_id="b"), run(run_id="c"), same=3
    )
    total = total_of(played.runs)
    assert total.model_dump(exclude={"digest_tokens"}) == {
        "runs": 3,
        "runs_with_failures": 2,
        "tool_calls": 5,
        "failures": 5,
        "stated": 0,
        "ignored": 0,
        "handled": 0,
        "refused": 0,
        "classes": 2,
        "longest_streak": 3,
        "escalations": 1,
        "escalations_by_threshold": {"same": 1, "rejected": 0, "loop": 0, "consecutive": 0, "total": 0},
        "raw_error_tokens": 4 * 9 + 8,
        "result_tokens": 120,
        "context_tokens": 300,
    }
    assert total.digest_tokens == sum(found.digest_tokens for found in played.runs)


def test_the_total_of_nothing_is_zero() -> None:
    """A folder may hold no runs."""
    assert (total_of([]).runs, total_of([]).longest_streak) == (0, 0)


def test_no_span_is_lost_though_a_replay_is_faster_than_any_agent(play: Play) -> None:
    """The exporter's queue holds 2,048 spans and would drop the oldest."""
    assert play(run(*[healthy()] * 5_000)).count == 5_001


def test_no_span_of_a_trace_is_lost(play: Play) -> None:
    """Traces go the same way."""
    assert play(trace(*(tool_span(n, start=n, end=n) for n in range(1, 4_001)))).count == 4_000


class Metrics(MetricExporter):
    """Keeps the sums and counts of what is exported, by instrument."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, int] = {}
        self.sums: dict[str, float] = {}

    def export(self, metrics_data: MetricsData, timeout_millis: float = 0, **kwargs: Any) -> MetricExportResult:
        for resource in metrics_data.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    points = metric.data.data_points
                    self.values[metric.name] = sum(
                        point.count if hasattr(point, "count") else point.value for point in points
                    )
                    self.sums[metric.name] = sum(getattr(point, "sum", 0) for point in points)
        return MetricExportResult.SUCCESS

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return True

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        pass


def test_the_instruments_count_what_is_replayed() -> None:
    """What an operator would have seen of the run, all of it exported at the end."""
    metrics = Metrics()
    options = QUIET.model_copy(update={"thresholds": Thresholds(same=2)})
    with open_pipeline(options, metric_exporter=metrics) as pipeline:
        (replayed,) = pipeline.play(run(failing(), failing(), healthy()))
    assert metrics.values["errcompact.errors"] == 2
    assert metrics.values["errcompact.escalations"] == 1
    assert metrics.values["errcompact.resolutions"] == 1
    assert metrics.values["errcompact.runs"] == 1
    assert metrics.values["errcompact.context.tokens"] == 2 * replayed.raw_error_tokens + replayed.digest_tokens
    assert metrics.sums["gen_ai.client.token.usage"] == replayed.context_tokens


def test_raw_errors_are_kept_in_a_trajectory_if_asked(tmp_path: Path) -> None:
    """The file can be read back."""
    path = tmp_path / "trajectory.jsonl"
    with open_pipeline(Options(trajectory=TrajectoryOptions(path=path))) as pipeline:
        list(pipeline.play(run(failing(), healthy(), failing("ls", MISSING))))
    spans = [found for record in read(path, on_problem=pytest.fail) for found in record.raws]
    assert [found.events[0].attributes["exception.stacktrace"] for found in spans] == [REFUSED, MISSING]


def test_without_asking_nothing_is_written(in_tmp: Path) -> None:
    """A replay leaves no trace on this machine."""
    with open_pipeline(QUIET) as pipeline:
        list(pipeline.play(run(failing())))
    assert list(in_tmp.iterdir()) == []


class Refusing(SpanExporter):
    """An endpoint that is not there."""

    def __init__(self) -> None:
        self.asked = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.asked += 1
        return SpanExportResult.FAILURE


class Raising(Refusing):
    """One whose exporter says so as its transport does."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.asked += 1
        raise ConnectionError("refused")


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("kind", [Refusing, Raising])
def test_an_endpoint_that_is_not_there_is_asked_once(kind: type[Refusing]) -> None:
    """The exporter has tried for long before it gives up; the replay goes on, and what is lost is counted."""
    exporter = kind()
    with open_pipeline(QUIET, span_exporter=exporter) as pipeline:
        (replayed,) = pipeline.play(run(*[failing()] * 3_000))
    assert (exporter.asked, pipeline.lost_spans, replayed.failures) == (1, 3_001, 3_000)


@pytest.mark.parametrize("kind", [Refusing, Raising])
def test_what_one_run_loses_is_counted(kind: type[Refusing]) -> None:
    """Its span and that of its call."""
    with open_pipeline(QUIET, span_exporter=kind()) as pipeline:
        list(pipeline.play(run(failing())))
    assert pipeline.lost_spans == 2


def test_nothing_is_lost_where_nothing_is_exported() -> None:
    """No endpoint is configured."""
    with open_pipeline(QUIET) as pipeline:
        list(pipeline.play(run(failing())))
    assert pipeline.lost_spans == 0


def test_a_replay_needs_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switched off it would count nothing and say that all is well."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with pytest.raises(ConfigurationError, match="OTEL_SDK_DISABLED"), open_pipeline(QUIET):
        pass
    assert _installed == []


def test_the_off_switch_of_applications_is_none_for_a_replay() -> None:
    """A replay that was asked for is what it says."""
    with open_pipeline(QUIET.model_copy(update={"enabled": False})) as pipeline:
        assert [found.failures for found in pipeline.play(run(failing()))] == [1]


def test_the_service_is_named_as_the_environment_says(monkeypatch: pytest.MonkeyPatch, play: Play) -> None:
    """Ours is only a default."""
    monkeypatch.setenv("OTEL_SERVICE_NAME", "shop")
    assert play(run(healthy())).spans["execute_tool db.query"].resource.attributes["service.name"] == "shop"


def test_nothing_stays_installed() -> None:
    """Afterwards the process is as it was."""
    with open_pipeline(QUIET):
        assert len(_installed) == 1
    assert _installed == []
