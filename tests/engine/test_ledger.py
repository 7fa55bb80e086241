from __future__ import annotations

from collections import deque
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.config import Options
from otel_errcompact.detector.kinds import FailureKind
from otel_errcompact.detector.operation import call_fingerprint
from otel_errcompact.digest import DigestOptions
from otel_errcompact.engine.events import (
    Arrived,
    Began,
    Ended,
    Evicted,
    Handled,
    Observation,
    Refused,
    Resolved,
    Resumed,
    Settled,
    Succeeded,
)
from otel_errcompact.engine.ladder import NO_HANDLER
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.engine.state import Verdict
from otel_errcompact.errors import Operation, RawError
from otel_errcompact.escalator.actions import Continue, Halt, Pause
from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
from otel_errcompact.escalator.thresholds import Threshold, Thresholds
from otel_errcompact.history.stores.memory import OPEN_ROOM, MemoryLimits
from otel_errcompact.runtime.guard import Guard
from tests.builders import raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.engine.listeners import Receivers
    from otel_errcompact.errors import Facts

REFUSED = "ConnectionError: certificate has expired"
MISSING = "KeyError: 'sku'"
CALL = '{"sql": "select 1"}'
OTHER_CALL = '{"sql": "select 2"}'
SECOND = 1_000_000_000


class Journal(Listener):
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def receivers(self) -> Receivers:
        lines: dict[type, Callable[[Any], list[str]]] = {
            Arrived: lambda event: [f"raw {event.run_id} {event.raw.text}"],
            Observation: self.describe_observation,
            Handled: lambda event: [f"handled {event.run_id} {event.agent} {event.found.facts.type}"],
            Refused: lambda event: [f"refused {event.tool} {event.failures}+{event.count - event.failures}"],
            Resolved: lambda event: [f"resolved {event.run_id} {event.agent} {event.tool} {len(event.classes)}"],
            Escalation: lambda event: [f"escalated {event.threshold} {event.count}"],
            AnsweredEscalation: lambda event: [f"answered {event.action}"],
            Evicted: lambda event: [f"evicted {event.report.run_id}"],
            Ended: lambda event: [f"ended {event.report.result}"],
        }
        return {kind: self.write_down(line) for kind, line in lines.items()}

    def describe_observation(self, event: Observation) -> list[str]:
        taken_back = f"taken back {event.run_id} {event.agent} {event.raw.tool} x{event.count}"
        return [f"observed {event.outcome} x{event.count}", *[taken_back] * event.taken_back]

    def write_down(self, line: Callable[[Any], list[str]]) -> Callable[[Any], None]:
        return lambda event: self.entries.extend(line(event))


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture
def ledger(journal: Journal) -> Ledger:
    made = Ledger()
    made.listeners.add(journal)
    return made


def test_the_raw_error_is_kept_before_anything_else_is_done(ledger: Ledger, journal: Journal) -> None:
    """Raw first: the audit sink runs before the compaction."""
    ledger.observe("r", raw(REFUSED))
    assert journal.entries == [f"raw r {REFUSED}", "observed new x1"]


@pytest.mark.parametrize(("message", "sent"), [("no such key: total", "no such key: total"), ("", "builtins.KeyError")])
def test_frameworks_send_the_message_of_an_exception(ledger: Ledger, message: str, sent: str) -> None:
    """What they would have sent is counted beside the whole traceback; without a message the type stands for it."""
    text = f"Traceback (most recent call last):\nKeyError: {message}"
    failed = RawError(text=text, exception=KeyError(message), message=message, type="builtins.KeyError", tool="t")
    observation = ledger.observe("r", failed)
    assert observation.raw_tokens == (len(text) + 3) // 4
    assert observation.sent_tokens == ledger.report("r").sent_tokens == (len(sent) + 3) // 4


def test_an_observation_says_what_became_of_the_failure(ledger: Ledger) -> None:
    """Outcome, counts, text and tokens of the second occurrence."""
    frames = '  File "db.py", line 4, in query\n' * 60
    long = f"Traceback (most recent call last):\n{frames}{REFUSED}"
    ledger.observe("r", raw(long, time_ns=1))
    observation = ledger.observe("r", raw(long, time_ns=2))
    assert (observation.run_id, observation.outcome, observation.count, observation.streak) == ("r", "repeat", 2, 2)
    assert observation.text.startswith("[ConnectionError] at query (db.py:4): certificate has expired")
    assert "again (x2, 2 in a row; " in observation.text
    assert observation.raw_tokens == (len(long) + 3) // 4
    assert observation.sent_tokens == observation.raw_tokens
    assert observation.digest_tokens == (len(observation.text) + 3) // 4
    assert observation.found.facts.type == "ConnectionError"


def test_our_own_cost_is_measured_by_the_injected_timer() -> None:
    """The core reads no clock."""
    ticks = iter([100, 350])
    assert Ledger(timer=lambda: next(ticks)).observe("r", raw(REFUSED)).duration_ns == 250


def test_runs_do_not_mix(ledger: Ledger) -> None:
    """The same failure in two runs is new in each."""
    assert ledger.observe("r1", raw(REFUSED)).outcome == "new"
    assert ledger.observe("r2", raw(REFUSED)).outcome == "new"


