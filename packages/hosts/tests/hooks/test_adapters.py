"""Every host answers three identical failures with digest, count and refusal, in its own words."""

from __future__ import annotations

from typing import Any

import pytest

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.actions import Action, Halt, Pause
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.calls import Answer, HostCall, HostResult
from otel_errcompact_hosts.hooks import HOSTS, answer
from otel_errcompact_hosts.runs import LedgerRuns
from packages.hosts.tests.hooks.sessions import FAILING, FINE, RECORDED_HOSTS, after, batch, before, recorded, succeed

EVERY = pytest.mark.parametrize("host", HOSTS)
CLOSED = Halt("the shop is closed")
AGAIN = "again (x2, 2 in a row; 2 identical calls failed and no call has succeeded since, at 6 the run is stopped: "
REFUSED = "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since"


LET_RUN = "If the user wants it to run all the same: begin the command with ERRCOMPACT=off"


def text_for(host: str, said: dict[str, Any]) -> str:
    """What the agent reads in place of a result, or beside it."""
    return {
        "claude-code": lambda: said["hookSpecificOutput"]["additionalContext"],
        "codex": lambda: said["reason"] if said["decision"] == "block" else "",
        "copilot": lambda: said["modifiedResult"]["textResultForLlm"],
        "cursor": lambda: said["additional_context"],
        "gemini": lambda: said["reason"] if said["decision"] == "deny" else "",
        "opencode": lambda: said["output"],
    }[host]()


def refusal_of(host: str, said: dict[str, Any]) -> str:
    """Why a call is refused; the answer has nothing but that."""
    reason = {
        "claude-code": lambda: said["hookSpecificOutput"]["permissionDecisionReason"],
        "codex": lambda: said["hookSpecificOutput"]["permissionDecisionReason"],
        "copilot": lambda: said["permissionDecisionReason"],
        "cursor": lambda: said["agent_message"],
        "gemini": lambda: said["reason"],
        "opencode": lambda: said["refuse"],
    }[host]()
    deny = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    assert (
        said
        == {
            "claude-code": {"hookSpecificOutput": deny},
            "codex": {"hookSpecificOutput": deny},
            "copilot": {"permissionDecision": "deny", "permissionDecisionReason": reason},
            "cursor": {"permission": "deny", "user_message": reason, "agent_message": reason},
            "gemini": {"decision": "deny", "reason": reason},
            "opencode": {"refuse": reason},
        }[host]
    )
    return reason


def fail(host: str, runs: LedgerRuns, number: int) -> dict[str, Any]:
    """Let the agent make the failing call once; return what is said afterwards."""
    assert answer(host, before(host, FAILING, number), runs) == {}
    failed = after(host, FAILING, number)
    said = answer(host, failed, runs)
    if host == "claude-code":
        assert answer(host, batch(failed), runs) == {}
    return said


def watched(action: Action = CLOSED) -> LedgerRuns:
    """Runs whose operator is asked at the first failure."""
    return LedgerRuns(ledger=Ledger(), on_escalation=lambda _: action, thresholds=Thresholds(same=1))


def stop(host: str, runs: LedgerRuns) -> dict[str, Any]:
    """Let a call fail, about which the operator is asked; return what is said to it and to the next one."""
    answer(host, before(host, FAILING, 1), runs)
    answer(host, after(host, FAILING, 1), runs)
    return answer(host, before(host, FINE, 2), runs)


@EVERY
def test_identical_failures_lead_to_a_count_and_a_refusal(host: str, runs: LedgerRuns) -> None:
    """The second names its count, and the third call is not executed."""
    fail(host, runs, 1)
    assert AGAIN in text_for(host, fail(host, runs, 2))
    reason = refusal_of(host, answer(host, before(host, FAILING, 3), runs))
    assert (reason.startswith(REFUSED), reason.splitlines()[-1]) == (True, LET_RUN)


@pytest.mark.parametrize("host", [host for host in HOSTS if host not in {"claude-code", "cursor"}])
def test_the_digest_stands_in_place_of_the_output(host: str, runs: LedgerRuns) -> None:
    """A failed command is replaced though the host calls it a success, without what the host has written around it."""
    text = text_for(host, fail(host, runs, 1))
    assert text.splitlines()[0] == "reading orders"
    assert text.splitlines()[-2:] == [
        "KeyError: 'lines'",
        "#7265 (exit code 1)",
    ]


