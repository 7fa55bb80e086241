"""What operators see of a compaction: counters by layer, and a span for each."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_errcompact_context.notes import Compaction, LayerNote
from otel_errcompact_context.telemetry import ContextTelemetry
from packages.context.tests.compactions import FULL, IDLE, RESULTS


class Seen:
    """
    The telemetry of the context, and what came out of it.
    """

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.exporter = InMemorySpanExporter()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = tracers.get_tracer("agent")
        meters = MeterProvider([self.reader], shutdown_on_exit=False)
        self.telemetry = ContextTelemetry(meter_provider=meters, tracer_provider=tracers)

    def points(self, name: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        found = data.resource_metrics if data is not None else []
        every = [metric for one in found for scope in one.scope_metrics for metric in scope.metrics]
        return [point for metric in every if metric.name == name for point in metric.data.data_points]

    def values(self, name: str) -> dict[tuple[Any, ...], Any]:
        return {
            tuple(value for _, value in sorted(point.attributes.items())): point.value for point in self.points(name)
        }


@pytest.fixture
def seen() -> Seen:
    return Seen()


def compaction(*notes: LayerNote) -> Compaction:
    return Compaction(
        messages=[], session="chat-7", notes=notes, tokens_before=1_000, tokens_after=130, room_tokens=800
    )


def test_each_layer_that_cut_or_could_not_is_counted_with_its_reason(seen: Seen) -> None:
    """One that had nothing to do is no news."""
    seen.telemetry(compaction(IDLE, RESULTS, FULL))
    assert seen.values("errcompact.context.compactions") == {
        ("results", "always", "cut"): 1,
        ("micro", "over_trigger", "problem"): 1,
    }


def test_tokens_are_told_before_and_after_and_how_many_lost_their_cache(seen: Seen) -> None:
    """Their sums over time are what each layer has saved, and what that cost."""
    seen.telemetry(compaction(RESULTS))
    seen.telemetry(compaction(RESULTS))
    assert seen.values("errcompact.context.layer.tokens") == {
        ("before", "results"): 2_000,
        ("after", "results"): 260,
        ("invalidated", "results"): 1_820,
    }


def test_the_duration_of_a_layer_is_in_seconds(seen: Seen) -> None:
    """The convention for durations."""
    seen.telemetry(compaction(RESULTS))
    (point,) = seen.points("errcompact.context.layer.duration")
    assert (point.sum, dict(point.attributes)) == (0.002, {"errcompact.layer": "results"})


def test_a_compaction_is_a_span_with_one_inside_for_each_layer(seen: Seen) -> None:
    """They stand where the compaction was asked for, at the time when it happened."""
    with seen.tracer.start_as_current_span("chat") as parent:
        seen.telemetry(compaction(IDLE, RESULTS, FULL))
    results, micro, whole, chat = seen.exporter.get_finished_spans()
    assert (chat.name, whole.name, results.name, micro.name) == (
        "chat",
        "compact_context",
        "compact_context results",
        "compact_context micro",
    )
    assert whole.parent is not None
    assert whole.parent.span_id == parent.get_span_context().span_id
    assert dict(whole.attributes or {}) == {
        "gen_ai.conversation.id": "chat-7",
        "errcompact.tokens.before": 1_000,
        "errcompact.tokens.after": 130,
        "errcompact.tokens.room": 800,
    }
    assert dict(results.attributes or {}) == {
        "errcompact.layer": "results",
        "errcompact.reason": "always",
        "errcompact.tokens.before": 1_000,
        "errcompact.tokens.after": 130,
        "errcompact.tokens.invalidated": 910,
        "errcompact.cuts": 1,
    }
    assert (micro.attributes or {})["errcompact.problem"] == "the disk is full"
    assert (results.start_time, results.end_time) == (5_000_000_000, 5_002_000_000)
    assert (whole.start_time, whole.end_time) == (5_000_000_000, 5_002_500_000)


def test_a_compaction_that_found_nothing_leaves_no_trace(seen: Seen) -> None:
    """Most turns need none."""
    seen.telemetry(compaction(IDLE))
    assert (seen.exporter.get_finished_spans(), seen.points("errcompact.context.compactions")) == ((), [])


def test_overflows_are_counted_by_what_became_of_them(seen: Seen) -> None:
    """The provider is named where it is known."""
    seen.telemetry.overflowed("recovered", "anthropic")
    seen.telemetry.overflowed("failed")
    assert seen.values("errcompact.context.overflows") == {("recovered", "anthropic"): 1, ("failed",): 1}
