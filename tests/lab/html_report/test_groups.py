"""Entries of many runs in groups."""

from __future__ import annotations

import pytest

from otel_errcompact.lab.html_report import groups
from otel_errcompact.lab.html_report.groups import Groups


def test_a_group_counts_its_entries_and_its_runs() -> None:
    """A run that has it twice is one run."""
    found: Groups[str, str] = Groups()
    for run, entry in [(1, "a"), (1, "b"), (2, "c")]:
        found.add("same", entry, run=run)
    ((key, group),) = found.best(10)
    assert (key, group.count, group.runs, group.entries()) == ("same", 3, 2, ("a", "b", "c"))


def test_the_highest_rank_comes_first_then_the_largest_group() -> None:
    """Of groups and of entries."""
    found: Groups[str, int] = Groups()
    for key, rank in [("short", 2), ("long", 3), ("long", 5), ("often", 2), ("often", 2)]:
        found.add(key, rank, run=1, rank=rank)
    assert [(key, group.rank, group.entries()) for key, group in found.best(10)] == [
        ("long", 5, (5, 3)),
        ("often", 2, (2, 2)),
        ("short", 2, (2,)),
    ]
    assert [key for key, _ in found.best(1)] == ["long"]


def test_memory_is_bounded_and_all_entries_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of groups without room their entries, of entries without a line their number."""
    monkeypatch.setattr(groups, "MAX_GROUPS", 1)
    monkeypatch.setattr(groups, "MAX_ENTRIES", 2)
    found: Groups[str, int] = Groups()
    for number in range(4):
        found.add("kept", number, run=number)
        found.add("more", number, run=number)
    ((_, group),) = found.best(10)
    assert (found.count, group.count, group.entries()) == (8, 4, (0, 1))
