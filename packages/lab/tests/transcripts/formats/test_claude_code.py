"""What is read of Claude Code sessions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, RecordedRun, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from otel_errcompact_lab.transcripts.records import TranscriptError

SESSION = "5e551011-0000-4000-8000-000000000001"
T0 = 1_772_445_600_000_000_000


@pytest.fixture
def runs(sample: Callable[[str], list[RecordedRun]]) -> list[RecordedRun]:
    """The runs of the sample."""
    return sample("claude_code.jsonl")


def entry(kind: str, content: object, **more: object) -> dict[str, object]:
    """Make a record of the sample session."""
    return {"type": kind, "sessionId": SESSION, "message": {"role": kind, "content": content}, **more}


def use(call_id: str, **more: object) -> dict[str, object]:
    """Make a record that calls a tool."""
    return entry("assistant", [{"type": "tool_use", "id": call_id, "name": "Bash", "input": {}}], **more)


def result(call_id: str, text: object = "ok", **more: object) -> dict[str, object]:
    """Make a record with what a tool gave back."""
    return entry("user", [{"type": "tool_result", "tool_use_id": call_id, "content": text}], **more)


def read_entries(folder: Path, *entries: object) -> list[RecordedRun]:
    """Write records to a file and read it."""
    path = folder / "session.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in entries))
    problems: list[TranscriptError] = []
    runs = list(read(path, on_problem=problems.append))
    assert problems == []
    return runs


def test_a_call_is_paired_with_its_result(runs):
    """A `tool_use` and the `tool_result` with its id are one call, with the times of both and the result's line."""
    assert runs[0].calls[1] == RecordedCall(
        tool="Edit",
        call_id="toolu_b",
        arguments='{"file_path":"cart.py","old_string":"sum(items) + 1","new_string":"sum(items)"}',
        result="<tool_use_error>String to replace not found in file.\nString: sum(items) + 1</tool_use_error>",
        flagged=True,
        start_ns=T0 + 3_000_000_000,
        end_ns=T0 + 3_250_000_000,
        line=10,
        context_tokens=200,
    )


def test_records_that_are_repeated_count_once(runs):
    """Of a record that stands in the file twice, and of results inside `progress` records, nothing is counted twice."""
    assert [call.call_id for call in runs[0].calls] == [
        "toolu_a",
        "toolu_b",
        "toolu_c",
        "toolu_d",
        "toolu_e",
        "toolu_g",
    ]


def test_a_result_of_many_parts_is_their_text(runs):
    """Text parts are joined; images have no text."""
    assert runs[0].calls[3].result == "cart.py:1\ntest_cart.py:3"


def test_what_the_session_is_called(runs):
    """The run has the session's id, a sidechain the sub-agent's id after it."""
    assert [(run.run_id, run.agent) for run in runs] == [
        (SESSION, "claude-code"),
        (f"{SESSION}/a1", "claude-code"),
    ]


def test_context_counts_what_was_said_asked_and_answered(tmp_path):
    """Context = user, assistant and system text, arguments and results; thinking does not count."""
    (run,) = read_entries(
        tmp_path,
        entry("user", "x" * 40),
        entry("assistant", [{"type": "thinking", "thinking": "x" * 400}, {"type": "text", "text": "x" * 20}]),
        entry("assistant", [{"type": "tool_use", "id": "a", "name": "Bash", "input": {"c": "xx"}}]),
        result("a", "x" * 8),
    )
    assert (run.context_tokens, run.result_tokens) == (10 + 5 + 3 + 2, 2)


