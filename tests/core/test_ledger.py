from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_errcompact.config import Options
from otel_errcompact.digest import DigestOptions
from otel_errcompact.escalation import Continue, Escalation, Halt, Pause, Thresholds
from otel_errcompact.guard import Guard
from otel_errcompact.ledger import Ledger, Listener, Observation, Verdict
from otel_errcompact.stores.memory import MemoryLimits
from tests.core.builders import raw

if TYPE_CHECKING:
    from otel_errcompact.classify import Classified
    from otel_errcompact.errors import RawError
    from otel_errcompact.history import ErrorClass
    from otel_errcompact.report import AnsweredEscalation, RunReport

REFUSED = "ConnectionError: connection refused"


class Journal(Listener):
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def on_raw(self, run_id: str, raw: RawError) -> None:
        self.entries.append(f"raw {run_id} {raw.text}")

    def on_observed(self, observation: Observation) -> None:
        self.entries.append(f"observed {observation.outcome} x{observation.count}")

    def on_handled(self, run_id: str, agent: str, raw: RawError, found: Classified) -> None:
        self.entries.append(f"handled {run_id} {agent} {found.facts.type}")

    def on_resolved(self, run_id: str, agent: str, tool: str, resolved: tuple[ErrorClass, ...]) -> None:
        self.entries.append(f"resolved {run_id} {agent} {tool} {len(resolved)}")

    def on_escalated(self, escalation: Escalation) -> None:
        self.entries.append(f"escalated {escalation.threshold} {escalation.count}")

    def on_answered(self, answered: AnsweredEscalation) -> None:
        self.entries.append(f"answered {answered.action}")

    def on_run_end(self, report: RunReport) -> None:
        self.entries.append(f"ended {report.result}")


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture
def ledger(journal: Journal) -> Ledger:
    made = Ledger()
    made.add_listener(journal)
    return made


def test_the_raw_error_is_kept_before_anything_else_is_done(ledger: Ledger, journal: Journal) -> None:
    """Raw first: the audit sink runs before the compaction."""
    ledger.observe("r", raw(REFUSED))
    assert journal.entries == [f"raw r {REFUSED}", "observed new x1"]


def test_an_observation_says_what_became_of_the_failure(ledger: Ledger) -> None:
    """Outcome, counts, text and tokens of the second occurrence."""
    long = REFUSED + " while waiting" * 30
    ledger.observe("r", raw(long, time_ns=1))
    observation = ledger.observe("r", raw(long, time_ns=2))
    assert (observation.run_id, observation.outcome, observation.count, observation.streak) == ("r", "repeat", 2, 2)
    assert observation.text.splitlines()[0].startswith("ConnectionError #")
    assert observation.raw_tokens == (len(long) + 3) // 4
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
    """The block holds the class with its count."""
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    ledger.observe("r", raw(REFUSED))
    lines = ledger.digest("r").splitlines()
    key = ledger.report("r").classes[0].key
    assert lines == [
        "[RECENT ERRORS]",
        f"[ConnectionError] at tool db.query: connection refused (x2; escalates at 3: try something else) #{key[:4]}",
        "  hint: nothing listens there: start the service, or correct host and port",
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
        "type": "ConnectionError",
        "location": "",
        "cause": "connection refused",
        "tool": "db.query",
        "time_ns": 2,
    }
    assert "connection refused (x3; ESCALATED at 3)" in escalation.digest


def breached(ledger: Ledger) -> None:
    ledger.open("r")
    for _ in range(3):
        ledger.observe("r", raw(REFUSED))


def test_an_attended_run_waits_for_an_answer(ledger: Ledger) -> None:
    """Until somebody has answered, the run must not go on."""
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
    """The run goes on, counts anew, and the agent reads what the human said."""
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
    assert (ledger.verdict("r"), ledger.verdict("unknown"), journal.entries) == (Verdict(), Verdict(), [])


def test_a_run_that_nobody_opened_escalates_unhandled(ledger: Ledger, journal: Journal) -> None:
    """A run known from its spans alone has no gate: the breach is announced, and that nobody acts is counted."""
    for _ in range(3):
        ledger.observe("trace", raw(REFUSED))
    assert journal.entries[-2:] == ["escalated same 3", "answered unhandled"]
    verdict = ledger.verdict("trace")
    assert (verdict.standing, verdict.stopped) == ("unhandled", False)
    assert ledger.end("trace").result == "failed"


def test_a_run_that_ends_with_an_open_question_is_unhandled(ledger: Ledger, journal: Journal) -> None:
    """An escalation nobody answered is counted when the run ends."""
    breached(ledger)
    ledger.end("r")
    assert journal.entries[-2:] == ["answered unhandled", "ended failed"]


