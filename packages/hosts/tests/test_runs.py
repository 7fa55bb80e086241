"""The runs of hosts: what is refused, what counts, and what outlives a session."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from otel_errcompact import Continue, Halt, Options, Pause, Thresholds
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.calls import Answer, HostCall, HostResult
from otel_errcompact_hosts.runs import MAX_CALLS, MAX_RUNS, LedgerRuns

HALTS = Thresholds(halts=frozenset({"same"}))


def make(**call: str) -> HostCall:
    return HostCall(**{"run_id": "s", "tool": "Bash", "arguments": "make", **call})


def fail(runs: LedgerRuns, text: str = "no rule to make target", **call: str) -> Answer:
    return runs.conclude(make(**call), HostResult(text=text, failed=True, exit_code=2))


@pytest.fixture
def runs(ledger: Ledger) -> LedgerRuns:
    return LedgerRuns(ledger=ledger)


@pytest.fixture
def halting(ledger: Ledger) -> LedgerRuns:
    return LedgerRuns(ledger=ledger, thresholds=HALTS)


def test_a_failure_gets_a_digest_with_its_class_and_counts(runs: LedgerRuns) -> None:
    """All that a host's answer is made of."""
    answer = fail(runs)
    assert answer == Answer(
        outcome="failure",
        text=f"no rule to make target #{answer.short} (exit code 2)",
        key=answer.key,
        short=answer.key[:4],
        count=1,
        streak=1,
        total=1,
    )
    runs.begin_turn("s")
    assert (fail(runs).count, fail(runs, "disk full").total) == (2, 3)


@pytest.mark.parametrize(
    "line",
    [
        "ERRCOMPACT=off make",
        "OTEL_ERRCOMPACT_ENABLED=false make",
        " OTEL_ERRCOMPACT_ENABLED=0 make all",
        "errcompact exec --raw -- make",
    ],
)
def test_a_command_that_asks_for_it_is_left_alone(halting: LedgerRuns, line: str) -> None:
    """It is neither refused nor counted, and its output stays; where the run is stopped, it is refused all the same."""
    call = make(arguments=json.dumps({"command": line}))
    for _ in range(3):
        assert halting.refuse(call) == ""
        assert halting.conclude(call, HostResult(text="no rule", failed=True, exit_code=2)) == Answer(outcome="ignored")
    for _ in range(6):
        fail(halting)
        halting.begin_turn("s")
    assert halting.refuse(call).startswith("NOT EXECUTED: one error class keeps recurring")


@pytest.mark.parametrize("line", ["make ERRCOMPACT=off", "ERRCOMPACT=on make", "errcompact exec -- make"])
def test_other_words_of_a_command_change_nothing(runs: LedgerRuns, line: str) -> None:
    """Only its begin says so."""
    call = make(arguments=json.dumps({"cmd": line}))
    result = HostResult(text="no rule", failed=True, exit_code=2)
    assert [runs.conclude(call, result).outcome for _ in range(2)] == ["failure", "failure"]
    assert runs.refuse(call).startswith("NOT EXECUTED")


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        pytest.param(HostResult(text="built"), "success", id="nothing says otherwise"),
        pytest.param(HostResult(text="built", failed=True), "failure", id="the host says so"),
        pytest.param(HostResult(text="", failed=True, exit_code=2), "failure", id="a status and no text"),
        pytest.param(HostResult(text="", failed=True), "failure", id="neither"),
        pytest.param(HostResult(text="built", exit_code=2), "failure", id="the status says so"),
        pytest.param(HostResult(text="built", failed=False, exit_code=2), "failure", id="against the host"),
        pytest.param(HostResult(text="Process exited with code 3\nbuilt"), "failure", id="the text says so"),
        pytest.param(HostResult(text="The user rejected this", failed=True), "ignored", id="declined"),
    ],
)
def test_the_detector_decides_what_a_result_is(runs: LedgerRuns, result: HostResult, outcome: str) -> None:
    """Each host means something else by a failure."""
    answer = runs.conclude(make(arguments='{"command": "make"}'), result)
    assert (answer.outcome, bool(answer.text)) == (outcome, outcome == "failure")
    assert runs.ledger.report("s").occurrences == (outcome == "failure")


