"""`errcompact report --compare`: two reports compared, as Markdown or JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.cli.output import Problems, printable, write_json
from otel_errcompact_lab.cli.report import gather, gather_baseline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from otel_errcompact_lab.html_report.collector import PageData
    from otel_errcompact_lab.html_report.comparison import Change, ComparedClass, Comparison, Side

MAX_LINES: Final = 20
"""Classes of one change; of more, those with the most failures."""

_TITLES: Final[dict[Change, str]] = {"unknown": "Not known", "alike": "About as often"}


def print_comparison(paths: Sequence[Path], baseline: Sequence[Path], *, as_json: bool) -> int:
    """Print what differs from the baseline, and return the exit status."""
    # jinja2 is loaded with the page's data.
    from otel_errcompact_lab.html_report import compare

    problems = Problems()
    before = gather_baseline(baseline, problems)
    here = gather(paths, problems)
    comparison = compare(before, here)
    if as_json:
        write_json(_as_json(comparison, here), indent=2)
    else:
        sys.stdout.writelines(f"{line}\n" for line in _as_markdown(comparison, here))
    return problems.exit_code


def _as_json(comparison: Comparison, here: PageData) -> dict[str, object]:
    return {
        "basis": comparison.basis,
        "decidable": comparison.decidable,
        "runs": {"baseline": comparison.baseline.totals.runs, "here": here.totals.runs},
        "figures": [{"name": each.name, "baseline": each.baseline, "here": each.here} for each in comparison.figures],
        "classes": [_class_as_json(entry) for entry in comparison.classes],
        "uncompared": comparison.uncompared,
    }


def _class_as_json(entry: ComparedClass) -> dict[str, object]:
    names = ("change", "maybe_chance", "key", "type", "location", "cause", "tools")
    about: dict[str, object] = {name: getattr(entry, name) for name in names}
    return {**about, "baseline": _side_as_json(entry.baseline), "here": _side_as_json(entry.here)}


def _side_as_json(side: Side | None) -> dict[str, object] | None:
    return {"count": side.count, "runs": side.runs, "status": side.standing} if side is not None else None


def _as_markdown(comparison: Comparison, here: PageData) -> Iterator[str]:
    yield from ("# Compared with the baseline", "", "| | baseline | here |", "|---|---:|---:|")
    for figure in comparison.figures:
        before, now = (_figure(value, figure.is_share) for value in (figure.baseline, figure.here))
        yield f"| {figure.name} | {before} | {now} |"
    for change, number in comparison.changes.items():
        yield from ("", f"## {_TITLES.get(change, change.capitalize())}: {number:,}", "")
        entries = [entry for entry in comparison.classes if entry.change == change]
        yield from (printable(_line(entry, comparison, here)) for entry in entries[:MAX_LINES])
        if number > MAX_LINES:
            yield f"- ... {number - MAX_LINES:,} more; --json has all"
    yield from ("", *_notes(comparison))


def _figure(value: float | None, is_share: bool) -> str:
    if value is None:
        return "not known"
    return f"{100 * value:.1f} %" if is_share else f"{value:,}"


def _line(entry: ComparedClass, comparison: Comparison, here: PageData) -> str:
    at = f" at {entry.location}" if entry.location else ""
    told = [
        f"{name} {_side(side, page.totals.runs if comparison.basis == 'runs' else None)}"
        for name, side, page in (("here", entry.here, here), ("baseline", entry.baseline, comparison.baseline))
        if side is None or side.count
    ]
    chance = " (may be chance)" if entry.maybe_chance else ""
    return f"- `{entry.key}` [{entry.type}] {entry.cause}{at}: {', '.join(told)}{chance}"


def _side(side: Side | None, runs: int | None) -> str:
    if side is None:
        return "not known"
    of = f" of {runs:,}" if runs is not None else ""
    noun = "run" if (runs if runs is not None else side.runs) == 1 else "runs"
    return f"{side.count:,} in {side.runs:,}{of} {noun}"


def _notes(comparison: Comparison) -> Iterator[str]:
    if comparison.basis == "counts":
        yield "Failures are compared as they are counted: a trajectory file does not hold the runs without failures."
    elif comparison.decidable:
        yield "More and less are by the share of the runs that have the class. What may be chance: reports of equal"
        yield "agents would differ as much in more than 1 of 100 comparisons (Fisher's exact test)."
    else:
        yield "More and less are by the share of the runs that have the class."
        yield "So few runs that every difference may be chance."
    if comparison.uncompared:
        yield f"Rare classes that are not compared: {comparison.uncompared:,}."
