"""
Entries of any log as what was run and how it ended.

Fields are read by what their names mean, in any spelling (`exit_code`, `exitCode`, `returncode`), at the top and in the
containers that logs wrap around them (`payload`, `data`, `event`, `result`, `item` ...).
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.digest import one_line
from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_DEPTH: Final = 4
"""How many containers may lie around a field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    """
    Something that was run, and how it ended.
    """

    command: str = ""
    """The command line, or the arguments of a tool as JSON."""

    code: str | int | None = None
    """An error's own code: `ENOENT`, `E0382`, 404."""

    exit_code: int | None = None
    reason: str = ""
    """What went wrong, in one line."""

    duration: float | None = None
    """How long it took, in seconds."""

    status: str = ""
    """How it ended by the log: `ok`, `failed`, `cancelled` ...; if empty, the other fields decide."""

    text: str = ""
    """The whole output; what it says goes before what `reason` says."""

    tool: str = ""
    """The tool that ran it; a shell if empty."""

    time: float | None = None
    """When it ended, in seconds since the epoch; without it the order of the list counts."""


OK: Final = "ok"
FAILED: Final = "failed"

# Words that a status, an outcome or a level may be.

_SUCCEEDED: Final = frozenset({"ok", "success", "succeeded", "successful", "passed"})
_ENDED: Final = frozenset({"completed", "complete", "done", "finished", "ended", "exited", "closed"})
"""Says that it ended, not how: an exit code or an error beside it decides."""
_FAILED: Final = frozenset(
    {"error", "errored", "failed", "failure", "fail", "timeout", "timed_out", "crashed", "exception", "fatal", "killed"}
)
_DECLINED: Final = frozenset({"cancelled", "canceled", "declined", "denied", "skipped"})
_OPEN: Final = frozenset(
    {"pending", "running", "queued", "started", "in_progress", "rejected", "aborted", "interrupted", "blocked"}
)
"""Neither success nor failure, unless an error beside it says more."""
STATUSES: Final = _SUCCEEDED | _ENDED | _FAILED | _DECLINED | _OPEN
_LEVELS: Final = frozenset({"error", "fatal", "critical", "alert", "emergency", "panic"})
_NO_ERROR: Final = frozenset({"", "none", "null", "nil", "false"})

# Names, without case and separators; of several the first counts, and of one name the outermost.

