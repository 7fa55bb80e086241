"""Who is asked, what is only alerted, and what halts by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import otel_errcompact as errcompact
from otel_errcompact.boundary.scope import RunScope
from tests.scenarios.agents import PASSED, attempt, bash, edit, raising, steps

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger

NOT_FOUND = "String to replace not found in file."


def rates(value: str) -> str:
    return f"FAILED tests/test_rates.py::test_vat - assert {value} == 7.25\n1 failed in 0.12s\n"


def test_a_cycle_that_gets_nearer_is_never_halted(ledger: Ledger) -> None:
    """7.20, 7.22, 7.24 against 7.25 with edits between, then it passes."""
    with errcompact.run(ledger=ledger) as run:
        for value in ("7.20", "7.22", "7.24"):
            call = bash(run, "pytest tests/test_rates.py", rates(value), 1)
            assert value.rstrip("0") in call.text
            edit(run, "src/rates.py", value)
            run.check()
        assert not bash(run, "pytest tests/test_rates.py", PASSED).failed
    assert run.report().result == "recovered"


def test_without_a_handler_a_streak_goes_on_with_an_alert(ledger: Ledger) -> None:
    """The answer is `unhandled`: the digest has the line, the report the escalation, and the run continues."""
    with errcompact.run(ledger=ledger) as run:
        for number in range(9):
            attempt(
                run, "sql", {"query": f"select amount from orders limit {number}"}, raising(ValueError("no column"))
            )
            attempt(run, "note", {"text": str(number)}, lambda: "ok")
            run.check()
        assert ("same", 3, "unhandled") in steps(run)
        assert run.verdict.standing not in ("halt", "pause")
        assert [threshold for threshold, _, _ in steps(run)].count("same") == 1
    assert run.report().result == "unresolved"
    assert run.report().after_escalation == 6


def test_with_a_handler_the_third_executed_failure_asks(ledger: Ledger) -> None:
    """It is asked about the class, once."""
    asked: list[errcompact.Escalation] = []

    def handler(escalation: errcompact.Escalation) -> errcompact.Halt:
        asked.append(escalation)
        return errcompact.Halt("too expensive")

    with errcompact.run(ledger=ledger, on_escalation=handler) as run:
        for number in range(3):
            attempt(run, "sql", {"query": f"select {number}"}, raising(ValueError("no column")))
        with pytest.raises(errcompact.RunHalted, match="too expensive"):
            run.check()
    assert [(one.threshold, one.count, one.limit) for one in asked] == [("same", 3, 3)]
    assert run.report().result == "halted"


def test_rejected_input_is_not_asked_about_below_five(ledger: Ledger) -> None:
    """Nothing was executed, and it says nothing bad of the run."""
    asked: list[errcompact.Escalation] = []

    def handler(escalation: errcompact.Escalation) -> errcompact.Continue:
        asked.append(escalation)
        return errcompact.Continue()

    with errcompact.run(ledger=ledger, on_escalation=handler) as run:
        for number in range(4):
            edit(run, "src/a.py", str(number), NOT_FOUND)
        assert asked == []
        edit(run, "src/a.py", "last", NOT_FOUND)
    assert [(one.threshold, one.count) for one in asked] == [("rejected", 5)]


def test_only_a_loop_halts_by_itself(ledger: Ledger) -> None:
    """One rejected edit, over and over: refused from the third on, alerted at the fourth, halted at the sixth."""
    executed = 0
    with errcompact.run(ledger=ledger) as run:
        calls = 0
        with pytest.raises(errcompact.RunHalted):
            for calls in range(50):  # noqa: B007 - the number is what is tested
                with run.tool("edit", arguments={"path": "src/a.py", "new_string": "x"}) as call:
                    if not call.refused:
                        executed += 1
                        call.fail(NOT_FOUND)
    assert (calls, executed) == (6, 2)
    assert steps(run) == [("loop", 4, "unhandled"), ("loop", 6, "halt")]
    assert run.report().result == "halted"
    assert run.report().occurrences == 2


def test_a_handler_is_asked_about_a_loop(ledger: Ledger) -> None:
    """At the fourth identical failure or refusal, and its answer makes the call possible again."""
    asked: list[errcompact.Escalation] = []

    def handler(escalation: errcompact.Escalation) -> errcompact.Continue:
        asked.append(escalation)
        return errcompact.Continue("the file was renamed")

    with errcompact.run(ledger=ledger, on_escalation=handler) as run:
        for _ in range(4):
            with run.tool("edit", arguments={"path": "src/a.py", "new_string": "x"}) as call:
                if not call.refused:
                    call.fail(NOT_FOUND)
        assert run.port.refuse("edit", arguments={"path": "src/a.py", "new_string": "x"}) == ""
        run.check()
    assert [(one.threshold, one.count, one.limit) for one in asked] == [("loop", 4, 4)]


def test_rows_and_totals_are_alerts(ledger: Ledger) -> None:
    """With a handler and without: the run continues, and the operators are alerted."""
    for handler in (None, lambda escalation: errcompact.Halt("asked")):
        with errcompact.run(ledger=ledger, on_escalation=handler) as run:
            for number in range(32):
                attempt(
                    run, f"tool{number}", {"n": number}, raising(ValueError(f"cause {'abcdefgh'[number % 8]}{number}"))
                )
                run.check()
            assert [(threshold, action) for threshold, _, action in steps(run)] == [
                ("consecutive", "unhandled"),
                ("total", "unhandled"),
            ]


@pytest.mark.parametrize(("threshold", "limit"), [("consecutive", 6), ("total", 30), ("same", 3)])
def test_a_threshold_halts_on_request(ledger: Ledger, threshold: str, limit: int) -> None:
    """What is off by default as a halt can be switched on."""
    thresholds = errcompact.Thresholds(halts=frozenset({threshold}))  # type: ignore[arg-type]
    failures = 0
    with errcompact.run(ledger=ledger, thresholds=thresholds) as run, pytest.raises(errcompact.RunHalted):
        for number in range(60):
            run.check()
            name = "tool" if threshold == "same" else f"tool{number}"
            attempt(run, name, {"n": number}, raising(ValueError("no column")))
            failures += 1
            if threshold == "total":
                run.check()
                attempt(run, "note", {"n": number}, lambda: "ok")
    assert failures == limit
    assert run.report().result == "halted"


async def test_a_server_never_disables_a_tool(ledger: Ledger) -> None:
    """Three refused connections, then the service is back: the tool is asked again, with any arguments."""
    run = errcompact.Run(RunScope("session", ledger=ledger, stoppable=False))
    run.port.open()
    for number in range(8):
        assert await run.port.arefuse("orders", arguments={"limit": number % 2}) == ""
        refused = ConnectionRefusedError(111, "Connection refused")
        run.port.record_call("orders", arguments={"limit": number % 2}, error=refused)
    run.port.record_call("orders", arguments={"limit": 1}, result="3 orders")
    assert run.report().result == "recovered"
    run.port.close()


async def test_a_server_answers_every_call_of_a_service_that_stays_down(ledger: Ledger) -> None:
    """A client that insists gets an attempt each time: a server has no run to stop."""
    run = errcompact.Run(RunScope("session", ledger=ledger, stoppable=False))
    run.port.open()
    for _ in range(20):
        assert await run.port.arefuse("orders", arguments={"id": 1}) == ""
        run.port.record_call("orders", arguments={"id": 1}, error=ConnectionRefusedError(111, "Connection refused"))
    run.port.close()


async def test_a_server_refuses_the_identical_call_for_a_while_only(ledger: Ledger) -> None:
    """A permanent failure refuses that very call until anything succeeds, and no other call."""
    run = errcompact.Run(RunScope("session", ledger=ledger, stoppable=False))
    run.port.open()
    for _ in range(2):
        run.port.record_call("orders", arguments={"id": "x"}, error="ValueError: the id is no number")
    for _ in range(9):
        assert await run.port.arefuse("orders", arguments={"id": "x"}) != ""
        assert await run.port.arefuse("orders", arguments={"id": "7"}) == ""
        assert await run.port.arefuse("users", arguments={"id": "7"}) == ""
    run.port.record_call("orders", arguments={"id": "7"}, result="3 orders")
    assert await run.port.arefuse("orders", arguments={"id": "x"}) == ""
    run.port.close()
