"""What is read of Codex rollouts."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.detector.results import classify_result
from otel_errcompact_lab.transcripts import RecordedCall, read

T0 = 1_772_445_600_000_000_000
S = 1_000_000_000


def read_lines(folder, *lines):
    """Write records and read them."""
    path = folder / "rollout.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return list(read(path, on_problem=pytest.fail))


def item(**payload):
    """Make a record of an item."""
    return {"timestamp": "2026-03-02T10:00:00Z", "type": "response_item", "payload": payload}


def meta(name, **more):
    """Make the record a rollout begins with."""
    return {"timestamp": "2026-03-02T10:00:00Z", "type": "session_meta", "payload": {"id": name, **more}}


def call(call_id, name="exec_command", arguments="{}"):
    """Make a record of a call."""
    return item(type="function_call", name=name, arguments=arguments, call_id=call_id)


def output(call_id, text):
    """Make a record of what a call gave back."""
    return item(type="function_call_output", call_id=call_id, output=text)


def test_a_call_is_paired_with_its_output(sample):
    """Call and output are one call, with both times, the output's line, the header as the model saw it, the status."""
    (run,) = sample("codex.jsonl")
    assert run.calls[0] == RecordedCall(
        tool="exec_command",
        call_id="call_a",
        arguments='{"cmd":"pytest -q"}',
        result=(
            "Chunk ID: 9f3c2a\nWall time: 0.4183 seconds\nProcess exited with code 1\nOriginal token count: 11\n"
            "Output:\nFAILED cart_test.py::test_sum - assert 4 == 3\n"
        ),
        exit_code=1,
        start_ns=T0 + S,
        end_ns=T0 + 2 * S,
        line=8,
        context_tokens=51,
    )


def test_every_kind_of_call_is_read(sample):
    """Functions, patches, local shells and MCP tools are calls; what a compaction repeats is none."""
    (run,) = sample("codex.jsonl")
    assert [(one.tool, one.flagged, one.exit_code) for one in run.calls] == [
        ("exec_command", None, 1),
        ("apply_patch", None, None),
        ("exec_command", None, 1),
        ("exec_command", None, None),
        ("shell", None, 0),
        ("local_shell", None, 2),
        ("mcp__tracker__find", True, None),
    ]


def test_what_the_recogniser_makes_of_them(sample):
    """Failed commands and patches are failures; an empty search and a process that still runs are none."""
    (run,) = sample("codex.jsonl")
    judged = [
        classify_result(
            one.result, tool=one.tool, arguments=one.arguments, flagged=one.flagged, exit_code=one.exit_code
        ).outcome
        for one in run.calls
    ]
    assert judged == ["failure", "failure", "ignored", "ignored", "success", "failure", "failure"]


def test_older_rollouts_hold_the_items_themselves(sample):
    """Files of the first versions have no records around the items and no times."""
    (run,) = sample("codex_items.jsonl")
    assert (run.run_id, run.agent) == ("5973b6c0-94b8-487b-a530-2aeb6098ae0e", "codex")
    assert [(one.tool, one.result, one.exit_code) for one in run.calls] == [("shell", "cart.py\n", 0)]


@pytest.mark.parametrize(
    ("text", "result", "exit_code"),
    [
        pytest.param('{"output":"x","metadata":{"exit_code":3}}', "x", 3, id="wrapped"),
        pytest.param('{"output":"x"}', "x", None, id="wrapped-without-status"),
        pytest.param('{"output":"x","metadata":{"exit_code":true}}', "x", None, id="status-of-another-type"),
        pytest.param('{"output":"x', '{"output":"x', None, id="cut-off"),
        pytest.param('{"output": [1]}', '{"output": [1]}', None, id="some-other-json"),
        pytest.param("Exit code: 2\nWall time: 1 seconds\nOutput:\nx", None, 2, id="exit-code-first"),
        pytest.param("Wall time: 1 seconds\nProcess exited with code -1\nOutput:\n", None, -1, id="negative"),
        pytest.param("it said Exit code: 2\n", None, None, id="in-the-output"),
        pytest.param("Output:\nProcess exited with code 1\n", None, None, id="after-the-header"),
    ],
)
def test_where_the_exit_status_stands(tmp_path, text, result, exit_code):
    """Older versions wrap output and status in JSON, newer ones write the status over the output."""
    (run,) = read_lines(tmp_path, call("a"), output("a", text))
    assert (run.calls[0].result, run.calls[0].exit_code) == (text if result is None else result, exit_code)