def test_a_handled_failure_is_counted_but_never_shown(ledger: Ledger, journal: Journal) -> None:
    """A failed attempt under a call that succeeded is for the operator only."""
    ledger.open("r", agent="shop")
    ledger.handled("r", raw(REFUSED))
    assert ledger.digest("r") == ""
    assert ledger.report("r").handled == 1
    assert journal.entries == [f"raw r {REFUSED}", "handled r shop ConnectionError"]


def test_a_handled_failure_of_an_unknown_run_is_counted_too(ledger: Ledger, journal: Journal) -> None:
    """No run is made for it."""
    ledger.handled("r", raw(REFUSED))
    assert journal.entries[-1] == "handled r  ConnectionError"
    assert ledger.store.run_ids() == ()


def test_a_success_resolves(ledger: Ledger, journal: Journal) -> None:
    """The classes of the operation are resolved, and the digest falls silent."""
    ledger.open("r", agent="shop")
    ledger.observe("r", raw(REFUSED))
    assert [found.resolved for found in ledger.succeed("r", "db.query")] == [True]
    assert ledger.digest("r") == ""
    assert journal.entries[-1] == "resolved r shop db.query 1"


def test_a_success_of_an_unknown_run_costs_nothing(ledger: Ledger, journal: Journal) -> None:
    """Healthy runs leave no state behind."""
    assert ledger.succeed("r", "db.query") == ()
    assert (ledger.store.run_ids(), journal.entries) == ((), [])


def test_the_digest_lists_what_is_live(ledger: Ledger) -> None:
    """The block holds the class with its count and its streak."""
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    ledger.observe("r", raw(REFUSED))
    lines = ledger.digest("r").splitlines()
    key = ledger.report("r").classes[0].key
    assert lines == [
        "[RECENT ERRORS]",
        f"[ConnectionError] at tool db.query: certificate has expired (x2, 2 in a row) #{key[:4]}",
        "[/RECENT ERRORS]",
    ]


def test_an_unknown_run_has_an_empty_digest(ledger: Ledger) -> None:
    """Nothing to say is an empty string."""
    assert ledger.digest("r") == ""


def test_the_newest_raw_error_is_given_back_on_demand(ledger: Ledger) -> None:
    """By the short name that the digest shows, or by the whole key."""
    ledger.observe("r", raw(f"{REFUSED} by 10.0.0.1"))
    observation = ledger.observe("r", raw(f"{REFUSED} by 10.0.0.2"))
    key = observation.found.key
    assert ledger.raw("r", key) == ledger.raw("r", f"#{key[:4]}") == f"{REFUSED} by 10.0.0.2"
    assert ledger.raw("r", "nothing") is None
    assert ledger.raw("unknown", key) is None


def test_a_huge_raw_error_loses_its_middle_visibly() -> None:
    """In memory a text is bounded; the trajectory keeps it whole."""
    ledger = Ledger(Options(memory=MemoryLimits(raw_text_characters=1_000)))
    observation = ledger.observe("r", raw("Error: " + "a" * 600 + "b" * 600))
    kept = ledger.raw("r", observation.found.key)
    assert kept is not None
    assert kept.splitlines()[1] == "... 207 characters cut; the trajectory keeps them ..."
    assert (kept[:8], kept[-1]) == ("Error: a", "b")


def test_raw_errors_of_a_run_are_bounded() -> None:
    """The least recently seen class loses its raw error first."""
    ledger = Ledger(Options(memory=MemoryLimits(raw_characters=1_000)))
    first = ledger.observe("r", raw("KeyError: 'a'" + " " * 600)).found.key
    second = ledger.observe("r", raw("KeyError: 'b'" + " " * 600)).found.key
    assert ledger.raw("r", first) is None
    assert ledger.raw("r", second) is not None


def test_a_reached_threshold_is_announced_once(ledger: Ledger, journal: Journal) -> None:
    """The breach is told when it happens; what fails afterwards is counted apart."""
    ledger.open("r")
    observations = [ledger.observe("r", raw(REFUSED)) for _ in range(5)]
    assert [entry for entry in journal.entries if not entry.startswith("raw")] == [
        "observed new x1",
        "observed repeat x2",
        "observed repeat x3",
        "escalated same 3",
        "answered unhandled",
        "observed after_escalation x4",
        "observed after_escalation x5",
    ]
    assert [observation.escalation is not None for observation in observations] == [False, False, True, False, False]
    assert ledger.report("r").after_escalation == 2


def test_an_escalation_carries_what_a_human_needs(ledger: Ledger) -> None:
    """Run, threshold, class and the digest as the agent sees it."""
    ledger.open("r", agent="shop")
    escalation = [ledger.observe("r", raw(REFUSED, time_ns=number)) for number in range(3)][-1].escalation
    assert escalation is not None
    assert escalation.model_dump(exclude={"key", "digest"}) == {
        "run_id": "r",
        "agent": "shop",
        "threshold": "same",
        "count": 3,
        "limit": 3,
        "halts": False,
        "type": "ConnectionError",
        "location": "",
        "cause": "certificate has expired",
        "tool": "db.query",
        "arguments": "",
        "mark": "#0823",
        "time_ns": 2,
    }
    assert "certificate has expired (x3, 3 in a row) #" in escalation.digest
    assert ledger.raw("r", escalation.mark) == REFUSED


