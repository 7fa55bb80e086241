from __future__ import annotations

import pytest
from pydantic import ValidationError

from otel_errcompact.errors import FailureKind
from otel_errcompact.escalator.actions import Continue, Halt, Pause, name_action
from otel_errcompact.escalator.decision import Decision, Rows, decide, mark_escalated
from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.escalator.thresholds import ASKING, THRESHOLDS, Threshold, Thresholds
from otel_errcompact.history.history import History
from tests.builders import classified, raw

UNREACHED = Thresholds(same=100, rejected=100, loop=100, loop_halt=100, consecutive=100, total=100)


def rows_after(failures: int, *, classes: int = 1, rejected: bool = False, call: str = "") -> Rows:
    """The rows that the last of these failures belongs to."""
    history = History(max_classes=100)
    kind = FailureKind(rejected=rejected)
    for number in range(failures):
        made = history.record(raw(), classified(f"{number % classes:04}0"), kind=kind, call=call)
    repeated = history.repeats.find("", call)
    return Rows(rejected=rejected, streak=made.attempts, repeated=repeated, history=history)


def limits(**changed: int | frozenset[str]) -> Thresholds:
    """Thresholds of which only these are in reach."""
    return Thresholds.model_validate({**UNREACHED.model_dump(), **changed})


def test_the_defaults_are_those_of_the_ladder() -> None:
    """All thresholds are set by default, and only the loop halts by itself."""
    assert Thresholds() == Thresholds(same=3, rejected=5, loop=4, loop_halt=6, refuse=2, consecutive=6, total=30)
    assert Thresholds().halts == frozenset()


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        pytest.param(1, Decision(), id="the first failure carries on"),
        pytest.param(2, Decision(level="notice", threshold="same", count=2, limit=4), id="the second is noticed"),
        pytest.param(3, Decision(level="notice", threshold="same", count=3, limit=4), id="one before the limit"),
        pytest.param(4, Decision(level="escalate", threshold="same", count=4, limit=4), id="at the limit"),
        pytest.param(5, Decision(level="escalate", threshold="same", count=5, limit=4), id="beyond the limit"),
    ],
)
def test_the_streak_of_one_class(failures: int, expected: Decision) -> None:
    """A class that recurs in its operation is noticed from the second failure on, until it escalates."""
    assert decide(rows_after(failures), limits(same=4)) == expected


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        pytest.param(4, Decision(level="notice", threshold="rejected", count=4, limit=5), id="one before the limit"),
        pytest.param(5, Decision(level="escalate", threshold="rejected", count=5, limit=5), id="at the limit"),
    ],
)
def test_input_that_is_rejected_has_a_limit_of_its_own(failures: int, expected: Decision) -> None:
    """Where nothing was executed, the failures count against `rejected` and never against `same`."""
    assert decide(rows_after(failures, rejected=True), limits(same=3, rejected=5)) == expected


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        pytest.param(1, Decision(), id="the first carries on"),
        pytest.param(3, Decision(level="notice", threshold="loop", count=3, limit=4), id="before the limit"),
        pytest.param(4, Decision(level="escalate", threshold="loop", count=4, limit=4), id="at the limit"),
        pytest.param(6, Decision(level="escalate", threshold="loop", count=6, limit=6, halts=True), id="it halts"),
    ],
)
def test_identical_calls_that_keep_failing(failures: int, expected: Decision) -> None:
    """A loop is reported at `loop`, and halts at `loop_halt`, whatever the classes are that the call fails with."""
    assert decide(rows_after(failures, classes=100, call="c"), limits(loop=4, loop_halt=6)) == expected


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        pytest.param(5, Decision(), id="one before"),
        pytest.param(6, Decision(level="escalate", threshold="consecutive", count=6, limit=6), id="at the limit"),
    ],
)
def test_failures_in_a_row_of_any_class(failures: int, expected: Decision) -> None:
    """Calls that fail in a row escalate although each fails differently; there is no notice of it."""
    assert decide(rows_after(failures, classes=100), limits(consecutive=6)) == expected


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        pytest.param(29, Decision(), id="one left"),
        pytest.param(30, Decision(level="escalate", threshold="total", count=30, limit=30), id="spent"),
    ],
)
def test_the_error_budget_of_a_run(failures: int, expected: Decision) -> None:
    """All occurrences count against the budget, those of one turn too."""
    assert decide(rows_after(failures, classes=100), limits(total=30)) == expected


def test_an_escalation_outranks_a_notice() -> None:
    """Where one threshold is near and another reached, the reached one decides."""
    decision = decide(rows_after(6), limits(same=7, consecutive=6))
    assert decision == Decision(level="escalate", threshold="consecutive", count=6, limit=6)


def test_what_halts_outranks_what_asks_and_that_what_alerts() -> None:
    """Where several are reached at once, the most serious step is taken; the others wait for the next turn."""
    rows = rows_after(6, call="c")
    reached = limits(same=3, loop=4, loop_halt=6, consecutive=6, total=6)
    assert decide(rows, reached).halts
    mark_escalated(rows, decide(rows, reached))
    taken = []
    for _ in range(3):
        taken.append(decide(rows, reached).threshold)
        mark_escalated(rows, decide(rows, reached))
    assert taken == ["same", "consecutive", "total"]
    assert decide(rows, reached).level == "notice"


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_row_escalates_once(threshold: str) -> None:
    """Each further failure of it is noticed only, as far as it is a repeat."""
    rows = rows_after(2, rejected=threshold == "rejected", call="c")
    reached = limits(**{threshold: 2})
    decision = decide(rows, reached)
    assert (decision.level, decision.threshold) == ("escalate", threshold)
    mark_escalated(rows, decision)
    assert decide(rows, reached).level == "notice"


