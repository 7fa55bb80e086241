"""`errcompact replay`: recorded runs through the real pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.otel.export import otlp
from otel_errcompact_lab.cli.output import Problems, count_noun, say_unwritten, write_json
from otel_errcompact_lab.cli.progress import read_records
from otel_errcompact_lab.cli.sources import check_appendable
from otel_errcompact_lab.cli.summary import print_summary
from otel_errcompact_lab.replay import open_pipeline, total_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from otel_errcompact.config import Options
    from otel_errcompact_lab.replay import ReplayedRun


def print_replay(paths: Sequence[Path], options: Options, trajectory: Path | None, *, as_json: bool) -> int:
    """Play recorded runs, print the results, and return the exit status."""
    if trajectory is not None:
        check_appendable(trajectory, "--trajectory")
    problems = Problems()
    runs = list(replay_files(paths, options, problems, trajectory))
    if as_json:
        total = total_of(runs).model_dump(mode="json")
        write_json({"runs": [run.model_dump(mode="json") for run in runs], "total": total}, indent=2)
    else:
        print_summary(runs)
    return problems.exit_code


def replay_files(
    paths: Sequence[Path], options: Options, problems: Problems, trajectory: Path | None = None
) -> Iterator[ReplayedRun]:
    """Yield the result of each recorded run, with a progress bar."""
    file = options.trajectory.model_copy(update={"enabled": trajectory is not None, "path": trajectory})
    options = options.model_copy(update={"trajectory": file})
    with open_pipeline(options) as pipeline:
        for _, records in read_records(paths, problems):
            for record in records:
                yield from pipeline.play(record)
            yield from pipeline.finish()
    report_lost(pipeline.lost_spans, problems)
    if pipeline.unwritten and trajectory is not None:
        say_unwritten(trajectory, pipeline.unwritten)
        problems.is_output_lost = True


def report_lost(spans: int, problems: Problems) -> None:
    """Report spans that no collector has taken."""
    if spans:
        problems.report(otlp.ENDPOINT, 0, f"{count_noun(spans, 'span')} could not be exported; is a collector there?")