_CONTAINERS: Final = frozenset(
    {
        "payload", "data", "event", "result", "item", "part", "state", "body", "response", "output", "observation",
        "metrics", "metadata", "meta", "extras", "details", "tool", "toolcall", "toolresult", "call", "function",
        "message", "msg", "attributes", "process", "execution", "completion", "outcome", "record", "entry",
        "params",
    }
)  # fmt: skip
_KINDS: Final = ("type", "kind", "event", "eventtype", "eventname", "subtype", "role", "observation", "category")
_TOOLS: Final = ("tool", "toolname", "function", "functionname", "action", "name")
_COMMANDS: Final = (
    "command", "cmd", "commandline", "cmdline", "shellcommand", "script", "argv", "arguments", "args", "input",
    "toolinput", "actioninput", "rawinput", "parameters", "params", "kwargs",
)  # fmt: skip
_OUTPUTS: Final = (
    "text", "output", "aggregatedoutput", "combinedoutput", "formattedoutput", "tooloutput", "log", "logs",
)  # fmt: skip
_STREAMS: Final = ("stdout", "stderr")
_ANSWERS: Final = ("toolresult", "result", "content", "observation", "response", "body", "returnvalue")
_ERRORS: Final = (
    "error", "err", "errors", "exception", "failure", "fault", "errormessage", "errormsg", "errortext", "errordetails",
    "failurereason", "errorreason", "lasterror",
)  # fmt: skip
_STACKS: Final = ("traceback", "stacktrace", "stack", "backtrace")
_CODES: Final = ("code", "errorcode", "errcode", "errno", "errortype", "exceptiontype", "signal")
_REASONS: Final = ("reason", "message", "msg", "statusmessage", "detail", "description", "summary", "title")
_EXIT_CODES: Final = ("exitcode", "exitstatus", "returncode", "retcode", "rc")
_HTTP: Final = ("statuscode", "httpstatus", "httpstatuscode", "responsecode")
_WELL: Final = ("ok", "success", "issuccess", "successful", "succeeded", "passed")
_ILL: Final = ("iserror", "haserror", "failed", "isfailure", "failure", "timedout", "crashed")
_COUNTED: Final = frozenset({"succeeded", "passed", "failed", "failure"})
"""Flags that may as well be numbers of tests."""
_STATUS: Final = ("status", "state", "outcome", "conclusion", "result", "resultstatus", "verdict", "phase")
_TIMES: Final = (
    "time", "endedat", "finishedat", "completedat", "endtime", "timestamp", "ts", "datetime", "occurredat", "loggedat",
    "createdat", "at", "date", "starttime", "startedat",
)  # fmt: skip
_CALL_IDS: Final = (
    "callid", "toolcallid", "tooluseid", "toolid", "commandid", "requestid", "actionid", "invocationid", "executionid",
    "correlationid", "cause", "id",
)  # fmt: skip
_DURATION: Final = re.compile(
    r"(?:duration|elapsed|elapsedtime|took|latency|walltime|runtime)"
    r"(?:in)?(?:(ms|millis|milliseconds)|(us|micros|microseconds)|(ns|nanos|nanoseconds)|s|sec|secs|seconds)?"
)
_WHAT_RAN: Final = frozenset({"tool", "toolname", "command", "cmd", "exitcode", "returncode", "error"})
_KNOWN: Final = frozenset(
    (*_CONTAINERS, *_KINDS, *_TOOLS, *_COMMANDS, *_OUTPUTS, *_STREAMS, *_ANSWERS, *_ERRORS, *_STACKS, *_CODES,
     *_REASONS, *_EXIT_CODES, *_HTTP, *_WELL, *_ILL, *_STATUS, *_TIMES, *_CALL_IDS, "level", "severity"),
)  # fmt: skip

# Words of an event's kind: `tool_result`, `CommandFailed`, `exec_command_end`, `agent_message`.

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TALK: Final = frozenset(
    {
        "message", "messages", "thought", "thinking", "think", "reasoning", "plan", "prompt", "user", "assistant",
        "system", "developer", "note", "comment", "heartbeat", "session", "usage", "turn",
    }
)  # fmt: skip
_DOING: Final = frozenset(
    {
        "tool", "function", "command", "exec", "execution", "shell", "process", "bash", "script", "mcp", "job",
        "task", "step", "build", "test", "call",
    }
)  # fmt: skip
_BEGINS: Final = frozenset(
    {"start", "started", "begin", "began", "requested", "request", "delta", "chunk", "progress", "created", "queued"}
)
_ENDS: Final = frozenset(
    {"completed", "complete", "done", "finished", "ended", "end", "exited", "result", "output", "response"}
)
_GIVES: Final = frozenset({"end", "ended", "exited", "result", "output", "response"})
"""Ends that promise an outcome."""

_FIELDS: Final = tuple(field.name for field in fields(ErrorEvent))
_PARTS: Final = frozenset({"toolresult", "tooluse", "toolcall", "functionresponse", "functioncall"})


class _Found(NamedTuple):
    """
    A field of an entry, and how deep it lies.
    """

    path: str
    value: object
    depth: int