def test_a_loop_that_has_escalated_still_halts() -> None:
    """The report of a loop and its halt are two steps."""
    rows = rows_after(6, call="c")
    at_four = limits(loop=4)
    mark_escalated(rows, decide(rows, at_four))
    assert decide(rows, limits(loop=4, loop_halt=6)).halts


def test_one_turn_takes_one_step() -> None:
    """Where the turn has escalated already, a threshold that is reached waits, and the agent reads a notice."""
    rows = rows_after(3)
    assert decide(rows, limits(same=3), may_escalate=False).level == "notice"
    assert decide(rows, limits(same=3)).level == "escalate"


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_any_threshold_may_halt_on_request(threshold: str) -> None:
    """`halts` names those that halt where no handler decides."""
    rows = rows_after(2, rejected=threshold == "rejected", call="c")
    assert not decide(rows, limits(**{threshold: 2})).halts
    assert decide(rows, limits(**{threshold: 2, "halts": frozenset({threshold})})).halts


def test_alerts_ask_nobody_unless_they_halt() -> None:
    """Rows and budgets stop good runs as often as bad ones, so that a handler is asked about them on request only."""
    assert {name for name in THRESHOLDS if Thresholds().asks(name)} == ASKING == {"same", "rejected", "loop"}
    assert Thresholds(halts=frozenset({"total"})).asks("total")


def test_a_refusal_belongs_to_the_loop_alone() -> None:
    """It is no failure of a class, so that no streak is compared."""
    failed = rows_after(4, call="c")
    refused = Rows(rejected=False, streak=None, repeated=failed.repeated, history=failed.history)
    assert (refused.counts.same, refused.counts.rejected, refused.counts["loop"]) == (0, 0, 4)
    assert decide(refused, limits(same=2, loop=4)).threshold == "loop"


def test_a_step_whose_row_is_not_known_is_noted_nowhere() -> None:
    """A refusal has no streak, and a call of unknown arguments no identical ones."""
    rows = Rows(rejected=False, streak=None, repeated=None, history=History(max_classes=1))
    for threshold in ("same", "loop"):
        mark_escalated(rows, Decision(level="escalate", threshold=threshold, count=1, limit=1))
    assert not rows.history.row.escalated


def test_a_limit_of_one_escalates_at_once() -> None:
    """The strictest setting lets nothing recur."""
    assert decide(rows_after(1), Thresholds(same=1)).level == "escalate"


@pytest.mark.parametrize("name", ["same", "rejected", "loop", "loop_halt", "refuse", "consecutive", "total"])
def test_a_threshold_below_one_is_refused(name: str) -> None:
    """The message says which value is wrong and what is allowed."""
    with pytest.raises(ValidationError, match=rf"{name}\n.*greater than or equal to 1 .*input_value=0"):
        Thresholds(**{name: 0})


def test_an_unknown_threshold_cannot_halt() -> None:
    """A name that is misspelled is refused, and not ignored."""
    with pytest.raises(ValidationError, match=r"halts.*\n.*'same', 'rejected', 'loop', 'consecutive' or 'total'"):
        Thresholds.model_validate({"halts": ["sum"]})


def test_an_escalation_reads_as_a_sentence(escalation: Escalation) -> None:
    """What was reached, how far, by which error, and where: of the arguments only the beginning, in one line."""
    reached = "one error class keeps recurring (3 of 3): [ConnectionError] connection refused"
    assert escalation.reached == reached
    assert str(escalation) == f"{reached} (agent shop, run run-1, call db.query)"
    called = escalation.model_copy(update={"arguments": f'{{"sql":\n"{"x" * 300}"}}', "mark": "#3f2a"})
    shown = f'{{"sql":"{"x" * 192}'
    assert str(called) == f"{reached} (agent shop, run run-1, call db.query({shown}...), class #3f2a)"


@pytest.mark.parametrize(
    ("action", "name"), [(Halt(), "halt"), (Continue("go on"), "continue"), (Pause(), "pause")], ids=repr
)
def test_actions_have_names(action: Halt | Continue | Pause, name: str) -> None:
    """Telemetry and reports know an answer by its name."""
    assert name_action(action) == name


@pytest.mark.parametrize(
    ("threshold", "tool", "text"),
    [
        ("same", "db.query", "I have stopped: db.query was tried 3 times without success."),
        ("loop", "", "I have stopped: a step was tried 3 times without success."),
        ("consecutive", "db.query", "I have stopped: 3 steps have failed in a row."),
        ("total", "db.query", "I have stopped: 3 steps have failed."),
    ],
)
def test_the_final_text_is_for_the_end_user(escalation: Escalation, threshold: Threshold, tool: str, text: str) -> None:
    """What failed how often, and nothing of handlers, thresholds and ids; the application's own words go before."""
    reached = escalation.model_copy(update={"threshold": threshold, "tool": tool})
    assert RunHalted(reached, "no escalation handler was given").final_text == text
    assert RunHalted(reached, "", "Please call us.").final_text == "Please call us."
    assert RunPaused(reached, "").final_text == text.replace("I have stopped", "I am waiting for a person")
