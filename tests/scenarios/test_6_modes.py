"""Modes: observe changes nothing that the agent reads, advise stops nothing, enforce is all of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import otel_errcompact as errcompact
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.exceptions import ConfigurationError
from tests.scenarios.agents import attempt, raising, steps

if TYPE_CHECKING:
    from otel_errcompact.escalator.actions import Halt
    from otel_errcompact.escalator.escalation import Escalation

QUERY = {"query": "select amount from orders"}


def halting(escalation: Escalation) -> Halt:
    return errcompact.Halt("asked")


def looping(run: errcompact.Run, times: int = 12) -> list[errcompact.Call]:
    """Make one failing call again and again, as the documentation shows it."""
    return [attempt(run, "sql", QUERY, raising(ValueError("no such column: amount"))) for _ in range(times)]


@pytest.mark.parametrize("mode", ["observe", "advise"])
@pytest.mark.parametrize("handler", [None, halting])
def test_nothing_is_halted_below_enforce(mode, handler) -> None:
    """Neither a loop nor a handler's answer stops the run: the handler is not asked."""
    with errcompact.run(ledger=Ledger(), mode=mode, on_escalation=handler) as run:
        looping(run)
        run.check()
        assert {action for _, _, action in steps(run)} == {"unhandled"}
    assert run.report().result == "unresolved"


def test_observe_leaves_the_raw_error_to_the_agent() -> None:
    """Counted, recorded and alerted, and the agent reads what the tool has said."""
    with errcompact.run(ledger=Ledger(), mode="observe") as run:
        with run.tool("sql", arguments=QUERY) as call:
            call.fail("Error: no such column: amount\n\nSQL logic error, line 1\n")
        assert call.text.strip() == "Error: no such column: amount\n\nSQL logic error, line 1"
        calls = looping(run, 6)
        assert [call.refused for call in calls] == [""] * 6
        assert all("NOT EXECUTED" not in call.text and "x2" not in call.text for call in calls)
        assert run.report().occurrences == 7
        assert {"loop", "same"} <= {threshold for threshold, _, _ in steps(run)}


def test_advise_gives_digests_notices_and_refusals() -> None:
    """All that helps the agent, and nothing that stops it."""
    with errcompact.run(ledger=Ledger(), mode="advise") as run:
        calls = looping(run, 4)
        assert [bool(call.refused) for call in calls] == [False, False, True, True]
        assert "x2" in calls[1].text
        assert run.digest() != ""


def test_enforce_is_the_default() -> None:
    """A loop halts the run."""
    with errcompact.run(ledger=Ledger()) as run, pytest.raises(errcompact.RunHalted):
        looping(run)
    assert run.report().result == "halted"


def test_the_option_sets_the_mode_of_all_runs() -> None:
    """One option; a run's own mode wins."""
    ledger = Ledger(Options(mode="advise"))
    with errcompact.run(ledger=ledger) as run:
        looping(run)
        run.check()
    with errcompact.run(ledger=ledger, mode="enforce") as run, pytest.raises(errcompact.RunHalted):
        looping(run)


def test_the_variable_sets_the_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """One variable, for programs that stay as they are."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_MODE", "observe")
    with errcompact.run(ledger=Ledger(Options.from_environ())) as run:
        assert [call.refused for call in looping(run)] == [""] * 12


def test_a_mode_that_does_not_exist_is_said_at_once() -> None:
    """Not when it is needed."""
    with pytest.raises((ValueError, ConfigurationError)):
        errcompact.run(ledger=Ledger(), mode="loud")  # type: ignore[arg-type]
