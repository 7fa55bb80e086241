"""Failures handed over: exceptions, texts, and exit statuses that the detector judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import otel_errcompact as errcompact
from tests.scenarios.agents import steps

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger


def caught(text: str) -> Exception:
    try:
        int(text)
    except ValueError as error:
        return error
    raise AssertionError


def test_an_exception_can_be_declared(ledger: Ledger) -> None:
    """Its type, place and cause are what the digest says."""
    with errcompact.run(ledger=ledger) as run:
        text = run.fail(caught("seven"), tool="parse", arguments={"text": "seven"})
    assert text.startswith("[ValueError] at caught (")
    assert "invalid literal for int()" in text
    assert [found.type for found in run.report().classes] == ["ValueError"]


def test_declared_exceptions_of_different_kinds_are_different_classes(ledger: Ledger) -> None:
    """They are no one class that escalates."""
    with errcompact.run(ledger=ledger) as run:
        for error in (ValueError("no such column: a"), KeyError("orders"), PermissionError("read only")):
            run.fail(error, tool="sql")
        assert [found.type for found in run.report().classes] == ["ValueError", "KeyError", "PermissionError"]
        assert steps(run) == []


def test_a_call_can_be_failed_by_an_exception(ledger: Ledger) -> None:
    """Inside the block, where the program has caught it."""
    with errcompact.run(ledger=ledger) as run:
        with run.tool("parse") as call:
            call.fail(caught("seven"))
        assert call.text.startswith("[ValueError] at caught (")
        with run.tool("parse") as call:
            run.fail(caught("eight"))
        assert "ValueError" in call.text


@pytest.mark.parametrize(
    ("command", "output", "status", "failed"),
    [
        ("pytest tests/test_a.py", "boom: the plugin crashed", 1, True),
        ("make build", "3 files built", 0, False),
        ("grep -r total src", "", 1, False),
        ("test -f notes.txt", "", 1, False),
        ("diff a b", "1c1\n< a\n---\n> b\n", 1, False),
        ("command -v ruff", "", 1, False),
        ("git config --get user.name", "", 1, False),
        ("make build", "", 2, True),
    ],
)
def test_the_detector_decides_about_an_exit_status(
    ledger: Ledger, command: str, output: str, status: int, failed: bool
) -> None:
    """The status is handed over without declaring a failure."""
    with errcompact.run(ledger=ledger) as run:
        with run.tool("bash", arguments={"command": command}) as call:
            call.exit_code = status
            call.result = output
        assert call.failed is failed
        assert run.report().occurrences == failed
        if not failed:
            assert call.text == output


def test_the_detector_knows_a_missing_command_by_its_status(ledger: Ledger) -> None:
    """127 with the shell's words is rejected input."""
    with errcompact.run(ledger=ledger) as run:
        with run.tool("bash", arguments={"command": "foo"}) as call:
            call.exit_code = 127
            call.result = "bash: foo: command not found"
        assert call.failure is not None
        assert call.failure.kind.rejected
