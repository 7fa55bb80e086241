"""
Claude Code: refuse before, add beside a failure, stop after the batch.

A failed result cannot be replaced by a hook, so that the agent reads beside it only what is new. What it reads in
place of the output of a failed command comes from the shell prefix.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.engine.ladder import explain_stop
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_hosts.decorations import is_refused_by_hook
from otel_errcompact_hosts.hooks.background import conclude_tasks
from otel_errcompact_hosts.hooks.gate import join_texts, news_of, stop_of, take_prompt
from otel_errcompact_hosts.hooks.profile import Profile, add_context, read_shown
from otel_errcompact_hosts.payloads import as_records, content_of, name_of, output_for, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact_hosts.hooks.profile import Event, Kind, Output, Seen, Verdict
    from otel_errcompact_hosts.runs import LedgerRuns

NAME: Final = "claude-code"

_OF_OTHERS: Final = (
    *("cursor_version", "generation_id", "workspace_roots"),  # Cursor
    *("sessionId", "toolName", "tool_result", "timestamp"),  # Copilot
)
"""Fields of other hosts, which read the same settings file and have profiles of their own."""

_OF_SUB_AGENTS: Final = frozenset({"Agent", "Task"})
_AGENT_ID: Final = lazy_pattern(r"(?:\bagentId\"?: ?\"?|<task-id>)(?P<id>[\w-]{1,200})")
_MAX_AGENTS: Final = 16
_COMMANDS: Final = "Bash"
_REJECTED_UNSEEN: Final = "<tool_use_error>"
"""How the result of a call begins that fails before any hook but the batch's sees it."""


def write_refusal(reason: str) -> Output:
    """Write that a call is not to be executed, and why."""
    return output_for("PreToolUse", permissionDecision="deny", permissionDecisionReason=reason)


def _name_event(event: Event) -> str:
    is_of_another = any(name in event for name in _OF_OTHERS) or not name_of(event, "session_id")
    return "" if is_of_another else name_of(event, "hook_event_name")


def _read_failure(event: Event, _: Kind) -> Seen | None:
    return None if event.get("is_interrupt") else read_shown(NAME, text_of(event, "error"), failed=True)


def _write_news(_: Event, seen: Seen, verdict: Verdict) -> Output:
    return add_context("PostToolUseFailure", news_of(verdict.answer, seen.read))


def _after_batch(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    news = [text for called in as_records(event.get("tool_calls")) for text in _settle_call(host, event, called, runs)]
    run_id = host.find_run(event)
    runs.begin_turn(run_id)
    stop = stop_of(run_id, runs)
    if stop:
        return {"continue": False, "stopReason": join_texts(*news, f"errcompact: {stop}")}
    return add_context("PostToolBatch", join_texts(*news))


def _settle_call(host: Profile, event: Event, called: Event, runs: LedgerRuns) -> Iterator[str]:
    call, shown = host.read_call({**event, **called}), content_of(called.get("tool_response"))
    if call is None or is_refused_by_hook(shown):
        return
    # What is judged is not what the agent reads: the digest of a shell prefix would be a class of its own.
    seen = read_shown(NAME, shown)
    if seen.task:
        runs.announced.follow_task(call, seen.task, is_over=False)
        return
    result = replace(seen.result, failed=_say_failed(call.tool, shown, seen.result.exit_code))
    yield news_of(runs.conclude(call, result), seen.read)
    if call.tool in _OF_SUB_AGENTS:
        yield _describe_stops(event, shown, runs)


def _say_failed(tool: str, shown: str, exit_code: int | None) -> bool | None:
    # No flag stands in a batch. Of a command that ended with 0 nothing was reported before.
    if shown.startswith(_REJECTED_UNSEEN):
        return True
    return False if tool == _COMMANDS and exit_code is None else None


def _describe_stops(event: Event, text: str, runs: LedgerRuns) -> str:
    # A sub-agent that was stopped reports nothing: its reason has to reach the agent that waits for it.
    agents = list(dict.fromkeys(match["id"] for match in _AGENT_ID.finditer(text)))[:_MAX_AGENTS]
    session = name_of(event, "session_id")
    verdicts = {agent: runs.verdict(f"{session}/{agent}") for agent in agents}
    return join_texts(
        *(
            f"errcompact has stopped the sub-agent {agent}: {explain_stop(verdict.escalation, verdict.reason)}"
            for agent, verdict in verdicts.items()
            if verdict.stopped
        )
    )


def _on_prompt(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    prompt = text_of(event, "prompt")
    if not name_of(event, host.agent):  # the prompt of a sub-agent is written by a model
        take_prompt(host.find_run(event), prompt, runs)
    ended = stops = ""
    if "<task-id>" in prompt:
        ended = conclude_tasks(NAME, host.find_run(event), prompt, runs)
        runs.begin_turn(host.find_run(event))
        stops = _describe_stops(event, prompt, runs)
    stop = stop_of(host.find_run(event), runs)
    return add_context("UserPromptSubmit", join_texts(ended, stops, stop and f"errcompact: {stop}"))


PROFILE: Final = Profile(
    name=NAME,
    events={
        # The batch brings all that is needed of a success: one process less for each call.
        "PreToolUse": "before",
        "PostToolUseFailure": "failure",
        "PostToolBatch": "batch",
        "UserPromptSubmit": "prompt",
        "SessionStart": "start",
        "SubagentStop": "agent_end",
        "SessionEnd": "end",
    },
    refuse=write_refusal,
    read=_read_failure,
    write=_write_news,
    name_event=_name_event,
    says_turns=True,
    own={"batch": _after_batch, "prompt": _on_prompt},
)
