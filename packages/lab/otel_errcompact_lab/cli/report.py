"""`errcompact report`: reports of recorded runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from otel_errcompact.audit.files import list_trajectories
from otel_errcompact.audit.life import no_thresholds
from otel_errcompact.config import Options, trajectories_folder
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_lab.cli.output import Problems, count_noun, printable, say, write_json
from otel_errcompact_lab.cli.progress import read_records
from otel_errcompact_lab.cli.replay import replay_files, report_lost
from otel_errcompact_lab.cli.sources import DEVICE, STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from otel_errcompact_lab.html_report.collector import PageData
    from otel_errcompact_lab.replay import ReplayedRun


_UNKNOWN_OF_RUN: Final = ("handled", "after_escalation", "sent_tokens", "digest_tokens", "escalations")
_UNKNOWN_OF_CLASS: Final = ("streak",)
"""Fields of reports that raw errors alone do not give: null in JSON."""


def find_newest() -> list[Path]:
    """
    Return the trajectory file that was written last; say which, of several.

    Raises:
        ConfigurationError: There is none.
    """
    found = list_trajectories()
    if not found:
        raise ConfigurationError(f"report: no trajectory file is in {trajectories_folder()}; name one")
    newest, *older = found
    if older:
        say(f"report: {newest}; {count_noun(len(older), 'other file')} in {newest.parent}")
    return [newest]


def print_reports(files: Sequence[Path], *, as_json: bool) -> int:
    """Print each report as Markdown or JSON, and return the exit status."""
    problems = Problems()
    # Where a record does not hold the thresholds of a run, nothing is claimed of escalations.
    options = Options.from_environ().model_copy(update={"thresholds": no_thresholds()})
    runs = replay_files(files, options, problems)
    if as_json:
        write_json([_report_as_json(run) for run in _say_halves(runs)], indent=2)
        return problems.exit_code
    for number, run in enumerate(_say_halves(runs)):
        head, *rest = run.report.to_markdown().splitlines()
        lines = [head, *(["", f"Of this run {run.lacks}."] if run.lacks else []), *rest]
        text = "\n".join(printable(line) for line in lines)
        sys.stdout.write(f"\n{text}\n" if number else f"{text}\n")
    return problems.exit_code


def _say_halves(runs: Iterable[ReplayedRun]) -> Iterator[ReplayedRun]:
    said = False
    for run in runs:
        yield run
        if run.raw_errors_alone and run.source == str(DEVICE) and not said:
            said = True
            say(
                "standard input: a pipe carries no second file; name the trajectory file instead, "
                "or pipe both: cat NAME.jsonl NAME.runs.jsonl"
            )


def _report_as_json(run: ReplayedRun) -> dict[str, object]:
    report = run.report.model_dump(mode="json")
    if run.raw_errors_alone:
        report |= dict.fromkeys(_UNKNOWN_OF_RUN)
        report["classes"] = [found | dict.fromkeys(_UNKNOWN_OF_CLASS) for found in report["classes"]]
    return {**report, "record_lacks": run.lacks} if run.lacks else report


def print_page(paths: Sequence[Path], output: Path, *, raw: bool, baseline: Sequence[Path] = ()) -> int:
    """Write all reports as one HTML page, and return the exit status."""
    # jinja2 is loaded for a page only.
    from otel_errcompact_lab.html_report import check_output, compare, write_page

    if str(output) == STANDARD_INPUT:
        raise ConfigurationError("--output -: a page goes to a file; name one, as report.html")
    check_output(output)
    problems = Problems()
    compared = gather_baseline(baseline, problems, raw=raw) if baseline else None
    page = gather(paths, problems, raw=raw)
    comparison = compare(compared, page) if compared is not None else None
    size = write_page(page, output, comparison)
    failures, runs = count_noun(page.totals.failures, "failure"), count_noun(page.totals.runs, "run")
    say(f"{output}: {failures} in {runs}, {size:,} bytes")
    return problems.exit_code


def gather(paths: Sequence[Path], problems: Problems, *, raw: bool = False) -> PageData:
    """Play all runs, with a progress bar; return their data."""
    from otel_errcompact_lab.html_report import Collector, play

    collector = Collector(raw=raw)
    lost = play(read_records(paths, problems), collector)
    report_lost(lost, problems)
    return collector.page()


def gather_baseline(paths: Sequence[Path], problems: Problems, *, raw: bool = False) -> PageData:
    """
    Play the runs of the baseline, and return their data.

    Raises:
        ConfigurationError: There are none, so that everything would seem new.
    """
    page = gather(paths, problems, raw=raw)
    if not page.totals.runs:
        raise ConfigurationError(f"--compare {paths[0]}: holds no run to compare with; name another file")
    return page