@pytest.mark.parametrize("host", ["claude-code", "cursor"])
def test_the_first_short_failure_adds_nothing(host: str, runs: LedgerRuns) -> None:
    """Where a result cannot be replaced, the agent reads it, and nothing is new."""
    assert fail(host, runs, 1) == {}


def test_copilot_keeps_all_else_of_a_result(runs: LedgerRuns) -> None:
    """It takes only a result of the same shape."""
    failed = after("copilot", FAILING, 1)
    failed["toolResult"]["toolTelemetry"] = {"metrics": {"ms": 3}}
    assert answer("copilot", failed, runs)["modifiedResult"] == {
        "resultType": "success",
        "textResultForLlm": failed["toolResult"]["textResultForLlm"].rpartition("\n")[0] + "\n#7265 (exit code 1)",
        "toolTelemetry": {"metrics": {"ms": 3}},
    }


@EVERY
def test_success_is_left_as_it_is(host: str, runs: LedgerRuns) -> None:
    """Byte for byte: the answer is empty, also after failures."""
    fail(host, runs, 1)
    assert answer(host, before(host, FINE, 2), runs) == {}
    assert answer(host, succeed(host, 2), runs) == {}


@EVERY
def test_a_success_between_lets_the_call_be_made_again(host: str, runs: LedgerRuns) -> None:
    """What another call has changed may have helped."""
    fail(host, runs, 1)
    fail(host, runs, 2)
    answer(host, before(host, FINE, 3), runs)
    answer(host, succeed(host, 3), runs)
    assert answer(host, before(host, FAILING, 4), runs) == {}


@pytest.mark.parametrize("host", [host for host in HOSTS if host not in {"copilot", "gemini"}])
def test_a_call_id_counts_once(host: str, runs: LedgerRuns) -> None:
    """Two hooks report the same call: the user's settings and the project's are both installed."""
    failed = after(host, FAILING, 1)
    answer(host, failed, runs)
    assert answer(host, failed, runs) == {}
    assert "x2" not in str(answer(host, failed, runs))
    assert [runs.ledger.report(run).occurrences for run in runs.ledger.store.run_ids()] == [1]


def test_parallel_calls_of_claude_code_are_one_turn(runs: LedgerRuns) -> None:
    """The agent could not have read the first failure when it asked for the second call."""
    first, second = after("claude-code", FAILING, 1), after("claude-code", FAILING, 2)
    for number in (1, 2):
        assert answer("claude-code", before("claude-code", FAILING, number), runs) == {}
    answer("claude-code", first, runs)
    said = answer("claude-code", second, runs)
    assert "2 in a row" not in str(said)
    assert answer("claude-code", batch(first, second), runs) == {}
    assert answer("claude-code", before("claude-code", FAILING, 3), runs) == {}


def test_calls_of_one_message_of_claude_code_are_one_turn_when_they_run_one_after_another(runs: LedgerRuns) -> None:
    """So it runs commands; the agent has asked for all of them before it reads the first failure."""
    for number in (1, 2, 3):
        assert answer("claude-code", before("claude-code", FAILING, number), runs) == {}
        assert "in a row" not in str(answer("claude-code", after("claude-code", FAILING, number), runs))


@pytest.mark.parametrize("host", ["copilot", "gemini"])
def test_parallel_calls_of_hosts_without_ids_are_one_turn(host: str, runs: LedgerRuns) -> None:
    """They ask about each call of a message before the first of them has ended."""
    for _ in range(2):
        assert answer(host, before(host, FAILING, 1), runs) == {}
    assert "in a row" not in str([answer(host, after(host, FAILING, 1), runs) for _ in range(2)])
    assert answer(host, before(host, FAILING, 2), runs) == {}
    assert "2 in a row" in str(answer(host, after(host, FAILING, 2), runs))


@EVERY
def test_the_reason_of_a_halt_is_in_every_refusal(host: str) -> None:
    """The operator's words reach the agent, with what it is to do, and how its user lets it continue."""
    reason = refusal_of(host, stop(host, watched()))
    assert reason.startswith("NOT EXECUTED: this run is stopped: one error class keeps recurring (1 of 1): ")
    assert "; the shop is closed (" in reason
    assert "a prompt that begins with 'errcompact resume' lets it continue" in reason


