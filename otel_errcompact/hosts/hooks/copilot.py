"""
Copilot CLI: refuse before, replace a result that says success.

A command that has failed says success with the exit status in its text; a tool of an MCP server that has failed has
an event of its own, which shows a message and takes only what is added to it. Events in the names of Claude Code, which
Copilot sends to hooks that were registered under them, are read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.calls import HostResult
from otel_errcompact.hosts.hooks.decorations import is_refused_by_hook, undecorate
from otel_errcompact.hosts.hooks.gate import join, news_of, refuse, stop_of, take_prompt
from otel_errcompact.hosts.hooks.payloads import CallFields, name_of, read_call, record_of, text_of
from otel_errcompact.hosts.hooks.saved_output import read_saved

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact.hosts.calls import HostCall, HostRuns

    Event = Mapping[str, object]
    Output = dict[str, object]

HOST: Final = "copilot"
_CALL: Final = CallFields(
    tool=("toolName", "tool_name"),
    arguments=("toolArgs", "tool_input", "toolInput"),
    call_id=("toolCallId", "tool_use_id"),
    agent=("agentType",),
    directory=("cwd", "workingDirectory"),
)

_RESULT: Final = ("toolResult", "tool_result")
_TEXT: Final = ("textResultForLlm", "text_result_for_llm")
_TYPE: Final = ("resultType", "result_type")
_NOT_EXECUTED: Final = frozenset({"denied", "rejected"})
"""Kinds of results of calls that a hook, a rule or the user has declined."""


def answer(event: Event, runs: HostRuns) -> Output:
    """Return what Copilot CLI reads as the output of a hook."""
    respond = _RESPONSES.get(_kind_of(event))
    return respond(event, runs) if respond is not None and _run_id(event) else {}


def _kind_of(event: Event) -> str:
    # Events under the host's own names do not say which they are: their fields do.
    named = name_of(event, "hook_event_name", "hookEventName")
    if named:
        return f"{named[0].lower()}{named[1:]}"
    if name_of(event, "toolName"):
        if any(name in event for name in _RESULT):
            return "postToolUse"
        return "postToolUseFailure" if "error" in event else "preToolUse"
    if "prompt" in event:
        return "userPromptSubmitted"
    return "sessionEnd" if "reason" in event else ""


def _before(event: Event, runs: HostRuns) -> Output:
    call = _read_call(event)
    reason = refuse(call, runs) if call is not None else ""
    return {"permissionDecision": "deny", "permissionDecisionReason": reason} if reason else {}


def _after(event: Event, runs: HostRuns) -> Output:
    call, result = _read_call(event), record_of(event, *_RESULT)
    shown, kind = text_of(result, *_TEXT), name_of(result, *_TYPE)
    if call is None or kind in _NOT_EXECUTED or is_refused_by_hook(shown):
        return {}
    text, exit_code, file = undecorate(HOST, shown)
    whole = read_saved(file)
    text = whole or text
    failed = kind in {"failure", "timeout"}
    answered = runs.conclude(call, HostResult(text=text, failed=failed, exit_code=exit_code))
    if answered.outcome == "failure" and answered.text:
        partly = f"only the beginning of the output was read; the whole was saved to {file}"
        place = file and (f"whole output: {file}" if whole else partly)
        digest = join(answered.text, place, answered.guidance, stop_of(call.run_id, runs))
        # Everything else of the result stays what it is: the host drops one that lacks its type.
        return {
            "modifiedResult": {**result, _name_in(result, _TYPE): kind or "success", _name_in(result, _TEXT): digest}
        }
    return {"additionalContext": answered.beside} if answered.beside else {}


def _after_failure(event: Event, runs: HostRuns) -> Output:
    call, shown = _read_call(event), text_of(event, "error") or text_of(record_of(event, "error"), "message")
    if call is None or is_refused_by_hook(shown):
        return {}
    text, exit_code, _ = undecorate(HOST, shown)
    answered = runs.conclude(call, HostResult(text=text, failed=True, exit_code=exit_code))
    added = join(news_of(answered, text), stop_of(call.run_id, runs))
    return {"additionalContext": added} if added else {}


def _on_prompt(event: Event, runs: HostRuns) -> Output:
    if not name_of(event, "parentAgentId"):  # the prompt of a sub-agent is written by a model
        take_prompt(_run_id(event), text_of(event, "prompt"), runs)
    return {}


def _on_end(event: Event, runs: HostRuns) -> Output:
    runs.end(_run_id(event))
    return {}


def _name_in(result: Event, names: tuple[str, ...]) -> str:
    return next((name for name in names if name in result), names[0])


def _read_call(event: Event) -> HostCall | None:
    return read_call(event, host=HOST, run_id=_run_id(event), fields=_CALL)


def _run_id(event: Event) -> str:
    # A sub-agent has a session of its own, and names the one that it works for.
    return "/".join(filter(None, (name_of(event, "parentAgentId"), name_of(event, "sessionId", "session_id"))))


_RESPONSES: Final[Mapping[str, Callable[[Event, HostRuns], Output]]] = {
    "preToolUse": _before,
    "postToolUse": _after,
    "postToolUseFailure": _after_failure,
    "userPromptSubmitted": _on_prompt,
    "userPromptSubmit": _on_prompt,
    "sessionEnd": _on_end,
}
