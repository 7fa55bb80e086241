"""A pipeline whose spans can be looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact_lab.replay import ReplayedRun, open_pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.sdk.trace import ReadableSpan

    from otel_errcompact_lab.transcripts import RecordedRun, RecordedTrace

    Play = Callable[..., "Played"]


@dataclass
class Played:
    """
    What came of a replay, and the spans it made.
    """

    runs: list[ReplayedRun] = field(default_factory=list)
    spans: dict[str, ReadableSpan] = field(default_factory=dict)
    """By name; the newest of each."""

    count: int = 0


@pytest.fixture
def play() -> Play:
    """Plays records through a pipeline of their own, as those of one file."""

    def play_records(*records: RecordedRun | RecordedTrace, **thresholds: int) -> Played:
        options = Options(thresholds=Thresholds(**thresholds), trajectory=TrajectoryOptions(enabled=False))
        exporter = InMemorySpanExporter()
        played = Played()
        with open_pipeline(options, span_exporter=_Kept(exporter)) as pipeline:
            for record in records:
                played.runs += pipeline.play(record)
            played.runs += pipeline.finish()
        spans = exporter.get_finished_spans()
        played.spans = {span.name: span for span in spans}
        played.count = len(spans)
        return played

    return play_records


class _Kept(InMemorySpanExporter):
    """Keeps what was exported beyond the shutdown of its provider."""

    def __init__(self, inner: InMemorySpanExporter) -> None:
        super().__init__()
        self.export = inner.export  # type: ignore[method-assign]
