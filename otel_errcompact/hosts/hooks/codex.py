"""
Codex: refuse before, replace the output of a command that failed.

Its hooks cannot stop a run: of a stopped one every further call is refused with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.calls import HostResult
from otel_errcompact.hosts.hooks.decorations import find_pointer, is_refused_by_hook, undecorate
from otel_errcompact.hosts.hooks.gate import join, refuse, stop_of, take_prompt
from otel_errcompact.hosts.hooks.payloads import content_of, name_of, output_for, read_call, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact.hosts.calls import HostCall, HostRuns

    Event = Mapping[str, object]
    Output = dict[str, object]

HOST: Final = "codex"


def answer(event: Event, runs: HostRuns) -> Output:
    """Return what Codex reads as the output of a hook."""
    respond = _RESPONSES.get(name_of(event, "hook_event_name"))
    return respond(event, runs) if respond is not None and name_of(event, "session_id") else {}


def _before(event: Event, runs: HostRuns) -> Output:
    call = _read_call(event)
    reason = refuse(call, runs) if call is not None else ""
    # Never `ask`: Codex drops an answer with it, and executes the call.
    return output_for("PreToolUse", permissionDecision="deny", permissionDecisionReason=reason) if reason else {}


def _after(event: Event, runs: HostRuns) -> Output:
    call, shown = _read_call(event), content_of(event.get("tool_response"))
    if call is None or is_refused_by_hook(shown):
        return {}
    text, exit_code, _ = undecorate(HOST, shown)
    # That the event says success means only that the program was started.
    answered = runs.conclude(call, HostResult(text=text, exit_code=exit_code))
    if answered.outcome == "failure" and answered.text:
        told = join(answered.text, find_pointer(shown), answered.guidance, stop_of(call.run_id, runs))
        return {"decision": "block", "reason": told}
    return output_for("PostToolUse", additionalContext=answered.beside) if answered.beside else {}


def _on_prompt(event: Event, runs: HostRuns) -> Output:
    if not name_of(event, "agent_id"):  # the prompt of a sub-agent is written by a model
        take_prompt(_run_id(event), text_of(event, "prompt"), runs)
    stop = stop_of(_run_id(event), runs)
    return output_for("UserPromptSubmit", additionalContext=f"errcompact: {stop}") if stop else {}


def _on_start(event: Event, runs: HostRuns) -> Output:
    stop = stop_of(_run_id(event), runs)
    return output_for("SessionStart", additionalContext=f"errcompact: {stop}") if stop else {}


def _on_end(event: Event, runs: HostRuns) -> Output:
    runs.end(_run_id(event))
    return {}


def _on_sub_agent_end(event: Event, runs: HostRuns) -> Output:
    # An older host does not say which one has ended: then it must not be the session.
    return _on_end(event, runs) if name_of(event, "agent_id") else {}


def _read_call(event: Event) -> HostCall | None:
    return read_call(event, host=HOST, run_id=_run_id(event))


def _run_id(event: Event) -> str:
    return "/".join(filter(None, (name_of(event, "session_id"), name_of(event, "agent_id"))))


_RESPONSES: Final[Mapping[str, Callable[[Event, HostRuns], Output]]] = {
    "PreToolUse": _before,
    "PostToolUse": _after,
    "UserPromptSubmit": _on_prompt,
    "SessionStart": _on_start,
    "SessionEnd": _on_end,
    "SubagentStop": _on_sub_agent_end,
}
