"""What is read of AutoGen's AgentChat."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.lab.transcripts import read


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
