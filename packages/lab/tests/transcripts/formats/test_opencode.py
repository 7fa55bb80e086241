"""What is read of OpenCode's exports."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

T0 = 1_772_445_600_000_000_000
S = 1_000_000_000


def test_a_part_is_a_call_with_its_result(sample):
    """Name, arguments, the text for the model, the status of the call and that of the command, and both times."""
    (run,) = sample("opencode.json")
    assert (run.run_id, run.agent) == ("ses_1", "opencode")
    assert run.calls[0] == RecordedCall(
        tool="bash",
        call_id="call_1",
        arguments='{"command":"pnpm test"}',
        result="sh: 1: vitest: not found\n",
        flagged=False,
        exit_code=127,
        start_ns=T0 + S,
        end_ns=T0 + S + S // 2,
        line=1,
        context_tokens=run.calls[0].context_tokens,
    )


def test_the_status_says_what_failed(sample):
    """A call that still runs has no result."""
    (run,) = sample("opencode.json")
    assert [(call.tool, call.flagged, call.exit_code, call.result) for call in run.calls[1:]] == [
        ("read", True, None, "Error: File not found: /shop/cart.ts"),
        ("glob", False, None, "/shop/basket.ts"),
    ]


def test_times_out_of_range_are_made_up(tmp_path):
    """A call takes a millisecond then."""
    state = {"status": "completed", "input": {}, "output": "", "time": {"start": -1, "end": 1e300}}
    part = {"type": "tool", "callID": "1", "tool": "t", "state": state}
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"info": {}, "messages": [{"parts": [part]}]}))
    (run,) = read(path, on_problem=pytest.fail)
    assert (run.run_id, run.calls[0].end_ns - run.calls[0].start_ns) == ("export", 1_000_000)