def test_a_call_id_counts_once_in_its_run(runs: LedgerRuns) -> None:
    """The hooks of two hosts fire for one call; ids of other runs are other calls."""
    outcomes = [fail(runs, call_id="c1").outcome for _ in range(2)]
    outcomes += [fail(runs, call_id="c2").outcome, fail(runs, call_id="c1", run_id="t").outcome]
    assert outcomes == ["failure", "counted", "failure", "failure"]
    assert (runs.ledger.report("s").occurrences, runs.ledger.report("t").occurrences) == (2, 1)


def test_calls_without_an_id_count_each_time(runs: LedgerRuns) -> None:
    """Several hosts give none."""
    assert [fail(runs).outcome, fail(runs).outcome] == ["failure", "failure"]


def test_the_ids_that_are_remembered_are_bounded(runs: LedgerRuns) -> None:
    """A session of days does not fill the memory."""
    for number in range(MAX_CALLS + 1):
        runs.conclude(make(call_id=f"c{number}"), HostResult(text="built"))
    assert fail(runs, call_id="c1").outcome == "counted"
    assert fail(runs, call_id="c0").outcome == "failure"


def test_runs_beyond_the_bound_stay_counted(halting: LedgerRuns) -> None:
    """What is forgotten of the oldest is its ids; its counts and its verdict are the store's."""
    for _ in range(3):
        fail(halting)
        halting.begin_turn("s")
    for number in range(MAX_RUNS):
        halting.begin_turn(f"t{number}")
    assert halting.verdict("s").standing == "halt"
    assert fail(halting).count == 4


def test_identical_calls_are_refused_after_two_failures(runs: LedgerRuns) -> None:
    """Each with its own id; two hooks that ask about one call read the same, and it counts once."""
    for number in range(2):
        runs.begin_turn("s")
        assert runs.refuse(make(call_id=f"c{number}")) == ""
        fail(runs, call_id=f"c{number}")
    runs.begin_turn("s")
    refused = [runs.refuse(make(call_id="c3")) for _ in range(2)]
    assert refused[0].startswith(
        "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since; this was attempt 3"
    )
    assert refused[1] == refused[0]
    assert runs.refuse(make(call_id="c4", arguments="make all")) == ""
    assert runs.refuse(make(call_id="c5", directory="/srv")) == ""


def test_a_refusal_that_its_host_reports_as_a_failure_is_none(runs: LedgerRuns) -> None:
    """Gemini and Copilot do so, Claude Code with words of its own before it; some give no id."""
    for _ in range(3):
        runs.begin_turn("s")
        fail(runs)
    runs.begin_turn("s")
    refused = runs.refuse(make(call_id="c1"))
    assert refused
    assert fail(runs, "the tool was blocked", call_id="c1").outcome == "ignored"
    assert fail(runs, f"PreToolUse:Bash hook error: {refused}").outcome == "ignored"
    assert runs.ledger.report("s").occurrences == 3


def test_calls_side_by_side_count_as_one_turn(runs: LedgerRuns) -> None:
    """What fails between two messages of the model failed once, whatever says where these were."""
    for _ in range(2):
        runs.begin_turn("s")
        by_hook = [fail(runs) for _ in range(3)][-1]
    for turn in ("1", "1", "1", "2"):
        by_name = fail(runs, run_id="named", turn=turn)
    for number in range(3):
        runs.refuse(make(run_id="asked", call_id=f"c{number}"))
    for number in range(3):
        by_question = fail(runs, run_id="asked", call_id=f"c{number}")
    assert (by_hook.count, by_hook.streak) == (6, 2)
    assert (by_name.count, by_name.streak) == (4, 2)
    assert (by_question.count, by_question.streak) == (3, 1)


def test_identical_calls_without_ids_that_overlap_count_as_one_turn(runs: LedgerRuns) -> None:
    """Gemini and Copilot ask about all calls of a message before they make the first, and give no ids."""
    for _ in range(2):
        runs.refuse(make())
    assert [fail(runs).streak, fail(runs).streak] == [1, 1]
    runs.refuse(make())
    assert fail(runs).streak == 2