@EVERY
def test_a_halt_without_an_operator_says_what_was_reached(host: str, ledger: Ledger) -> None:
    """Nobody has given a reason: that nobody was asked is none that agent or user could use."""
    runs = LedgerRuns(ledger=ledger, thresholds=Thresholds(same=1, halts=frozenset({"same"})))
    reason = refusal_of(host, stop(host, runs))
    reached = "one error class keeps recurring (1 of 1): \"[KeyError] 'lines'\""
    assert reason.startswith(f"NOT EXECUTED: this run is stopped: {reached} (")
    assert "handler" not in reason


@pytest.mark.parametrize("host", ["claude-code", "gemini"])
def test_the_reason_of_an_end_says_what_was_reached(host: str, ledger: Ledger) -> None:
    """The identical call was asked for once too often: that is all that the user of the host reads."""
    runs = LedgerRuns(ledger=ledger)
    for number in range(1, 7):
        if answer(host, before(host, FAILING, number), runs) == {}:
            answer(host, after(host, FAILING, number), runs)
        runs.begin_turn(runs.ledger.store.run_ids()[0])
    said = answer(host, succeed(host, 7), runs)
    assert said["continue"] is False
    reached = "the identical call is repeated while nothing succeeds (6 of 6): \"[KeyError] 'lines'\""
    assert f"this run is stopped: {reached} (" in said["stopReason"]


def test_claude_code_stops_after_the_batch() -> None:
    """The batch is its gate: the turn ends, and the operator's reason is what the user reads."""
    runs = watched()
    stop("claude-code", runs)
    said = answer("claude-code", succeed("claude-code", 5), runs)
    assert said["continue"] is False
    assert "the shop is closed" in said["stopReason"]


def test_gemini_stops_after_a_tool() -> None:
    """It is the only other host whose hook ends a run."""
    runs = watched()
    stop("gemini", runs)
    said = answer("gemini", after("gemini", FINE, 5), runs)
    assert said["continue"] is False
    assert "the shop is closed" in said["stopReason"]


def test_a_halt_outlives_the_session() -> None:
    """A resumed session begins with the reason, and is refused everything until its user says so."""
    runs = watched()
    stop("claude-code", runs)
    ended = next(event for event in recorded("claude-code") if event["hook_event_name"] == "SessionEnd")
    start = next(event for event in recorded("claude-code") if event["hook_event_name"] == "SessionStart")
    prompt = next(event for event in recorded("claude-code") if event["hook_event_name"] == "UserPromptSubmit")
    assert answer("claude-code", ended, runs) == {}
    said = answer("claude-code", {**start, "source": "resume"}, runs)
    assert "the shop is closed" in said["hookSpecificOutput"]["additionalContext"]
    assert "the shop is closed" in str(answer("claude-code", prompt, runs))
    assert answer("claude-code", before("claude-code", FINE, 6), runs) != {}
    assert answer("claude-code", {**prompt, "prompt": "errcompact resume: use the other file"}, runs) == {}
    assert answer("claude-code", before("claude-code", FINE, 7), runs) == {}


def test_any_prompt_answers_a_run_that_waits_for_a_human() -> None:
    """It was paused, not halted; what the host itself writes as a prompt answers nothing."""
    runs = watched(Pause("may I delete it?"))
    stop("claude-code", runs)
    prompt = next(event for event in recorded("claude-code") if event["hook_event_name"] == "UserPromptSubmit")
    answer("claude-code", {**prompt, "prompt": "<task-notification>\n<task-id>a1</task-id>"}, runs)
    reason = refusal_of("claude-code", answer("claude-code", before("claude-code", FINE, 6), runs))
    assert reason.startswith("NOT EXECUTED: this run waits for a human: one error class keeps recurring (1 of 1): ")
    assert "; may I delete it? (the user's next prompt lets it continue)" in reason
    assert answer("claude-code", {**prompt, "prompt": "no, keep it"}, runs) == {}
    assert answer("claude-code", before("claude-code", FINE, 7), runs) == {}


def in_agent(event: dict[str, Any], agent: str = "a6096a332bafa8579") -> dict[str, Any]:
    return {**event, "agent_id": agent, "agent_type": "general-purpose"}


