"""What an agent reads of a tool's result: the only module that asks the library, by entries that last."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from otel_errcompact.config import Options
from otel_errcompact.detector.results import classify_result
from otel_errcompact.digest import DigestOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_lab.analysis.runs import build_raw_error
from otel_errcompact_lab.transcripts import RecordedCall, RecordedRun, find, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

RUN = "run"
WAY_BACK = "errcompact raw '#{key}'"


class Seen(NamedTuple):
    """A tool's result, as it was judged, and what the agent reads of it."""

    call: RecordedCall
    outcome: str
    certainty: str
    """`declared` or `stated` for a failure; else empty."""

    text: str

    @property
    def failed(self) -> bool:
        """Whether the library counts it as a failure."""
        return self.outcome == "failure"


class Recording(NamedTuple):
    """A recorded run, and the set of recordings it belongs to."""

    source: str
    path: Path
    run: RecordedRun


def play(calls: Iterable[RecordedCall]) -> list[Seen]:
    """Return what the agent reads of the calls of one run, in their order, each a turn of its own."""
    ledger = Ledger(Options(digest=DigestOptions(way_back=WAY_BACK)))
    return [_play(ledger, call) for call in calls]


def _play(ledger: Ledger, call: RecordedCall) -> Seen:
    verdict = classify_result(
        call.result, tool=call.tool, arguments=call.arguments, flagged=call.flagged, exit_code=call.exit_code
    )
    certainty, text = "", call.result
    if verdict.outcome == "failure":
        certainty = verdict.certainty
        observed = ledger.observe(RUN, build_raw_error(call, verdict)).text
        # As at every boundary: what a host calls a success stays.
        text = call.result if verdict.stated and (call.flagged is False or call.exit_code == 0) else observed
    elif verdict.outcome == "success":
        ledger.succeed(RUN, call.tool, arguments=call.arguments, directory=call.directory)
    return Seen(call=call, outcome=verdict.outcome, certainty=certainty, text=text)


def read_in_turn(
    texts: Iterable[str], *, tool: str = "bash", arguments: str = "", exit_code: int | None = None
) -> list[str]:
    """Return what the agent reads of failures that arrive one after the other in one run."""
    calls = [
        RecordedCall(
            tool=tool,
            result=text,
            start_ns=at,
            end_ns=at,
            line=at,
            arguments=arguments,
            flagged=True,
            exit_code=exit_code,
        )
        for at, text in enumerate(texts, 1)
    ]
    return [seen.text for seen in play(calls)]


def read_recordings(folders: Sequence[Path]) -> Iterator[Recording]:
    """
    Yield the runs below some folders, but no traces.

    A source is a folder, or each folder in it that holds transcripts.
    """
    for folder in folders:
        for path in find([folder]) if folder.is_dir() else ():
            parts = path.relative_to(folder).parts
            source = parts[0] if len(parts) > 1 else folder.name
            for run in read(path, on_problem=lambda _: None):
                if isinstance(run, RecordedRun):
                    yield Recording(source=source, path=path, run=run)
