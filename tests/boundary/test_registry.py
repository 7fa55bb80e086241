from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.boundary import RunRegistry
from otel_errcompact.escalation import Pause

if TYPE_CHECKING:
    from otel_errcompact.ledger import Ledger


def test_a_leg_with_an_id_of_its_own_goes_on_with_the_run_that_waits(ledger: Ledger) -> None:
    """It is the same run, its report is found under both ids, and it ends with the leg that ends it."""
    registry = RunRegistry(ledger=ledger, on_escalation=lambda _: Pause())
    first = registry.of("first")
    for _ in range(3):
        first.fail("disk full", tool="save")
    registry.end("first")

    second = registry.of("second", resumes="first")
    assert (second is first, second.verdict.standing) == (True, "pause")
    second.answer("it was emptied")
    registry.end("second")

    assert [registry.report(id_).occurrences for id_ in ("first", "second")] == [3, 3]
    assert registry.of("first") is not first


def test_a_leg_of_a_run_that_nobody_knows_begins_one(ledger: Ledger) -> None:
    """As after a restart of the process."""
    assert RunRegistry(ledger=ledger).of("second", resumes="first").run_id == "second"