def test_a_halted_sub_agent_stops_and_its_parent_reads_why() -> None:
    """The host shows the parent that the sub-agent has returned nothing: the reason is in the parent's own batch."""
    runs = watched()
    answer("claude-code", in_agent(before("claude-code", FAILING, 1)), runs)
    answer("claude-code", in_agent(after("claude-code", FAILING, 1)), runs)
    said = answer("claude-code", in_agent(batch(after("claude-code", FAILING, 1))), runs)
    assert said["continue"] is False
    parent = next(
        event
        for event in recorded("claude-code")
        if event["hook_event_name"] == "PostToolBatch" and event["tool_calls"][0]["tool_name"] == "Agent"
    )
    assert answer("claude-code", before("claude-code", FINE, 7), runs) == {}
    said = answer("claude-code", parent, runs)
    assert said["hookSpecificOutput"] == {
        "hookEventName": "PostToolBatch",
        "additionalContext": "errcompact has stopped the sub-agent a6096a332bafa8579: "
        "one error class keeps recurring (1 of 1): \"[KeyError] 'lines'\"; the shop is closed",
    }


@pytest.mark.parametrize("host", ["claude-code", "codex", "copilot", "opencode"])
def test_no_model_lets_a_run_continue(host: str) -> None:
    """Hosts report the prompt of a sub-agent too, which another model has written."""
    runs = watched()
    stop(host, runs)
    event = before(host, FINE, 5)
    prompt = {
        "claude-code": {**in_agent(event), "hook_event_name": "UserPromptSubmit"},
        "codex": {**in_agent(event), "hook_event_name": "UserPromptSubmit"},
        "copilot": {"sessionId": "s2", "parentAgentId": event.get("sessionId")},
        "opencode": {"event": "prompt", "sessionID": "s2", "parentID": event.get("sessionID")},
    }[host]
    answer(host, {**prompt, "prompt": "errcompact resume"}, runs)
    assert "the shop is closed" in refusal_of(host, answer(host, event, runs))


def test_a_halted_session_stops_its_sub_agents() -> None:
    """Also one that runs in the background and comes back later."""
    runs = watched()
    stop("claude-code", runs)
    refused = answer("claude-code", in_agent(before("claude-code", FINE, 8)), runs)
    assert "the shop is closed" in refusal_of("claude-code", refused)


@pytest.mark.parametrize(
    ("action", "prompt", "is_refused"),
    [
        (CLOSED, "errcompact resume: use the other file", False),
        (CLOSED, "and now?", True),
        (Pause("may I delete it?"), "no, keep it", False),
    ],
)
def test_what_lets_a_session_continue_lets_its_sub_agent(action: Action, prompt: str, *, is_refused: bool) -> None:
    """Its refusal names the user's prompt, which is of the session: a host may ask the same sub-agent again."""
    runs = watched(action)
    answer("claude-code", in_agent(before("claude-code", FAILING, 1)), runs)
    answer("claude-code", in_agent(after("claude-code", FAILING, 1)), runs)
    assert answer("claude-code", in_agent(before("claude-code", FINE, 2)), runs) != {}
    event = next(event for event in recorded("claude-code") if event["hook_event_name"] == "UserPromptSubmit")
    answer("claude-code", {**event, "prompt": prompt}, runs)
    assert (answer("claude-code", in_agent(before("claude-code", FINE, 3)), runs) != {}) is is_refused


def test_a_prompt_that_frees_a_sub_agent_frees_no_halted_session() -> None:
    """The sub-agent waits for any prompt; its session was halted, and waits for the words."""
    actions: list[Action] = [Pause("may I delete it?"), CLOSED]
    runs = LedgerRuns(ledger=Ledger(), on_escalation=lambda _: actions.pop(0), thresholds=Thresholds(same=1))
    answer("claude-code", in_agent(before("claude-code", FAILING, 1)), runs)
    answer("claude-code", in_agent(after("claude-code", FAILING, 1)), runs)
    answer("claude-code", before("claude-code", FAILING, 2), runs)
    answer("claude-code", after("claude-code", FAILING, 2), runs)
    event = next(event for event in recorded("claude-code") if event["hook_event_name"] == "UserPromptSubmit")
    answer("claude-code", {**event, "prompt": "no, keep it"}, runs)
    refused = answer("claude-code", before("claude-code", FINE, 3), runs)
    assert "the shop is closed" in refusal_of("claude-code", refused)


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_end_of_a_sub_agent_without_an_id_ends_no_session(host: str, runs: LedgerRuns) -> None:
    """Older hosts do not say which one has ended; what the session has counted stays."""
    fail(host, runs, 1)
    session = before(host, FAILING, 1)["session_id"]
    assert answer(host, {"session_id": session, "hook_event_name": "SubagentStop"}, runs) == {}
    assert "again (x2" in text_for(host, fail(host, runs, 2))


