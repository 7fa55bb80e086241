"""What is read of AutoGen and Magentic-One histories."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

FIRST_NS = 946_684_800_000_000_000
MS = 1_000_000
CODE = "Try:\n```python\nprint(1)\n```\n```python\nprint(2)\n```"


def read_history(folder, *entries, **more):
    """Write a history and read it."""
    path = folder / "history.json"
    path.write_text(json.dumps({"history": entries, **more}))
    (run,) = read(path, on_problem=pytest.fail)
    return run


def test_code_and_its_output_are_a_call(sample):
    """The code before is the arguments; it was said, so it counts once."""
    (run,) = sample("autogen.json")
    assert run.calls[0] == RecordedCall(
        tool="code_executor",
        arguments='{"language":"python","code":"import pandas\\nprint(1)\\n"}',
        result=(
            "exitcode: 1 (execution failed)\nCode output: Traceback (most recent call last):\n"
            '  File "a.py", line 1, in <module>\n    import pandas\n'
            "ModuleNotFoundError: No module named 'pandas'\n"
        ),
        exit_code=1,
        start_ns=FIRST_NS,
        end_ns=FIRST_NS + MS,
        line=1,
        context_tokens=66,
    )


def test_the_terminals_words_are_output_where_code_was_to_be_run(sample):
    """A terminal that says nothing of a status gave the output; without code before it only says something."""
    (run,) = sample("autogen.json")
    assert [(call.result, call.exit_code) for call in run.calls[1:]] == [("3 rows.csv", None)]


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        pytest.param("exitcode: 0 (execution succeeded)\nCode output: 1", 0, id="autogen"),
        pytest.param("exitcode: -9 (execution failed)\nCode output: Timeout", -9, id="killed"),
        pytest.param("The script ran, then exited with an error (POSIX exit code: 2)\nIts output was:", 2, id="error"),
        pytest.param(
            "The script ran but produced no output to console. The POSIX exit code was: 0. If", 0, id="no-output"
        ),
    ],
)
def test_ways_of_telling_the_exit_status(tmp_path, text, exit_code):
    """Whoever says it: what begins with a status is the output of the code before, of all its blocks."""
    run = read_history(tmp_path, {"role": "Coder", "content": CODE}, {"role": "user", "content": text})
    assert [(call.arguments, call.exit_code) for call in run.calls] == [
        ('{"language":"python","code":"print(1)\\n\\nprint(2)\\n"}', exit_code)
    ]


def test_how_a_history_is_called_and_ends(sample):
    """The question's id names the run; where an answer was marked, the mark is the outcome."""
    (run,) = sample("autogen.json")
    assert (run.run_id, run.agent, run.outcome, run.succeeded) == ("q7", "autogen", "wrong", False)


@pytest.mark.parametrize(
    ("mark", "ended"),
    [
        pytest.param({"is_corrected": True}, ("correct", True), id="by-hand"),
        pytest.param({"is_correct": "perhaps"}, ("", None), id="no-mark"),
        pytest.param({"stop_reason": "too many turns"}, ("too many turns", None), id="stopped"),
    ],
)
def test_marks_of_a_history(tmp_path, mark, ended):
    """A mark is true or false; why the team stopped tells nothing of its success."""
    run = read_history(tmp_path, {"role": "user", "content": "x"}, **mark)
    assert (run.outcome, run.succeeded) == ended


def test_messages_of_agentchat(sample):
    """Calls and results are events with ids and flags; code is generated and executed in events of their own."""
    (run,) = sample("autogen_agentchat.jsonl")
    assert [(call.tool, call.arguments, call.result, call.flagged, call.exit_code) for call in run.calls] == [
        ("weather", '{"city":"Bern"}', "no such city", True, None),
        (
            "code_executor",
            '{"language":"python","code":"print(1/0)\\n"}',
            "ZeroDivisionError: division by zero",
            None,
            1,
        ),
    ]


def test_agentchat_in_one_document(tmp_path, samples):
    """The messages of a team's result read as those on lines of their own, whether in a list or an object."""
    messages = [json.loads(line) for line in (samples / "autogen_agentchat.jsonl").read_text().splitlines()]
    (alone,) = read(samples / "autogen_agentchat.jsonl", on_problem=pytest.fail)
    for value in (messages, {"messages": messages, "stop_reason": "too many turns"}):
        path = tmp_path / "autogen_agentchat.json"
        path.write_text(json.dumps(value))
        (run,) = read(path, on_problem=pytest.fail)
        assert (run.run_id, run.calls) == (alone.run_id, alone.calls)
        assert (run.outcome, run.succeeded) == ("too many turns" if isinstance(value, dict) else "", None)


def test_context_counts_every_text(tmp_path):
    """Messages count; thoughts and pieces of a stream, which are told again, do not."""
    path = tmp_path / "messages.jsonl"
    kinds = [("TextMessage", 4), ("ThoughtEvent", 400), ("ModelClientStreamingChunkEvent", 400), ("StopMessage", 8)]
    path.write_text(
        "".join(json.dumps({"source": "a", "type": kind, "content": "x" * size}) + "\n" for kind, size in kinds)
    )
    (run,) = read(path, on_problem=pytest.fail)
    assert run.context_tokens == 1 + 2


def test_functions_of_older_versions(tmp_path):
    """In AutoGen 0.2 one message holds the answers of many calls."""
    asked = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    path = tmp_path / "chat.json"
    history = [
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {
            "role": "tool",
            "content": "found",
            "tool_responses": [{"role": "tool", "tool_call_id": "a", "content": "found"}],
        },
    ]
    path.write_text(json.dumps({"chat_id": 5, "chat_history": history, "summary": ""}))
    (run,) = read(path, on_problem=pytest.fail)
    assert [(run.run_id, call.tool, call.result) for call in run.calls] == [("5", "look", "found")]


def test_a_list_of_histories_is_as_many_runs(tmp_path):
    """A document may hold a list of histories."""
    path = tmp_path / "all.json"
    path.write_text(json.dumps([{"history": [{"name": "a", "content": "x"}]}] * 2))
    assert [run.run_id for run in read(path, on_problem=pytest.fail)] == ["all:1", "all:2"]


def test_plain_messages_of_autogen_are_a_chat(tmp_path):
    """A bare list of messages is a chat, in which code that was run is a call as well."""
    path = tmp_path / "chat.json"
    result = "exitcode: 1 (execution failed)\nCode output: no"
    path.write_text(json.dumps([{"role": "assistant", "content": CODE}, {"role": "user", "content": result}]))
    (run,) = read(path, on_problem=pytest.fail)
    assert [(run.agent, call.tool, call.exit_code) for call in run.calls] == [("chat", "code_executor", 1)]


def test_the_log_of_magentic_one_has_its_text_in_a_field_of_its_own(tmp_path):
    """Code, the output of its execution, and lines of other kinds."""
    lines = [
        {"timestamp": "2026-03-02T10:00:00", "type": "LLMCallEvent", "prompt_tokens": 1},
        {"timestamp": "2026-03-02T10:00:01", "source": "Coder", "message": "```python\nprint(1/0)\n```",
         "type": "OrchestrationEvent"},
        {"timestamp": "2026-03-02T10:00:02", "source": "Executor", "type": "OrchestrationEvent",
         "message": "The script ran, then exited with Unix exit code: 1\nIts output was:\nZeroDivisionError: x"},
    ]  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (run,) = read(path, on_problem=lambda problem: None)
    (call,) = run.calls
    assert (call.tool, call.exit_code, call.end_ns) == ("code_executor", 1, 1_772_445_602_000_000_000)
    assert "print(1/0)" in call.arguments
