"""`errcompact report`: trajectory files and transcripts in, the account of each run or one HTML page out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from otel_errcompact.cli.output import Problems, printable, say, write_json
from otel_errcompact.cli.progress import progress
from otel_errcompact.cli.replay import Settings, replayed
from otel_errcompact.otel import otlp
from otel_errcompact.transcripts import find

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NEVER: Final = 2**31
"""A trajectory holds what failed, and not what succeeded between: nothing can be said of streaks and escalations."""


def print_reports(files: Sequence[Path], *, as_json: bool) -> int:
    """
    Print the account of each run as Markdown or JSON, and return the exit code.
    """
    problems = Problems()
    options = Settings(same=NEVER, consecutive=NEVER, total=NEVER).options()
    reports = (run.report for run in replayed(files, options, problems))
    if as_json:
        write_json([report.model_dump(mode="json") for report in reports], indent=2)
        return problems.exit_code
    for number, report in enumerate(reports):
        lines = report.to_markdown().splitlines()
        text = "\n".join(printable(line) for line in lines)
        sys.stdout.write(f"\n{text}\n" if number else f"{text}\n")
    return problems.exit_code


def print_page(paths: Sequence[Path], output: Path, *, raw: bool) -> int:
    """
    Write the account of all runs as one HTML page, say where and how large, and return the exit code.
    """
    # jinja2 is loaded for a page only.
    from otel_errcompact.page import Gathering, check_output, play, write_page

    check_output(output)
    problems = Problems()
    gathering = Gathering(raw=raw)
    files = list(find(paths, on_problem=problems.take))
    with progress(files) as advance:
        lost = play(files, gathering, on_problem=problems.take, on_bytes=advance)
    if lost:
        problems.report(otlp.ENDPOINT, 0, f"{lost:,} spans could not be exported; is a collector there?")
    page = gathering.page()
    size = write_page(page, output)
    say(f"{output}: {page.totals.failures:,} failures of {page.totals.runs:,} runs, {size:,} bytes")
    return problems.exit_code
