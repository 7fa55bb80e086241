"""Events as the logs of real agents have them, each in its own shape, as the block of recent errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.window.events import compact_errors

TRACEBACK = "Traceback (most recent call last):\n  File \"shop/a.py\", line 3, in total\n    x\nKeyError: 'orders'\n"
NPM = "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n"

EVENT_SOURCED = [
    {"type": "SessionStarted", "payload": {"user": "ann"}},
    {"type": "ThoughtRecorded", "payload": {"text": "Error: it may be the lock file"}},
    {
        "type": "CommandExecuted",
        "payload": {
            "ok": False,
            "error": {"code": "ENOENT", "message": "no such file or directory: package.json"},
            "metrics": {"exit_code": 254, "duration_ms": 1_250},
            "command": "npm install",
        },
    },
    {"type": "CommandExecuted", "payload": {"ok": True, "command": "npm ls", "metrics": {"exit_code": 0}}},
]
TOOL_STATUS = [
    {"tool": "search", "status": "success", "result": ["a.py"]},
    {"tool": "fetch", "status": "error", "error": "connect ECONNREFUSED 127.0.0.1:5432"},
]
CODEX = [
    {"type": "thread.started", "thread_id": "0199"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": "**Error: find it**"}},
    {
        "type": "item.started",
        "item": {
            "id": "item_1",
            "type": "command_execution",
            "command": "bash -lc 'npm ci'",
            "aggregated_output": "",
            "exit_code": None,
            "status": "in_progress",
        },
    },
    {
        "type": "item.completed",
        "item": {
            "id": "item_1",
            "type": "command_execution",
            "command": "bash -lc 'npm ci'",
            "aggregated_output": NPM,
            "exit_code": 1,
            "status": "failed",
        },
    },
    {
        "type": "item.completed",
        "item": {
            "id": "item_2",
            "type": "command_execution",
            "command": "bash -lc 'pytest -q'",
            "aggregated_output": TRACEBACK,
            "exit_code": 1,
            "status": "completed",
        },
    },
    {"type": "item.completed", "item": {"id": "item_3", "type": "agent_message", "text": "Error: I give up"}},
    {"type": "turn.completed", "usage": {"input_tokens": 24_763}},
]
CLAUDE = [
    {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"]},
    {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I build it."},
                {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cargo build"}},
            ],
        },
    },
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "is_error": True,
                    "content": "Exit code 101\nerror[E0382]: borrow of moved value: `v`\n --> src/main.rs:4:20\n",
                }
            ],
        },
    },
    {"type": "result", "subtype": "success", "is_error": False, "result": "done"},
]
GEMINI = [
    {"type": "init", "timestamp": "2026-03-01T10:00:00.000Z", "model": "g"},
    {"type": "message", "role": "user", "content": "Error: x", "timestamp": "2026-03-01T10:00:01.000Z"},
    {"type": "tool_use", "tool_name": "read_file", "tool_id": "t1", "parameters": {"file_path": "a.py"}},
    {
        "type": "tool_result",
        "tool_id": "t1",
        "status": "error",
        "output": "",
        "error": {"type": "FILE_NOT_FOUND", "message": "File not found: /srv/a.py"},
    },
]
OPENHANDS = [
    {"id": 1, "source": "user", "action": "message", "args": {"content": "fix it"}},
    {"id": 2, "source": "agent", "action": "run", "args": {"command": "pytest -q"}},
    {
        "id": 3,
        "source": "agent",
        "cause": 2,
        "observation": "run",
        "content": "E   KeyError: 'sku'\n1 failed in 0.1s",
        "extras": {"command": "pytest -q", "metadata": {"exit_code": 1}},
    },
    {"id": 5, "source": "agent", "cause": 4, "observation": "error", "content": "Cannot parse the arguments"},
    {"id": 6, "observation": "agent_state_changed", "content": "", "extras": {"agent_state": "running"}},
]
COPILOT = [
    {
        "type": "tool.execution_start",
        "data": {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "make"}},
        "timestamp": "2026-03-01T10:00:00Z",
    },
    {
        "type": "tool.execution_complete",
        "data": {
            "toolCallId": "c1",
            "success": False,
            "error": {"message": "make: *** No rule to make target 'all'.  Stop.", "code": "failure"},
        },
        "timestamp": "2026-03-01T10:00:01Z",
    },
    {"type": "assistant.message", "data": {"content": "error: x"}, "timestamp": "2026-03-01T10:00:02Z"},
    {
        "type": "session.error",
        "data": {"errorType": "quota", "message": "You have no quota left"},
        "timestamp": "2026-03-01T10:00:03Z",
    },
]
OPENCODE = [
    {
        "type": "tool",
        "callID": "c",
        "tool": "bash",
        "state": {
            "status": "error",
            "input": {"command": "ls /x"},
            "error": "Error: timed out",
            "time": {"start": 1_700_000_000_000, "end": 1_700_000_001_000},
        },
    }
]
CHAT = [
    {"role": "user", "content": "Error: tests fail"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "bash", "arguments": '{"command": "python a.py"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": TRACEBACK},
]
EVENT_STORE = [
    {
        "seq": 7,
        "type": "ToolFailed",
        "data": (
            '{"tool": "sql", "tookMs": 9, "error": {"name": "OperationalError", "message": "no such column: amount"}}'
        ),
    }
]


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        pytest.param(
            EVENT_SOURCED,
            ["[ENOENT]: no such file or directory: package.json (npm install, exit code 254, 1.2 s) #b9ef"],
            id="event-sourced",
        ),
        pytest.param(
            TOOL_STATUS,
            [
                "[error] at tool fetch: connect ECONNREFUSED 127.0.0.1:5432 #b55e",
                "  hint: nothing accepts connections there: start the service, or correct host and port",
            ],
            id="tool and status",
        ),
        pytest.param(
            CODEX,
            [
                "[KeyError] at total (shop/a.py:3): 'orders' (bash -lc 'pytest -q', exit code 1) #2e04",
                "[ERESOLVE]: unable to resolve dependency tree (bash -lc 'npm ci', exit code 1) #bf4a",
            ],
            id="codex exec --json",
        ),
        pytest.param(
            CLAUDE,
            ['[E0382] at src/main.rs:4: borrow of moved value: `v` ({"command": "cargo build"}) #4fe3'],
            id="claude --output-format stream-json",
        ),
        pytest.param(
            GEMINI,
            ['[FileNotFound] at /srv/a.py: File not found: /srv/a.py ({"file_path": "a.py"}, code FILE_NOT_FOUND) #'],
            id="gemini --output-format stream-json",
        ),
        pytest.param(
            OPENHANDS,
            ["[error]: Cannot parse the arguments #", "[KeyError]: 'sku' (pytest -q, exit code 1) #8e77"],
            id="openhands",
        ),
        pytest.param(
            COPILOT,
            [
                "[quota]: You have no quota left #",
                '[make] at tool bash: No rule to make target \'all\' ({"command": "make"}, code failure) #',
            ],
            id="copilot",
        ),
        pytest.param(OPENCODE, ['[Error] at tool bash: timed out ({"command": "ls /x"}) #'], id="opencode"),
        pytest.param(
            CHAT,
            ['[KeyError] at total (shop/a.py:3): \'orders\' ({"command": "python a.py"}) #2e04'],
            id="a chat of tool calls",
        ),
        pytest.param(
            EVENT_STORE, ["[OperationalError] at tool sql: no such column: amount (9 ms) #"], id="data as JSON text"
        ),
    ],
)
def test_the_failures_of_a_log_are_told(log: list[dict[str, object]], lines: list[str]) -> None:
    """Each in its own shape; what is no result of anything that ran is left out."""
    block = compact_errors(log).split("\n")
    assert len(block) == len(lines) + 2
    for said, expected in zip(block[1:-1], lines, strict=True):
        assert said.startswith(expected)


@pytest.mark.parametrize(
    "event",
    [
        pytest.param({"argv": ["npm", "ci"], "returncode": 1, "stderr": NPM}, id="a process"),
        pytest.param({"cmd": "npm ci", "status": 1, "stdout": NPM}, id="Node's spawnSync"),
        pytest.param({"Command": "npm ci", "exit-code": 1, "output": NPM}, id="other spellings"),
        pytest.param({"command": "npm ci", "isError": True, "content": [{"type": "text", "text": NPM}]}, id="parts"),
        pytest.param({"command": "npm ci", "success": "false", "result": NPM}, id="a flag as text"),
        pytest.param({"ok": True, "result": {"command": "npm ci", "exitCode": 1, "stderr": NPM}}, id="an envelope"),
        pytest.param({"command": "npm ci", "status": "completed", "exit_code": 1, "stdout": NPM}, id="only ended"),
        pytest.param({"command": "npm ci", "ok": True, "error": NPM}, id="an error beside a success"),
        pytest.param({"command": "npm ci", "status": "running", "error": NPM}, id="an error while it runs"),
        pytest.param({"command": "npm ci", "error": True, "stderr": NPM}, id="an error that is a flag"),
        pytest.param({"command": "npm ci", "errors": [{"message": NPM}]}, id="a list of errors"),
        pytest.param({"type": "message", "command": "npm ci", "error": {"error": {"detail": NPM}}}, id="a message"),
        pytest.param({"event": {"kind": "exec", "command": "npm ci", "traceback": NPM}}, id="a stack"),
    ],
)
def test_an_error_is_read_by_what_its_fields_mean(event: dict[str, object]) -> None:
    """One failure, in many shapes, is one class."""
    assert "[ERESOLVE]: unable to resolve dependency tree (npm ci" in compact_errors([event])


@pytest.mark.parametrize(
    ("event", "line"),
    [
        pytest.param({"type": "CommandFailed", "payload": {"foo": 1}}, "[error]: CommandFailed #", id="by its kind"),
        pytest.param({"level": "error", "msg": "npm ci failed"}, "[error]: npm ci failed #", id="a log line"),
        pytest.param({"tool": "get", "statusCode": 503, "body": "no upstream"}, "[503] at tool get: no up", id="HTTP"),
        pytest.param({"tool": "get", "status": 404}, "[error] at tool get: get failed #", id="HTTP in the status"),
        pytest.param({"cmd": "x", "code": None, "signal": "SIGTERM"}, "[SIGTERM]: no message (x) #", id="a signal"),
        pytest.param(
            {"tool": "sql", "error": {"name": "KeyError", "message": "'a'", "stack": TRACEBACK}},
            "[KeyError] at total (a.py): 'orders' ('a') #",
            id="an error with its stack",
        ),
        pytest.param({"tool": "sql", "error": {"x": 1}}, '[error] at tool sql: {"x": 1} #', id="an unknown object"),
        pytest.param({"tool": "sql", "error": 7}, "[7] at tool sql: no message #", id="a number"),
        pytest.param(
            {"action": "bash", "action_input": "cat a.py", "observation": "cat: a.py: No such file or directory"},
            "[ENOENT] at tool bash: cat: a.py: No such file or directory (cat a.py) #",
            id="an observation",
        ),
    ],
)
def test_an_error_is_never_lost(event: dict[str, object], line: str) -> None:
    """A failure without details is shown with what there is."""
    assert compact_errors([event]).split("\n")[1].startswith(line)


FAILED = {"command": "npm ci", "exit_code": 1, "reason": "no lock file"}


@pytest.mark.parametrize(
    "event",
    [
        pytest.param({"type": "agent_message", "content": TRACEBACK}, id="a message"),
        pytest.param({"role": "assistant", "text": TRACEBACK, "status": "thinking"}, id="a status of its own"),
        pytest.param({"type": "temperature", "ok": "fine", "status": "warm", "time": "noon"}, id="no result at all"),
        pytest.param({"type": "command_started", "command": "npm ci"}, id="the begin of a call"),
        pytest.param({"type": "tool_call", "tool": "shell", "args": {"command": "npm ci"}}, id="a request"),
        pytest.param({"type": "output_delta", "command": "npm ci", "output": "..."}, id="a part of an output"),
        pytest.param({"command": "npm ci", "status": "cancelled", "error": "by Ann"}, id="cancelled"),
        pytest.param({"ok": True}, id="a success of an unknown call"),
        pytest.param({"tests": {"failed": 0}, "passed": 12, "failed": 0}, id="numbers of tests"),
    ],
)
def test_an_event_of_another_kind_is_skipped(event: dict[str, object]) -> None:
    """It neither counts as a failure nor resolves one."""
    assert compact_errors([event]) == ""
    assert compact_errors([FAILED, event]) == compact_errors([FAILED])


def test_a_result_is_matched_with_its_call_by_id() -> None:
    """A later success of the same call resolves the failure, though results name only ids."""
    calls = [{"type": "tool_call", "id": f"c{n}", "name": "bash", "input": {"command": "npm ci"}} for n in range(2)]
    results = [
        {"type": "tool_result", "call_id": "c0", "ok": False, "error": "no lock file"},
        {"type": "tool_result", "call_id": "c1", "ok": True},
    ]
    assert "npm ci" in compact_errors([*calls, results[0]])
    assert compact_errors([*calls, *results]) == ""


@pytest.mark.parametrize(
    ("early", "late"),
    [
        pytest.param("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.5+00:00", id="ISO"),
        pytest.param("2026-03-01 12:00:00+0200", "2026-03-01T10:01:00", id="zones"),
        pytest.param(1_700_000_000, 1_700_000_001_000, id="seconds and milliseconds"),
        pytest.param(1_700_000_000_000_000, 1_700_000_001_000_000_000, id="microseconds and nanoseconds"),
    ],
)
def test_times_are_read_in_any_notation(early: object, late: object) -> None:
    """The later success resolves the earlier failure, whatever their order in the list."""
    success = {"command": "npm ci", "exit_code": 0}
    assert compact_errors([{**success, "timestamp": late}, {**FAILED, "ts": early}]) == ""
    assert compact_errors([{**success, "timestamp": early}, {**FAILED, "ts": late}]) == compact_errors([FAILED])


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"duration_ms": 250}, "250 ms"),
        ({"elapsed": "2.5s"}, "2.5 s"),
        ({"metrics": {"durationSeconds": 2}}, "2.0 s"),
        ({"duration": {"secs": 1, "nanos": 500_000_000}}, "1.5 s"),
        ({"took": "3 min"}, "180 s"),
    ],
)
def test_durations_are_read_in_their_unit(fields: dict[str, object], told: str) -> None:
    """Names and texts name it; seconds where nothing does."""
    assert f"(npm ci, exit code 1, {told})" in compact_errors([{**FAILED, **fields}])


@pytest.mark.parametrize(
    ("event", "message"),
    [
        pytest.param(
            {"payload": {"ok": "maybe"}}, "events[0].payload.ok must be true or false, and is 'maybe'", id="ok"
        ),
        pytest.param(
            {"tool": "x", "data": {"exitCode": "1"}},
            "events[0].data.exitCode must be a whole number, and is '1'",
            id="an exit code in a container",
        ),
        pytest.param(
            {"tool": "x", "error": b"no"},
            "events[0].error must be a text or an object with a message, and is b'no'",
            id="an error",
        ),
        pytest.param(
            {"command": "x", "timestamp": "noon", "exit_code": 1},
            "events[0].timestamp must be a number of seconds since the epoch (of a datetime its .timestamp()), not "
            "below zero, and is 'noon'",
            id="a time",
        ),
        pytest.param(
            {"type": "tool_result", "payload": {"ausgang": "schlecht"}},
            "events[0] is a tool_result, and none of its fields tells how it ended (payload.ausgang); name it ok, "
            "status, exit_code, error or text",
            id="a result of unknown fields",
        ),
    ],
)
def test_a_malformed_result_is_an_error_that_names_the_field(event: dict[str, object], message: str) -> None:
    """A failure that nobody sees is worse than an exception."""
    with pytest.raises(ConfigurationError) as raised:
        compact_errors([event])
    assert str(raised.value) == message


_NAMES = st.sampled_from(
    ["type", "payload", "data", "event", "result", "ok", "status", "error", "exitCode", "command", "tool", "text",
     "message", "content", "name", "time", "duration", "code", "id", "role", "level", "args", "stdout", "x"]
)  # fmt: skip
_SCALARS = st.none() | st.booleans() | st.integers(-2, 600) | st.floats() | st.text(max_size=12) | st.sampled_from(
    ["error", "ok", "tool_result", "message", "{", '{"ok": false}', "2026-03-01T10:00:00Z", "9999-99-99T00:00:00Z"]
)  # fmt: skip
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4), max_leaves=12
)


@given(st.lists(st.dictionaries(_NAMES, _VALUES, max_size=5), max_size=4))
def test_any_log_is_read_or_refused(events: list[dict[str, Any]]) -> None:
    """Nothing but the one error leaves."""
    told = ""
    try:
        told = compact_errors(events)
    except ConfigurationError as error:
        told = str(error)
    assert told == "" or told.startswith(("[RECENT ERRORS]\n", "events["))


@given(
    st.lists(st.sampled_from(["payload", "data", "event", "result", "item"]), max_size=3),
    st.sampled_from([{"ok": False}, {"success": False}, {"status": "failed"}, {"isError": True}, {}]),
    st.sampled_from(["disk is full", {"message": "disk is full"}, {"code": "ENOSPC", "detail": "disk is full"}]),
    st.sampled_from([{}, {"ok": True}, {"type": "tool"}, {"type": "message", "id": "tool"}, {"tool": "cp", "id": 3}]),
)
def test_no_container_hides_an_error(
    way: list[str], flag: dict[str, Any], error: object, beside: dict[str, Any]
) -> None:
    """However deep it lies."""
    event: dict[str, Any] = {**flag, "error": error, "command": "cp a b"}
    for name in way:
        event = {name: event}
    assert "disk is full" in compact_errors([{**beside, **event}])
