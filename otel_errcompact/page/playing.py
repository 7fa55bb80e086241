"""Playing recorded runs for the page: complete records with the thresholds, what holds only failures without."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import Options
from otel_errcompact.escalation import Thresholds
from otel_errcompact.otel import semconv
from otel_errcompact.replay import open_pipeline
from otel_errcompact.transcripts import RecordedTrace, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from otel_errcompact.page.gathering import Gathering
    from otel_errcompact.replay import Pipeline
    from otel_errcompact.transcripts import RecordedRun
    from otel_errcompact.transcripts.records import OnProblem

_NEVER: Final = 2**31
NO_THRESHOLDS: Final = Thresholds(
    same=_NEVER, rejected=_NEVER, loop=_NEVER, loop_halt=_NEVER, consecutive=_NEVER, total=_NEVER
)
"""For records that do not tell what succeeded between: no streak and no escalation can be claimed of them."""


def play(
    files: Iterable[Path],
    gathering: Gathering,
    *,
    options: Options | None = None,
    on_problem: OnProblem,
    on_bytes: Callable[[int], None] | None = None,
) -> int:
    """
    Play the runs of all files, tell the gathering of them, and return how many spans could not be exported.

    Args:
        files: Trajectory files and transcripts.
        gathering: What goes on the page.
        options: All options; read from the environment if None. No trajectory file is written.
        on_problem: Takes what is malformed.
        on_bytes: Takes the number of bytes read since its last call.
    """
    options = options or Options.from_environ()
    options = options.model_copy(update={"trajectory": options.trajectory.model_copy(update={"enabled": False})})
    pipelines: dict[bool, Pipeline] = {}
    with ExitStack() as stack:
        for file in files:
            records = read(file, on_problem=on_problem, on_bytes=on_bytes)
            first = next(records, None)
            if first is None:
                continue
            failures_only = holds_only_failures(first)
            if failures_only not in pipelines:
                update = {"thresholds": NO_THRESHOLDS} if failures_only else {}
                opened = open_pipeline(options.model_copy(update=update), listeners=(gathering,))
                pipelines[failures_only] = stack.enter_context(opened)
            gathering.begin(str(file), failures_only=failures_only)
            _play_file(itertools.chain((first,), records), pipelines[failures_only], gathering)
    return sum(pipeline.lost_spans for pipeline in pipelines.values())


def _play_file(records: Iterable[RecordedRun | RecordedTrace], pipeline: Pipeline, gathering: Gathering) -> None:
    for record in records:
        for run in pipeline.play(record):
            gathering.take(run)
    for run in pipeline.finish():
        gathering.take(run)


def holds_only_failures(record: RecordedRun | RecordedTrace) -> bool:
    """
    Tell a trajectory file, by one of its records: a span of no duration for a failure, and nothing else.
    """
    return isinstance(record, RecordedTrace) and all(
        span.scope_name == semconv.SCOPE
        and semconv.RUN_ID in span.attributes
        and span.status == "error"
        and span.start_ns == span.end_ns
        for span in record.spans
    )
