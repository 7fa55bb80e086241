"""What is read of Copilot CLI events."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

SESSION = "c0b11075-0000-4000-8000-000000000001"
T0 = 1_772_445_600_000_000_000
S = 1_000_000_000


def read_events(folder, *events):
    """Write events and read them."""
    path = folder / "events.jsonl"
    path.write_text("".join(f"{json.dumps({'type': kind, 'data': data, **more})}\n" for kind, data, more in events))
    return list(read(path, on_problem=pytest.fail))


def event(kind, data, **more):
    """Make an event."""
    return kind, data, more


def completed(**data):
    """Make the event with which a call ends."""
    return event("tool.execution_complete", {"toolCallId": "a", **data})


def test_a_call_is_its_start_and_its_end(sample):
    """Name and arguments come from the start, the text for the model and the flag from the end."""
    run = sample("copilot_cli.jsonl")[0]
    assert run.calls[0] == RecordedCall(
        tool="bash",
        call_id="call_a",
        arguments='{"command":"make"}',
        result="make: *** [all] Error 2\n<exited with exit code 2>",
        flagged=False,
        exit_code=2,
        start_ns=T0 + 4 * S,
        end_ns=T0 + 5 * S,
        line=6,
        context_tokens=32,
    )


def test_a_call_that_failed_has_the_text_of_its_error(sample):
    """`success` is the flag; the error's message is what the agent got."""
    call = sample("copilot_cli.jsonl")[0].calls[1]
    assert (call.tool, call.result, call.flagged) == ("view", "Path /w/none.c does not exist.", True)


def test_sub_agents_are_runs_of_their_own(sample):
    """Calls inside a sub-agent belong to a run that is named by the call that started it."""
    runs = sample("copilot_cli.jsonl")
    assert [(run.run_id, run.agent, [call.tool for call in run.calls]) for run in runs] == [
        (SESSION, "copilot-cli", ["bash", "view", "task"]),
        (f"{SESSION}/call_c", "copilot-cli", ["grep"]),
    ]


def test_how_the_task_ended(sample):
    """Whether the agent says that the task is done is the outcome of the main run."""
    assert [(run.outcome, run.succeeded) for run in sample("copilot_cli.jsonl")] == [("success", True), ("", None)]


@pytest.mark.parametrize(
    ("kind", "data", "ended"),
    [
        pytest.param("session.task_complete", {"success": False}, ("failure", False), id="failed"),
        pytest.param("session.task_complete", {"success": True, "outcome": "done"}, ("done", True), id="in-words"),
        pytest.param("session.task_complete", {}, ("", None), id="nothing-said"),
        pytest.param("session.error", {"message": "no quota\nmore"}, ("no quota", False), id="error"),
        pytest.param("session.error", {}, ("", False), id="error-without-words"),
    ],
)
def test_ends_of_a_session(tmp_path, kind, data, ended):
    """The task's own end and an error of the session tell the outcome."""
    (run,) = read_events(tmp_path, event("user.message", {"content": "x"}), event(kind, data))
    assert (run.outcome, run.succeeded) == ended


@pytest.mark.parametrize(
    ("data", "exit_code"),
    [
        pytest.param({"result": {"content": "x\n<exited with exit code 0>\n"}}, 0, id="at-the-end"),
        pytest.param({"result": {"content": "<exited with exit code 1>\nx"}}, None, id="not-at-the-end"),
        pytest.param({"result": {"content": "x"}, "shellExecution": {"exitCode": 3}}, 3, id="apart"),
        pytest.param({"result": {"content": "x"}}, None, id="none"),
    ],
)
def test_where_the_exit_status_stands(tmp_path, data, exit_code):
    """A command's status is a field of newer versions, and in older ones the last line of the text."""
    (run,) = read_events(tmp_path, completed(success=True, **data))
    assert run.calls[0].exit_code == exit_code


def test_context_counts_what_the_model_saw(tmp_path):
    """Texts of user, model and system, arguments, results and summaries count; what is shown on the screen does not."""
    (run,) = read_events(
        tmp_path,
        event("system.message", {"role": "system", "content": "x" * 4}),
        event("user.message", {"content": "x" * 400, "transformedContent": "x" * 8}),
        event("assistant.message", {"content": "x" * 12, "reasoningText": "x" * 400, "toolRequests": []}),
        event("tool.execution_start", {"toolCallId": "a", "toolName": "t", "arguments": "x" * 16}),
        event("tool.execution_partial_result", {"toolCallId": "a", "partialOutput": "x" * 400}),
        completed(success=True, result={"content": "x" * 20, "detailedContent": "x" * 400}),
        event("session.compaction_complete", {"success": True, "summaryContent": "x" * 24}),
    )
    assert (run.context_tokens, run.result_tokens) == (1 + 2 + 3 + 4 + 5 + 6, 5)


def test_a_new_session_in_the_file_is_a_new_run(tmp_path):
    """Files that were put together are as many runs; a session that is resumed is one."""
    runs = read_events(
        tmp_path,
        event("session.start", {"sessionId": "one"}),
        completed(success=True),
        event("session.resume", {"sessionId": "one"}),
        completed(success=True),
        event("session.start", {"sessionId": "two"}),
        completed(success=True),
    )
    assert [(run.run_id, len(run.calls)) for run in runs] == [("one", 2), ("two", 1)]


def test_an_agent_may_be_named_by_the_event(tmp_path):
    """Newer versions name the sub-agent beside the data."""
    (run,) = read_events(tmp_path, event("assistant.message", {"content": "x"}, agentId="explore-1"))
    assert run.run_id == "events/explore-1"