@pytest.mark.parametrize(
    ("steps", "result"),
    [
        pytest.param("", "clean", id="nothing failed"),
        pytest.param("fs", "recovered", id="all resolved"),
        pytest.param("fsf", "failed", id="still failing"),
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


CALL = '{"sql": "select 1"}'


def test_an_identical_call_that_failed_too_often_is_refused(ledger: Ledger) -> None:
    """Same tool and arguments, failed `same` times: not executed, and the agent reads why."""
    ledger.open("r", thresholds=Thresholds(consecutive=100))
    for number in range(3):
        assert ledger.refuse("r", "db.query", CALL) == ""
        ledger.observe("r", raw(f"KeyError: 'k{number}'", arguments=CALL))
    assert ledger.refuse("r", "db.query", CALL).startswith("NOT EXECUTED: this exact call has failed 3 times.")
    assert ledger.refuse("r", "db.query", '{"sql": "select 2"}') == ""


def test_a_call_with_unknown_arguments_is_never_refused(ledger: Ledger) -> None:
    """Two calls whose arguments nobody knows are not surely identical."""
    ledger.open("r")
    for number in range(4):
        ledger.observe("r", raw(f"KeyError: 'k{number}'"))
    assert ledger.refuse("r", "db.query", "") == ""


def test_a_class_that_was_forgotten_refuses_nothing() -> None:
    """Without its class a refusal could not say why."""
    ledger = Ledger(Options(memory=MemoryLimits(classes_per_run=1)))
    ledger.open("r", thresholds=Thresholds(same=2))
    for _ in range(2):
        ledger.observe("r", raw("KeyError: 'a'", arguments=CALL))
    ledger.observe("r", raw("KeyError: 'b'", tool="other"))
    ledger.observe("r", raw("KeyError: 'c'", tool="other"))
    assert ledger.refuse("r", "db.query", CALL) == ""


def test_a_run_that_insists_on_refused_calls_escalates(ledger: Ledger, journal: Journal) -> None:
    """Refusals lengthen the row of failing calls until it reaches its limit."""
    ledger.open("r", thresholds=Thresholds(consecutive=5))
    for number in range(3):
        ledger.observe("r", raw(f"KeyError: 'k{number}'", arguments=CALL))
    assert [bool(ledger.refuse("r", "db.query", CALL)) for _ in range(2)] == [True, True]
    assert journal.entries[-1] == "escalated consecutive 5"


def test_a_success_lifts_the_refusal(ledger: Ledger) -> None:
    """Once the call has worked it may be made again."""
    ledger.open("r")
    for number in range(3):
        ledger.observe("r", raw(f"KeyError: 'k{number}'", arguments=CALL))
    ledger.succeed("r", "db.query", arguments=CALL)
    assert ledger.refuse("r", "db.query", CALL) == ""


def test_the_longest_live_streak_is_known_for_each_agent_tool_and_class(ledger: Ledger) -> None:
    """Over all runs; what is resolved has no streak."""
    ledger.open("r1", agent="shop")
    ledger.open("r2", agent="shop")
    key = ledger.observe("r1", raw(REFUSED)).found.key
    for _ in range(2):
        ledger.observe("r2", raw(REFUSED))
    assert ledger.streaks() == {("shop", "db.query", key): 2}
    ledger.succeed("r1", "db.query")
    ledger.succeed("r2", "db.query")
    assert ledger.streaks() == {}


def test_a_listener_that_fails_harms_nobody(monkeypatch: pytest.MonkeyPatch, journal: Journal) -> None:
    """A broken sink is counted under its own stage; the others hear everything and the agent gets its digest."""
    monkeypatch.setattr(Guard, "strict", False)

    class Broken(Listener):
        stage = "trajectory"

        def on_raw(self, run_id: str, raw: RawError) -> None:
            raise OSError("disk full")

    ledger = Ledger()
    ledger.add_listener(Broken())
    ledger.add_listener(journal)
    assert ledger.observe("r", raw(REFUSED)).count == 1
    assert dict(ledger.guard.failures) == {"trajectory": 1}
    assert journal.entries[-1] == "observed new x1"


def test_a_failure_that_cannot_be_classified_still_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should our own extraction fail, the loop still ends: type and tool make the class."""

    def broken(raw: RawError) -> Classified:
        raise RuntimeError("ours")

    monkeypatch.setattr(Guard, "strict", False)
    monkeypatch.setattr("otel_errcompact.ledger.classify", broken)
    ledger = Ledger()
    ledger.open("r")
    observations = [ledger.observe("r", raw(f"{REFUSED} {number}")) for number in range(3)]
    assert observations[-1].escalation is not None
    assert dict(ledger.guard.failures) == {"classify": 3}
    line = ledger.digest("r").splitlines()[1]
    assert line.startswith("[Error] at tool db.query: could not be classified (x3; ESCALATED at 3) #")


def test_a_removed_listener_hears_nothing_more(ledger: Ledger, journal: Journal) -> None:
    """Removal takes effect at once."""
    ledger.remove_listener(journal)
    ledger.observe("r", raw(REFUSED))
    assert journal.entries == []


def test_the_counter_of_tokens_can_be_replaced() -> None:
    """A real tokenizer may take the estimator's place."""
    ledger = Ledger(Options(digest=DigestOptions(inline_tokens=40)), count_tokens=lambda text: len(text.split()))
    assert ledger.observe("r", raw("ValueError: a b c")).raw_tokens == 4