def test_an_escalation_shows_the_arguments_without_secrets(ledger: Ledger) -> None:
    """A log or a chat keeps what a handler is given."""
    ledger.open("r", asks=True)
    call = '{"table": "orders", "password": "hunter2-and-more"}'
    escalation = [ledger.observe("r", raw(REFUSED, arguments=call)) for _ in range(3)][-1].escalation
    assert escalation is not None
    assert escalation.arguments == '{"table": "orders", "password": "[REDACTED:password]"}'


def breached(ledger: Ledger) -> None:
    ledger.open("r", asks=True)
    for _ in range(3):
        ledger.observe("r", raw(REFUSED))


def test_a_run_with_a_handler_waits_for_its_answer(ledger: Ledger) -> None:
    """Until the handler has answered, the run must not go on."""
    breached(ledger)
    verdict = ledger.verdict("r")
    assert (verdict.standing, verdict.stopped) == ("pending", True)


@pytest.mark.parametrize(
    ("action", "standing"), [(Halt("enough"), "halt"), (Pause("ask Ann"), "pause")], ids=["halt", "pause"]
)
def test_halt_and_pause_stop_the_run(ledger: Ledger, journal: Journal, action: Halt | Pause, standing: str) -> None:
    """The verdict names the answer and its reason, and the run ends as halted."""
    breached(ledger)
    ledger.answer("r", action)
    verdict = ledger.verdict("r")
    assert (verdict.standing, verdict.stopped, verdict.reason) == (standing, True, action.reason)
    assert journal.entries[-1] == f"answered {standing}"
    assert ledger.end("r").result == "halted"


def test_continue_gives_fresh_counters_and_passes_the_word_on(ledger: Ledger) -> None:
    """The run goes on, counts from zero, and the agent reads what the human said."""
    breached(ledger)
    ledger.answer("r", Continue("use the replica"))
    assert ledger.verdict("r") == Verdict()
    assert "OPERATOR: use the replica" in ledger.digest("r")
    again = [ledger.observe("r", raw(REFUSED)) for _ in range(3)]
    assert [observation.outcome for observation in again] == ["repeat", "repeat", "repeat"]
    assert again[-1].escalation is not None


def test_a_paused_run_may_be_resumed(ledger: Ledger) -> None:
    """A later answer replaces the pause, and both stand in the report."""
    breached(ledger)
    ledger.answer("r", Pause())
    ledger.answer("r", Continue("go"))
    assert ledger.verdict("r").standing == "carry_on"
    assert [answered.action for answered in ledger.report("r").escalations] == ["pause", "continue"]


def test_the_same_answer_twice_counts_once(ledger: Ledger, journal: Journal) -> None:
    """Telling a halted run to halt changes nothing."""
    breached(ledger)
    ledger.answer("r", Halt())
    ledger.answer("r", Halt())
    assert journal.entries.count("answered halt") == 1


def test_an_answer_without_a_breach_does_nothing(ledger: Ledger, journal: Journal) -> None:
    """Neither for a healthy run nor for an unknown one."""
    ledger.open("r")
    ledger.answer("r", Halt())
    ledger.answer("unknown", Halt())
    ledger.apply(Resumed(run_id="unknown", message="go on"))
    assert (ledger.verdict("r"), ledger.verdict("unknown"), journal.entries) == (Verdict(), Verdict(), [])


def test_a_call_that_may_have_taken_effect_is_not_simply_tried_again(ledger: Ledger) -> None:
    """Of a payment that timed out nobody knows whether it was made; one that found no server was not."""
    ledger.open("r")
    timed_out = [ledger.observe("r", raw("TimeoutError: read timed out while charging card 9")).text for _ in range(2)]
    away = [ledger.observe("r", raw("ConnectionError: connection refused")).text for _ in range(2)]
    assert "it may have taken effect: check before you try again" in timed_out[0]
    assert "(x2, 2 in a row; wait and check whether it took effect before you try again)" in timed_out[1]
    assert "(x2, 2 in a row; wait before you try again)" in away[1]
    assert "taken effect" not in away[0]


def test_without_a_handler_an_escalation_is_unhandled_and_the_run_goes_on(ledger: Ledger, journal: Journal) -> None:
    """The breach is announced, that nobody acts is counted, and the agent reads that it was reported."""
    ledger.open("r")
    text = [ledger.observe("r", raw(REFUSED)).text for _ in range(3)][-1]
    assert journal.entries[-2:] == ["escalated same 3", "answered unhandled"]
    assert ledger.verdict("r") == Verdict()
    assert "ESCALATED at 3: recorded for the operators; try something else" in text
    assert "ESCALATED (same): recorded for the operators: " in ledger.digest("r")
    assert ledger.end("r").result == "unresolved"


