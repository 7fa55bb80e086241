"""Two reports compared: error classes that are new, gone, more or less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from otel_errcompact_lab.analysis.intervals import fisher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from otel_errcompact_lab.html_report.class_summary import ClassSummary
    from otel_errcompact_lab.html_report.collector import PageData
    from otel_errcompact_lab.html_report.model import Example, Standing, Totals

Change: TypeAlias = Literal["new", "gone", "more", "less", "alike", "unknown"]
"""`alike`: about as often; `unknown`: one report has only the key of the class, or not even that."""

CHANGES: Final[tuple[Change, ...]] = ("new", "more", "gone", "less", "unknown", "alike")
"""In the order of the page."""

Basis: TypeAlias = Literal["runs", "counts"]
"""Shares of runs, or failures as they are: a live record does not hold the runs without failures."""

ALIKE: Final = 1.25
"""Below this ratio a difference that may be chance is none."""

CHANCE: Final = 0.01
"""A difference that equal reports show more often than this may be chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One class in one report."""

    count: int = 0
    runs: int = 0
    standing: Standing | None = None
    """Its worst end; None where it did not occur."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedClass:
    """One class in both reports."""

    change: Change
    maybe_chance: bool
    """Whether equal reports would often differ as much; False where that is not known."""

    key: str
    type: str
    location: str
    cause: str
    tools: tuple[str, ...]
    baseline: Side | None
    """None where its counts are not known."""

    here: Side | None
    example: Example | None = None
    """A raw error of the baseline, of a class that this report does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of both reports; None where it is not known."""

    name: str
    baseline: float | None
    here: float | None
    is_share: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two reports, class by class."""

    basis: Basis
    decidable: bool
    """Whether there are enough runs that a difference could be more than chance."""

    baseline: PageData
    figures: tuple[Figure, ...]
    classes: tuple[ComparedClass, ...]
    """By change; first what is more than chance, then those with the most failures."""

    uncompared: int
    """Classes that have no row in either report, as far as they are known."""

    @property
    def changes(self) -> Mapping[Change, int]:
        """The number of classes by change, without those that have none."""
        found = [entry.change for entry in self.classes]
        return {change: found.count(change) for change in CHANGES if change in found}


def compare(baseline: PageData, here: PageData) -> Comparison:
    """Compare a report with its baseline."""
    compared = _Compared(baseline, here)
    rows = sorted(compared.rows(), key=_rank_class)
    return Comparison(
        basis=compared.basis,
        decidable=compared.decidable,
        baseline=baseline,
        figures=tuple(_list_figures(baseline, here, compared.basis)),
        classes=tuple(rows),
        uncompared=len((baseline.other_keys | here.other_keys) - {entry.key for entry in rows}),
    )


def _rank_class(entry: ComparedClass) -> tuple[int, bool, int]:
    sides = [side.count for side in (entry.here, entry.baseline) if side is not None]
    return CHANGES.index(entry.change), entry.maybe_chance, -max(sides, default=0)


class _Compared:
    def __init__(self, baseline: PageData, here: PageData) -> None:
        self._reports = (baseline, here)
        self._runs = (baseline.totals.runs, here.totals.runs)
        partial = any(page.totals.live_runs or page.totals.failures_only_runs for page in self._reports)
        self.basis: Basis = "counts" if partial else "runs"
        self.decidable = self.basis == "runs" and fisher(0, self._runs[0], self._runs[1], self._runs[1]) <= CHANCE

    def rows(self) -> Iterator[ComparedClass]:
        """Yield each class that has a row in one of the reports."""
        before, after = ({entry.key: entry for entry in page.classes} for page in self._reports)
        for key in dict.fromkeys([*after, *before]):
            yield self._compare_class(before.get(key), after.get(key))

    def _compare_class(self, before: ClassSummary | None, after: ClassSummary | None) -> ComparedClass:
        shown = after or before
        assert shown is not None  # noqa: S101 - the key is of one of them
        sides = self._side_of(before, shown.key, 0), self._side_of(after, shown.key, 1)
        change = self._judge_change(*sides)
        return ComparedClass(
            change=change,
            maybe_chance=self._is_maybe_chance(change, *sides),
            key=shown.key,
            type=shown.type,
            location=shown.location,
            cause=shown.cause,
            tools=shown.tools,
            baseline=sides[0],
            here=sides[1],
            example=_take_example(shown) if after is None else None,
        )

    def _side_of(self, entry: ClassSummary | None, key: str, report: int) -> Side | None:
        if entry is not None:
            return Side(count=entry.count, runs=entry.runs, standing=entry.standing)
        page = self._reports[report]
        return None if key in page.other_keys or page.others_uncounted else Side()

    def _judge_change(self, before: Side | None, after: Side | None) -> Change:
        if before is None or after is None:
            return "unknown"
        if not before.count:
            return "new"
        if not after.count:
            return "gone"
        old, new = self._weigh_sides(before, after)
        if max(old, new) < ALIKE * min(old, new) and (not self.decidable or self._chance_of(before, after) > CHANCE):
            return "alike"
        return "more" if new > old else "less"

    def _weigh_sides(self, before: Side, after: Side) -> tuple[float, float]:
        if self.basis == "counts":
            return before.count, after.count
        shares = before.runs / self._runs[0], after.runs / self._runs[1]
        # Where as many runs have it, the number of failures is what is left to compare.
        return shares if shares[0] != shares[1] else (before.count / self._runs[0], after.count / self._runs[1])

    def _chance_of(self, before: Side, after: Side) -> float:
        return fisher(before.runs, self._runs[0], after.runs, self._runs[1])

    def _is_maybe_chance(self, change: Change, before: Side | None, after: Side | None) -> bool:
        if not self.decidable or before is None or after is None or change == "alike":
            return False
        return self._chance_of(before, after) > CHANCE


def _take_example(entry: ClassSummary) -> Example | None:
    # Runs of the baseline have no place on this page.
    if not entry.examples:
        return None
    first = entry.examples[0]
    return replace(first, place=replace(first.place, run=0, step=0))


def _list_figures(baseline: PageData, here: PageData, basis: Basis) -> Iterator[Figure]:
    def figure(name: str, find: Callable[[PageData], float | None], *, is_share: bool = False) -> Figure:
        return Figure(name=name, baseline=find(baseline), here=find(here), is_share=is_share)

    old, new, whole = baseline.totals, here.totals, basis == "runs"
    if whole:
        yield figure("Runs", lambda page: page.totals.runs)
    yield figure("Runs with failures", lambda page: page.totals.runs_with_failures)
    if whole:
        yield figure(
            "of all runs", lambda page: _share(page.totals.runs_with_failures, page.totals.runs), is_share=True
        )
        yield figure("Tool calls", lambda page: page.totals.tool_calls)
    yield figure("Failures", lambda page: page.totals.failures)
    if whole:
        yield figure("of all calls", lambda page: _share(page.totals.failures, page.totals.tool_calls), is_share=True)
    yield figure("Error classes", _count_classes)
    if _kinds_of_records(old) == _kinds_of_records(new) and not old.failures_only_runs:
        # Escalations of a live record happened, those of a transcript are what thresholds would raise.
        yield figure("Escalations", lambda page: page.totals.escalations)
        yield figure("Longest streak", lambda page: page.totals.longest_streak)
    yield figure("Tokens of raw errors", lambda page: page.tokens.raw)
    if whole:
        yield figure(
            "of the whole context", lambda page: _share(page.tokens.whole_raw, page.tokens.context), is_share=True
        )


def _kinds_of_records(totals: Totals) -> tuple[bool, bool]:
    replayed = totals.runs - totals.live_runs - totals.failures_only_runs
    return totals.live_runs > 0, replayed > 0


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _count_classes(page: PageData) -> int | None:
    return None if page.others_uncounted else len(page.classes) + page.other_classes