@dataclass(slots=True)
class _Entry:
    """
    The fields of an entry by their plain names, the outermost first.
    """

    index: int
    found: dict[str, list[_Found]] = field(default_factory=dict[str, "list[_Found]"])
    words: frozenset[str] = frozenset()
    kind: str = ""
    ending: frozenset[str] = frozenset()
    """The last words of the kinds."""

    talks: bool = False
    """Whether it is a message, a thought or the like."""
    strict: bool = True
    """Whether it is a result for sure, so that a field that is not what it must be is an error."""

    def all(self, names: Iterable[str]) -> Iterator[tuple[str, _Found]]:
        for name in names:
            for found in self.found.get(name, ()):
                yield name, found

    def refuse(self, path: str, value: object, wanted: str) -> None:
        """Raise that a field is not what it must be, where the entry is a result for sure."""
        if self.strict:
            where = f".{path}" if path else ""
            shown = one_line(repr(value), 80)
            raise ConfigurationError(f"events[{self.index}]{where} must be {wanted}, and is {shown}")


def read_events(events: Iterable[object]) -> list[ErrorEvent]:
    """
    Return the entries that say how something ended, in their order, or in that of time where all have one.

    Entries of other kinds (messages, thoughts, requests) are left out. A result that names only the id of its call gets
    tool and command from the entry that asked for it.

    Raises:
        ConfigurationError: An entry is malformed; the message says which field, what is wrong, and what to do.
    """
    asked: dict[str, tuple[str, str]] = {}
    read: list[ErrorEvent] = []
    for index, event in enumerate(events):
        for mapping in _split(_mapping(event, index)):
            entry = _entry(mapping, index)
            called = _called(entry, asked)
            found = _read(entry, *called)
            if found is not None:
                read.append(found)
    if all(event.time is not None for event in read):
        read.sort(key=lambda event: event.time or 0)
    return read


def _mapping(event: object, index: int) -> Mapping[object, object]:
    if isinstance(event, Mapping):
        return cast("Mapping[object, object]", event)
    if isinstance(event, ErrorEvent):
        return {name: getattr(event, name) for name in _FIELDS if getattr(event, name) != ""}
    wanted = f"an ErrorEvent or a mapping with some of {', '.join(_FIELDS)}"
    _Entry(index).refuse("", event, wanted)
    return {}


# Taking an entry apart.


def _split(event: Mapping[object, object]) -> Iterator[Mapping[object, object]]:
    """Yield an event, or the calls and results of which the message that it is consists."""
    message = event.get("message")
    inner = cast("Mapping[object, object]", message) if isinstance(message, Mapping) else event
    parts: list[object] = []
    for name in ("content", "tool_calls", "parts"):
        value = inner.get(name)
        parts += [] if not isinstance(value, list) else cast("list[object]", value)
    found = [
        cast("Mapping[object, object]", part)
        for part in parts
        if isinstance(part, Mapping)
        and (_plain(cast("Mapping[str, object]", part).get("type")) in _PARTS or "function" in part)
    ]
    times = {name: value for name, value in event.items() if _plain(name) in _TIMES}
    yield from ({**times, **part} for part in found)
    if not found:
        yield event


def _entry(event: Mapping[object, object], index: int) -> _Entry:
    entry = _Entry(index)
    waiting: deque[tuple[str, Mapping[object, object], int]] = deque([("", event, 0)])
    while waiting:
        path, mapping, depth = waiting.popleft()
        for name, given in mapping.items():
            plain = _plain(name)
            value = _unpacked(given) if plain in _CONTAINERS else given
            if not plain or value is None:
                continue
            where = f"{path}.{name}" if path else str(name)
            entry.found.setdefault(plain, []).append(_Found(where, value, depth))
            if isinstance(value, Mapping) and plain in _CONTAINERS and depth < MAX_DEPTH:
                waiting.append((where, cast("Mapping[object, object]", value), depth + 1))
    kinds = [found.value for _, found in entry.all(_KINDS) if _is_kind(found.value)]
    words = [[word.lower() for word in _WORD.findall(str(kind))] for kind in kinds]
    entry.kind = str(kinds[0]) if kinds else ""
    entry.words = frozenset(word for group in words for word in group)
    entry.ending = frozenset(group[-1] for group in words if group)
    entry.talks = bool(entry.words & _TALK) and not entry.words & _DOING
    names_what_ran = not _WHAT_RAN.isdisjoint(entry.found)
    entry.strict = not entry.talks and (names_what_ran or not entry.kind or bool(entry.words & _DOING))
    return entry


