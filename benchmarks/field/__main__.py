"""
What agents read of failures: one table over recorded runs and labelled texts.

Run `python -m benchmarks.field --recordings FOLDER`. What is not there is not measured.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.field.labelled import measure_cases, measure_labels, measure_long, measure_places_of_corpus
from benchmarks.field.reading import Seen, read_recordings
from benchmarks.field.recorded import Rows
from benchmarks.quality.data import DEFAULT
from benchmarks.quality.report import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.field.row import Row

NO_DATA = "not measured: no data"
HEAD_LINES, TAIL_LINES = 8, 12


def main() -> int:
    """Measure, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.field", description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT, help="the folder of labelled texts and transcripts")
    parser.add_argument(
        "--recordings", type=Path, nargs="*", default=[], metavar="FOLDER", help="recorded runs, beside the transcripts"
    )
    parser.add_argument("--json", action="store_true", help="print numbers instead of a table")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was lost too")
    parser.add_argument("--samples", type=int, default=0, metavar="N", help="print N failures that no flag declares")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which ones")
    arguments = parser.parse_args()
    recorded = Rows()
    for recording in read_recordings([arguments.data / "transcripts", *arguments.recordings]):
        recorded.take(recording)
    rows = measure_rows(arguments.data, recorded)
    if arguments.json:
        numbers = {row.name: {score.name: [score.right, score.all] for score in row.measured} for row in rows}
        print(json.dumps(numbers, indent=2))
        return 0
    print(tell(rows))
    if arguments.verbose:
        lost = [(f"{row.name}: {score.name}", score.wrong) for row in rows for score in row.measured]
        print(*(f"\n## {name}\n\n" + "\n".join(wrong) for name, wrong in lost if wrong), sep="\n")
    chosen = random.Random(arguments.seed).sample(recorded.stated, min(arguments.samples, len(recorded.stated)))
    print(*(f"\n## {where}\n\n{cut(seen)}" for where, seen in chosen), sep="\n")
    return 0


def measure_rows(data: Path, recorded: Rows) -> list[Row]:
    """Return all rows in their order."""
    rows = [measure_cases(data), measure_labels(data), measure_long(data), *recorded.rows(measure_places_of_corpus())]
    return sorted(rows, key=lambda row: int(row.name.partition(" ")[0]))


def tell(rows: Sequence[Row]) -> str:
    """Return the table, and below it what each row leaves out."""
    lines: list[tuple[object, ...]] = []
    for row in rows:
        lines += [
            (f"{row.name}: {score.name}", score.right, score.all, f"{100 * score.right / score.all:.1f} %")
            for score in row.measured
        ] or [(row.name, NO_DATA, "", "")]
    left_out = [f"- {row.name}: {row.leaves_out}" for row in rows]
    return "\n".join([table(("what agents read", "right", "of", "share"), lines), "", "Left out:", "", *left_out])


def cut(seen: Seen) -> str:
    """Return head and tail of a result."""
    lines = seen.call.result.rstrip().splitlines()
    middle = len(lines) - HEAD_LINES - TAIL_LINES
    if middle > 0:
        lines[HEAD_LINES:-TAIL_LINES] = [f"... {middle} lines not printed ..."]
    return "\n".join(line[:300] for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
