"""The overview of several reports: classes and escalations over all runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from otel_errcompact.engine.report import ClassReport, RunReport
    from otel_errcompact.escalator.escalation import AnsweredEscalation

MOST: Final = 30
"""Classes, and escalations, that the overview lists."""

_CAUSE: Final = 100


def write_overview(reports: Sequence[RunReport]) -> str:
    """Return several reports as one Markdown section, the most frequent first."""
    found = _group_classes(reports)
    failures = sum(report.occurrences for report in reports)
    answers = Counter(_name_escalation(report) for run in reports for report in run.escalations)
    lines = [
        f"# {len(reports):,} runs: {_join(Counter(report.result for report in reports))}",
        "",
        (
            f"{failures:,} {'failure' if failures == 1 else 'failures'} in {len(found):,} "
            f"{'class' if len(found) == 1 else 'classes'}."
        ),
    ]
    if found:
        lines += ["", "| class | tool | error | failures | runs | ended |", "|---|---|---|---:|---:|---|"]
        lines += [_write_row(group) for group in found[:MOST]]
        lines += [f"| ... | | {len(found) - MOST:,} more classes | | | |"] if len(found) > MOST else []
    if answers:
        lines += ["", "## Escalations of all runs", ""]
        lines += [f"- {count:,} x {said}" for said, count in answers.most_common(MOST)]
    return "\n".join(lines) + "\n"


def _group_classes(reports: Iterable[RunReport]) -> list[list[ClassReport]]:
    groups: dict[str, list[ClassReport]] = {}
    for report in reports:
        for found in report.classes:
            groups.setdefault(found.key, []).append(found)
    return sorted(groups.values(), key=lambda group: -sum(found.count for found in group))


def _write_row(group: Sequence[ClassReport]) -> str:
    newest = group[-1]
    tools = ", ".join(sorted({found.tool for found in group}))
    cause = one_line(f"[{newest.type.rpartition('.')[2]}] {newest.cause}", _CAUSE).replace("|", "\\|")
    ended = _join(Counter(found.status.lower() for found in group))
    failures = sum(found.count for found in group)
    return f"| `#{newest.key[:4]}` | {one_line(tools, _CAUSE)} | {cause} | {failures:,} | {len(group):,} | {ended} |"


def _name_escalation(answered: AnsweredEscalation) -> str:
    return one_line(f"{answered.action}: {answered.escalation}", 2 * _CAUSE)


def _join(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())
