"""A command of Claude Code that both its hooks and the shell prefix report is one call, of the agent that made it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_errcompact_hosts.calls import Answer, HostCall, HostResult
from otel_errcompact_hosts.hooks import answer
from otel_errcompact_hosts.runs import LedgerRuns
from packages.hosts.tests.hooks.sessions import FAILING, TRACEBACK, after, before

HOST = "claude-code"
AGENT = {"agent_id": "a6096a332bafa8579", "agent_type": "general-purpose"}
LINES = pytest.mark.parametrize(
    ("given", "line"),
    [
        pytest.param({"command": FAILING, "description": "Read the orders"}, FAILING, id="described"),
        pytest.param({"command": FAILING, "timeout": 600_000}, FAILING, id="with a time limit"),
        pytest.param({"command": f"{FAILING}\n"}, FAILING, id="with a line end"),
        pytest.param({"command": f"{FAILING} < /dev/null"}, FAILING, id="without input"),
    ],
)


class Session:
    """A session in which a sub-agent makes calls."""

    def __init__(self, runs: LedgerRuns, given: dict[str, Any], line: str) -> None:
        self.runs = runs
        self.given = given
        self.line = line
        self.id = str(before(HOST, FAILING, 1)["session_id"])
        self.agent = f"{self.id}/{AGENT['agent_id']}"

    def begin(self, number: int, **agent: str) -> dict[str, Any]:
        return answer(HOST, {**before(HOST, FAILING, number), "tool_input": self.given, **(agent or AGENT)}, self.runs)

    def end(self, number: int, **agent: str) -> dict[str, Any]:
        return answer(HOST, {**after(HOST, FAILING, number), "tool_input": self.given, **(agent or AGENT)}, self.runs)

    def wrap(self) -> Answer:
        """What the prefix reports, which knows neither the sub-agent nor the id of the call."""
        call = HostCall(
            run_id=self.id, tool="Bash", arguments=json.dumps({"command": self.line}), directory="/home/ann"
        )
        return self.runs.conclude(call, HostResult(text=f"reading orders\n{TRACEBACK}", exit_code=1))

    def counts(self) -> dict[str, int]:
        ledger = self.runs.ledger
        return {run: ledger.report(run).occurrences for run in ledger.store.run_ids()}


@LINES
def test_the_prefix_reports_first(runs: LedgerRuns, given: dict[str, Any], line: str) -> None:
    """As it mostly does: the command ends before its host knows."""
    session = Session(runs, given, line)
    for number in (1, 2):
        session.begin(number)
        wrapped = session.wrap()
        assert (wrapped.outcome, wrapped.count) == ("failure", number)
        assert session.end(number) == {}
        assert session.counts() == {session.agent: number}


@LINES
def test_the_hook_reports_first(runs: LedgerRuns, given: dict[str, Any], line: str) -> None:
    """The report of the prefix was under way for longer than it waits for an answer."""
    session = Session(runs, given, line)
    for number in (1, 2):
        session.begin(number)
        session.end(number)
        assert session.wrap() == Answer(outcome="counted")
        assert session.counts() == {session.agent: number}


def test_a_call_that_was_never_made_is_not_taken_for_the_next_one(runs: LedgerRuns) -> None:
    """Another hook has refused the first, after ours had let it pass: no report of it comes."""
    session = Session(runs, {"command": FAILING}, FAILING)
    session.begin(1)
    session.begin(2)
    wrapped = session.wrap()
    assert (wrapped.outcome, wrapped.count) == ("failure", 1)
    assert session.end(2) == {}
    assert session.counts() == {session.agent: 1}


def test_a_late_report_takes_no_call_that_is_under_way_for_its_own(runs: LedgerRuns) -> None:
    """Session and sub-agent execute the same command; each is counted once, whichever report comes when."""
    session = Session(runs, {"command": FAILING}, FAILING)
    session.begin(1)
    session.end(1)
    session.begin(2, agent_type="")
    session.wrap()
    session.end(2, agent_type="")
    session.wrap()
    assert session.counts() == {session.agent: 1, session.id: 1}
    assert session.wrap().outcome == "failure", "a third one is another call"


def test_without_hooks_failures_behind_the_prefix_are_called_no_row(runs: LedgerRuns) -> None:
    """Of what succeeds between them nobody has heard; they are counted, and no call is said to follow another."""
    call = HostCall(
        run_id="s", tool="Bash", arguments=json.dumps({"command": FAILING}), stoppable=False, turn="unknown"
    )
    said = [runs.conclude(call, HostResult(text=TRACEBACK, exit_code=1)) for _ in range(4)]
    assert [(each.count, each.streak) for each in said] == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert [each.text.splitlines()[-1][5:] for each in said[1:]] == [" again (x2)", " again (x3)", " again (x4)"]