def test_the_digest_tells_of_an_unhandled_escalation_until_its_class_is_resolved(ledger: Ledger) -> None:
    """What works again is no longer reported."""
    ledger.open("r")
    for _ in range(3):
        ledger.observe("r", raw(REFUSED))
    ledger.observe("r", raw("KeyError: 'sku'", tool="parse"))
    ledger.succeed("r", "db.query")
    assert "ESCALATED" not in ledger.digest("r")
    assert "KeyError" in ledger.digest("r")


def test_a_run_that_nobody_opened_escalates_unhandled(ledger: Ledger, journal: Journal) -> None:
    """A run known from its spans alone has no gate, so that not even a loop halts it."""
    for _ in range(6):
        ledger.observe("trace", raw(MISSING, arguments=CALL))
    assert [entry for entry in journal.entries if entry.startswith(("escalated", "answered"))] == [
        "escalated same 3",
        "answered unhandled",
        "escalated loop 4",
        "answered unhandled",
        "escalated loop 6",
        "answered unhandled",
    ]
    assert ledger.verdict("trace") == Verdict()
    assert ledger.end("trace").result == "unresolved"


def test_a_loop_halts_where_no_handler_decides(ledger: Ledger, journal: Journal) -> None:
    """Six identical calls without any success are the one thing that the library stops by itself."""
    ledger.open("r")
    text = [ledger.observe("r", raw(MISSING, arguments=CALL)).text for _ in range(6)][-1]
    assert "6 identical calls, ESCALATED at 6: the run is stopped" in text
    assert journal.entries[-2:] == ["escalated loop 6", "answered halt"]
    verdict = ledger.verdict("r")
    assert (verdict.standing, verdict.stopped, verdict.reason) == ("halt", True, NO_HANDLER)
    assert ledger.end("r").result == "halted"


def test_a_handler_is_asked_before_a_loop_halts(ledger: Ledger) -> None:
    """It decides at `loop`, and once more at `loop_halt` if it let the run go on."""
    ledger.open("r", asks=True, thresholds=Thresholds(same=100))
    for _ in range(4):
        ledger.observe("r", raw(MISSING, arguments=CALL))
    assert ledger.verdict("r").standing == "pending"
    ledger.apply(Settled(run_id="r", action=None, message="the handler was away"))
    assert ledger.verdict("r") == Verdict()
    for _ in range(2):
        ledger.observe("r", raw(MISSING, arguments=CALL))
    assert ledger.verdict("r").standing == "pending"
    ledger.apply(Settled(run_id="r", action=None, message="the handler was away"))
    verdict = ledger.verdict("r")
    assert (verdict.standing, verdict.reason) == ("halt", "the handler was away")


def test_an_answer_by_default_settles_only_what_is_open(ledger: Ledger, journal: Journal) -> None:
    """Neither a run without a breach nor one that was answered, nor one that is not known."""
    breached(ledger)
    ledger.answer("r", Pause("ask Ann"))
    heard = list(journal.entries)
    for run_id in ("r", "unknown"):
        ledger.apply(Settled(run_id=run_id, action=None, message="too late"))
    assert journal.entries == heard
    assert ledger.verdict("r").standing == "pause"


def test_a_server_is_halted_by_nothing(ledger: Ledger, journal: Journal) -> None:
    """It has no agent that could be stopped: a loop is reported, and the next call may be made."""
    ledger.open("r", stoppable=False)
    for _ in range(6):
        ledger.observe("r", raw(MISSING, arguments=CALL))
    assert journal.entries[-2:] == ["escalated loop 6", "answered unhandled"]
    assert ledger.verdict("r") == Verdict()


@pytest.mark.parametrize(
    ("halts", "answer"), [(frozenset[Threshold](), "unhandled"), (frozenset[Threshold]({"consecutive"}), "halt")]
)
def test_a_threshold_halts_on_request(
    ledger: Ledger, journal: Journal, halts: frozenset[Threshold], answer: str
) -> None:
    """Rows of failures are an alert, and a halt where `halts` names them."""
    ledger.open("r", thresholds=Thresholds(consecutive=3, halts=halts))
    for number in range(3):
        ledger.observe("r", raw(f"KeyError: 'k{number}'"))
    assert journal.entries[-2:] == ["escalated consecutive 3", f"answered {answer}"]


def test_a_handler_is_not_asked_about_an_alert(ledger: Ledger, journal: Journal) -> None:
    """`consecutive` and `total` are reported, and the run goes on."""
    ledger.open("r", asks=True, thresholds=Thresholds(total=2))
    for number in range(2):
        ledger.observe("r", raw(f"KeyError: 'k{number}'"))
    assert journal.entries[-2:] == ["escalated total 2", "answered unhandled"]
    assert ledger.verdict("r") == Verdict()


def test_advice_asks_and_halts_nothing(ledger: Ledger, journal: Journal) -> None:
    """Digests, notices and refusals as always; each escalation is reported only."""
    ledger.open("r", asks=True, mode="advise")
    text = [ledger.observe("r", raw(MISSING, arguments=CALL)).text for _ in range(6)][-1]
    assert "ESCALATED at 6: recorded for the operators" in text
    assert {entry for entry in journal.entries if entry.startswith("answered")} == {"answered unhandled"}
    assert ledger.verdict("r") == Verdict()
    assert ledger.refusal(Refused(run_id="r", tool="db.query", arguments=CALL)).startswith("NOT EXECUTED: ")


