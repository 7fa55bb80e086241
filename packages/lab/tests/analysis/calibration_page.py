"""
The measured tables of `docs/calibration.md`: which rows they have, and what each of them says.

    .venv/bin/python -m packages.lab.tests.analysis.calibration_page     # prints the tables, for the page
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.escalator.thresholds import Threshold, Thresholds
from otel_errcompact_lab.analysis import Analyzer, Calibration, read_outcomes
from otel_errcompact_lab.transcripts import RecordedRun, find, read
from tests.fixtures import SHARED_DATA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact_lab.analysis.calibration import Control, Row, Side
    from otel_errcompact_lab.transcripts.records import TranscriptError

PAGE: Final = Path(__file__).parents[4] / "docs" / "calibration.md"
SETS: Final = {"SWE-agent": "outcomes", "tau-bench": "transcripts/openai_chat_taubench"}
"""The folder of each table's runs, by the table's heading."""

ROWS: Final[tuple[tuple[Threshold, tuple[int, ...]], ...]] = (
    ("same", (2, 3)),
    ("rejected", (5,)),
    ("loop", (4, 6)),
    ("consecutive", (6,)),
    ("total", (30,)),
)


def calibrated(data: Path, folder: str) -> Calibration:
    """Return the calibration of a set, on the labels beside its runs where there are any."""
    found, analyzer = Calibration(Thresholds()), Analyzer()
    labels = data / folder / "outcomes.json"
    outcomes = read_outcomes(labels) if labels.exists() else None
    for file in find([data / folder]):
        for record in read(file, on_problem=_refuse):
            if isinstance(record, RecordedRun):
                succeeded = record.succeeded if outcomes is None else outcomes.of(record)
                found.add(analyzer.analyze(replace(record, succeeded=succeeded)))
    return found


def _refuse(problem: TranscriptError) -> None:
    raise problem


def lines(found: Calibration) -> Iterator[str]:
    """Yield the rows of a table."""
    for name, limits in ROWS:
        for limit in limits:
            yield _line(f"`{name}` {limit}", found.row(name, limit))
    yield _line("all as set", found.together())


def refusals(found: Calibration) -> str:
    """Return the row of refusals."""
    sums = found.refusals
    return (
        f"| {sums.retries} | {sums.refused} | {sums.worked} | {sums.differed} | {sums.failed_again} | {sums.missed} |"
    )


def _line(name: str, row: Row) -> str:
    cells = (name, _side(row.good), _side(row.bad), _control(row.control), _after(row.good), _after(row.bad))
    return f"| {' | '.join(cells)} |"


def _side(side: Side) -> str:
    low, high = (f"{100 * bound:.1f}" for bound in side.interval)
    return f"{side.stopped.runs}, {100 * side.share:.1f} % ({low}-{high})"


def _control(control: Control) -> str:
    if control.power == "few" or control.ratio is None or control.interval is None:
        return f"few: {control.observed} of {control.expected:.1f}" if control.stopped else "-"
    low, high = control.interval
    return f"{control.ratio:.2f} ({low:.2f}-{high:.2f})"


def _after(side: Side) -> str:
    after = side.stopped.after
    return f"{after.calls}, {after.context_tokens:,}" if side.stopped.runs else "-"


if __name__ == "__main__":
    for heading, place in SETS.items():
        table = calibrated(Path(*sys.argv[1:]) if sys.argv[1:] else SHARED_DATA, place)
        rows = "\n".join(lines(table))
        sys.stdout.write(f"{heading}: {table.good} good, {table.bad} bad\n{rows}\n{refusals(table)}\n")
