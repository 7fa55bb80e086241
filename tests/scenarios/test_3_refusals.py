"""Refused is the identical call that cannot work; never is it said of what was executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import otel_errcompact as errcompact
from otel_errcompact.engine.events import Refused
from tests.scenarios.agents import FAILED_A, PASSED, attempt, bash, raising

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger

ORDER = {"order": 17, "amount": "12.50"}


class Bank:
    """Declines three times, and takes the money from then on."""

    def __init__(self, declines: int) -> None:
        self.declines = declines
        self.paid = 0

    def pay(self) -> str:
        if self.declines:
            self.declines -= 1
            raise ValueError("card declined")
        self.paid += 1
        return f"receipt {self.paid}"


def test_a_payment_that_was_made_is_believed(ledger: Ledger) -> None:
    """A block that runs although it was refused: the agent reads the receipt, and pays once."""
    bank = Bank(declines=3)
    with errcompact.run(agent="shop", ledger=ledger) as run:
        for _ in range(5):
            with run.tool("pay", arguments=ORDER) as call:
                call.result = bank.pay()
            assert "NOT EXECUTED" not in call.text
            if not call.failed:
                break
        assert (bank.paid, call.text, call.failed) == (1, "receipt 1", False)
        assert run.port.refuse("pay", arguments=ORDER) == ""
    assert run.report().result == "recovered"


def test_the_second_retry_is_refused_before_it_is_executed(ledger: Ledger) -> None:
    """Two identical failures and nothing that succeeded: the third call is not made, and the agent reads why."""
    bank = Bank(declines=9)
    with errcompact.run(agent="shop", ledger=ledger) as run:
        calls = [attempt(run, "pay", ORDER, bank.pay) for _ in range(3)]
        assert [bool(call.refused) for call in calls] == [False, False, True]
        assert bank.declines == 7
        assert calls[2].failed
        assert "NOT EXECUTED" in calls[2].text
        assert run.report().occurrences == 2


@pytest.mark.parametrize("arguments", ['{"amount": "12.50", "order": 17}', {"amount": "12.50", "order": 17}])
def test_the_order_of_arguments_makes_no_other_call(ledger: Ledger, arguments: object) -> None:
    """Identical are the same tool and the same canonical arguments."""
    with errcompact.run(ledger=ledger) as run:
        for _ in range(2):
            attempt(run, "pay", ORDER, raising(ValueError("card declined")))
        assert run.port.refuse("pay", arguments=arguments) != ""
        assert run.port.refuse("pay", arguments={**ORDER, "amount": "12.00"}) == ""
        assert run.port.refuse("refund", arguments=ORDER) == ""


def test_any_success_lifts_a_refusal(ledger: Ledger) -> None:
    """Fail, edit, fail, edit, fail, edit: the test may always be run after an edit."""
    with errcompact.run(ledger=ledger) as run:
        for number in range(6):
            assert run.port.refuse("bash", arguments={"command": "pytest tests/test_a.py"}) == ""
            bash(run, "pytest tests/test_a.py", FAILED_A, 1)
            with run.tool("edit", arguments={"path": "src/a.py", "new_string": str(number)}) as call:
                call.result = "edited"
        assert not bash(run, "pytest tests/test_a.py", PASSED).failed
    assert run.report().result == "recovered"


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError("timed out"),
        ConnectionRefusedError(111, "Connection refused"),
        RuntimeError("HTTP 503 Service Unavailable"),
        RuntimeError("429 Too Many Requests: Retry-After: 5"),
    ],
)
def test_a_transient_failure_is_never_refused(ledger: Ledger, error: Exception) -> None:
    """Waiting may help, so that the call may be made again."""
    with errcompact.run(ledger=ledger) as run:
        for _ in range(9):
            call = attempt(run, "fetch", {"url": "https://shop.example"}, raising(error))
            assert (call.refused, call.failed) == ("", True)
        assert not attempt(run, "fetch", {"url": "https://shop.example"}, lambda: "200").failed


def test_a_failure_of_another_class_lifts_nothing(ledger: Ledger) -> None:
    """The count of identical calls never ends by another class failing."""
    with errcompact.run(ledger=ledger) as run:
        attempt(run, "pay", ORDER, raising(ValueError("card declined")))
        attempt(run, "pay", ORDER, raising(PermissionError("card blocked")))
        assert run.port.refuse("pay", arguments=ORDER) != ""


def test_unknown_arguments_are_never_refused(ledger: Ledger) -> None:
    """Without arguments it is not known which calls are identical."""
    with errcompact.run(ledger=ledger) as run:
        for _ in range(3):
            assert attempt(run, "pay", None, raising(ValueError("card declined"))).refused == ""


def test_asking_whether_a_call_is_refused_counts_nothing(ledger: Ledger) -> None:
    """A question decides only, however often it is put."""
    with errcompact.run(ledger=ledger) as run:
        for _ in range(2):
            attempt(run, "pay", ORDER, raising(ValueError("card declined")))
        before = run.report()
        for _ in range(9):
            assert (
                ledger.refusal(Refused(run_id=run.run_id, tool="pay", arguments='{"order": 17, "amount": "12.50"}'))
                != ""
            )
        assert run.report() == before
        run.check()


def test_a_refused_call_that_fails_all_the_same_is_a_failure(ledger: Ledger) -> None:
    """It was executed, and the agent reads what happened."""
    with errcompact.run(ledger=ledger) as run:
        for _ in range(3):
            refused = ""
            with run.tool("pay", arguments=ORDER) as call:
                refused = call.refused
                raise ValueError("card declined")
        assert refused
        assert "NOT EXECUTED" not in call.text
        assert "card declined" in call.text
        assert run.report().occurrences == 3
