"""Resolved is what has succeeded; what fails again was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import otel_errcompact as errcompact
from tests.scenarios.agents import FAILED_A, PASSED, attempt, bash, edit, raising, steps

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger

NOT_FOUND = "String to replace not found in file."


def test_eight_failures_with_another_test_passing_between_ask(ledger: Ledger) -> None:
    """`pytest b` says nothing of `pytest a`."""
    asked: list[str] = []

    def handler(escalation: errcompact.Escalation) -> errcompact.Continue:
        asked.append(escalation.threshold)
        return errcompact.Continue()

    with errcompact.run(ledger=ledger, on_escalation=handler) as run:
        texts = []
        for _ in range(8):
            texts.append(bash(run, "pytest tests/test_a.py", FAILED_A, 1).text)
            bash(run, "pytest tests/test_b.py", PASSED)
    assert asked == ["same", "same"]
    assert "x2" in texts[1]
    assert run.report().result == "unresolved"
    assert [(found.status, found.count) for found in run.report().classes] != [("RECOVERED", 8)]


def test_an_edit_of_another_file_recovers_nothing(ledger: Ledger) -> None:
    """`edit(a.py)` fails while `edit(b.py)` works: its class stays open; but nothing was executed that is left."""
    with errcompact.run(ledger=ledger) as run:
        for number in range(3):
            edit(run, "src/a.py", f"a{number}", NOT_FOUND)
            edit(run, "src/b.py", f"b{number}")
            assert run.report().classes[0].status != "RECOVERED"
    assert run.report().result == "recovered"
    assert run.report().classes[0].streak == 3


@pytest.mark.parametrize(
    ("tool", "wrong", "right", "error"),
    [
        ("sql", {"query": "select * from order"}, {"query": "select * from orders"}, "no such table: order"),
        (
            "sql",
            {"query": "select total orders of"},
            {"query": "select total from orders"},
            'near "of": syntax error',
        ),
        ("price", {"item": "coffe"}, {"item": "coffee"}, "unknown item coffe, did you mean coffee?"),
        ("http_get", {"url": "https://shop.test/v1/user"}, {"url": "https://shop.test/v1/users"}, "404 Not Found"),
        ("read_file", {"path": "src/app.py"}, {"path": "app.py"}, "No such file or directory: 'src/app.py'"),
        ("lookup", {"customer": "12"}, {"customer": "21"}, "customer 12 does not exist"),
    ],
)
def test_ordinary_correction_leaves_nothing(
    ledger: Ledger, tool: str, wrong: dict[str, object], right: dict[str, object], error: str
) -> None:
    """A call named the wrong thing, and the next one the right thing."""
    with errcompact.run(ledger=ledger) as run:
        attempt(run, tool, wrong, raising(RuntimeError(error)))
        assert run.report().result == "unresolved"
        attempt(run, tool, right, lambda: "3 rows")
        assert run.digest() == ""
    assert run.report().result == "recovered"


@pytest.mark.parametrize(
    ("tool", "failing", "other", "error"),
    [
        ("refund", {"order": 7}, {"order": 8}, "the bank refused the refund"),
        ("vacuum", {"table": "orders"}, {"table": "users"}, "the disk is full"),
        ("send", {"to": "ann@shop.test"}, {"to": "bob@shop.test"}, "quota exceeded"),
        ("order", {"item": "tea"}, {"item": "milk"}, "only 3 are in stock"),
    ],
)
def test_what_failed_for_another_reason_is_left(
    ledger: Ledger, tool: str, failing: dict[str, object], other: dict[str, object], error: str
) -> None:
    """The same tool has worked for something else, and this is still to do."""
    with errcompact.run(ledger=ledger) as run:
        attempt(run, tool, failing, raising(RuntimeError(error)))
        attempt(run, tool, other, lambda: "done")
        assert "#" in run.digest()
    assert run.report().result == "unresolved"


def test_a_wider_success_resolves_the_narrower_failure(ledger: Ledger) -> None:
    """All tests pass, so the one does."""
    with errcompact.run(ledger=ledger) as run:
        bash(run, "pytest tests/test_a.py", FAILED_A, 1)
        bash(run, "pytest", PASSED)
        assert run.digest() == ""
    assert run.report().result == "recovered"


def test_a_narrower_success_resolves_no_wider_failure(ledger: Ledger) -> None:
    """One test passes, and all of them may still not."""
    with errcompact.run(ledger=ledger) as run:
        bash(run, "pytest", FAILED_A, 1)
        bash(run, "pytest tests/test_b.py", PASSED)
    assert run.report().result == "unresolved"


def test_the_same_call_failing_again_takes_the_resolution_back(ledger: Ledger) -> None:
    """Count, streak and report are as if nothing had been resolved."""
    with errcompact.run(ledger=ledger) as run:
        edit(run, "src/a.py", "one", NOT_FOUND)
        edit(run, "src/a.py", "two")
        assert run.report().classes[0].status == "RECOVERED"
        again = edit(run, "src/a.py", "one", NOT_FOUND)
        assert again.failure is not None
        assert (again.failure.count, again.failure.streak) == (2, 2)
        (found,) = run.report().classes
        assert (found.status, found.streak) == ("ACTIVE", 2)
        assert "#" in run.digest()
    assert run.report().result == "unresolved"


def test_a_call_that_succeeded_itself_begins_a_new_streak(ledger: Ledger) -> None:
    """It worked, and what comes now is new."""
    with errcompact.run(ledger=ledger) as run:
        bash(run, "pytest tests/test_a.py", FAILED_A, 1)
        bash(run, "pytest tests/test_a.py", PASSED)
        again = bash(run, "pytest tests/test_a.py", FAILED_A, 1)
        assert again.failure is not None
        assert (again.failure.count, again.failure.streak) == (2, 1)


def test_another_failure_of_the_operation_is_progress(ledger: Ledger) -> None:
    """Another class has a streak of its own, and nothing escalates."""
    with errcompact.run(ledger=ledger) as run:
        for cause in ("no such column: a", "no such table: b", "syntax error near c", "no such column: d"):
            with run.tool("sql", arguments={"query": f"select {cause[-1]}"}) as call:
                call.fail(f"OperationalError: {cause}")
        assert {found.streak for found in run.report().classes} == {1}
        assert steps(run) == []
