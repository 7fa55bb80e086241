"""The overview of several reports: classes and escalations over all runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from otel_errcompact.engine.report import ClassReport, RunReport

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