def test_a_call_without_an_id_that_was_never_made_does_not_age_the_next(runs: LedgerRuns) -> None:
    """Its user has declined it, and the host says nothing of that."""
    runs.refuse(make())
    for expected in (1, 2):
        runs.refuse(make())
        assert fail(runs).streak == expected


def test_the_first_turn_begins_with_its_first_call(runs: LedgerRuns) -> None:
    """A host that says when turns begin may run the calls of its first message one after another."""
    for number in range(3):
        first = HostCall(run_id="s", tool="Bash", arguments="make", call_id=f"c{number}", says_turns=True)
        assert runs.refuse(first) == ""
        assert fail(runs, call_id=f"c{number}").streak == 1
    runs.begin_turn("s")
    assert fail(runs, call_id="c3").streak == 2


def test_a_late_call_belongs_to_its_own_turn(runs: LedgerRuns) -> None:
    """It ends when the next turn has begun."""
    fail(runs, turn="1")
    fail(runs, turn="2")
    assert fail(runs, turn="1").streak == 2


def test_parallel_reports_are_exact(runs: LedgerRuns) -> None:
    """Eight threads, each call reported twice."""
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda number: fail(runs, call_id=f"c{number % 200}").outcome, range(400)))
    assert (outcomes.count("failure"), outcomes.count("counted")) == (200, 200)
    assert runs.ledger.report("s").occurrences == 200


def test_a_stopped_run_is_refused_until_it_is_resumed(halting: LedgerRuns) -> None:
    """The end of its session does not lift the verdict: a host wakes a session for its sub-agent's result."""
    for _ in range(3):
        halting.begin_turn("s")
        fail(halting)
    assert halting.verdict("s").standing == "halt"
    halting.end("s")
    assert halting.verdict("s").standing == "halt"
    refused = halting.refuse(make(arguments="ls"))
    assert refused == 'NOT EXECUTED: one error class keeps recurring (3 of 3): "[error] no rule to make target"'
    halting.resume("s", "use cmake")
    assert (halting.verdict("s").standing, halting.refuse(make(arguments="ls"))) == ("carry_on", "")
    assert fail(halting, "no such preset").guidance == "OPERATOR: use cmake"
    assert fail(halting, "no such preset").guidance == ""
    halting.end("s")
    assert not halting.knows("s")


def test_where_nobody_stops_the_agent_no_digest_speaks_of_a_stop(ledger: Ledger) -> None:
    """A wrapper of commands refuses nothing, and runs each command that the agent asks for."""
    runs = LedgerRuns(ledger=ledger)
    wrapped = replace(make(), stoppable=False)
    answers = []
    for _ in range(8):
        runs.begin_turn("s")
        answers.append(runs.conclude(wrapped, HostResult(text="no rule to make target", exit_code=2)).text)
    assert [answer for answer in answers if "stop" in answer] == []
    assert answers[3].endswith("4 identical calls, ESCALATED at 4: recorded for the operators; try something else)")
    assert answers[7].endswith("8 identical calls failed and no call has succeeded since: try something else)")
    assert runs.verdict("s").standing == "carry_on"


def test_a_report_of_who_stops_nothing_takes_nothing_from_who_does(ledger: Ledger) -> None:
    """The hooks and the shell prefix of one host report one run, in either order, also after a restart."""
    for first in (True, False):
        runs, run = LedgerRuns(ledger=ledger), f"s{first}"
        for stoppable in (first, not first):
            call = replace(make(run_id=run), stoppable=stoppable)
            text = runs.conclude(call, HostResult(text="no rule", exit_code=2)).text
        assert "2 identical calls failed and no call has succeeded since, at 6 the run is stopped" in text
        started_again = LedgerRuns(ledger=ledger)
        started_again.conclude(replace(make(run_id=run), stoppable=False), HostResult(text="no rule", exit_code=2))
        state = ledger.store.peek(run)
        assert state is not None
        assert state.loop_halt == 6


def test_what_fails_after_a_stop_reads_that_no_call_shall_follow(halting: LedgerRuns) -> None:
    """Calls that were under way, and agents that do not look at the verdict."""
    for _ in range(3):
        halting.begin_turn("s")
        fail(halting)
    halting.begin_turn("s")
    assert fail(halting).text.endswith("again (x4, 4 in a row; the run is stopped: make no further calls)")


