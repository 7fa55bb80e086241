"""Attempts: a turn counts once, an operation knows its target, another operation is another one."""

from __future__ import annotations

from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

import pytest

import otel_errcompact as errcompact
from tests.scenarios.agents import attempt, bash, raising, steps

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger


def parallel(run: errcompact.Run, *calls: tuple[str, dict[str, object]], error: str) -> list[errcompact.Call]:
    """Ask for several calls in one turn: all begin before any of them fails."""
    run.begin_turn()
    opened: list[tuple[errcompact.Call, Context]] = []
    for name, arguments in calls:
        call, context = run.tool(name, arguments=arguments), copy_context()
        context.run(call.__enter__)
        opened.append((call, context))
    for call, context in opened:
        call.fail(error)
        context.run(call.__exit__, None, None, None)
    return [call for call, _ in opened]


def test_three_parallel_calls_of_one_turn_are_one_attempt(ledger: Ledger) -> None:
    """The agent has had no chance to react: all three count, and none escalates."""
    with errcompact.run(agent="shop", ledger=ledger) as run:
        calls = [("query", {"table": "orders", "limit": number}) for number in range(3)]
        parallel(run, *calls, error="OperationalError: database is gone")
        assert run.report().occurrences == 3
        assert [found.streak for found in run.report().classes] == [1]
        assert steps(run) == []
        run.check()


def test_three_turns_of_three_calls_are_three_attempts(ledger: Ledger) -> None:
    """The third turn is what the handler is asked about, once."""
    asked: list[errcompact.Escalation] = []

    def handler(escalation: errcompact.Escalation) -> errcompact.Continue:
        asked.append(escalation)
        return errcompact.Continue("the table moved")

    with errcompact.run(agent="shop", ledger=ledger, on_escalation=handler) as run:
        for turn in range(3):
            calls = [("query", {"table": "orders", "limit": 10 * turn + number}) for number in range(3)]
            parallel(run, *calls, error="OperationalError: database is gone")
    assert [(escalation.threshold, escalation.count) for escalation in asked] == [("same", 3)]
    assert run.report().occurrences == 9


def test_calls_side_by_side_are_one_attempt_without_announced_turns(ledger: Ledger) -> None:
    """A call that began before the failure was shown could not avoid it."""
    with errcompact.run(agent="shop", ledger=ledger) as run:
        opened: list[Any] = []
        for number in range(3):
            call, context = run.tool("query", arguments={"table": "orders", "limit": number}), copy_context()
            context.run(call.__enter__)
            opened.append((call, context))
        for call, context in opened:
            call.fail("OperationalError: database is gone")
            context.run(call.__exit__, None, None, None)
        assert [found.streak for found in run.report().classes] == [1]


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("mise run test", "mise run lint"),
        ("pnpm --filter shop test", "pnpm --filter shop lint"),
        ("npm run build", "npm run format"),
        ("pytest tests/test_a.py", "pytest tests/test_b.py"),
        ("git push", "git status"),
    ],
)
def test_another_command_resolves_nothing(ledger: Ledger, failing: str, passing: str) -> None:
    """Program, subcommand and target say what a command is about."""
    with errcompact.run(ledger=ledger) as run:
        for _ in range(2):
            bash(run, failing, "Error: cannot reach the registry", 1)
            bash(run, passing, "done")
    assert run.report().result == "unresolved"
    assert [found.streak for found in run.report().classes] == [2]


def test_the_value_of_an_option_is_no_subcommand(ledger: Ledger) -> None:
    """`--filter` names packages: `test` of the same package succeeding is the same operation."""
    with errcompact.run(ledger=ledger) as run:
        bash(run, "pnpm --filter shop test", "Error: cannot reach the registry", 1)
        bash(run, "pnpm --filter shop test", "done")
    assert run.report().result == "recovered"


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ({"path": "src/a.py"}, {"path": "src/b.py"}),
        ({"file_path": "src/a.py"}, {"file_path": "src/b.py"}),
        ({"url": "https://shop.example/orders"}, {"url": "https://shop.example/users"}),
        ({"table": "orders"}, {"table": "users"}),
    ],
)
def test_the_target_comes_from_the_arguments(
    ledger: Ledger, failing: dict[str, object], passing: dict[str, object]
) -> None:
    """A tool that is no shell names its target in its arguments."""
    with errcompact.run(ledger=ledger) as run:
        attempt(run, "fetch", failing, raising(PermissionError("not allowed")))
        attempt(run, "fetch", passing, lambda: "ok")
        assert run.report().result == "unresolved"
        attempt(run, "fetch", {**failing, "timeout_s": 5}, lambda: "ok")
    assert run.report().result == "recovered"


def test_the_target_can_be_said(ledger: Ledger) -> None:
    """Where the arguments do not name it."""
    with errcompact.run(ledger=ledger) as run:
        with run.tool("deploy", arguments={"x": 1}, target="staging"):
            raise RuntimeError("disk full")
        with run.tool("deploy", arguments={"x": 2}, target="production") as call:
            call.result = "ok"
        assert run.report().result == "unresolved"
        with run.tool("deploy", arguments={"x": 3}, target="staging") as call:
            call.result = "ok"
    assert run.report().result == "recovered"


def test_terminal_sessions_are_apart(ledger: Ledger) -> None:
    """What one terminal does says nothing of another."""
    with errcompact.run(ledger=ledger) as run:
        with run.tool("terminal", arguments={"session_id": "1", "input": "go"}) as call:
            call.fail("Error: the disk of the terminal is full")
        with run.tool("terminal", arguments={"session_id": "2", "input": "go"}) as call:
            call.result = "ok"
    assert run.report().result == "unresolved"


def test_a_declined_call_neither_counts_nor_ends_anything(ledger: Ledger) -> None:
    """A human's no is neither a failure nor a success."""
    with errcompact.run(ledger=ledger) as run:
        bash(run, "make deploy", "Error: cannot reach the registry", 1)
        bash(run, "make deploy", "The user doesn't want to proceed with this tool use.")
        call = bash(run, "make deploy", "Error: cannot reach the registry", 1)
        assert call.failure is not None
        assert (call.failure.streak, call.failure.counts.loop, call.failure.counts.consecutive) == (2, 2, 2)
