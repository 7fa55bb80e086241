"""
Cursor: refuse before, replace results of MCP servers, else add.

Read in a specification of others, not tried with the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.calls import HostResult
from otel_errcompact.hosts.hooks.decorations import is_refused_by_hook, undecorate
from otel_errcompact.hosts.hooks.gate import join, news_of, refuse, stop_of, take_prompt
from otel_errcompact.hosts.hooks.payloads import CallFields, content_of, name_of, number_of, read_call, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact.hosts.calls import HostCall, HostRuns

    Event = Mapping[str, object]
    Output = dict[str, object]

HOST: Final = "cursor"
_CALL: Final = CallFields(agent=("subagent_type",))
MAX_CONTEXT: Final = 10_000
"""Characters of added context; Cursor drops one that is longer."""

_NOT_EXECUTED: Final = frozenset({"permission_denied", "interrupted", "aborted"})


def answer(event: Event, runs: HostRuns) -> Output:
    """Return what Cursor reads as the output of a hook."""
    respond = _RESPONSES.get(name_of(event, "hook_event_name"))
    return respond(event, runs) if respond is not None and _run_id(event) else {}


def _before(event: Event, runs: HostRuns) -> Output:
    call = _read_call(event)
    reason = refuse(call, runs) if call is not None else ""
    return {"permission": "deny", "user_message": reason, "agent_message": reason} if reason else {}


def _after(event: Event, runs: HostRuns) -> Output:
    call, response = _read_call(event), event.get("tool_output", event.get("tool_response"))
    shown = content_of(response)
    if call is None or is_refused_by_hook(shown):
        return {}
    text, exit_code, _ = undecorate(HOST, shown)
    answered = runs.conclude(call, HostResult(text=text, failed=False, exit_code=exit_code))
    stop = stop_of(call.run_id, runs) if answered.outcome == "failure" else ""
    if answered.outcome == "failure" and answered.text and call.tool.lower().startswith("mcp"):
        replaced = join(answered.text, answered.guidance, stop)
        return {"updated_mcp_tool_output": {"content": [{"type": "text", "text": replaced}], "isError": True}}
    return _add(news_of(answered, text), stop)


def _after_failure(event: Event, runs: HostRuns) -> Output:
    call, shown = _read_call(event), text_of(event, "error_message", "error")
    declined = name_of(event, "failure_type") in _NOT_EXECUTED or bool(event.get("is_interrupt"))
    if call is None or declined or is_refused_by_hook(shown):
        return {}
    text, exit_code, _ = undecorate(HOST, shown)
    exit_code = number_of(event, "exit_code") if exit_code is None else exit_code
    answered = runs.conclude(call, HostResult(text=text, failed=True, exit_code=exit_code))
    return _add(news_of(answered, text), stop_of(call.run_id, runs))


def _on_prompt(event: Event, runs: HostRuns) -> Output:
    take_prompt(_run_id(event), text_of(event, "prompt"), runs)
    return {}


def _on_end(event: Event, runs: HostRuns) -> Output:
    runs.end(_run_id(event))
    return {}


def _read_call(event: Event) -> HostCall | None:
    return read_call(event, host=HOST, run_id=_run_id(event), fields=_CALL)


def _run_id(event: Event) -> str:
    return name_of(event, "conversation_id", "session_id")


def _add(*texts: str) -> Output:
    added = join(*texts)
    return {"additional_context": added[:MAX_CONTEXT]} if added else {}


_RESPONSES: Final[Mapping[str, Callable[[Event, HostRuns], Output]]] = {
    "preToolUse": _before,
    "postToolUse": _after,
    "postToolUseFailure": _after_failure,
    "beforeSubmitPrompt": _on_prompt,
    "sessionEnd": _on_end,
}
