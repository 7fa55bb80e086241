"""What fields, kinds and values of entries are called, in all spellings."""

from __future__ import annotations

from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

OK: Final = "ok"
FAILED: Final = "failed"


SUCCESS_WORDS: Final = frozenset({"ok", "success", "succeeded", "successful", "passed"})
END_WORDS: Final = frozenset({"completed", "complete", "done", "finished", "ended", "exited", "closed"})
"""Says that it ended, not how: an exit code or an error beside it decides."""
FAILURE_WORDS: Final = frozenset(
    {"error", "errored", "failed", "failure", "fail", "timeout", "timed_out", "crashed", "exception", "fatal", "killed"}
)
DECLINED_WORDS: Final = frozenset({"cancelled", "canceled", "declined", "denied", "skipped"})
OPEN_WORDS: Final = frozenset(
    {"pending", "running", "queued", "started", "in_progress", "rejected", "aborted", "interrupted", "blocked"}
)
"""Neither success nor failure, unless an error beside it says more."""
STATUSES: Final = SUCCESS_WORDS | END_WORDS | FAILURE_WORDS | DECLINED_WORDS | OPEN_WORDS
LEVELS: Final = frozenset({"error", "fatal", "critical", "alert", "emergency", "panic"})
NO_ERROR: Final = frozenset({"", "none", "null", "nil", "false"})


# Names, without case and separators; of several the first counts, and of one name the outermost.

CONTAINERS: Final = frozenset(
    {
        "payload", "data", "event", "result", "item", "part", "state", "body", "response", "output", "observation",
        "metrics", "metadata", "meta", "extras", "details", "tool", "toolcall", "toolresult", "call", "function",
        "message", "msg", "attributes", "process", "execution", "completion", "outcome", "record", "entry",
        "params",
    }
)  # fmt: skip
KINDS: Final = ("type", "kind", "event", "eventtype", "eventname", "subtype", "role", "observation", "category")
TOOLS: Final = ("tool", "toolname", "function", "functionname", "action", "name")
COMMANDS: Final = (
    "command", "cmd", "commandline", "cmdline", "shellcommand", "script", "argv", "arguments", "args", "input",
    "toolinput", "actioninput", "rawinput", "parameters", "params", "kwargs",
)  # fmt: skip
OUTPUTS: Final = (
    "text", "output", "aggregatedoutput", "combinedoutput", "formattedoutput", "tooloutput", "log", "logs",
)  # fmt: skip
STREAMS: Final = ("stdout", "stderr")
ANSWERS: Final = ("toolresult", "result", "content", "observation", "response", "body", "returnvalue")
ERRORS: Final = (
    "error", "err", "errors", "exception", "failure", "fault", "errormessage", "errormsg", "errortext", "errordetails",
    "failurereason", "errorreason", "lasterror",
)  # fmt: skip
STACKS: Final = ("traceback", "stacktrace", "stack", "backtrace")
CODES: Final = ("code", "errorcode", "errcode", "errno", "errortype", "exceptiontype", "signal")
REASONS: Final = ("reason", "message", "msg", "statusmessage", "detail", "description", "summary", "title")
EXIT_CODES: Final = ("exitcode", "exitstatus", "returncode", "retcode", "rc")
HTTP: Final = ("statuscode", "httpstatus", "httpstatuscode", "responsecode")
WELL: Final = ("ok", "success", "issuccess", "successful", "succeeded", "passed")
ILL: Final = ("iserror", "haserror", "failed", "isfailure", "failure", "timedout", "crashed")
COUNTED: Final = frozenset({"succeeded", "passed", "failed", "failure"})
"""Flags that may as well be numbers of tests."""
STATUS: Final = ("status", "state", "outcome", "conclusion", "result", "resultstatus", "verdict", "phase")
TIMES: Final = (
    "time", "endedat", "finishedat", "completedat", "endtime", "timestamp", "ts", "datetime", "occurredat", "loggedat",
    "createdat", "at", "date", "starttime", "startedat",
)  # fmt: skip
CALL_IDS: Final = (
    "callid", "toolcallid", "tooluseid", "toolid", "commandid", "requestid", "actionid", "invocationid", "executionid",
    "correlationid", "cause", "id",
)  # fmt: skip
DURATION: Final = lazy_pattern(
    r"(?:duration|elapsed|elapsedtime|took|latency|walltime|runtime)"
    r"(?:in)?(?:(ms|millis|milliseconds)|(us|micros|microseconds)|(ns|nanos|nanoseconds)|s|sec|secs|seconds)?"
)
WHAT_RAN: Final = frozenset({"tool", "toolname", "command", "cmd", "exitcode", "returncode", "error"})
KNOWN: Final = frozenset(
    (*CONTAINERS, *KINDS, *TOOLS, *COMMANDS, *OUTPUTS, *STREAMS, *ANSWERS, *ERRORS, *STACKS, *CODES,
     *REASONS, *EXIT_CODES, *HTTP, *WELL, *ILL, *STATUS, *TIMES, *CALL_IDS, "level", "severity"),
)  # fmt: skip


# Words of an event's kind: `tool_result`, `CommandFailed`, `exec_command_end`, `agent_message`.

WORD: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
TALK: Final = frozenset(
    {
        "message", "messages", "thought", "thinking", "think", "reasoning", "plan", "prompt", "user", "assistant",
        "system", "developer", "note", "comment", "heartbeat", "session", "usage", "turn",
    }
)  # fmt: skip
DOING: Final = frozenset(
    {
        "tool", "function", "command", "exec", "execution", "shell", "process", "bash", "script", "mcp", "job",
        "task", "step", "build", "test", "call",
    }
)  # fmt: skip
BEGINS: Final = frozenset(
    {"start", "started", "begin", "began", "requested", "request", "delta", "chunk", "progress", "created", "queued"}
)
ENDS: Final = frozenset(
    {"completed", "complete", "done", "finished", "ended", "end", "exited", "result", "output", "response"}
)
GIVES: Final = frozenset({"end", "ended", "exited", "result", "output", "response"})
"""Ends that promise an outcome."""


PARTS: Final = frozenset({"toolresult", "tooluse", "toolcall", "functionresponse", "functioncall"})
