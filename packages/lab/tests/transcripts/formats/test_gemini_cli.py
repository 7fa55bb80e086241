"""What is read of Gemini CLI's sessions."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

SESSION = "3f0c9a52-0000-4000-8000-000000000001"
HEAD = {"sessionId": SESSION, "projectHash": "5f", "startTime": "2026-03-02T10:00:00.000Z"}
T0 = 1_772_445_600_000_000_000
S = 1_000_000_000


def read_session(folder, *records):
    """Write records after the head, and read them."""
    path = folder / "session.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in (HEAD, *records)))
    (run,) = read(path, on_problem=pytest.fail)
    return run


def gemini(*calls):
    """Make a message of the model."""
    return {"id": "m", "type": "gemini", "content": "", "toolCalls": list(calls)}


def test_a_call_is_the_newest_state_of_its_message(sample):
    """Name, arguments, the text for the model, the status and both times."""
    (run,) = sample("gemini_cli.jsonl")
    assert (run.run_id, run.agent) == (SESSION, "gemini-cli")
    assert run.calls[0] == RecordedCall(
        tool="run_shell_command",
        call_id="run_shell_command-1",
        arguments='{"command":"npm test"}',
        result="Output: sh: 1: jest: not found\nExit Code: 127\nProcess Group PGID: 4711",
        flagged=False,
        start_ns=T0 + 3 * S,
        end_ns=T0 + 5 * S,
        line=5,
        context_tokens=run.calls[0].context_tokens,
    )


@pytest.mark.parametrize("name", ["gemini_cli.jsonl", "gemini_cli.json"])
def test_failed_and_cancelled_calls_are_told_apart(sample, name):
    """As lines and as one document; a cancelled call is left to its text."""
    (run,) = sample(name)
    assert [(call.tool, call.flagged) for call in run.calls] == [
        ("run_shell_command", False),
        ("replace", True),
        ("run_shell_command", None),
    ]
    assert run.calls[1].result.startswith("Failed to edit, could not find")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": "executing"}, []),
        ({"status": "success"}, [("", False)]),
        ({"status": "success", "result": "plain"}, [("plain", False)]),
        ({"status": "success", "resultDisplay": "shown"}, [("shown", False)]),
        ({"status": "success", "resultDisplay": {"fileDiff": "x"}}, [("", False)]),
        ({"status": "success", "result": [{"text": "a"}, {"inlineData": {}}]}, [("a", False)]),
        ({"status": "success", "result": [{"functionResponse": {"response": {"error": "no"}}}]}, [("no", True)]),
        (
            {"status": "success", "result": [{"functionResponse": {"response": {"output": {"a": 1}}}}]},
            [('{"a":1}', False)],
        ),
        ({"result": "odd"}, [("odd", None)]),
    ],
)  # fmt: skip
def test_results_have_many_forms(tmp_path, fields, expected):
    """A call without a result that is not over is none yet."""
    run = read_session(tmp_path, gemini({"id": "1", "name": "t", "args": {}, **fields}))
    assert [(call.result, call.flagged) for call in run.calls] == expected


def test_a_checkpoint_adds_the_messages_it_has(tmp_path):
    """What was written before it did happen."""
    first = {**gemini({"id": "1", "name": "a", "status": "success"}), "id": "x"}
    second = {**gemini({"id": "2", "name": "b", "status": "success"}), "id": "y"}
    run = read_session(tmp_path, first, {"$set": {"messages": [second]}})
    assert [call.tool for call in run.calls] == ["a", "b"]


def test_a_line_that_is_no_object_is_reported(tmp_path):
    """And the rest is read."""
    path = tmp_path / "session.jsonl"
    path.write_text(f"{json.dumps({**HEAD, 'startTime': None})}\n[1]\n")
    problems = []
    assert len(list(read(path, on_problem=problems.append))) == 1
    assert [str(problem) for problem in problems] == [f"{path}:2: must be an object, not a list; it is ignored"]
