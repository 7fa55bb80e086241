"""What is read of SWE-agent trajectories."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

FIRST_NS = 946_684_800_000_000_000
MS = 1_000_000


def read_lines(folder, *values):
    """Write trajectories, one a line, and read them."""
    path = folder / "task.traj"
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values))
    return list(read(path, on_problem=pytest.fail))


@pytest.mark.parametrize(
    ("info", "succeeded"),
    [
        pytest.param({"exit_status": "submitted", "submission": "diff"}, True, id="submitted"),
        pytest.param({"exit_status": "submitted"}, True, id="submission-not-kept"),
        pytest.param({"exit_status": "submitted", "submission": " \n"}, False, id="submitted-nothing"),
        pytest.param({"exit_status": "submitted", "submission": None}, False, id="submitted-null"),
        pytest.param({"exit_status": "submitted (exit_cost)", "submission": "diff"}, None, id="salvaged"),
        pytest.param({"exit_status": "exit_cost"}, False, id="cost"),
        pytest.param({"exit_status": "exit_context", "submission": "diff"}, False, id="context"),
        pytest.param({"exit_status": "early_exit"}, False, id="early"),
        pytest.param({"exit_status": "exit_cost", "resolved": True}, True, id="evaluated"),
        pytest.param({"exit_status": None}, None, id="cut-off"),
        pytest.param({}, None, id="nothing-said"),
    ],
)
def test_whether_a_run_succeeded(tmp_path, info, succeeded):
    """`submitted` with a submission is a success, any other end a failure; of work that was salvaged nobody knows."""
    (run,) = read_lines(tmp_path, {**steps("ls"), "info": info})
    assert (run.outcome, run.succeeded) == (info.get("exit_status") or "", succeeded)


def test_an_evaluation_decides_over_the_end(tmp_path):
    """Where the result of an evaluation was written into the record, a submitted run may have failed."""
    info = {"exit_status": "submitted", "submission": "diff"}
    (run,) = read_lines(tmp_path, {**steps("ls"), "info": info, "resolved": False})
    assert run.succeeded is False


def steps(*actions, **more):
    """Make a trajectory of these actions."""
    return {
        "history": [],
        "trajectory": [{"action": action, "observation": "ok", "response": "", **more} for action in actions],
        "info": {},
    }


def test_a_step_is_a_call(sample):
    """The action is the arguments, the observation the result, whole; the format flags nothing."""
    (run,) = sample("swe_agent_0.traj")
    assert run.calls[1] == RecordedCall(
        tool="edit",
        arguments="edit 4:4\n    return sum(xs) / (len(xs) or 1\nend_of_edit\n",
        result="The edit would break the file.\n\nERRORS:\n- E999 SyntaxError: '(' was never closed\n",
        start_ns=FIRST_NS + 2 * MS,
        end_ns=FIRST_NS + 3 * MS,
        line=2,
        context_tokens=118,
    )


def test_durations_of_newer_versions_are_kept(sample):
    """1.x records how long a step took: the call lasts as long, and the next follows a millisecond later."""
    (run,) = sample("swe_agent_1.traj")
    assert [(call.start_ns - FIRST_NS, call.end_ns - FIRST_NS) for call in run.calls] == [
        (0, 250 * MS),
        (251 * MS, 1_751 * MS),
    ]


def test_a_duration_is_a_day_at_most(tmp_path):
    """An absurd duration does not push the times out of range, and a negative one does not turn them round."""
    (long,) = read_lines(tmp_path, steps("ls", execution_time=1e300))
    (negative,) = read_lines(tmp_path, steps("ls", execution_time=-5))
    assert [run.calls[0].end_ns - FIRST_NS for run in (long, negative)] == [86_400_000 * MS, 0]


@pytest.mark.parametrize(
    ("action", "tool", "operation"),
    [
        pytest.param("python test.py\n", "bash", "", id="shell"),
        pytest.param("edit 1:2\nx\nend_of_edit", "edit", "", id="own-command"),
        pytest.param("str_replace_editor view /a.py", "str_replace_editor", "str_replace_editor view", id="operation"),
        pytest.param("str_replace_editor", "str_replace_editor", "", id="editor-without-operation"),
        pytest.param("", "bash", "", id="nothing"),
    ],
)
def test_which_tool_an_action_calls(tmp_path, action, tool, operation):
    """SWE-agent's own commands are tools; of the editor each operation resolves its own failures; all else is shell."""
    (run,) = read_lines(tmp_path, steps(action))
    assert [(call.tool, call.operation) for call in run.calls] == [(tool, operation)]


def test_a_run_is_named_by_its_file(tmp_path, sample):
    """SWE-agent names files by the task; in a file of many runs the line is added."""
    (run,) = sample("swe_agent_1.traj")
    names = [run.run_id for run in read_lines(tmp_path, steps("ls"), steps("ls"))]
    assert (run.run_id, run.agent, run.outcome) == ("swe_agent_1", "swe-agent", "submitted (exit_cost)")
    assert names == ["task", "task:2"]


def test_the_step_at_which_a_limit_ended_the_run_is_no_call(sample):
    """A last step without action and observation is no tool call."""
    (run,) = sample("swe_agent_0.traj")
    assert [call.tool for call in run.calls] == ["bash", "edit", "submit"]


def test_context_is_prompt_and_steps_without_demonstrations(tmp_path):
    """The prompt up to the first answer, each response, action and observation count once; demonstrations never."""
    trajectory = {
        "history": [
            {"role": "system", "content": "x" * 4},
            {"role": "user", "content": "x" * 4_000, "is_demo": True},
            {"role": "assistant", "content": "x" * 4_000, "is_demo": True},
            {"role": "user", "content": [{"type": "text", "text": "x" * 8}]},
            {"role": "assistant", "content": "said in the step"},
            {"role": "user", "content": "answered in the step"},
        ],
        "trajectory": [
            {"action": "ls\n", "response": "list``ls\n``", "observation": "x" * 12},
            {"action": "pwd", "response": "x" * 16, "observation": ""},
        ],
        "info": {},
    }
    (run,) = read_lines(tmp_path, trajectory)
    first_step = 3 + 1 + 3  # "list``\n``", "ls\n", the observation
    second_step = 4 + 1 + 0
    assert (run.context_tokens, run.result_tokens) == (1 + 2 + first_step + second_step, 3)


def test_a_line_that_is_no_trajectory_is_reported(tmp_path):
    """Among trajectories, one a line, a list is skipped with a message."""
    path = tmp_path / "runs.jsonl"
    path.write_text(f"{json.dumps(steps('ls'))}\n[]\n")
    problems = []
    assert len(list(read(path, on_problem=problems.append))) == 1
    assert [str(problem) for problem in problems] == [f"{path}:2: must be an object, not a list; it is ignored"]


def test_a_run_that_failed_to_start_has_no_calls(tmp_path):
    """A trajectory without steps is still a run, and says how it ended."""
    value = {"trajectory": [], "history": [], "info": {"exit_status": "exit_environment_error"}}
    (run,) = read_lines(tmp_path, value)
    assert (run.calls, run.outcome) == ((), "exit_environment_error")