@pytest.mark.parametrize(
    ("event", "flagged", "exit_code"),
    [
        pytest.param({"type": "exec_command_end", "exit_code": 4}, None, 4, id="command"),
        pytest.param({"type": "patch_apply_end", "success": False}, True, None, id="patch-failed"),
        pytest.param({"type": "patch_apply_end", "success": True}, False, None, id="patch-applied"),
        pytest.param({"type": "patch_apply_end"}, None, None, id="nothing-said"),
        pytest.param({"type": "mcp_tool_call_end", "result": {"Err": "down"}}, True, None, id="mcp-error"),
        pytest.param({"type": "mcp_tool_call_end", "result": {"Ok": {"is_error": False}}}, False, None, id="mcp"),
        pytest.param({"type": "exec_command_begin", "exit_code": 4}, None, None, id="another-event"),
    ],
)
def test_the_end_of_a_call_tells_of_failure(tmp_path, event, flagged, exit_code):
    """What an `event_msg` says of the end of a call belongs to its output."""
    end = {"type": "event_msg", "payload": {"call_id": "a", **event}}
    (run,) = read_lines(tmp_path, call("a"), end, output("a", "text"))
    assert (run.calls[0].flagged, run.calls[0].exit_code) == (flagged, exit_code)


def test_an_output_of_parts_is_their_text(tmp_path):
    """Newer versions give parts; images have no text."""
    parts = [{"type": "input_text", "text": "one"}, {"type": "input_image", "image_url": "data:"}]
    (run,) = read_lines(tmp_path, call("a"), output("a", parts))
    assert run.calls[0].result == "one"


def test_context_counts_what_the_model_saw_once(tmp_path):
    """Messages, arguments, outputs and summaries count; events, reasoning and what a summary replaces do not."""
    (run,) = read_lines(
        tmp_path,
        item(type="message", role="user", content=[{"type": "input_text", "text": "x" * 8}]),
        {"type": "event_msg", "payload": {"type": "user_message", "message": "x" * 400}},
        item(type="reasoning", summary=[{"type": "summary_text", "text": "x" * 400}]),
        call("a", arguments="x" * 12),
        output("a", "x" * 16),
        {"type": "compacted", "payload": {"message": "x" * 20, "replacement_history": ["x" * 400]}},
    )
    assert (run.context_tokens, run.result_tokens) == (2 + 3 + 4 + 5, 4)


def test_files_that_were_put_together_are_many_runs(tmp_path):
    """Another `session_meta` begins another run; the same one again, as after a resumption, does not."""
    runs = read_lines(tmp_path, meta("one"), call("a"), meta("one"), output("a", "x"), meta("two"), call("b"))
    assert [(run.run_id, len(run.calls)) for run in runs] == [("one", 1), ("two", 0)]


def test_a_fork_holds_the_records_of_its_origin(tmp_path):
    """What a forked session copied, the `session_meta` of its origins with it, is part of its run."""
    runs = read_lines(
        tmp_path,
        meta("child", forked_from_id="parent"),
        meta("parent", forked_from_id="grandparent"),
        meta("grandparent"),
        call("a"),
        output("a", "x"),
    )
    assert [(run.run_id, len(run.calls)) for run in runs] == [("child", 1)]


def test_a_rollout_without_items_has_no_run(tmp_path):
    """A session that was opened and closed gives no run."""
    assert read_lines(tmp_path, meta("one")) == []
