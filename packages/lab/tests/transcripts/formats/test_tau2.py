"""What is read of tau2-bench's results."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

T0 = 1_772_445_600_000_000_000
S = 1_000_000_000


def test_each_simulation_is_a_run(sample):
    """A reward judges it; without one it is only known why it ended."""
    assert [(run.run_id, run.agent, run.outcome, run.succeeded) for run in sample("tau2.json")] == [
        ("7.1", "tau2-bench", "reward 0", False),
        ("8", "tau2-bench", "max_steps", None),
    ]


def test_the_agent_has_calls_and_the_user_others(sample):
    """What the simulated user's own tools answer, the agent never reads; several results may be one message."""
    run = sample("tau2.json")[0]
    assert run.calls[0] == RecordedCall(
        tool="get_user",
        call_id="c1",
        arguments='{"user_id":"ann"}',
        result="Error: User not found",
        flagged=True,
        start_ns=T0 + 3 * S,
        end_ns=T0 + 3 * S + S // 2,
        line=1,
        context_tokens=run.calls[0].context_tokens,
    )
    assert [(call.tool, call.flagged) for call in run.calls] == [("get_user", True), ("get_order", False)]


def test_a_simulation_may_have_a_file_of_its_own(tmp_path, samples):
    """It is no chat, whose results have no flag."""
    path = tmp_path / "8d1f.json"
    path.write_text(json.dumps(json.loads((samples / "tau2.json").read_text())["simulations"][0]))
    (run,) = read(path, on_problem=pytest.fail)
    assert (run.run_id, [call.flagged for call in run.calls]) == ("7.1", [True, False])
