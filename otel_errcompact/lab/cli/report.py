"""`errcompact report`: reports of recorded runs, and their overview."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Final

from otel_errcompact.audit.files import list_trajectories
from otel_errcompact.config import trajectories_folder
from otel_errcompact.digest import one_line
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.lab.cli.output import Problems, printable, say, say_skipped, write_json
from otel_errcompact.lab.cli.progress import progress
from otel_errcompact.lab.cli.replay import Settings, replay_files, report_lost
from otel_errcompact.lab.cli.sources import DEVICE, STANDARD_INPUT, list_readable
from otel_errcompact.lab.replay.lives import NO_THRESHOLDS
from otel_errcompact.lab.transcripts import find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from otel_errcompact.engine.report import ClassReport, RunReport
    from otel_errcompact.lab.html_report.collector import PageData
    from otel_errcompact.lab.replay import ReplayedRun


MOST: Final = 30
"""Classes, and kinds of escalations, that the overview lists."""

_CAUSE: Final = 100
_MARK: Final = 4
"""Digits of the mark of a class, where no other class begins alike."""


def write_overview(reports: Sequence[RunReport], *, incomplete: int = 0) -> str:
    """
    Return several reports as one Markdown section, the most frequent first.

    Args:
        reports: The reports of runs.
        incomplete: How many of them are of records that lack something.
    """
    found = _group_classes(reports)
    marks = _shorten_keys([group[0].key for group in found])
    failures = sum(report.occurrences for report in reports)
    lines = [
        f"# {len(reports):,} runs: {_join(Counter(report.result for report in reports))}",
        "",
        f"Failures: {failures:,}, in {len(found):,} {'class' if len(found) == 1 else 'classes'}.",
    ]
    if incomplete:
        lines += ["", f"Runs whose record lacks something, as is said at each: {incomplete:,}."]
    if found:
        lines += ["", "| class | tool | error | failures | runs | ended |", "|---|---|---|---:|---:|---|"]
        lines += [_write_row(group, marks[group[0].key]) for group in found[:MOST]]
        lines += [f"| ... | | {len(found) - MOST:,} more classes | | | |"] if len(found) > MOST else []
    return "\n".join([*lines, *_list_escalations(reports, marks)]) + "\n"


def _group_classes(reports: Iterable[RunReport]) -> list[list[ClassReport]]:
    groups: dict[str, list[ClassReport]] = {}
    for report in reports:
        for found in report.classes:
            groups.setdefault(found.key, []).append(found)
    return sorted(groups.values(), key=lambda group: -sum(found.count for found in group))


def _shorten_keys(keys: Sequence[str]) -> dict[str, str]:
    # As many digits as tell a class from all others.
    marks: dict[str, str] = {}
    for key in keys:
        size = _MARK
        while size < len(key) and any(other != key and other.startswith(key[:size]) for other in keys):
            size += 1
        marks[key] = f"#{key[:size]}"
    return marks


def _write_row(group: Sequence[ClassReport], mark: str) -> str:
    newest = group[-1]
    tools = ", ".join(sorted({found.tool for found in group}))
    cause = one_line(f"[{newest.type.rpartition('.')[2]}] {newest.cause}", _CAUSE).replace("|", "\\|")
    ended = _join(Counter(found.status.lower() for found in group))
    failures = sum(found.count for found in group)
    return f"| `{mark}` | {one_line(tools, _CAUSE)} | {cause} | {failures:,} | {len(group):,} | {ended} |"


def _list_escalations(reports: Iterable[RunReport], marks: dict[str, str]) -> list[str]:
    counts: Counter[tuple[str, str, str]] = Counter()
    newest: dict[tuple[str, str, str], str] = {}
    for report in reports:
        for answered in report.escalations:
            kind = (answered.action, answered.escalation.threshold, answered.escalation.key)
            counts[kind] += 1
            mark = marks.get(answered.escalation.key, "")
            newest[kind] = one_line(f"{answered.action}: {answered.escalation.reached} {mark}".rstrip(), 2 * _CAUSE)
    if not counts:
        return []
    more = [f"- ... {len(counts) - MOST:,} more kinds"] if len(counts) > MOST else []
    listed = [f"- {count:,} x {newest[kind]}" for kind, count in counts.most_common(MOST)]
    return ["", "## Escalations of all runs", "", *listed, *more]


def _join(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


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
        say(f"report: {newest}; {_count(len(older), 'other file')} in {newest.parent}")
    return [newest]


def print_reports(files: Sequence[Path], *, as_json: bool) -> int:
    """Print each report as Markdown or JSON, and return the exit status."""
    problems = Problems()
    # Where a record does not hold the thresholds of a run, nothing is claimed of escalations.
    options = Settings().options().model_copy(update={"thresholds": NO_THRESHOLDS})
    runs = replay_files(files, options, problems)
    if as_json:
        write_json([_as_json(run) for run in _say_halves(runs)], indent=2)
        return problems.exit_code
    played = list(_say_halves(runs))
    if len(played) > 1:
        overview = write_overview([run.report for run in played], incomplete=sum(bool(run.lacks) for run in played))
        sys.stdout.write("\n".join(printable(line) for line in overview.splitlines()) + "\n\n")
    for number, run in enumerate(played):
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


def _as_json(run: ReplayedRun) -> dict[str, object]:
    report = run.report.model_dump(mode="json")
    if run.raw_errors_alone:
        report |= dict.fromkeys(_UNKNOWN_OF_RUN)
        report["classes"] = [found | dict.fromkeys(_UNKNOWN_OF_CLASS) for found in report["classes"]]
    return {**report, "record_lacks": run.lacks} if run.lacks else report


def print_page(paths: Sequence[Path], output: Path, *, raw: bool, baseline: Sequence[Path] = ()) -> int:
    """Write all reports as one HTML page, and return the exit status."""
    # jinja2 is loaded for a page only.
    from otel_errcompact.lab.html_report import check_output, compare, write_page

    if str(output) == STANDARD_INPUT:
        raise ConfigurationError("--output -: a page goes to a file; name one, as report.html")
    check_output(output)
    problems = Problems()
    compared = gather_baseline(baseline, problems, raw=raw) if baseline else None
    page = gather(paths, problems, raw=raw)
    comparison = compare(compared, page) if compared is not None else None
    size = write_page(page, output, comparison)
    failures, runs = _count(page.totals.failures, "failure"), _count(page.totals.runs, "run")
    say(f"{output}: {failures} in {runs}, {size:,} bytes")
    return problems.exit_code


def gather(paths: Sequence[Path], problems: Problems, *, raw: bool = False) -> PageData:
    """Play all runs, with a progress bar; return their data."""
    from otel_errcompact.lab.html_report import Collector, play

    collector = Collector(raw=raw)
    files = list(find(list_readable(paths, problems), on_problem=problems.take, on_skipped=say_skipped))
    with progress(files) as advance:
        lost = play(files, collector, on_problem=problems.take, on_bytes=advance)
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


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