def test_observing_changes_nothing_that_the_agent_reads(ledger: Ledger, journal: Journal) -> None:
    """The raw error is its text, nothing is refused, and what was reached is reported."""
    ledger.open("r", mode="observe")
    texts = [ledger.observe("r", raw(MISSING, arguments=CALL)).text for _ in range(6)]
    assert texts == [MISSING] * 6
    assert ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL)) == ""
    assert journal.entries[-2:] == ["escalated loop 6", "answered unhandled"]
    assert ledger.report("r").occurrences == 6


def test_the_mode_of_a_run_is_that_of_the_options_otherwise() -> None:
    """One option for all runs of the process."""
    ledger = Ledger(Options(mode="observe"))
    assert ledger.observe("r", raw(MISSING)).text == MISSING


def test_failures_of_one_turn_escalate_once(ledger: Ledger, journal: Journal) -> None:
    """Five calls side by side are one attempt, and one turn takes one step of the ladder."""
    ledger.open("r", thresholds=Thresholds(same=1, total=2))
    began = ledger.next_tick()
    observations = [ledger.observe("r", raw(REFUSED, began=began)) for _ in range(5)]
    assert [observation.streak for observation in observations] == [1] * 5
    assert [entry for entry in journal.entries if entry.startswith("escalated")] == ["escalated same 1"]
    ledger.observe("r", raw(REFUSED))
    assert journal.entries[-2:] == ["escalated total 6", "answered unhandled"]


def test_a_resolution_is_taken_back_when_the_same_call_fails_again(ledger: Ledger, journal: Journal) -> None:
    """Another call of the operation has succeeded, and that has not helped this one."""
    ledger.open("r", agent="shop")
    ledger.observe("r", raw(MISSING, arguments=CALL))
    ledger.succeed("r", "db.query", arguments=OTHER_CALL)
    observation = ledger.observe("r", raw(MISSING, arguments=CALL))
    assert (observation.taken_back, observation.streak) == (True, 2)
    assert journal.entries[-1] == "taken back r shop db.query x2"
    assert ledger.report("r").result == "unresolved"


def test_a_success_resolves_its_operation_only(ledger: Ledger) -> None:
    """What another target could do says nothing of this one."""
    ledger.open("r")
    ledger.observe("r", raw(MISSING, tool="edit", operation=Operation("edit", ("a.py",))))
    assert ledger.succeed("r", "edit", operation=Operation("edit", ("b.py",))) == ()
    assert len(ledger.succeed("r", "edit", operation=Operation("edit", ("a.py",)))) == 1


def test_a_run_that_ends_with_an_open_question_is_unhandled(ledger: Ledger, journal: Journal) -> None:
    """An escalation nobody answered is counted when the run ends."""
    breached(ledger)
    ledger.end("r")
    assert journal.entries[-2:] == ["answered unhandled", "ended unresolved"]


@pytest.mark.parametrize(
    ("steps", "result"),
    [
        pytest.param("", "clean", id="nothing failed"),
        pytest.param("fs", "recovered", id="all resolved"),
        pytest.param("fsf", "unresolved", id="still failing"),
    ],
)
def test_how_runs_end(ledger: Ledger, journal: Journal, steps: str, result: str) -> None:
    """The result of a run follows from its classes, and the run is forgotten."""
    ledger.open("r")
    for step in steps:
        if step == "f":
            ledger.observe("r", raw(REFUSED))
        else:
            ledger.succeed("r", "db.query")
    assert ledger.end("r").result == result
    assert journal.entries[-1] == f"ended {result}"
    assert ledger.store.run_ids() == ()


def test_a_run_that_failed_itself_has_failed(ledger: Ledger) -> None:
    """Whatever became of its calls."""
    ledger.open("r")
    assert ledger.end("r", failed=True).result == "failed"


def test_a_class_that_was_forgotten_unresolved_stays_unresolved() -> None:
    """The bound on memory makes no run better than it was."""
    ledger = Ledger(Options(memory=MemoryLimits(classes_per_run=1)))
    ledger.observe("r", raw("ValueError: odd", tool="a"))
    ledger.observe("r", raw("ValueError: even", tool="b"))
    ledger.succeed("r", "b")
    assert ledger.end("r").result == "unresolved"


def test_a_report_of_an_unknown_run_is_clean(ledger: Ledger) -> None:
    """Nothing is known, nothing failed."""
    report = ledger.report("r")
    assert (report.run_id, report.result, report.classes) == ("r", "clean", ())


def test_thresholds_may_be_a_run_s_own() -> None:
    """One run may be stricter than the rest."""
    ledger = Ledger()
    ledger.open("strict", thresholds=Thresholds(same=1))
    assert ledger.observe("strict", raw(REFUSED)).escalation is not None
    assert ledger.observe("other", raw(REFUSED)).escalation is None


