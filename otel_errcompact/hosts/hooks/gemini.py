"""
Gemini CLI: refuse before, replace a failed result, stop the run.

It sees the whole output, and calls an exit status other than 0 a success.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.calls import HostResult
from otel_errcompact.hosts.hooks.decorations import find_pointer, is_refused_by_hook, undecorate
from otel_errcompact.hosts.hooks.gate import join, refuse, stop_of, take_prompt
from otel_errcompact.hosts.hooks.payloads import (
    as_record,
    content_of,
    name_of,
    output_for,
    read_call,
    record_of,
    records_of,
    text_of,
)
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact.hosts.calls import HostCall, HostRuns

    Event = Mapping[str, object]
    Output = dict[str, object]

HOST: Final = "gemini"

_MCP_ERROR: Final = lazy_pattern(
    r"MCP tool '[^'\n]{1,200}' reported tool error for function call: [^\n]{0,100000}? with response: (?=\[\{)"
)
_SIGNAL: Final = lazy_pattern(r"(?m)^Signal: [0-9A-Z]")
_NOT_EXECUTED: Final = frozenset({"policy_violation", "execution_denied", "cancelled", "user_cancelled"})
"""Kinds of errors of calls that a hook, a rule or the user has declined."""


def answer(event: Event, runs: HostRuns) -> Output:
    """Return what Gemini CLI reads as the output of a hook."""
    respond = _RESPONSES.get(name_of(event, "hook_event_name"))
    return respond(event, runs) if respond is not None and name_of(event, "session_id") else {}


def _before(event: Event, runs: HostRuns) -> Output:
    call = _read_call(event)
    reason = refuse(call, runs) if call is not None else ""
    return {"decision": "deny", "reason": reason} if reason else {}


def _after(event: Event, runs: HostRuns) -> Output:
    call, response = _read_call(event), record_of(event, "tool_response")
    error, said = response.get("error"), content_of(response.get("llmContent"))
    # Of a file that is not there only the message says which one.
    shown = _message_of(error) or said
    if call is None or _type_of(error) in _NOT_EXECUTED or is_refused_by_hook(shown):
        return {}
    text, exit_code, _ = undecorate(HOST, shown)
    text = _open_envelope(text)
    # Of a command that ended with 0 no status is told, of one that was ended from outside its signal.
    failed = bool(error) or (None if _SIGNAL.search(shown) else exit_code is not None and exit_code != 0)
    answered = runs.conclude(call, HostResult(text=text, failed=failed, exit_code=exit_code))
    stop = stop_of(call.run_id, runs)
    if stop:
        return {"continue": False, "stopReason": join(answered.text, answered.guidance, f"errcompact: {stop}")}
    if answered.outcome == "failure" and answered.text:
        return {"decision": "deny", "reason": join(answered.text, find_pointer(shown), answered.guidance)}
    return output_for("AfterTool", additionalContext=answered.guidance) if answered.guidance else {}


def _open_envelope(text: str) -> str:
    # A tool of an MCP server that has failed: its words are in JSON, behind the call with its arguments.
    found = _MCP_ERROR.match(text)
    try:
        opened = json.loads(text[found.end() :]) if found is not None else None
    except (ValueError, RecursionError):
        return text
    texts = [content_of(record_of(record_of(part, "functionResponse"), "response")) for part in _records(opened)]
    return join(*texts) or text


def _records(value: object) -> list[Event]:
    return list(records_of({"": value}, ""))


def _message_of(error: object) -> str:
    return error if isinstance(error, str) else text_of(as_record(error), "message")


def _type_of(error: object) -> str:
    return name_of(as_record(error), "type")


def _on_prompt(event: Event, runs: HostRuns) -> Output:
    run_id = name_of(event, "session_id")
    take_prompt(run_id, text_of(event, "prompt"), runs)
    stop = stop_of(run_id, runs)
    return output_for("BeforeAgent", additionalContext=f"errcompact: {stop}") if stop else {}


def _on_start(event: Event, runs: HostRuns) -> Output:
    stop = stop_of(name_of(event, "session_id"), runs)
    return output_for("SessionStart", additionalContext=f"errcompact: {stop}") if stop else {}


def _on_end(event: Event, runs: HostRuns) -> Output:
    runs.end(name_of(event, "session_id"))
    return {}


def _read_call(event: Event) -> HostCall | None:
    return read_call(event, host=HOST, run_id=name_of(event, "session_id"))


_RESPONSES: Final[Mapping[str, Callable[[Event, HostRuns], Output]]] = {
    "BeforeTool": _before,
    "AfterTool": _after,
    "BeforeAgent": _on_prompt,
    "SessionStart": _on_start,
    "SessionEnd": _on_end,
}