def test_a_run_that_begins_with_a_turn_has_its_agent(runs: LedgerRuns) -> None:
    """OpenCode says that a turn begins before its first call; metrics name the agent all the same."""
    session = before("opencode", FAILING, 1)["sessionID"]
    answer("opencode", {"event": "turn", "sessionID": session}, runs)
    fail("opencode", runs, 1)
    assert runs.ledger.report(session).agent == "opencode"


def test_what_a_human_has_answered_is_not_lost_in_an_error_that_was_thrown(runs: LedgerRuns) -> None:
    """OpenCode's agent has read such an error already: the answer waits for a failure, as a success stays as it is."""
    fail("opencode", runs, 1)
    event = before("opencode", FAILING, 2)
    runs.resume(event["sessionID"], "use the other file")
    assert answer("opencode", {**event, "event": "error", "error": "Error: File not found: a.csv"}, runs) == {}
    assert answer("opencode", after("opencode", FINE, 3), runs) == {}
    assert "OPERATOR: use the other file" in answer("opencode", after("opencode", FAILING, 4), runs)["output"]


DENIED = [
    ("claude-code", lambda: {**after("claude-code", FAILING, 9), "error": f"PreToolUse:Bash hook error: {REFUSED}"}),
    ("claude-code", lambda: {**after("claude-code", FAILING, 9), "is_interrupt": True}),
    ("claude-code", lambda: batch(after("claude-code", FAILING, 9), text="PreToolUse:Bash hook error: not on Fridays")),
    (
        "claude-code",
        lambda: batch(
            after("claude-code", FAILING, 9),
            text="The user doesn't want to proceed with this tool use. The tool use was rejected.",
        ),
    ),
    (
        "codex",
        lambda: {**after("codex", FAILING, 9), "tool_response": f"Command blocked by PreToolUse hook: {REFUSED}"},
    ),
    (
        "copilot",
        lambda: {
            **after("copilot", FAILING, 9),
            "toolResult": {"resultType": "denied", "textResultForLlm": f"Denied by preToolUse hook: {REFUSED}"},
        },
    ),
    (
        "gemini",
        lambda: {
            **after("gemini", FAILING, 9),
            "tool_response": {"error": {"type": "policy_violation", "message": f"Tool execution blocked: {REFUSED}"}},
        },
    ),
    ("opencode", lambda: {**before("opencode", FAILING, 9), "event": "error", "error": f"Error: {REFUSED}"}),
    (
        "opencode",
        lambda: {
            **before("opencode", FAILING, 9),
            "event": "error",
            "error": "The user rejected permission to use this specific tool call.",
        },
    ),
    ("cursor", lambda: {**after("cursor", FAILING, 9), "failure_type": "permission_denied"}),
    ("cursor", lambda: {**after("cursor", FAILING, 9), "error_message": REFUSED}),
]


@pytest.mark.parametrize(("host", "event"), DENIED)
def test_what_was_not_executed_has_not_failed(host: str, event: Any, runs: LedgerRuns) -> None:
    """Refusals of ours that come back, of other hooks, of rules and of the user are no failures."""
    assert answer(host, event(), runs) == {}
    assert [runs.ledger.report(run).occurrences for run in runs.ledger.store.run_ids()] in ([], [0])


def test_claude_codes_file_is_read_by_others_who_have_adapters(runs: LedgerRuns) -> None:
    """Cursor and Copilot run the hooks in it too: each call would count twice."""
    failed = after("claude-code", FAILING, 1)
    for other in ({"cursor_version": "2026.09.18"}, {"tool_result": {"result_type": "success"}}, {"timestamp": "2026"}):
        assert answer("claude-code", {**failed, **other}, runs) == {}
    assert runs.ledger.store.run_ids() == ()


def test_one_failure_is_one_class_in_every_host() -> None:
    """The same program fails in five hosts, whose decorations differ, with the same key."""
    keys = {}
    for host in RECORDED_HOSTS:
        runs = LedgerRuns(ledger=Ledger())
        fail(host, runs, 1)
        keys[host] = [each.key[:4] for run in runs.ledger.store.run_ids() for each in runs.ledger.report(run).classes]
    assert keys == {host: ["7265"] for host in RECORDED_HOSTS}


SESSIONS = {"claude-code": [7, 1], "codex": [5, 1], "copilot": [7, 1], "gemini": [8], "opencode": [7, 1]}
"""Failures of the session, and of the sub-agent."""