def test_a_stopped_session_stops_its_sub_agents(halting: LedgerRuns) -> None:
    """The other way round it does not: the session may do without that one."""
    for _ in range(3):
        halting.begin_turn("s/a")
        fail(halting, run_id="s/a")
    assert (halting.verdict("s/a").standing, halting.verdict("s").standing) == ("halt", "carry_on")
    halting.resume("s/a")
    for _ in range(3):
        halting.begin_turn("s")
        fail(halting)
    assert [halting.verdict(run).standing for run in ("s", "s/a", "s/a/b", "t/a")] == ["halt"] * 3 + ["carry_on"]
    halting.resume("s/a")
    assert [halting.verdict(run).standing for run in ("s", "s/a")] == ["carry_on"] * 2


def test_a_run_that_nothing_stops_ends_with_its_session(runs: LedgerRuns) -> None:
    """The next session of that id counts from one."""
    fail(runs)
    runs.end("s")
    assert not runs.knows("s")
    assert fail(runs).count == 1
    runs.end("never seen")
    runs.resume("never seen")
    assert runs.ledger.store.run_ids() == ("s",)


@pytest.mark.parametrize(
    ("action", "standing", "said"),
    [
        (Halt("no"), "halt", "the run is stopped"),
        (Pause(), "pause", "the run waits for a human"),
        (Continue("ok"), "carry_on", "ok"),
    ],
)
def test_a_handler_is_asked_once(ledger: Ledger, action: Halt | Pause | Continue, standing: str, said: str) -> None:
    """A program that serves hosts may decide by itself; then the run is settled before the host asks."""
    asked: list[Escalation] = []

    def decide(escalation: Escalation) -> Halt | Pause | Continue:
        asked.append(escalation)
        return action

    runs = LedgerRuns(ledger=ledger, on_escalation=decide)
    for _ in range(3):
        runs.begin_turn("s")
        answer = fail(runs)
    assert (len(asked), runs.verdict("s").standing) == (1, standing)
    assert answer.guidance == f"OPERATOR: {said}"


def test_what_a_human_has_answered_waits_for_a_reader(runs: LedgerRuns) -> None:
    """A report whose answer nobody reads does not take it, and a second report of the same call may show it."""
    fail(runs)
    runs.resume("s", "use cmake")
    unread = runs.conclude(make(call_id="c1"), HostResult(text="built", failed=False), is_read=False)
    assert (unread.outcome, unread.guidance) == ("success", "")
    failed = runs.conclude(make(call_id="c2"), HostResult(text="no rule", failed=True), is_read=False)
    assert (failed.outcome, failed.text, failed.guidance) == ("failure", "", "")
    again = runs.conclude(make(call_id="c1"), HostResult(text="built", failed=False))
    assert again == Answer(outcome="counted", guidance="OPERATOR: use cmake")
    assert fail(runs).guidance == ""


def test_a_digest_that_comes_back_is_counted_already() -> None:
    """The wrapper of a command has reported it; then its host reports what it has read."""
    runs = LedgerRuns(ledger=Ledger())
    inner = fail(runs, "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'sku'")
    outer = fail(runs, f"Exit code 1\n{inner.text}", call_id="c1")
    assert (inner.outcome, outer.outcome, runs.ledger.report("s").occurrences) == ("failure", "counted", 1)


def test_in_mode_observe_the_agent_reads_what_it_would() -> None:
    """Counted, recorded, and not a word changed."""
    runs = LedgerRuns(ledger=Ledger(Options(mode="observe")))
    answer = fail(runs)
    assert (answer.outcome, answer.text, answer.count) == ("failure", "", 1)


def test_people_ask_for_what_is_known(runs: LedgerRuns) -> None:
    """Digest, raw error and account, before and at the end."""
    answer = fail(runs)
    assert answer.short in runs.ledger.digest("s")
    assert runs.ledger.raw("s", answer.short) == "no rule to make target"
    assert runs.close("s").occurrences == 1
    assert runs.close("never seen").occurrences == 0


def test_a_wrong_setting_is_refused_at_once() -> None:
    """Not at the first call of a host."""
    with pytest.raises(ConfigurationError, match="there is no setting 'handler'"):
        LedgerRuns(handler=None)  # type: ignore[call-arg]