def fail_twice(ledger: Ledger, *, agent: str = "", text: str = "") -> None:
    """Make the call fail twice, with another class each time unless a text is given."""
    ledger.open("r", agent=agent)
    for number in range(2):
        ledger.observe("r", raw(text or f"KeyError: 'k{number}'", arguments=CALL))


def test_an_identical_call_that_failed_twice_is_refused(ledger: Ledger, journal: Journal) -> None:
    """Same tool and arguments, failed `refuse` times: not executed, and the agent reads why."""
    ledger.open("r")
    for number in range(2):
        assert ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL)) == ""
        ledger.observe("r", raw(f"KeyError: 'k{number}'", arguments=CALL))
    told = ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL))
    assert told.startswith(
        "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since; "
        "this was attempt 3, at 6 the run is stopped. Change the arguments or the approach.\n"
        "\"[KeyError] at tool db.query: 'k1'\" #"
    )
    assert journal.entries[-1] == "refused db.query 2+1"
    assert ledger.refuse(Refused(run_id="r", tool="db.query", arguments=OTHER_CALL)) == ""


def test_asking_whether_a_call_is_refused_counts_nothing(ledger: Ledger, journal: Journal) -> None:
    """Who asks says with `refuse` that the call was not made."""
    fail_twice(ledger)
    heard = list(journal.entries)
    texts = {ledger.refusal(Refused(run_id="r", tool="db.query", arguments=CALL)) for _ in range(9)}
    assert len(texts) == 1
    assert journal.entries == heard
    assert texts == {ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL))}


def test_a_transient_failure_refuses_nothing(ledger: Ledger) -> None:
    """Waiting helps, as its own words say."""
    fail_twice(ledger, text="HTTP 503: service unavailable")
    assert ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL)) == ""


def test_a_refused_call_is_let_through_after_five_minutes(ledger: Ledger) -> None:
    """What it needs may have changed from outside."""
    ledger.open("r")
    for _ in range(2):
        ledger.observe("r", raw(MISSING, arguments=CALL, time_ns=SECOND))
    assert ledger.refusal(Refused(run_id="r", tool="db.query", arguments=CALL, time_ns=300 * SECOND)) != ""
    assert ledger.refusal(Refused(run_id="r", tool="db.query", arguments=CALL, time_ns=301 * SECOND)) == ""


def test_the_same_call_elsewhere_is_another_call(ledger: Ledger) -> None:
    """Its working directory is part of what makes a call identical."""
    fail_twice(ledger)
    assert ledger.refusal(Refused(run_id="r", tool="db.query", arguments=CALL, directory="shop")) == ""


def test_the_calls_of_another_agent_are_not_refused(ledger: Ledger) -> None:
    """Agents of one run do not share what they have tried."""
    fail_twice(ledger, agent="shop")
    assert ledger.refusal(Refused(run_id="r", tool="db.query", arguments=CALL, agent="stock")) == ""
    assert ledger.refusal(Refused(run_id="r", tool="db.query", arguments=CALL, agent="shop")) != ""


def test_a_run_that_nobody_opened_refuses_nothing(ledger: Ledger) -> None:
    """Without a gate nothing could keep the call from being made."""
    for _ in range(2):
        ledger.observe("trace", raw(MISSING, arguments=CALL))
    assert ledger.refusal(Refused(run_id="trace", tool="db.query", arguments=CALL)) == ""
    assert ledger.refusal(Refused(run_id="unknown", tool="db.query", arguments=CALL)) == ""


def test_a_call_with_unknown_arguments_is_never_refused(ledger: Ledger) -> None:
    """Two calls whose arguments nobody knows are not surely identical."""
    ledger.open("r")
    for number in range(4):
        ledger.observe("r", raw(f"KeyError: 'k{number}'"))
        ledger.observe("r", raw(f"KeyError: 'k{number}'", arguments=OTHER_CALL))
    assert ledger.refuse(Refused(run_id="r", tool="db.query", arguments="")) == ""


def test_a_class_that_was_forgotten_refuses_nothing() -> None:
    """Without its class a refusal could not say why."""
    ledger = Ledger(Options(memory=MemoryLimits(classes_per_run=1)))
    ledger.open("r")
    for _ in range(2):
        ledger.observe("r", raw("KeyError: 'a'", arguments=CALL))
    ledger.observe("r", raw("KeyError: 'b'", tool="other"))
    ledger.observe("r", raw("KeyError: 'c'", tool="other"))
    assert ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL)) == ""


def test_a_run_that_insists_on_refused_calls_halts(ledger: Ledger, journal: Journal) -> None:
    """Refusals count as attempts of the loop: a text does not end loops."""
    fail_twice(ledger)
    told = [ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL)) for _ in range(4)]
    assert [entry for entry in journal.entries if not entry.startswith(("raw", "observed"))] == [
        "refused db.query 2+1",
        "refused db.query 2+2",
        "escalated loop 4",
        "answered unhandled",
        "refused db.query 2+3",
        "refused db.query 2+4",
        "escalated loop 6",
        "answered halt",
    ]
    assert "ESCALATED: recorded for the operators; this was attempt 4, at 6 the run is stopped" in told[1]
    assert told[3].startswith(
        "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since; "
        "ESCALATED: recorded for the operators; the run is stopped.\n"
    )
    assert ledger.verdict("r").standing == "halt"


