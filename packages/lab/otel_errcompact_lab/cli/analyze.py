"""`errcompact analyze`: the weight of errors in recorded runs."""

from __future__ import annotations

import heapq
import itertools
import json
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.analysis import Analyzer, Calibration, Total, read_outcomes
from otel_errcompact_lab.cli.output import Problems, say, say_skipped, write_json
from otel_errcompact_lab.cli.progress import read_records
from otel_errcompact_lab.transcripts import RecordedLife, RecordedTrace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from otel_errcompact.config import Options
    from otel_errcompact_lab.analysis import RunAnalysis


MAX_RUNS: Final = 15
"""Runs of the table; --json has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line."""

    paths: tuple[Path, ...]
    options: Options
    calibrate: bool = False
    outcomes: Path | None = None
    """The user's own labels of runs, which override the records."""

    tolerance: float = 0.05
    """The share of good runs that a threshold may stop."""


class Analysis:
    """The runs of a request, read once and one at a time."""

    def __init__(self, request: Request) -> None:
        options = request.options
        self.request = request
        self.problems = Problems()
        self.total = Total(options.thresholds)
        self.calibration = Calibration(options.thresholds)
        self.traces = 0
        """Traces that were left out."""
        self._analyzer = Analyzer(options)
        self._outcomes = None if request.outcomes is None else read_outcomes(request.outcomes)

    def runs(self) -> Iterator[RunAnalysis]:
        """Yield the analysis of each run, then report what is missing."""
        found = read_records(
            self.request.paths, self.problems, doing="analyzing", on_skipped=self._say_skipped_but_labels
        )
        for record in itertools.chain.from_iterable(records for _, records in found):
            if isinstance(record, RecordedTrace | RecordedLife):
                self.traces += 1
                continue
            run = self._analyzer.analyze(
                record if self._outcomes is None else replace(record, succeeded=self._outcomes.of(record))
            )
            self.total.add(run)
            self.calibration.add(run)
            yield run
        self._say_what_is_missing()

    def _say_skipped_but_labels(self, folder: Path, files: tuple[Path, ...]) -> None:
        labels = self.request.outcomes
        others = tuple(file for file in files if labels is None or not file.samefile(labels))
        if others:
            say_skipped(folder, others)

    def _say_what_is_missing(self) -> None:
        if self.traces:
            traces = "1 trace is" if self.traces == 1 else f"{self.traces:,} traces are"
            say(f"{traces} left out: spans do not record what the agent read; try 'errcompact replay' on them")
        if not self.total.runs:
            if not self.problems.count:
                self.problems.report("analyze", 0, "no run was found; name transcripts, or a folder of them")
        elif self._outcomes is not None and (unused := self._outcomes.describe_unused()):
            self.problems.report(self._outcomes.source, 0, unused)
        elif self.request.calibrate and not self.total.runs_with_outcome:
            self.problems.report(
                "--calibrate",
                0,
                "no run tells how it ended; name results with a reward, an exit status or a check of the result",
            )


def print_analysis(request: Request, *, as_json: bool) -> int:
    """Analyze recorded runs, print the results, and return the exit status."""
    analysis = Analysis(request)
    if as_json:
        _print_json(analysis)
        return analysis.problems.exit_code
    heaviest = _select_heaviest(analysis.runs())
    if analysis.total.runs:
        from otel_errcompact_lab.cli.analysis_tables import print_tables

        calibration = analysis.calibration if request.calibrate else None
        print_tables(analysis.total, heaviest, calibration, request.tolerance)
    return analysis.problems.exit_code


def _print_json(analysis: Analysis) -> None:
    # Each run is a line of its own as soon as it is read, so that none is kept.
    sys.stdout.write('{"runs": [')
    for number, run in enumerate(analysis.runs()):
        sys.stdout.write(f"{',' if number else ''}\n{json.dumps(run.to_json())}")
        sys.stdout.flush()
    sys.stdout.write('\n], "total":\n')
    write_json(analysis.total.to_json())
    sys.stdout.write(f', "left_out": {{"traces": {analysis.traces}}}\n')
    if analysis.request.calibrate:
        sys.stdout.write(', "calibration":\n')
        write_json(analysis.calibration.to_json(analysis.request.tolerance))
    sys.stdout.write("}\n")
    sys.stdout.flush()


def _select_heaviest(runs: Iterator[RunAnalysis]) -> list[RunAnalysis]:
    # Of equals the first one comes first.
    failing = (run for run in runs if run.counts.failures)
    ranked = ((run.counts.error_tokens, -place, run) for place, run in enumerate(failing))
    return [run for _, _, run in heapq.nlargest(MAX_RUNS, ranked)]
