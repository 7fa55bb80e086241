"""The overview of several reports, against reports written out."""

from __future__ import annotations

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.lab.cli.report import MOST, write_overview


def test_classes_and_escalations_of_all_runs_are_counted_once() -> None:
    """The most frequent class first, with how it ended in each run."""
    ledger = Ledger()
    for number in range(4):
        for _ in range(4 if number else 1):
            ledger.observe(f"run-{number}", RawError(text="KeyError: 'sku'", tool="read_sku"))
        ledger.observe(f"run-{number}", RawError(text="TimeoutError: no answer", tool="print"))
    assert write_overview([ledger.report(f"run-{number}") for number in range(4)]).splitlines() == [
        "# 4 runs: 4 unresolved",
        "",
        "Failures: 17, in 2 classes.",
        "",
        "| class | tool | error | failures | runs | ended |",
        "|---|---|---|---:|---:|---|",
        "| `#8e77` | read_sku | [KeyError] 'sku' | 13 | 4 | 3 escalated, 1 active |",
        "| `#85e1` | print | [TimeoutError] no answer | 4 | 4 | 4 active |",
        "",
        "## Escalations of all runs",
        "",
        "- 3 x unhandled: one error class keeps recurring (3 of 3): [KeyError] 'sku' #8e77",
    ]


def test_runs_without_a_failure_have_no_table() -> None:
    """There is nothing to list."""
    ledger = Ledger()
    assert (
        write_overview([ledger.report("a"), ledger.report("b")]) == "# 2 runs: 2 clean\n\nFailures: 0, in 0 classes.\n"
    )


def test_classes_beyond_the_most_frequent_are_counted() -> None:
    """A thousand runs still have an overview of a screen or two."""
    ledger = Ledger()
    for number in range(MOST + 5):
        ledger.observe("r", RawError(text=f"Kind{chr(65 + number % 26) * (1 + number // 26)}Error: broken", tool="a|b"))
    lines = write_overview([ledger.report("r"), ledger.report("s")]).splitlines()
    assert lines[2] == f"Failures: {MOST + 5}, in {MOST + 5} classes."
    assert lines[6 + MOST] == "| ... | | 5 more classes | | | |"


def test_marks_of_classes_differ() -> None:
    """Where two keys begin alike, the marks are longer; of records that lack something the number is said."""
    ledger = Ledger()
    ledger.observe("r", RawError(text="KeyError: 'sku'", tool="read"))
    report = ledger.report("r")
    (found,) = report.classes
    alike = found.model_copy(update={"key": f"{found.key[:5]}{'0' if found.key[5] != '0' else '1'}0000000000"})
    lines = write_overview([report, report.model_copy(update={"classes": (alike,)})], incomplete=1).splitlines()
    assert lines[4] == "Runs whose record lacks something, as is said at each: 1."
    assert [line.split("`")[1] for line in lines[8:10]] == [f"#{found.key[:6]}", f"#{alike.key[:6]}"]
