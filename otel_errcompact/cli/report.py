"""`errcompact report`: trajectory files in, the account of each run out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from otel_errcompact.cli.output import Problems, printable, write_json
from otel_errcompact.cli.replay import Settings, replayed

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
