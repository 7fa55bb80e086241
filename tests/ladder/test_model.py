"""The slow model, on histories short enough to be counted by hand."""

from __future__ import annotations

import pytest

from tests.ladder.model import Answer, Ended, Job, Kind, Limits, Model

BROKEN = Kind("broken")
SLOW = Kind("slow", transient=True)
UNFIT = Kind("unfit", rejected=True)
A = Job("pytest a", "pytest a")
A_VERBOSE = Job("pytest -v a", "pytest a")
B = Job("pytest b", "pytest b")
ALL = Job("pytest", "pytest", frozenset({"pytest a", "pytest b"}))


def fail(model: Model, job: Job = A, kind: Kind = BROKEN, answer: Answer = "continue") -> Ended:
    ended = model.end(model.begin(job), "failure", kind)
    model.escalate(ended, answer)
    return ended


def succeed(model: Model, job: Job) -> None:
    model.end(model.begin(job), "success")


def taken(model: Model) -> list[tuple[str, int, str]]:
    return [(step.step, step.count, answer) for step, answer in model.escalations()]


def test_another_target_ends_no_streak() -> None:
    """Eight failures of `pytest a` with `pytest b` passing between."""
    model = Model()
    for _ in range(8):
        fail(model)
        succeed(model, B)
    assert (model.streak(BROKEN, "pytest a"), model.result()) == (8, "unresolved")
    assert taken(model) == [
        ("same", 3, "unhandled"),
    ]


def test_a_wider_success_resolves() -> None:
    """`pytest` after `pytest a`."""
    model = Model()
    fail(model)
    succeed(model, ALL)
    assert (model.streak(BROKEN, "pytest a"), model.result()) == (0, "recovered")


@pytest.mark.parametrize("job", [ALL, A_VERBOSE])
def test_the_same_call_failing_again_takes_the_resolution_back(job: Job) -> None:
    """It was resolved by something else, and so it was not."""
    model = Model()
    fail(model)
    succeed(model, job)
    fail(model)
    assert (model.streak(BROKEN, "pytest a"), model.result()) == (2, "unresolved")


def test_another_call_failing_is_a_new_streak() -> None:
    """Only the call that failed before can take the resolution back."""
    model = Model()
    fail(model)
    succeed(model, ALL)
    fail(model, A_VERBOSE)
    assert model.streak(BROKEN, "pytest a") == 1


def test_a_call_that_itself_succeeded_begins_a_new_streak() -> None:
    """What it did once is not undone by a later failure."""
    model = Model()
    fail(model)
    succeed(model, A)
    succeed(model, ALL)
    fail(model)
    assert model.streak(BROKEN, "pytest a") == 1


def test_a_turn_counts_once() -> None:
    """Three calls of one turn are one attempt, whichever ends first; a success of the turn comes first."""
    model = Model()
    fail(model)
    model.turn()
    ticks = [model.begin(A_VERBOSE) for _ in range(3)]
    last = [model.end(tick, "failure", BROKEN) for tick in ticks][-1]
    assert (model.counts(last).same, model.counts(last).loop, model.count(BROKEN)) == (2, 1, 4)
    model.end(model.begin(ALL), "success")
    assert (model.streak(BROKEN, "pytest a"), model.consecutive(), model.total()) == (1, 1, 4)


def test_a_permanent_call_is_refused_until_anything_succeeds() -> None:
    """Transient failures are never refused, and the count ends at once."""
    model = Model()
    fail(model)
    assert not model.is_refused(A)
    fail(model, kind=UNFIT)
    assert model.is_refused(A)
    assert not model.is_refused(A_VERBOSE)
    succeed(model, B)
    assert not model.is_refused(A)
    fail(model, kind=SLOW)
    fail(model, kind=SLOW)
    assert not model.is_refused(A)


def test_refusals_count_for_the_loop_alone() -> None:
    """Two failures and four refusals of them halt the run."""
    model = Model()
    fail(model)
    fail(model)
    for _ in range(4):
        ended = model.end(model.begin(A), "refused")
        model.escalate(ended, "continue")
    assert taken(model) == [("loop", 4, "unhandled"), ("loop_halt", 6, "halt")]
    assert (model.streak(BROKEN, "pytest a"), model.total(), model.result()) == (2, 2, "halted")


def test_continue_makes_counters_fresh_and_resolves_nothing() -> None:
    """Streak, row, budget and identical count begin at zero; the class stays open."""
    model = Model(Limits(handled=True))
    for _ in range(3):
        fail(model)
    assert taken(model) == [("same", 3, "continue")]
    assert (model.streak(BROKEN, "pytest a"), model.consecutive(), model.total(), model.loop(A)) == (0, 0, 0, 0)
    assert (model.count(BROKEN), model.result()) == (3, "unresolved")


def test_one_step_of_the_ladder_per_turn() -> None:
    """What was held back is taken with the next failure that still reaches it."""
    model = Model(Limits(same=1))
    model.turn()
    fail(model)
    fail(model, B)
    assert taken(model) == [("same", 1, "unhandled")]
    model.turn()
    fail(model, B)
    assert taken(model) == [("same", 1, "unhandled"), ("same", 2, "unhandled")]


def test_what_halts_by_itself_is_the_first_step() -> None:
    """Then the loop, the streak, the row and the budget."""
    for halts, step in ((frozenset({"total"}), "total"), (frozenset[str](), "loop")):
        model = Model(Limits(same=1, loop=1, consecutive=1, total=1, halts=halts))
        fail(model)
        assert [name for name, _, _ in taken(model)] == [step]


def test_failures_after_an_escalation_are_those_of_its_class() -> None:
    """Until the class is resolved or its counters are fresh; a resolution that is taken back at once was none."""
    model = Model()
    for _ in range(4):
        fail(model)
    fail(model, B, SLOW)
    assert (model.after_escalation(), model.status(BROKEN), model.status(SLOW)) == (1, "ESCALATED", "ACTIVE")
    succeed(model, ALL)
    fail(model)
    assert (model.after_escalation(), model.status(BROKEN)) == (2, "ESCALATED")
    succeed(model, ALL)
    fail(model, A_VERBOSE)
    assert (model.after_escalation(), model.status(BROKEN)) == (2, "ESCALATED")
    model.resume()
    fail(model)
    assert (model.after_escalation(), model.status(BROKEN)) == (2, "ESCALATED")
