"""What is read of OpenHands output."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

T0 = 1_772_445_600_000_000_000


def read_history(folder, *events, **task):
    """Write a task with these events and read it."""
    path = folder / "output.jsonl"
    path.write_text(json.dumps({"instance_id": "t", "history": events, **task}))
    (run,) = read(path, on_problem=pytest.fail)
    return run


def test_an_observation_belongs_to_the_action_it_names(sample):
    """Action and observation are one call, with the model's own arguments, its id, its exit code and both times."""
    run = sample("openhands.jsonl")[0]
    assert run.calls[0] == RecordedCall(
        tool="execute_bash",
        operation="run",
        call_id="t1",
        arguments='{"command": "make"}',
        result="make: *** [all] Error 2",
        flagged=True,
        exit_code=2,
        start_ns=T0 + 1_000_000_000,
        end_ns=T0 + 2_000_000_000,
        line=1,
        context_tokens=28,
    )


def test_what_the_record_says_of_failures(sample):
    """`success`, the `error` observation and the editor's `ERROR:` are flags; a command that still runs has none."""
    run = sample("openhands.jsonl")[0]
    assert [(call.operation, call.flagged, call.exit_code) for call in run.calls] == [
        ("run", True, 2),
        ("edit", True, None),
        ("read", None, None),
        ("", True, None),
        ("run", None, None),
        ("think", None, None),
        ("run", False, 0),
    ]


def test_a_call_that_could_not_be_made_has_no_tool(sample):
    """An error observation without an action has no tool and no arguments."""
    call = sample("openhands.jsonl")[0].calls[3]
    assert (call.tool, call.arguments, call.result) == ("", "", "Parameter 'command' is missing.")


def test_arguments_without_the_models_own_are_the_actions(sample):
    """Where the model's answer is not recorded, the action's fields are the arguments, without bookkeeping."""
    call = sample("openhands.jsonl")[0].calls[1]
    assert call.arguments == '{"path":"/w/a.c","old_str":"x","new_str":"y"}'


def test_older_flat_events_are_paired_in_order(sample):
    """Events without ids: an observation answers the action before it."""
    run = sample("openhands_resolver.jsonl")[0]
    assert [(call.tool, call.arguments, call.result, call.flagged, call.exit_code) for call in run.calls] == [
        ("run", '{"command":"touch NOTICE"}', "", None, 0),
        ("run_ipython", '{"code":"edit_file(\'LICENSE\')"}', "SyntaxError: unexpected end of file", None, None),
    ]


def test_pairs_are_taken_apart(sample):
    """The oldest files hold `[action, observation]` pairs."""
    run = sample("openhands_resolver.jsonl")[1]
    assert [(call.tool, call.result, call.exit_code) for call in run.calls] == [("run", "a.c", 0)]


def test_how_runs_are_called_and_end(sample):
    """A run is named by instance, issue, or file and number; its outcome is the error's first line, or the success."""
    runs = [*sample("openhands.jsonl"), *sample("openhands_resolver.jsonl")]
    assert [(run.run_id, run.agent, run.outcome) for run in runs] == [
        ("shop__42", "CodeActAgent", ""),
        ("shop__43", "openhands", "RuntimeError: no container"),
        ("ada/shop#5", "openhands", "success"),
        ("openhands_resolver:2", "openhands", "failure"),
    ]


def test_context_counts_every_text(tmp_path):
    """Messages, thoughts, arguments and observations are context; what the framework looks up is no result."""
    run = read_history(
        tmp_path,
        {"action": "system", "args": {"content": "x" * 4}},
        {"action": "message", "args": {"content": "x" * 8}},
        {"action": "recall", "args": {"query": "x" * 400}},
        {"observation": "recall", "content": "x" * 12},
        {"action": "run", "args": {"command": "x", "thought": "x" * 16}},
        {"observation": "run", "content": "x" * 20},
    )
    arguments = 4  # {"command":"x"}
    assert (run.context_tokens, run.result_tokens) == (1 + 2 + 3 + 4 + arguments + 5, 5)


def test_a_thought_that_is_an_argument_counts_once(tmp_path):
    """The `think` tool's thought is counted as its argument, not as text as well."""
    asked = {"id": "a", "function": {"name": "think", "arguments": "x" * 8}}
    metadata = {
        "function_name": "think",
        "tool_call_id": "a",
        "model_response": {"choices": [{"message": {"tool_calls": [{"id": "other"}, asked]}}]},
    }
    run = read_history(
        tmp_path,
        {"action": "think", "args": {"thought": "x" * 8}, "tool_call_metadata": metadata},
        {"observation": "think", "content": ""},
    )
    assert (run.calls[0].arguments, run.context_tokens) == ("xxxxxxxx", 2)


@pytest.mark.parametrize(
    ("verdict", "succeeded"),
    [
        pytest.param({"report": {"resolved": True}, "error": "RuntimeError: limit"}, True, id="report"),
        pytest.param({"test_result": {"report": {"resolved": False}}}, False, id="report-of-the-test"),
        pytest.param({"test_result": {"resolved": 1}}, True, id="test"),
        pytest.param({"success": True}, True, id="resolver"),
        pytest.param({"error": "RuntimeError: limit"}, False, id="error"),
        pytest.param({"test_result": {"git_patch": ""}, "error": None}, None, id="nothing-said"),
    ],
)
def test_whether_a_task_succeeded(tmp_path, verdict, succeeded):
    """An evaluation's report decides, then what the resolver says of itself; a task that ended in an error failed."""
    assert read_history(tmp_path, **verdict).succeeded is succeeded