def _plain(name: object) -> str:
    return re.sub(r"[^a-z0-9]", "", name[:80].lower()) if isinstance(name, str) else ""


def _is_kind(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[\w.:/ -]{1,80}", value) is not None


def _unpacked(value: object) -> object:
    """Return what a container holds that is written as JSON in a text, as event stores keep it."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return cast("object", json.loads(value))
        except (ValueError, RecursionError):
            return value
    return value


def _called(entry: _Entry, asked: dict[str, tuple[str, str]]) -> tuple[str, str]:
    """Return tool and command of an entry; where it only names a call, those of that call."""
    tool, command = _tool(entry), _command(entry)
    ids = [str(found.value) for _, found in entry.all(_CALL_IDS) if isinstance(found.value, str | int)]
    if not command:
        known = next((asked[call_id] for call_id in ids if call_id in asked), ("", ""))
        if not tool or tool == known[0]:
            tool, command = known[0] or tool, known[1]
    if tool or command:
        asked.update(dict.fromkeys(ids, (tool, command)))
    return tool, command


def _tool(entry: _Entry) -> str:
    for name, found in entry.all(_TOOLS):
        if isinstance(found.value, str):
            return found.value
        if name == "tool" and not isinstance(found.value, Mapping):
            entry.refuse(found.path, found.value, "a text")
    return ""


def _command(entry: _Entry) -> str:
    for name, found in entry.all(_COMMANDS):
        value = found.value
        if isinstance(value, str):
            if value:
                return value
        elif isinstance(value, Mapping):
            if name != "params" or value:
                return _command_in(cast("Mapping[str, object]", value))
        elif isinstance(value, list | tuple):
            words = cast("list[object]", value)
            return shlex.join(str(word) for word in words)
        elif name == "command":
            entry.refuse(found.path, value, "a text")
    return ""


def _command_in(arguments: Mapping[str, object]) -> str:
    return json.dumps(arguments, default=repr, ensure_ascii=False, skipkeys=True) if arguments else ""


# How it ended.


@dataclass(slots=True)
class _Signs:
    """
    What the fields of an entry say of how it ended.
    """

    failed: bool = False
    """A flag, a status or an error says that it failed."""
    well: int = -1
    """How deep the innermost lies that says that it went well; -1 if nothing does."""
    ended: bool = False
    declined: bool = False
    open: bool = False


def _read(entry: _Entry, tool: str, command: str) -> ErrorEvent | None:
    """Return what was run and how it ended; None for an entry of another kind, or one that says too little."""
    error = _error(entry)
    signs = _signs(entry)
    signs.failed = signs.failed or error.is_told
    if entry.ending & _FAILED:
        signs.failed = True
    if entry.talks and not signs.failed:
        return None
    duration, time = _duration(entry), _time(entry)
    text = _text(entry, own_only=not (tool or command or entry.words & _DOING or signs.failed or signs.ended))
    exit_code = _exit_code(entry, signs)
    reason = error.reason or _reason(entry, any_=signs.failed or bool(exit_code))
    code = error.code if error.code is not None else _code(entry, signs)
    if signs.declined or (signs.open and not signs.failed and not exit_code):
        return None
    knows = signs.failed or signs.ended or signs.well >= 0 or exit_code is not None or code is not None or bool(reason)
    if not knows and (text is None or entry.words & _BEGINS):
        _refuse_empty(entry)
        return None
    if signs.failed and not (reason or text or error.stack or code is not None or exit_code):
        reason = entry.kind
    return ErrorEvent(
        command=command,
        code=code,
        exit_code=exit_code,
        reason=reason,
        duration=duration,
        status=FAILED if signs.failed else OK if signs.well >= 0 else "",
        text="\n".join(filter(None, (text, error.stack))),
        tool=tool,
        time=time,
    )


def _refuse_empty(entry: _Entry) -> None:
    """A result whose fields are all unknown may be a failure that is lost."""
    if not (entry.words & _DOING and entry.ending & _GIVES):
        return
    unknown = [
        found.path
        for name, places in entry.found.items()
        for found in places
        if name not in _KNOWN and not name.endswith("id")
    ]
    if unknown:
        raise ConfigurationError(
            f"events[{entry.index}] is a {one_line(entry.kind, 40)}, and none of its fields tells how it ended "
            f"({one_line(', '.join(unknown), 80)}); name it ok, status, exit_code, error or text"
        )


def _signs(entry: _Entry) -> _Signs:
    signs = _Signs()
    for name, found in (*entry.all(_WELL), *entry.all(_ILL)):
        flag = _flag(entry, name, found)
        if flag is not None:
            _take(signs, OK if flag is (name in _WELL) else FAILED, found.depth)
    for name, found in entry.all(_STATUS):
        _take(signs, _status(entry, name, found), found.depth)
    for _, found in entry.all(_HTTP):
        if isinstance(found.value, int) and not isinstance(found.value, bool) and found.value >= _LEAST_HTTP:
            _take(signs, _of_http(found.value), found.depth)
    for _, found in entry.all(("level", "severity")):
        signs.failed = signs.failed or (isinstance(found.value, str) and found.value.lower() in _LEVELS)
    if entry.ending & _SUCCEEDED:
        signs.well = max(signs.well, 0)
    signs.ended = signs.ended or (bool(entry.ending & _ENDS) and not entry.ending & _GIVES)
    return signs


_LEAST_HTTP: Final = 200
_LEAST_HTTP_ERROR: Final = 400
_AFTER_HTTP: Final = 600


def _of_http(status: int) -> str:
    return FAILED if status >= _LEAST_HTTP_ERROR else OK


def _take(signs: _Signs, word: str, depth: int) -> None:
    signs.failed = signs.failed or word in _FAILED
    signs.well = max(signs.well, depth) if word in _SUCCEEDED else signs.well
    signs.ended = signs.ended or word in _ENDED
    signs.declined = signs.declined or word in _DECLINED
    signs.open = signs.open or word in _OPEN


def _flag(entry: _Entry, name: str, found: _Found) -> bool | None:
    value = found.value
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    if isinstance(value, bool) or (name not in _COUNTED and isinstance(value, int) and value in {0, 1}):
        return bool(value)
    if name not in _COUNTED:
        entry.refuse(found.path, value, "true or false")
    return None


def _status(entry: _Entry, name: str, found: _Found) -> str:
    value = found.value
    if isinstance(value, str):
        word = re.sub(r"[\s-]+", "_", value.strip()).lower()
        if not word or word in STATUSES:
            return word
    elif isinstance(value, Mapping):
        return ""
    elif isinstance(value, int) and not isinstance(value, bool):
        # Node calls an exit code so, and clients of HTTP a status code.
        return _of_http(value) if _LEAST_HTTP <= value < _AFTER_HTTP else FAILED if value and name == "status" else ""
    if name == "status":
        wanted = "ok, failed, timeout, cancelled, skipped, running or the like, or nothing where other fields decide"
        entry.refuse(found.path, value, wanted)
    return ""


def _exit_code(entry: _Entry, signs: _Signs) -> int | None:
    """Return the exit code, unless what stands beside it, or further inside, says that it went well."""
    for name, found in entry.all(_EXIT_CODES):
        value = found.value
        if isinstance(value, bool) or not isinstance(value, int):
            if name != "rc":
                entry.refuse(found.path, value, "a whole number")
            continue
        if signs.well >= found.depth or not value:
            return value
        signs.well = -1
        return value
    status = next((found.value for _, found in entry.all(("status",)) if isinstance(found.value, int)), 0)
    return status if 0 < status < _LEAST_HTTP else None


def _code(entry: _Entry, signs: _Signs) -> str | int | None:
    for name, found in entry.all(_CODES):
        value = found.value
        if isinstance(value, bool) or not isinstance(value, str | int):
            if name in {"code", "errorcode"}:
                entry.refuse(found.path, value, "a text or a whole number")
            continue
        if isinstance(value, str) and ("\n" in value or value.strip().lower() in _SUCCEEDED | _NO_ERROR):
            continue
        if isinstance(value, int) and (value == 0 or _LEAST_HTTP <= value < _LEAST_HTTP_ERROR):
            continue
        if signs.well < found.depth:
            signs.well = -1
        return value
    for _, found in entry.all(_HTTP):
        if isinstance(found.value, int) and found.value >= _LEAST_HTTP_ERROR:
            return found.value
    return None


# What it said.


@dataclass(slots=True)
class _Error:
    """
    What an entry's error says, in whatever form it was logged.
    """

    reason: str = ""
    code: str | int | None = None
    stack: str = ""
    is_told: bool = False


def _error(entry: _Entry) -> _Error:
    told = _Error()
    for _, found in entry.all(_ERRORS):
        _take_error(entry, found.path, found.value, told, 0)
    for _, found in entry.all(_STACKS):
        if isinstance(found.value, str) and found.value.strip():
            told.stack = told.stack or found.value
            told.is_told = True
    if "\n" in told.reason.strip():
        told.stack = "\n".join(filter(None, (told.reason, told.stack)))
        told.reason = ""
    return told


def _take_error(entry: _Entry, path: str, value: object, told: _Error, depth: int) -> None:
    if isinstance(value, bool) or value is None or depth > MAX_DEPTH:
        told.is_told = told.is_told or value is True
    elif isinstance(value, str):
        if value.strip().lower() not in _NO_ERROR and value not in told.reason:
            told.reason = "; ".join(filter(None, (told.reason, value)))
            told.is_told = True
    elif isinstance(value, int):
        told.code = value or told.code
        told.is_told = told.is_told or value != 0
    elif isinstance(value, Mapping):
        _take_error_object(entry, path, cast("Mapping[object, object]", value), told, depth)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(cast("list[object]", value)):
            _take_error(entry, f"{path}[{number}]", item, told, depth + 1)
    else:
        entry.refuse(path, value, "a text or an object with a message")


_IN_ERROR_TEXT: Final = ("message", "msg", "reason", "detail", "description", "text", "title", "error", "errormessage")
_IN_ERROR_CODE: Final = ("code", "errorcode", "errno", "type", "name", "kind", "class", "status")


def _take_error_object(entry: _Entry, path: str, value: Mapping[object, object], told: _Error, depth: int) -> None:
    inner = {_plain(name): item for name, item in value.items() if item is not None}
    if not inner:
        return
    told.is_told = True
    for name in _IN_ERROR_CODE:
        item = inner.get(name)
        if isinstance(item, str | int) and not isinstance(item, bool) and item not in {"", 0, "error", "Error"}:
            told.code = told.code if told.code is not None else item
    before = told.reason
    for name in (*_IN_ERROR_TEXT, *_CONTAINERS - {"message", "msg"}):
        if name in inner and told.reason == before and not isinstance(inner[name], bool):
            _take_error(entry, f"{path}.{name}", inner[name], told, depth + 1)
    for name in _STACKS:
        if isinstance(inner.get(name), str):
            told.stack = told.stack or str(inner[name])
    if not told.reason and not told.stack and told.code is None:
        told.reason = _command_in(cast("Mapping[str, object]", value))


def _text(entry: _Entry, *, own_only: bool) -> str | None:
    """Return what was printed or given back; None if nothing says so."""
    for name, found in entry.all(_OUTPUTS):
        printed = _printed(found.value)
        if printed is not None:
            return printed
        if name == "text" and not isinstance(found.value, Mapping):
            entry.refuse(found.path, found.value, "a text")
    streams = [_printed(found.value) for _, found in entry.all(_STREAMS)]
    if any(stream is not None for stream in streams):
        return "\n".join(filter(None, streams))
    if own_only:
        return None
    for _, found in entry.all(_ANSWERS):
        printed = _printed(found.value)
        if printed is not None and not _is_word(printed):
            return printed
    return None


def _is_word(text: str) -> bool:
    """Tell whether a result is one word that only says how it ended, or of what kind it is."""
    return re.sub(r"[\s-]+", "_", text.strip()).lower() in STATUSES


def _printed(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, list | tuple):
        return None
    lines: list[str] = []
    for item in cast("list[object]", value):
        part = cast("Mapping[str, object]", item).get("text") if isinstance(item, Mapping) else item
        lines += [part] if isinstance(part, str) else []
    return "\n".join(lines)


def _reason(entry: _Entry, *, any_: bool) -> str:
    """Return the reason; a message is one only where something else says that it failed."""
    for name, found in entry.all(_REASONS):
        if isinstance(found.value, str):
            if found.value and (any_ or name == "reason"):
                return found.value
        elif name == "reason" and not isinstance(found.value, Mapping):
            entry.refuse(found.path, found.value, "a text")
    return ""


# Numbers.

_ISO: Final = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9})\d*)?\s?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
_SPAN: Final = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s?(ms|us|µs|ns|s|sec|seconds|m|min|h)?", re.ASCII)
_UNITS: Final = {"ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "m": 60, "min": 60, "h": 3600}
_SECONDS_BELOW: Final = 1e11
"""Larger times since the epoch are in milliseconds, microseconds or nanoseconds."""


def _duration(entry: _Entry) -> float | None:
    for name, places in entry.found.items():
        unit = _DURATION.fullmatch(name)
        if unit is None:
            continue
        found = places[0]
        scale = 1e-3 if unit[1] else 1e-6 if unit[2] else 1e-9 if unit[3] else 1.0
        return _span(entry, found, scale)
    return None


def _span(entry: _Entry, found: _Found, scale: float) -> float | None:
    value: object = found.value
    if isinstance(value, str) and (match := _SPAN.fullmatch(value.strip())):
        return float(match[1]) * (_UNITS.get(match[2] or "", 1.0) if match[2] else scale)
    if isinstance(value, Mapping):
        inner = {_plain(name): item for name, item in cast("Mapping[object, object]", value).items()}
        seconds, nanos = inner.get("secs", inner.get("seconds", 0)), inner.get("nanos", 0)
        if isinstance(seconds, int) and isinstance(nanos, int):
            return seconds + nanos / 1e9
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        entry.refuse(found.path, found.value, "a number of seconds, not below zero")
        return None
    return value * scale


def _time(entry: _Entry) -> float | None:
    for name, found in entry.all(_TIMES):
        value = found.value
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, object]", value)
            value = inner.get("end", inner.get("completed", inner.get("start", inner.get("created"))))
        seconds = _moment(value)
        if seconds is not None:
            return seconds
        if name in {"time", "timestamp"} and value is not None:
            wanted = "a number of seconds since the epoch (of a datetime its .timestamp()), not below zero"
            entry.refuse(found.path, value, wanted)
    return None


def _moment(value: object) -> float | None:
    if isinstance(value, str):
        match = _ISO.fullmatch(value.strip())
        if match is None:
            return None
        zone = (match[3] or "Z").replace("Z", "+00:00")
        zone = zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
        try:
            moment = datetime.fromisoformat(f"{match[1]}{zone}").astimezone(UTC)
        except (ValueError, OverflowError):
            return None
        seconds = moment.timestamp() + float(f"0.{match[2] or 0}")
        return seconds if seconds >= 0 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    for scale in (1, 1e3, 1e6, 1e9):
        if value / scale < _SECONDS_BELOW:
            return value / scale
    return None