def test_a_refusal_says_that_the_run_is_stopped_only_where_it_is() -> None:
    """Beside it another call of the turn has taken the step of the ladder; the next turn stops the run."""
    ledger = Ledger(Options(thresholds=Thresholds(total=3)))
    fail_twice(ledger)
    insisting = Refused(run_id="r", tool="db.query", arguments=CALL)
    for _ in range(3):
        ledger.refuse(insisting)
    began = ledger.next_tick()
    assert "ESCALATED at 3" in ledger.observe("r", raw("OSError: full", tool="other", began=began)).text
    beside = replace(insisting, began=began)
    said = "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since; ESCALATED: recorded for "
    for told in (ledger.refusal(beside), ledger.refuse(beside)):
        assert told.startswith(f"{said}the operators. Change the arguments or the approach.\n")
    assert ledger.verdict("r").standing == "carry_on"
    for told in (ledger.refusal(insisting), ledger.refuse(insisting)):
        assert told.startswith(f"{said}the operators; the run is stopped.\n")
    assert ledger.verdict("r").standing == "halt"


def test_refusals_are_no_occurrences(ledger: Ledger) -> None:
    """Nothing was executed, so that nothing has failed."""
    fail_twice(ledger)
    ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL))
    assert ledger.report("r").occurrences == 2


@pytest.mark.parametrize(("tool", "arguments"), [("db.query", "identical"), ("db.query", "others"), ("list", "others")])
def test_any_success_lifts_the_refusal(ledger: Ledger, tool: str, arguments: str) -> None:
    """It may have changed what the call needs."""
    fail_twice(ledger)
    ledger.succeed("r", tool, arguments=CALL if arguments == "identical" else OTHER_CALL)
    assert ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL)) == ""


def test_a_human_who_lets_the_run_go_on_lifts_the_refusal(ledger: Ledger) -> None:
    """They may have changed what the call needs."""
    fail_twice(ledger)
    ledger.apply(Resumed(run_id="r", message="try once more"))
    assert ledger.refuse(Refused(run_id="r", tool="db.query", arguments=CALL)) == ""
    assert "OPERATOR: try once more" in ledger.digest("r")


def test_the_beginning_of_a_run_and_its_successes_are_told_once_something_has_failed() -> None:
    """A healthy run is only ended; of another it is told at its first failure that it has begun."""
    heard: list[object] = []

    ledger = Ledger()
    begun = attrgetter("run_id", "agent", "mode", "asks", "attended", "time_ns")
    ledger.listeners.add(
        Listener(
            {
                Began: lambda event: heard.append(begun(event)),
                Succeeded: lambda event: heard.append((event.tool, str(event.operation), event.arguments)),
            }
        )
    )
    ledger.open("r", agent="shop", asks=True)
    ledger.succeed("r", "list")
    assert heard == []
    for time_ns in (7, 8):
        ledger.observe("r", raw(MISSING, time_ns=time_ns))
    ledger.succeed("r", "edit", operation=Operation("edit", ("a.py",)), arguments=CALL)
    assert heard == [("r", "shop", "enforce", True, True, 7), ("edit", "edit a.py", CALL)]


def test_only_a_success_of_what_has_failed_has_a_fingerprint() -> None:
    """The success of an operation that has not failed ends no streak, whichever call it was."""
    heard: list[str] = []

    ledger = Ledger()
    ledger.listeners.add(Listener({Succeeded: lambda event: heard.append(event.call)}))
    ledger.observe("r", RawError(text=MISSING, tool="edit", operation=Operation("edit", ("a.py",))))
    ledger.succeed("r", "list", arguments=CALL)
    ledger.succeed("r", "edit", operation=Operation("edit", ("a.py",)), arguments=CALL)
    assert heard == ["", call_fingerprint("edit", CALL)]


def test_a_listener_that_fails_harms_nobody(monkeypatch: pytest.MonkeyPatch, journal: Journal) -> None:
    """A broken sink is counted under its own stage; the others hear everything and the agent gets its digest."""
    monkeypatch.setattr(Guard, "strict", False)

    def fail(_: object) -> None:
        raise OSError("disk full")

    listener = Listener({Arrived: fail})
    listener.stage = "trajectory"
    ledger = Ledger()
    ledger.listeners.add(listener)
    ledger.listeners.add(journal)
    assert ledger.observe("r", raw(REFUSED)).count == 1
    assert dict(ledger.guard.failures) == {"trajectory": 1}
    assert journal.entries[-1] == "observed new x1"


