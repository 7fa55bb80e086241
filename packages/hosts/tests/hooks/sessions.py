"""Events of hosts, as they were recorded, and sessions put together from them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

Event = dict[str, Any]

RECORDED = Path(__file__).parents[1] / "recorded"
RECORDED_HOSTS = ("claude-code", "codex", "copilot", "gemini", "opencode")
FAILING = "python3 orders.py"
FINE = "python3 fine.py"

CURSOR_CALL: Event = {
    "conversation_id": "c1",
    "generation_id": "g1",
    "cursor_version": "2026.09.18",
    "workspace_roots": ["/home/ann/shop"],
    "tool_name": "Shell",
    "tool_use_id": "t1",
    "cwd": "/home/ann/shop",
}
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/home/ann/shop/orders.py", line 6, in <module>\n'
    "    print(total({'id': 4711}))\nKeyError: 'lines'"
)


def recorded(host: str) -> list[Event]:
    """All recorded events of a host, in their order, as its hook hands them to the service."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((RECORDED / host).glob("*.json"))]
    parents: dict[str, str] = {}
    return [event for each in found if (event := from_plugin(each, parents) if host == "opencode" else each)]


def from_plugin(seen: Event, parents: dict[str, str]) -> Event:
    """What our plugin makes of what OpenCode gives it; empty where it reports nothing."""
    given, made = seen.get("input", {}), seen.get("output", {})
    info = seen.get("event", {}).get("properties", {}).get("info", {})
    if info.get("parentID"):
        parents[info["id"]] = info["parentID"]
    if "callID" in given:
        kind = "after" if "output" in made else "before"
        shared = {"directory": "/home/ann/shop", "parentID": parents.get(given["sessionID"]), "args": made.get("args")}
        return {"event": kind, **shared, **given, **made}
    part = seen.get("event", {}).get("properties", {}).get("part", {})
    if part.get("state", {}).get("status") != "error":
        return {}
    call = {"tool": part["tool"], "callID": part["callID"], "args": part["state"]["input"]}
    return {"event": "error", "sessionID": part["sessionID"], **call, "error": part["state"]["error"]}


def before(host: str, command: str, number: int) -> Event:
    """The event before a call of the shell."""
    return _numbered(_find(host, command, is_after=False), number)


def after(host: str, command: str, number: int) -> Event:
    """The event after a call of the shell; Codex says how it ended in the text, in one of its two shapes."""
    event = _numbered(_find(host, command, is_after=True), number)
    if host == "codex" and command == FAILING:
        event["tool_response"] = f"Exit code: 1\nWall time: 0.1 seconds\nOutput:\n{event['tool_response']}"
    return event


def _find(host: str, command: str, *, is_after: bool) -> Event:
    if host == "cursor":
        call = {**CURSOR_CALL, "tool_input": {"command": command}}
        if not is_after:
            return {**call, "hook_event_name": "preToolUse"}
        if command == FINE:
            return {**call, "hook_event_name": "postToolUse", "tool_output": "3 orders, all paid"}
        return {**call, "hook_event_name": "postToolUseFailure", "error_message": TRACEBACK, "failure_type": "error"}
    results = {"error", "tool_response", "toolResult", "output"}
    return next(
        event
        for event in recorded(host)
        if json.dumps(command) in json.dumps(event)
        and "tool_calls" not in event
        and bool(results & event.keys()) == is_after
    )


def _numbered(event: Event, number: int) -> Event:
    event = copy.deepcopy(event)
    for name in ("tool_use_id", "callID"):
        if name in event:
            event[name] = f"call_{number}"
    return event


def batch(*events: Event, text: str = "") -> Event:
    """The event of Claude Code after the calls of a turn."""
    names = ("session_id", "transcript_path", "cwd", "permission_mode", "agent_id", "agent_type")
    calls = [
        {
            "tool_name": event["tool_name"],
            "tool_input": event["tool_input"],
            "tool_use_id": event["tool_use_id"],
            "tool_response": text or event.get("error") or event["tool_response"],
        }
        for event in events
    ]
    shared = {name: events[0][name] for name in names if name in events[0]}
    return {**shared, "hook_event_name": "PostToolBatch", "tool_calls": calls}


def succeed(host: str, number: int) -> Event:
    """The event that brings a success of the shell; Claude Code's batch does."""
    event = after(host, FINE, number)
    return batch(event, text="3 orders, all paid") if host == "claude-code" else event
