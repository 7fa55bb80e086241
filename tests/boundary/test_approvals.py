"""What a human says to a call that was asked about answers for its run."""

from __future__ import annotations

import pytest

import otel_errcompact as errcompact
from otel_errcompact.boundary.approvals import Approvals
from otel_errcompact.engine.ledger import Ledger


@pytest.fixture
def run() -> errcompact.Run:
    run = errcompact.run("mine", ledger=Ledger(), on_escalation=lambda escalation: errcompact.Pause())
    run.port.open()
    for _ in range(3):
        run.port.record_call("price", error="no such item")
    assert isinstance(run.gate(), errcompact.RunPaused)
    return run


def test_the_model_is_asked_once_more_and_not_again_before_there_is_an_answer(run: errcompact.Run) -> None:
    """Else a model that calls other tools would go on for ever in a run that waits."""
    approvals = Approvals()
    assert [approvals.let_through("mine"), approvals.let_through("mine"), approvals.let_through("other")] == [
        True,
        False,
        True,
    ]
    approvals.request("mine", "call-1", "price")
    approvals.apply_replies(run, lambda tool, call_id: True)
    assert approvals.let_through("mine")


def test_what_is_said_to_a_call_answers_for_its_run(run: errcompact.Run) -> None:
    """The first answer counts; a call of another run, and one nobody has spoken of, change nothing."""
    approvals = Approvals()
    approvals.request("other", "call-0", "price")
    approvals.request("mine", "call-1", "price")
    approvals.request("mine", "call-2", "price")
    approvals.apply_replies(run, lambda tool, call_id: None)
    assert run.verdict.standing == "pause"
    approvals.apply_replies(run, lambda tool, call_id: (tool, call_id) != ("price", "call-0"))
    assert run.verdict.standing == "carry_on"


def test_a_restored_run_is_known_by_its_answered_call() -> None:
    """The id of the call survives where ours is lost."""
    approvals = Approvals()
    approvals.request("mine", "call-1", "price")
    assert approvals.find_run(lambda tool, call_id: False if (tool, call_id) == ("price", "call-1") else None) == "mine"
    assert not approvals.find_run(lambda tool, call_id: None)


def test_an_answer_for_all_calls_of_a_tool_names_no_run() -> None:
    """Else what one user allows for ever would go on with the run of another, who has not answered."""
    approvals = Approvals()
    approvals.request("of A", "call-1", "price")
    approvals.request("of B", "call-2", "price")
    always = {"price": True}
    assert not approvals.find_run(lambda tool, call_id: always.get(tool))
    assert approvals.find_run(lambda tool, call_id: always.get(tool), "call-2") == "of B"