def test_a_failure_that_cannot_be_classified_still_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should our own extraction fail, the loop still ends: type and tool make the class."""

    def broken(raw: RawError) -> Classified:
        raise RuntimeError("ours")

    monkeypatch.setattr(Guard, "strict", False)
    monkeypatch.setattr("otel_errcompact.late.classify", broken)
    ledger = Ledger()
    ledger.open("r")
    observations = [ledger.observe("r", raw(f"{REFUSED} {number}")) for number in range(3)]
    assert observations[-1].escalation is not None
    assert dict(ledger.guard.failures) == {"classify": 3}
    line = ledger.digest("r").splitlines()[1]
    assert line.startswith("[Error] at tool db.query: could not be classified (x3, 3 in a row) #")
    lines = [f"step {number} of the migration has failed" for number in range(500)]
    assert ledger.observe("s", raw("\n".join(lines))).text.splitlines()[:-1] == lines


def test_a_failure_of_unknown_kind_was_executed_and_is_permanent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should our own judgement of it fail, it counts as most failures do."""

    def broken(raw: RawError, facts: Facts) -> FailureKind:
        raise RuntimeError("ours")

    monkeypatch.setattr(Guard, "strict", False)
    monkeypatch.setattr("otel_errcompact.late.kind_of", broken)
    ledger = Ledger()
    assert ledger.observe("r", raw("HTTP 503: service unavailable")).kind == FailureKind()
    assert dict(ledger.guard.failures) == {"classify": 1}


def test_a_run_that_a_listener_ends_takes_nothing_back(ledger: Ledger, journal: Journal) -> None:
    """Of a run that is gone there is nothing more to tell."""

    def end(observation: Observation) -> None:
        if observation.taken_back:
            ledger.end(observation.run_id)

    ledger.open("r")
    ledger.observe("r", raw(MISSING, arguments=CALL))
    ledger.succeed("r", "db.query", arguments=OTHER_CALL)
    ledger.listeners.add(Listener({Observation: end}))
    assert ledger.observe("r", raw(MISSING, arguments=CALL)).taken_back
    assert journal.entries[-1] == "ended unresolved"


def test_what_is_told_in_the_middle_of_a_count_is_counted_after_it() -> None:
    """A signal handler or a finaliser may fail and succeed anywhere; it gets its text at once."""
    texts: list[str] = []

    def interrupted(text: str) -> int:
        if not texts:
            texts.append("")
            texts[:] = [ledger.observe("r", raw(MISSING, tool="parse")).text, ledger.observe("r", raw(MISSING)).text]
            ledger.succeed("r", "db.query")
        return len(text)

    ledger = Ledger(count_tokens=interrupted)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED, tool="list"))
    assert [text.partition(" #")[0] for text in texts] == [MISSING] * 2
    report = ledger.report("r")
    assert (report.occurrences, [found.count for found in report.classes]) == (3, [1, 2])
    assert [found.resolved for found in ledger.succeed("r", "parse")] == [True]


def test_a_success_that_was_told_in_the_middle_of_a_count_may_come_too_late(ledger: Ledger) -> None:
    """Its run has been forgotten meanwhile."""
    ledger.observe("r", raw(MISSING))
    with ledger.store.find("r"):
        ledger.succeed("r", "db.query")
        assert ledger.report("r").occurrences == 1  # and the report does not count it yet
    ledger.store.discard("r")
    ledger.observe("other", raw(MISSING))
    assert ledger.store.run_ids() == ("other",)


def test_what_another_thread_counts_first_is_not_counted_twice(ledger: Ledger) -> None:
    """Both may be about to count the same."""

    class Taken(deque[Any]):
        def popleft(self) -> Any:
            raise IndexError

    ledger._postponed._waiting = Taken([None])
    assert ledger.observe("r", raw(MISSING)).count == 1


def test_a_removed_listener_hears_nothing_more(ledger: Ledger, journal: Journal) -> None:
    """Removal takes effect at once."""
    ledger.listeners.remove(journal)
    ledger.observe("r", raw(REFUSED))
    assert journal.entries == []


def test_the_counter_of_tokens_can_be_replaced() -> None:
    """A real tokenizer may take the estimator's place."""
    ledger = Ledger(Options(digest=DigestOptions(inline_tokens=40)), count_tokens=lambda text: len(text.split()))
    assert ledger.observe("r", raw("ValueError: a b c")).raw_tokens == 4


@pytest.mark.cost
def test_open_runs_keep_their_streaks_however_many_there_are() -> None:
    """A run that a program has opened is not forgotten for the sake of others."""
    ledger = Ledger()
    runs = [f"run-{number}" for number in range(1_500)]
    for run_id in runs:
        ledger.open(run_id)
        ledger.observe(run_id, raw())
    assert all(ledger.observe(run_id, raw()).streak == 2 for run_id in runs)
    assert ledger.store.evicted_runs == 0


def test_a_fingerprint_that_is_known_is_not_made_again() -> None:
    """A boundary has found it before the call was made."""
    observation = Ledger().observe("r", RawError(text="no", arguments='{"a": 1}', fingerprint="0123456789abcdef"))
    assert observation.call == "0123456789abcdef"


def test_an_open_run_that_is_evicted_is_not_reported_before_its_end(journal: Journal) -> None:
    """It is counted as evicted; whoever opened it still ends it."""
    ledger = Ledger(Options(memory=MemoryLimits(classes=1)))
    ledger.listeners.add(journal)
    for number in range(OPEN_ROOM + 1):
        ledger.open(f"run-{number}")
    assert ledger.store.evicted_runs == 1
    ledger.end("run-0")
    assert journal.entries == ["ended clean"]
