"""The hosts, a row each, and how they say what calls return."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.installation.install import current_ledger
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_hosts.calls import HostResult
from otel_errcompact_hosts.hooks import claude_code
from otel_errcompact_hosts.hooks.background import conclude_tasks
from otel_errcompact_hosts.hooks.gate import join_texts, news_of
from otel_errcompact_hosts.hooks.profile import Profile, Seen, add_context, after_call, answer_event, read_shown
from otel_errcompact_hosts.hooks.saved_output import find_command
from otel_errcompact_hosts.payloads import (
    CallFields,
    as_record,
    content_of,
    name_of,
    number_of,
    open_envelope,
    record_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.runtime.guard import Guard
    from otel_errcompact_hosts.hooks.profile import Event, Kind, Output, Verdict
    from otel_errcompact_hosts.runs import LedgerRuns


# --- Codex: its hooks cannot stop a run, so that every further call of a stopped one is refused.


def _read_codex(event: Event, _: Kind) -> Seen:
    ended = find_command(text_of(event, "transcript_path"), name_of(event, "tool_use_id"))
    seen = read_shown("codex", content_of(event.get("tool_response")), exit_code=number_of(ended, "exit_code"))
    # Of a command that has yielded before, the event brings its last lines alone.
    return seen._replace(result=replace(seen.result, text=text_of(ended, "aggregated_output") or seen.result.text))


def _write_codex(_: Event, seen: Seen, verdict: Verdict) -> Output:
    # What replaces a result takes its exit status away: the digest must have it.
    if verdict.replaces and seen.result.exit_code is not None:
        return {"decision": "block", "reason": verdict.write_digest(seen)}
    return add_context("PostToolUse", news_of(verdict.answer, seen.read))


# --- Copilot CLI: a command that failed is a success with its status in the text; a failed tool of MCP takes additions.

_RESULT: Final = ("toolResult", "tool_result")
_TEXT: Final = ("textResultForLlm", "text_result_for_llm")
_TYPE: Final = ("resultType", "result_type")
_DENIED: Final = frozenset({"denied", "rejected"})
"""Kinds of results of calls that a hook, a rule or the user has declined."""


def _name_copilot_event(event: Event) -> str:
    # Events under the host's own names do not say which they are: their fields do. Those in the names of Claude Code go
    # to hooks that were registered under them.
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


def _read_copilot(event: Event, kind: Kind) -> Seen | None:
    result = record_of(event, *_RESULT)
    shown, said = text_of(result, *_TEXT), name_of(result, *_TYPE)
    if kind == "failure":
        shown, said = text_of(event, "error") or text_of(record_of(event, "error"), "message"), "failure"
    if said in _DENIED:
        return None
    return read_shown("copilot", shown, failed=said in {"failure", "timeout"})


def _write_copilot(event: Event, seen: Seen, verdict: Verdict) -> Output:
    answer = verdict.answer
    if verdict.kind == "failure":
        added = join_texts(news_of(answer, seen.read), verdict.find_stop())
        return {"additionalContext": added} if added else {}
    if not verdict.replaces:
        return {"additionalContext": answer.beside} if answer.beside else {}
    result = record_of(event, *_RESULT)
    # Everything else of the result stays what it is: the host drops one that lacks its type.
    changed = {
        _name_in(result, _TYPE): name_of(result, *_TYPE) or "success",
        _name_in(result, _TEXT): verdict.write_digest(seen),
    }
    return {"modifiedResult": {**result, **changed}}


def _name_in(result: Event, names: tuple[str, ...]) -> str:
    return next((name for name in names if name in result), names[0])


# --- Cursor: replaces results of MCP servers, else adds. Read in a specification of others, not tried.

MAX_CONTEXT: Final = 10_000
"""Characters of added context; Cursor drops one that is longer."""

_DECLINED_BY_CURSOR: Final = frozenset({"permission_denied", "interrupted", "aborted"})


def _read_cursor(event: Event, kind: Kind) -> Seen | None:
    failed = kind == "failure"
    if failed and (name_of(event, "failure_type") in _DECLINED_BY_CURSOR or event.get("is_interrupt")):
        return None
    shown = content_of(event.get("tool_output", event.get("tool_response")))
    shown = text_of(event, "error_message", "error") if failed else shown
    return read_shown("cursor", shown, failed=failed, exit_code=number_of(event, "exit_code") if failed else None)


def _write_cursor(_: Event, seen: Seen, verdict: Verdict) -> Output:
    answer, failed = verdict.answer, verdict.kind == "failure"
    if verdict.replaces and not failed and verdict.call.tool.lower().startswith("mcp"):
        replaced = [{"type": "text", "text": verdict.write_digest(seen)}]
        return {"updated_mcp_tool_output": {"content": replaced, "isError": True}}
    stop = verdict.find_stop() if failed or answer.outcome == "failure" else ""
    added = join_texts(news_of(answer, seen.read), stop)
    return {"additional_context": added[:MAX_CONTEXT]} if added else {}


# --- Gemini CLI: the hooks see the whole output, and an exit status other than 0 is a success.

_SIGNAL: Final = lazy_pattern(r"(?m)^Signal: [0-9A-Z]\w{0,20}$")
_NOT_EXECUTED: Final = frozenset({"policy_violation", "execution_denied", "cancelled", "user_cancelled"})
"""Kinds of errors of calls that a hook, a rule or the user has declined."""


def _read_gemini(event: Event, _: Kind) -> Seen | None:
    response = record_of(event, "tool_response")
    error, said = response.get("error"), content_of(response.get("llmContent"))
    # Of a file that is not there only the message says which one.
    shown = (error if isinstance(error, str) else text_of(as_record(error), "message")) or said
    if name_of(as_record(error), "type") in _NOT_EXECUTED:
        return None
    seen = read_shown("gemini", shown)
    # Of a command that ended with 0 no status is told, of one that was ended from outside its signal.
    signal = _SIGNAL.search(shown)
    failed = bool(error) or (None if signal is not None else bool(seen.result.exit_code))
    result = replace(seen.result, text=open_envelope(seen.result.text), failed=failed)
    return seen._replace(result=result, signal=signal[0] if signal is not None else "")


def _write_gemini(_: Event, seen: Seen, verdict: Verdict) -> Output:
    answer, stop = verdict.answer, verdict.find_stop()
    if stop:
        return {"continue": False, "stopReason": join_texts(answer.text, answer.guidance, f"errcompact: {stop}")}
    if verdict.replaces:
        return {"decision": "deny", "reason": verdict.write_digest(seen)}
    return add_context("AfterTool", answer.guidance)


def _after_gemini(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    if name_of(event, "tool_name") != "list_background_processes":
        return after_call(host, event, runs, "after")
    text = content_of(record_of(event, "tool_response").get("llmContent"))
    return add_context("AfterTool", conclude_tasks("gemini", host.find_run(event), text, runs))


# --- OpenCode: our plugin in its process does what the answer says, and learns of an error when the agent has read it.

_DECLINED_BY_OPENCODE: Final = (
    "The user rejected permission",
    "The user has specified a rule which prevents",
    "Tool execution aborted",
)
"""How an error begins that is none: a person or a rule has declined, or the run was interrupted."""


def _read_opencode(event: Event, kind: Kind) -> Seen | None:
    if kind == "failure":
        shown = text_of(event, "error")
        if shown.removeprefix("Error: ").startswith(_DECLINED_BY_OPENCODE):
            return None
        return Seen(shown, shown, HostResult(text=shown, failed=True), is_read=False)
    shown = text_of(event, "output")
    metadata = record_of(event, "metadata")
    exit_code = number_of(metadata, "exit")
    # A command that was ended from outside has a status without a value.
    failed = None if exit_code is None and "exit" in metadata else bool(exit_code)
    # The plugin has no channel beside a result: what a human has answered waits for one that failed.
    return read_shown("opencode", shown, failed=failed, exit_code=exit_code)._replace(is_read=bool(exit_code))


def _write_opencode(_: Event, seen: Seen, verdict: Verdict) -> Output:
    return {"output": verdict.write_digest(seen)} if verdict.kind == "after" and verdict.replaces else {}


PROFILES: Final[Mapping[str, Profile]] = {
    profile.name: profile
    for profile in (
        claude_code.PROFILE,
        Profile(
            name="codex",
            events={
                "PreToolUse": "before",
                "PostToolUse": "after",
                "UserPromptSubmit": "prompt",
                "SessionStart": "start",
                "SubagentStop": "agent_end",
                "SessionEnd": "end",
            },
            # Never `ask`: Codex drops an answer with it, and executes the call.
            refuse=claude_code.write_refusal,
            read=_read_codex,
            write=_write_codex,
        ),
        Profile(
            name="copilot",
            events={
                "preToolUse": "before",
                "postToolUse": "after",
                "postToolUseFailure": "failure",
                "sessionStart": "start",
                "userPromptSubmitted": "prompt",
                "sessionEnd": "end",
            },
            refuse=lambda reason: {"permissionDecision": "deny", "permissionDecisionReason": reason},
            read=_read_copilot,
            write=_write_copilot,
            name_event=_name_copilot_event,
            # A sub-agent has a session of its own, and names the one that it works for.
            run=(("parentAgentId",), ("sessionId", "session_id")),
            agent="parentAgentId",
            call=CallFields(
                tool=("toolName", "tool_name"),
                arguments=("toolArgs", "tool_input", "toolInput"),
                call_id=("toolCallId", "tool_use_id"),
                agent=("agentType",),
                directory=("cwd", "workingDirectory"),
            ),
            says_stops=False,
        ),
        Profile(
            name="cursor",
            events={
                "preToolUse": "before",
                "postToolUse": "after",
                "postToolUseFailure": "failure",
                "beforeSubmitPrompt": "prompt",
                "sessionEnd": "end",
            },
            refuse=lambda reason: {"permission": "deny", "user_message": reason, "agent_message": reason},
            read=_read_cursor,
            write=_write_cursor,
            run=(("conversation_id", "session_id"),),
            agent="",
            call=CallFields(agent=("subagent_type",)),
            says_stops=False,
        ),
        Profile(
            name="gemini",
            events={
                "BeforeTool": "before",
                "AfterTool": "after",
                "BeforeAgent": "prompt",
                "SessionStart": "start",
                "SessionEnd": "end",
            },
            refuse=lambda reason: {"decision": "deny", "reason": reason},
            read=_read_gemini,
            write=_write_gemini,
            run=(("session_id",),),
            agent="",
            own={"after": _after_gemini},
        ),
        Profile(
            name="opencode",
            events={
                "before": "before",
                "after": "after",
                "error": "failure",
                "turn": "turn",
                "prompt": "prompt",
                "end": "end",
            },
            refuse=lambda reason: {"refuse": reason},
            read=_read_opencode,
            write=_write_opencode,
            name_event=lambda event: name_of(event, "event"),
            run=(("parentID",), ("sessionID",)),
            agent="parentID",
            call=CallFields(
                tool=("tool",), arguments=("args",), call_id=("callID",), agent=("agent",), directory=("directory",)
            ),
            says_stops=False,
        ),
    )
}
"""By the name that the command line and the service take."""
HOSTS: Final = tuple(PROFILES)
"""The names of the hosts, as the command line and the service take them."""

STAGE: Final = "hook"
"""Where the guard counts faults of ours."""


def answer(
    host: str, event: Mapping[str, object], runs: LedgerRuns, *, guard: Guard | None = None
) -> dict[str, object]:
    """
    Return a host's own JSON answer to an event of its hooks.

    Args:
        host: The host's name, one of `HOSTS`.
        event: What the host has written; fields that are missing or odd count as empty.
        runs: The runs of all hosts.
        guard: Counts faults of ours, which the host never sees; that of the current ledger if None.

    Returns:
        The answer; empty where there is nothing to say, and then the host does what it does without us.

    Raises:
        ConfigurationError: There is no such host.
    """
    profile = PROFILES.get(host)
    if profile is None:
        raise ConfigurationError(f"there are no hooks for the host {host!r}; the hosts are {', '.join(HOSTS)}")
    guard = current_ledger().guard if guard is None else guard
    with guard.stage(STAGE):
        return answer_event(profile, event, runs)
    return {}
