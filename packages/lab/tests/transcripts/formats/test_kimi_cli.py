"""What is read of Kimi CLI's events."""

from __future__ import annotations

from otel_errcompact_lab.transcripts import RecordedCall

T0 = 1_772_445_600_000_000_000
S = 1_000_000_000


def test_a_call_and_its_result_are_events(sample):
    """What the model is told comes before the output; the folder names the session."""
    (run,) = sample("wire.jsonl")
    assert (run.run_id, run.agent) == ("samples", "kimi-cli")
    assert run.calls[0] == RecordedCall(
        tool="Shell",
        call_id="Shell:0",
        arguments='{"command": "npm test"}',
        result="Command failed with exit code: 127.\nsh: 1: jest: not found\n",
        flagged=True,
        start_ns=T0 + 2 * S,
        end_ns=T0 + 3 * S,
        line=6,
        context_tokens=run.calls[0].context_tokens,
    )


def test_events_of_sub_agents_stand_in_files_of_their_own(sample):
    """They are not read twice; an output may have parts."""
    (run,) = sample("wire.jsonl")
    assert [(call.tool, call.flagged, call.result) for call in run.calls[1:]] == [("Glob", False, "cart.js")]
