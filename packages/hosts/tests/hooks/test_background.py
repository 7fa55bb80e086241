"""A command in the background has no outcome when it is started; what reports its end concludes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.hooks import answer
from otel_errcompact_hosts.runs import LedgerRuns

COMMAND = "python3 orders.py"
TRACEBACK = (
    "Traceback (most recent call last):\n  File \"/home/ann/shop/orders.py\", line 6, in total\nKeyError: 'lines'"
)
REFUSED = "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since"
CLAUDE: dict[str, Any] = {
    "session_id": "s",
    "tool_name": "Bash",
    "tool_input": {"command": COMMAND, "run_in_background": True},
}


def start_claude(runs: LedgerRuns, number: int, folder: Path) -> dict[str, Any]:
    """Start the command; what is said before it."""
    call = {**CLAUDE, "tool_use_id": f"t{number}"}
    said = answer("claude-code", {**call, "hook_event_name": "PreToolUse"}, runs)
    text = f"Command running in background with ID: b{number}. Output is being written to: {folder}/b{number}.output."
    shown = {**call, "tool_response": text}
    assert (
        answer("claude-code", {"session_id": "s", "hook_event_name": "PostToolBatch", "tool_calls": [shown]}, runs)
        == {}
    )
    return said


def end_claude(runs: LedgerRuns, number: int, folder: Path, status: str = "failed", code: int = 1) -> str:
    """Let the host say that it has ended; what the agent reads beside that."""
    (folder / f"b{number}.output").write_text(f"{TRACEBACK}\n", encoding="utf-8")
    prompt = (
        f"<task-notification>\n<task-id>b{number}</task-id>\n<tool-use-id>t{number}</tool-use-id>\n"
        f"<output-file>{folder}/b{number}.output</output-file>\n<status>{status}</status>\n"
        f'<summary>Background command "Look" {status} with exit code {code}</summary>\n</task-notification>'
    )
    said = answer("claude-code", {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": prompt}, runs)
    return said.get("hookSpecificOutput", {}).get("additionalContext", "")  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where Claude Code keeps what its commands in the background print."""
    made = tmp_path / "tasks"
    made.mkdir()
    return made


def test_claude_codes_notification_concludes_what_was_started(runs: LedgerRuns, folder: Path) -> None:
    """Its output is read as a digest, its second failure as one in a row, and it is not started a third time."""
    assert start_claude(runs, 1, folder) == {}
    assert end_claude(runs, 1, folder).startswith("Traceback (most recent call last):")
    assert start_claude(runs, 2, folder) == {}
    assert "again (x2, 2 in a row" in end_claude(runs, 2, folder)
    assert REFUSED in str(start_claude(runs, 3, folder))


def test_a_notification_of_a_success_says_nothing(runs: LedgerRuns, folder: Path) -> None:
    """A traceback in its log is log, and one that was told twice is over."""
    start_claude(runs, 1, folder)
    assert end_claude(runs, 1, folder, "completed", 0) == ""
    assert end_claude(runs, 1, folder) == ""


def test_the_report_of_the_shell_prefix_concludes_it_first(runs: LedgerRuns, folder: Path) -> None:
    """What the host says afterwards counts nothing more."""
    start_claude(runs, 1, folder)
    call = HostCall(run_id="s", tool="Bash", arguments=json.dumps({"command": COMMAND}), stoppable=False)
    assert runs.conclude(call, HostResult(text=TRACEBACK, exit_code=1)).count == 1
    assert end_claude(runs, 1, folder) == ""
    start_claude(runs, 2, folder)
    assert runs.conclude(call, HostResult(text=TRACEBACK, exit_code=1)).count == 2


def gemini(runs: LedgerRuns, event: str, tool: str, shown: str = "") -> dict[str, Any]:
    """What is said to an event of Gemini CLI."""
    call = {"session_id": "s", "hook_event_name": event, "tool_name": tool}
    given = {"command": COMMAND, "is_background": True} if tool == "run_shell_command" else {}
    return answer("gemini", {**call, "tool_input": given, "tool_response": {"llmContent": shown}}, runs)


def test_geminis_list_concludes_what_was_started(runs: LedgerRuns) -> None:
    """What still runs stays open, what it names again is over."""
    for number in (1, 2):
        assert gemini(runs, "BeforeTool", "run_shell_command") == {}
        started = f"Command moved to background (PID: {number}). Output hidden."
        assert gemini(runs, "AfterTool", "run_shell_command", started) == {}
        running = f"- [PID {number}] RUNNING: `{COMMAND}`"
        assert gemini(runs, "AfterTool", "list_background_processes", running) == {}
        ended = f"- [PID {number}] EXITED: `{COMMAND}` (Exit Code: 6)"
        said = gemini(runs, "AfterTool", "list_background_processes", ended)
        assert ("again (x2, 2 in a row" in str(said)) is (number == 2)
        assert gemini(runs, "AfterTool", "list_background_processes", ended) == {}
    assert REFUSED in gemini(runs, "BeforeTool", "run_shell_command")["reason"]


def copilot(runs: LedgerRuns, tool: str, shown: str | None = None) -> dict[str, Any]:
    """What is said to an event of Copilot CLI."""
    given = {"shellId": "s1", **({"command": COMMAND, "mode": "async"} if tool == "bash" else {})}
    call = {"sessionId": "s", "toolName": tool, "toolArgs": given, "timestamp": 1}
    result = {"toolResult": {"resultType": "success", "textResultForLlm": shown}} if shown is not None else {}
    return answer("copilot", {**call, **result}, runs)


def test_a_look_of_copilot_concludes_what_was_started(runs: LedgerRuns) -> None:
    """A look at what still runs says nothing, nor does one at what was told."""
    for number in (1, 2):
        assert copilot(runs, "bash") == {}
        assert copilot(runs, "bash", "<command started in background with shellId: s1>") == {}
        assert copilot(runs, "read_bash", "begins\n<command with shellId: s1 is still running after 1 seconds.>") == {}
        ended = f"{TRACEBACK}\n<shellId: s1 completed with exit code 6>"
        text = copilot(runs, "read_bash", ended)["modifiedResult"]["textResultForLlm"]
        assert ("again (x2, 2 in a row" in text) is (number == 2)
        assert "exit code 6" in text
        assert copilot(runs, "read_bash", ended) == {}
    assert REFUSED in copilot(runs, "bash")["permissionDecisionReason"]