@pytest.mark.parametrize("host", RECORDED_HOSTS)
def test_a_recorded_session_counts_each_failure_once(host: str, runs: LedgerRuns) -> None:
    """
    Seven failures, and one of a sub-agent.

    Codex has no event after a tool of an MCP server that fails, and no exit status: a text that names no error is none.
    Gemini has no id of a sub-agent.
    """
    for event in recorded(host):
        if event.get("hook_event_name") not in {"SessionEnd", "SubagentStop"} and "reason" not in event:
            answer(host, event, runs)
    found = sorted(runs.ledger.store.run_ids(), key=len)
    assert [runs.ledger.report(run).occurrences for run in found] == SESSIONS[host]
    assert found[1:] == [run for run in found[1:] if run.startswith(f"{found[0]}/")]


def test_an_unknown_host_is_one_clear_error(runs: LedgerRuns) -> None:
    """It names the hosts there are."""
    with pytest.raises(ConfigurationError, match="no hooks for the host 'emacs'; the hosts are claude-code, codex"):
        answer("emacs", {}, runs)


@pytest.mark.parametrize("in_sub_agent", [False, True])
def test_a_command_that_its_wrapper_has_reported_counts_once(runs: LedgerRuns, *, in_sub_agent: bool) -> None:
    """The shell prefix reports first, without the call's id and the sub-agent; then the hook, with what was printed."""
    place = in_agent if in_sub_agent else dict[str, Any]
    session, said = before("claude-code", FAILING, 1)["session_id"], []
    for number in (1, 2):
        event = place(after("claude-code", FAILING, number))
        assert answer("claude-code", place(before("claude-code", FAILING, number)), runs) == {}
        call = HostCall(
            run_id=session, tool="Bash", arguments=f'{{"command": "{FAILING}"}}', directory="/home/ann/shop"
        )
        said.append(runs.conclude(call, HostResult(text=event["error"].partition("\n")[2], exit_code=1)))
        assert answer("claude-code", {**event, "error": f"Exit code 1\n{said[-1].text}"}, runs) == {}
        assert answer("claude-code", place(batch(event, text=f"Exit code 1\n{said[-1].text}")), runs) == {}
    assert [each.count for each in said] == [1, 2]
    refused = refusal_of("claude-code", answer("claude-code", place(before("claude-code", FAILING, 3)), runs))
    assert refused.startswith(REFUSED)
    run_id = f"{session}/a6096a332bafa8579" if in_sub_agent else session
    assert {run: runs.ledger.report(run).occurrences for run in runs.ledger.store.run_ids()} == {run_id: 2}


LONG = "Traceback (most recent call last):\n" + "".join(
    f'  File "/home/ann/shop/orders.py", line {line}, in totals\n    return priced(order)\n' for line in range(60)
)


def test_a_digest_says_the_exit_status_that_it_takes_away(runs: LedgerRuns) -> None:
    """Once, below what the format says."""
    event = after("opencode", FAILING, 1) | {"output": f"{LONG}KeyError: 'lines'\n", "metadata": {"exit": 137}}
    text = answer("opencode", event, runs)["output"]
    assert text.startswith("[KeyError]")  # type: ignore[attr-defined]
    assert text.splitlines()[-1] == "exit code 137"  # type: ignore[attr-defined]


def test_a_digest_says_the_signal_that_it_takes_away(runs: LedgerRuns) -> None:
    """As Gemini CLI writes it."""
    shown = f"Output: {LONG}KeyError: 'lines'\nSignal: SIGKILL\nProcess Group PGID: 7"
    event = after("gemini", FAILING, 1) | {"tool_response": {"llmContent": shown}}
    assert str(answer("gemini", event, runs)["reason"]).splitlines()[-1] == "Signal: SIGKILL"


def test_a_command_that_opencode_has_ended_is_no_success(runs: LedgerRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its status has no value, so that the text decides; a tool that is no command has none at all."""
    said: list[bool | None] = []

    def conclude(_: HostCall, result: HostResult, **__: bool) -> Answer:
        said.append(result.failed)
        return Answer(outcome="ignored")

    monkeypatch.setattr(runs, "conclude", conclude)
    for metadata in ({"exit": None}, {"exit": 0}, {}):
        answer("opencode", after("opencode", FAILING, 1) | {"metadata": metadata}, runs)
    assert said == [None, False, False]
