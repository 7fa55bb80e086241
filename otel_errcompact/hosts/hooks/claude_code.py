"""
Claude Code: refuse before, add beside a failure, stop after the batch.

A failed result cannot be replaced by a hook, so that the agent reads beside it only what is new. What it reads in
place of the output of a failed command comes from the shell prefix.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.engine.ladder import explain_stop
from otel_errcompact.hosts.calls import HostResult
from otel_errcompact.hosts.hooks.decorations import is_refused_by_hook, undecorate
from otel_errcompact.hosts.hooks.gate import join, news_of, refuse, stop_of, take_prompt
from otel_errcompact.hosts.hooks.payloads import (
    as_record,
    content_of,
    name_of,
    output_for,
    read_call,
    records_of,
    text_of,
)
from otel_errcompact.hosts.hooks.saved_output import read_saved
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from otel_errcompact.hosts.calls import HostCall, HostRuns

    Event = Mapping[str, object]
    Output = dict[str, object]

HOST: Final = "claude-code"

_OF_OTHERS: Final = (
    *("cursor_version", "generation_id", "workspace_roots"),  # Cursor
    *("sessionId", "toolName", "tool_result", "timestamp"),  # Copilot
)
"""Fields of other hosts, which read the same settings file and have adapters of their own."""

_OF_SUB_AGENTS: Final = frozenset({"Agent", "Task"})
_AGENT_ID: Final = lazy_pattern(r"(?:\bagentId\"?: ?\"?|<task-id>)(?P<id>[\w-]{1,200})")
_MAX_AGENTS: Final = 16
_COMMANDS: Final = "Bash"
_REJECTED_UNSEEN: Final = "<tool_use_error>"
"""How the result of a call begins that fails before any hook but the batch's sees it."""


def answer(event: Event, runs: HostRuns) -> Output:
    """Return what Claude Code reads as the output of a hook."""
    if any(name in event for name in _OF_OTHERS) or not name_of(event, "session_id"):
        return {}
    respond = _RESPONSES.get(name_of(event, "hook_event_name"))
    return respond(event, runs) if respond is not None else {}


def _before(event: Event, runs: HostRuns) -> Output:
    call = _read_call(event, event)
    reason = refuse(call, runs) if call is not None else ""
    if not reason:
        return {}
    return output_for("PreToolUse", permissionDecision="deny", permissionDecisionReason=reason)


def _after_success(event: Event, runs: HostRuns) -> Output:
    call = _read_call(event, event)
    if call is None:
        return {}
    shown = content_of(event.get("tool_response"))
    answered = runs.conclude(call, HostResult(text=undecorate(HOST, shown).text, failed=False))
    return _add("PostToolUse", news_of(answered, shown), _stops_below(event, event, runs))


def _after_failure(event: Event, runs: HostRuns) -> Output:
    call, shown = _read_call(event, event), text_of(event, "error")
    if call is None or event.get("is_interrupt") or is_refused_by_hook(shown):
        return {}
    result, read = _read_result(shown, failed=True)
    return _add("PostToolUseFailure", news_of(runs.conclude(call, result), read))


def _after_batch(event: Event, runs: HostRuns) -> Output:
    news = [text for called in records_of(event, "tool_calls") for text in _settle(event, called, runs)]
    run_id = _run_id(event)
    runs.begin_turn(run_id)
    stop = stop_of(run_id, runs)
    if stop:
        return {"continue": False, "stopReason": join(*news, f"errcompact: {stop}")}
    return _add("PostToolBatch", *news)


def _settle(event: Event, called: Event, runs: HostRuns) -> Iterator[str]:
    call, shown = _read_call(event, called), content_of(called.get("tool_response"))
    if call is None or is_refused_by_hook(shown):
        return
    result, read = _read_result(shown)
    result = replace(result, failed=_say_failed(call.tool, shown, result.exit_code))
    yield news_of(runs.conclude(call, result), read)
    yield _stops_below(event, called, runs)


def _read_result(shown: str, *, failed: bool | None = None) -> tuple[HostResult, str]:
    # What is judged, and what the agent reads of it: the digest of a shell prefix would be a class of its own.
    read, exit_code, file = undecorate(HOST, shown)
    return HostResult(text=read_saved(file) or read, failed=failed, exit_code=exit_code), read


def _say_failed(tool: str, shown: str, exit_code: int | None) -> bool | None:
    # No flag stands in a batch. Of a command that ended with 0 nothing was reported before.
    if shown.startswith(_REJECTED_UNSEEN):
        return True
    return False if tool == _COMMANDS and exit_code is None else None


def _stops_below(event: Event, called: Event, runs: HostRuns) -> str:
    if name_of(called, "tool_name") not in _OF_SUB_AGENTS:
        return ""
    return _describe_stops(event, content_of(called.get("tool_response")), called.get("tool_response"), runs)


def _describe_stops(event: Event, text: str, response: object, runs: HostRuns) -> str:
    # A sub-agent that was stopped reports nothing: its reason has to reach the agent that waits for it.
    named = name_of(as_record(response), "agentId")
    found = [named, *(match["id"] for match in _AGENT_ID.finditer(text))]
    agents = list(dict.fromkeys(filter(None, found)))[:_MAX_AGENTS]
    session = name_of(event, "session_id")
    verdicts = {agent: runs.verdict(f"{session}/{agent}") for agent in agents}
    return join(
        *(
            f"errcompact has stopped the sub-agent {agent}: {explain_stop(verdict.escalation, verdict.reason)}"
            for agent, verdict in verdicts.items()
            if verdict.stopped
        )
    )


def _on_prompt(event: Event, runs: HostRuns) -> Output:
    prompt = text_of(event, "prompt")
    if not name_of(event, "agent_id"):  # the prompt of a sub-agent is written by a model
        take_prompt(_run_id(event), prompt, runs)
    stops = _describe_stops(event, prompt, None, runs) if "<task-id>" in prompt else ""
    stop = stop_of(_run_id(event), runs)
    return _add("UserPromptSubmit", stops, stop and f"errcompact: {stop}")


def _on_start(event: Event, runs: HostRuns) -> Output:
    stop = stop_of(_run_id(event), runs)
    return _add("SessionStart", stop and f"errcompact: {stop}")


def _on_end(event: Event, runs: HostRuns) -> Output:
    runs.end(_run_id(event))
    return {}


def _on_sub_agent_end(event: Event, runs: HostRuns) -> Output:
    # An older host does not say which one has ended: then it must not be the session.
    return _on_end(event, runs) if name_of(event, "agent_id") else {}


def _read_call(event: Event, called: Event) -> HostCall | None:
    call = read_call({**event, **called}, host=HOST, run_id=_run_id(event))
    return replace(call, says_turns=True) if call is not None and call.call_id else None


def _run_id(event: Event) -> str:
    return "/".join(filter(None, (name_of(event, "session_id"), name_of(event, "agent_id"))))


def _add(hook: str, *texts: str) -> Output:
    added = join(*texts)
    return output_for(hook, additionalContext=added) if added else {}


_RESPONSES: Final[Mapping[str, Callable[[Event, HostRuns], Output]]] = {
    "PreToolUse": _before,
    "PostToolUse": _after_success,
    "PostToolUseFailure": _after_failure,
    "PostToolBatch": _after_batch,
    "UserPromptSubmit": _on_prompt,
    "SessionStart": _on_start,
    "SessionEnd": _on_end,
    "SubagentStop": _on_sub_agent_end,
}
