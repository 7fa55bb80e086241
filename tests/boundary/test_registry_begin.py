"""Runs that a framework begins itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import otel_errcompact as errcompact
from otel_errcompact.boundary import RunRegistry

if TYPE_CHECKING:
    from otel_errcompact.ledger import Ledger


def fail_thrice(run: errcompact.Run) -> None:
    """Fail three times the same way, which reaches the threshold."""
    for number in range(3):
        run.executed("db.query", arguments={"id": number}, error=KeyError("a"))
    run.gate()


def test_an_invocation_begins_afresh(ledger: Ledger) -> None:
    """What an earlier invocation has left under the same id ends, and the new one counts from zero."""
    runs = RunRegistry(ledger=ledger, agent="shop")
    first = runs.begin("t1")
    fail_thrice(first)
    second = runs.begin("t1")
    assert (first.closed, first.report().result, first.report().occurrences) == (True, "halted", 3)
    assert (second.closed, second.report().occurrences) == (False, 0)
    assert runs.of("t1") is second


def test_a_run_that_waits_ends_too(ledger: Ledger) -> None:
    """`end` leaves a run alone that waits for a human; an invocation after it says that nobody will answer."""
    runs = RunRegistry(ledger=ledger, on_escalation=lambda _: errcompact.Pause())
    first = runs.begin("t1")
    fail_thrice(first)
    runs.end("t1")
    assert not first.closed
    assert runs.begin("t1") is not first
    assert first.closed


def test_the_applications_run_goes_on(ledger: Ledger) -> None:
    """Inside a run that the application has opened, each invocation belongs to that."""
    runs = RunRegistry()
    with errcompact.run("mine", ledger=ledger) as mine:
        assert runs.begin("t1") is mine
        assert runs.begin("t1") is mine
        assert not mine.closed
