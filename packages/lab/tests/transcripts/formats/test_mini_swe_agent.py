"""What is read of mini-swe-agent's trajectories."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

T0 = 1_772_445_600_000_000_000
S = 1_000_000_000


def test_a_block_of_code_is_a_call(sample):
    """The next message is its result, with the exit status; an answer without a command is none."""
    (run,) = sample("mini_swe_agent.traj.json")
    assert (run.run_id, run.agent, run.outcome, run.succeeded) == ("stats-1", "mini-swe-agent", "Submitted", True)
    assert run.calls[0] == RecordedCall(
        tool="bash",
        arguments="cd /stats &&\npython check_mean.py",
        result="<returncode>1</returncode>\n<output>\nZeroDivisionError: division by zero\n</output>",
        exit_code=1,
        start_ns=T0 + 2 * S,
        end_ns=T0 + 2 * S + S // 2,
        line=1,
        context_tokens=run.calls[0].context_tokens,
    )
    assert [(call.arguments, call.result, call.exit_code) for call in run.calls[1:]] == [
        ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "diff", None)
    ]


def test_since_version_2_calls_are_those_of_the_interface(tmp_path):
    """The exit status stands beside the text."""
    path = tmp_path / "task.traj.json"
    asked = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
    messages = [
        {"role": "assistant", "content": "```bash\nno command\n```", "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c1", "content": "no rule", "extra": {"returncode": 2, "timestamp": T0 / S}},
        {"role": "exit", "content": "", "extra": {"exit_status": "LimitsExceeded"}},
    ]
    info = {"exit_status": "LimitsExceeded"}
    path.write_text(json.dumps({"trajectory_format": "mini-swe-agent-1.1", "info": info, "messages": messages}))
    (run,) = read(path, on_problem=pytest.fail)
    assert (run.run_id, run.succeeded) == ("task", False)
    assert [(call.tool, call.arguments, call.exit_code, call.end_ns) for call in run.calls] == [
        ("bash", '{"command": "make"}', 2, T0)
    ]


def test_a_command_that_did_not_end_has_failed(tmp_path):
    """What happened stands above a status that is none."""
    path = tmp_path / "task.traj.json"
    texts = ("```mswea_bash_command\nmake\n```", "<exception>timed out</exception>\n<returncode>-1</returncode>")
    messages = [{"role": role, "content": text} for role, text in zip(("assistant", "user"), texts, strict=True)]
    path.write_text(json.dumps({"trajectory_format": "mini-swe-agent-1", "messages": messages}))
    (run,) = read(path, on_problem=pytest.fail)
    assert ([(call.flagged, call.exit_code) for call in run.calls], run.succeeded) == ([(True, None)], None)
