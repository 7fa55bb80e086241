"""Playing recorded runs for the page."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from typing import TYPE_CHECKING

from otel_errcompact.audit.life import no_thresholds
from otel_errcompact.config import Options
from otel_errcompact_lab.replay import open_pipeline
from otel_errcompact_lab.transcripts import RecordedLife, RecordedTrace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from otel_errcompact_lab.html_report.collector import Collector
    from otel_errcompact_lab.html_report.model import RecordKind
    from otel_errcompact_lab.replay import Pipeline, ReplayedRun
    from otel_errcompact_lab.transcripts import RecordedRun

    Recorded = RecordedRun | RecordedTrace | RecordedLife


def play(
    files: Iterable[tuple[Path, Iterable[Recorded]]], collector: Collector, *, options: Options | None = None
) -> int:
    """
    Play the runs of all files; return the number of lost spans.

    Options are read from the environment if None. No trajectory file is written.
    """
    options = (options or Options.from_environ()).with_way_back("the raw error has them")
    options = options.model_copy(update={"trajectory": options.trajectory.model_copy(update={"enabled": False})})
    with ExitStack() as stack:
        played = _Played(options, collector, stack)
        for file, records in files:
            played.play(file, records)
    return played.lost_spans


class _Played:
    """Two pipelines: for records with successes, and for failures alone."""

    def __init__(self, options: Options, collector: Collector, stack: ExitStack) -> None:
        self._options = options
        self._collector = collector
        self._stack = stack
        self._pipelines: dict[bool, Pipeline] = {}

    @property
    def lost_spans(self) -> int:
        """Spans that could not be exported."""
        return sum(pipeline.lost_spans for pipeline in self._pipelines.values())

    def play(self, file: Path, records: Iterable[Recorded]) -> None:
        """Play the records of one file, neighbours of one kind together."""
        begun = False
        for kind, group in itertools.groupby(records, key=kind_of):
            self._collector.begin(str(file), kind=kind, more=begun)
            begun = True
            pipeline = self._open_pipeline(kind == "raw")
            for record in group:
                self._take_runs(pipeline.play(record))
            self._take_runs(pipeline.finish())

    def _take_runs(self, runs: Iterable[ReplayedRun]) -> None:
        for run in runs:
            self._collector.take(run)

    def _open_pipeline(self, failures_only: bool) -> Pipeline:
        if failures_only not in self._pipelines:
            update = {"thresholds": no_thresholds()} if failures_only else {}
            opened = open_pipeline(
                self._options.model_copy(update=update), listeners=(self._collector,), on_call=self._collector.take_call
            )
            self._pipelines[failures_only] = self._stack.enter_context(opened)
        return self._pipelines[failures_only]


def kind_of(record: Recorded) -> RecordKind:
    """Return what a record holds of its run."""
    if isinstance(record, RecordedLife):
        return "live"
    return "raw" if isinstance(record, RecordedTrace) and record.holds_raw_errors_alone else "calls"