@pytest.mark.parametrize(
    ("block", "outcome", "flagged"),
    [
        pytest.param({"is_error": True}, None, True, id="flagged"),
        pytest.param({"is_error": False}, None, False, id="flagged-as-success"),
        pytest.param({}, "Error: no such file", True, id="text-outcome"),
        pytest.param({}, {"stdout": ""}, False, id="object-outcome"),
        pytest.param({}, [{"type": "text"}], False, id="list-outcome"),
        pytest.param({"is_error": False}, "text of a tool", False, id="the-flag-goes-first"),
        pytest.param({}, None, None, id="nothing-said"),
    ],
)
def test_what_the_record_says_of_failure(tmp_path, block, outcome, flagged):
    """`is_error` decides; without it a `toolUseResult` of text marks a failure and any other a success."""
    content = [{"type": "tool_result", "tool_use_id": "a", "content": "t", **block}]
    (run,) = read_entries(tmp_path, use("a"), entry("user", content, toolUseResult=outcome))
    assert run.calls[0].flagged is flagged


def test_sidechains_without_an_agent_are_told_apart_by_their_roots(tmp_path):
    """Older sessions interleave sub-agents; each chain of `parentUuid` is a run, also through `progress`."""
    runs = read_entries(
        tmp_path,
        entry("user", "one", isSidechain=True, uuid="r1", parentUuid=None),
        entry("user", "two", isSidechain=True, uuid="r2", parentUuid=None),
        use("a", isSidechain=True, uuid="r3", parentUuid="r1"),
        {"type": "progress", "sessionId": SESSION, "isSidechain": True, "uuid": "r4", "parentUuid": "r3"},
        use("b", isSidechain=True, uuid="r5", parentUuid="r2"),
        result("b", isSidechain=True, uuid="r6", parentUuid="r5"),
        result("a", isSidechain=True, uuid="r7", parentUuid="r4"),
    )
    assert {run.run_id: [call.call_id for call in run.calls] for run in runs} == {
        f"{SESSION}/r1": ["a"],
        f"{SESSION}/r2": ["b"],
    }


def test_blocks_that_are_repeated_count_once(tmp_path):
    """A call or result that stands in two records, as after a resumption, is one."""
    (run,) = read_entries(
        tmp_path, use("a", uuid="1"), use("a", uuid="2"), result("a", uuid="3"), result("a", uuid="4")
    )
    assert [call.call_id for call in run.calls] == ["a"]


def test_a_new_session_in_the_file_is_a_new_run(tmp_path):
    """A file of several sessions gives a run for each; the same ids in another session are other calls."""
    runs = read_entries(
        tmp_path,
        use("a"),
        result("a"),
        use("a", sessionId="other"),
        result("a", "again", sessionId="other"),
    )
    assert [(run.run_id, run.calls[0].result) for run in runs] == [(SESSION, "ok"), ("other", "again")]


def test_a_session_is_handed_on_when_the_next_begins(tmp_path):
    """Sessions are not gathered: the first run is there before the second session is read."""
    path = tmp_path / "sessions.jsonl"
    sessions = [entry("user", "x" * 50_000, sessionId=str(number)) for number in range(20)]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in sessions))
    read_bytes: list[int] = []
    runs = read(path, on_problem=pytest.fail, on_bytes=read_bytes.append)
    assert next(runs).run_id == "0"
    assert len(read_bytes) == 2


def test_a_result_without_its_call_is_kept(tmp_path):
    """A result whose call was compacted away has no tool and no arguments, but is still a result."""
    (run,) = read_entries(tmp_path, result("gone", "text"))
    assert [(call.tool, call.arguments, call.call_id, call.result) for call in run.calls] == [("", "", "gone", "text")]


def test_a_call_without_a_result_is_no_call(tmp_path):
    """What the agent asked for but never got an answer to counts as context only."""
    (run,) = read_entries(tmp_path, use("a"))
    assert (run.calls, run.context_tokens) == ((), 1)


def test_a_file_without_messages_has_no_runs(tmp_path):
    """A session that was opened and closed gives no run, and is no problem."""
    assert read_entries(tmp_path, {"type": "summary", "summary": "s", "leafUuid": "u"}) == []


def test_times_that_are_missing_follow_the_last_known(tmp_path):
    """A record without a time is taken to be a millisecond after the one before."""
    (run,) = read_entries(tmp_path, use("a", timestamp="2026-03-02T10:00:00Z"), result("a"))
    assert (run.calls[0].start_ns, run.calls[0].end_ns) == (T0, T0 + 1_000_000)
