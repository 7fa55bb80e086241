"""Write calls of a host's shell as the events that were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.hooks.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact_hosts.hooks.profile import Kind

    Fields = Mapping[str, object]

COMMAND: Final = "python3 orders.py"
_FRAMES: Final = "".join(
    f'  File "/srv/shop/orders.py", line {line}, in totals\n    return {{**totals(order["parts"]), **priced(order)}}\n'
    for line in range(14, 40)
)
OUTPUT: Final = f"reading orders\nTraceback (most recent call last):\n{_FRAMES}KeyError: 'lines'"
"""Longer than what stays whole, so that a digest takes its place."""


class Event(NamedTuple):
    """An event, and the name under which the host has it."""

    name: str
    fields: Fields


_FAILS_APART: Final = frozenset({"claude-code", "cursor"})
"""Hosts with an event of its own for a command that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A session of a host."""

    host: str
    session: str
    folder: str = ""
    """Where Codex would keep the transcript that tells the exit status."""

    directory: str = "/srv/shop"

    def before(self, number: int) -> Event:
        """Return the event before the failing command."""
        return self._write_event(number, "before")

    def after(self, number: int) -> Event:
        """Return the event after it."""
        name, fields = self._write_event(number, "failure" if self.host in _FAILS_APART else "after")
        return Event(name, {**fields, **self._result(number)})

    def batch(self, *numbers: int) -> Event:
        """Return the event of Claude Code after all calls of a message."""
        shared = {
            name: value for name, value in self._write_call(0, "PostToolBatch").items() if not name.startswith("tool_")
        }
        calls = [
            {**{name: value for name, value in self._write_call(number, "").items() if name.startswith("tool_")},
             "tool_response": f"Exit code 1\n{OUTPUT}"}
            for number in numbers
        ]  # fmt: skip
        return Event("PostToolBatch", {**shared, "tool_calls": calls})

    def _write_event(self, number: int, kind: Kind) -> Event:
        name = next(name for name, found in PROFILES[self.host].events.items() if found == kind)
        return Event(name, self._write_call(number, name))

    def _write_call(self, number: int, event: str) -> Fields:
        arguments, call_id = {"command": COMMAND}, f"{self.session}-{number}"
        if self.host == "opencode":
            call = {"tool": "bash", "callID": call_id, "args": arguments}
            return {"event": event, "sessionID": self.session, "directory": self.directory, **call}
        if self.host == "copilot":
            call = {"toolName": "bash", "toolArgs": arguments}
            return {"sessionId": self.session, "timestamp": 1_795_747_804_622, "cwd": self.directory, **call}
        shared: dict[str, object] = {"hook_event_name": event, "cwd": self.directory, "tool_input": arguments}
        if self.host == "cursor":
            ids = {"conversation_id": self.session, "generation_id": "1", "tool_use_id": call_id}
            return {**shared, **ids, "cursor_version": "2026.09.18", "tool_name": "Shell"}
        shared["session_id"] = self.session
        if self.host == "gemini":
            return {**shared, "timestamp": "2026-11-22T10:00:00.000Z", "tool_name": "run_shell_command"}
        return {**shared, "permission_mode": "default", "tool_name": "Bash", "tool_use_id": call_id}

    def _result(self, number: int) -> Fields:
        if self.host == "claude-code":
            return {"error": f"Exit code 1\n{OUTPUT}", "is_interrupt": False}
        if self.host == "codex":
            item = {"type": "CommandExecution", "id": f"{self.session}-{number}", "exit_code": 1}
            transcript = Path(self.folder, "rollout-2026-11-30T10-00-00-00000000-0000-4000-8000-000000000000.jsonl")
            transcript.write_text(json.dumps({"payload": {"item": item}}, separators=(",", ":")), encoding="utf-8")
            return {"tool_response": f"{OUTPUT}\n", "transcript_path": str(transcript)}
        if self.host == "copilot":
            text = f"{OUTPUT}\n<shellId: 0 completed with exit code 1>"
            return {"toolResult": {"resultType": "success", "textResultForLlm": text}}
        if self.host == "cursor":
            return {"error_message": OUTPUT, "failure_type": "error"}
        if self.host == "gemini":
            text = (
                f"<untrusted_context>\nOutput: {OUTPUT}\nExit Code: 1\nProcess Group PGID: 11780\n</untrusted_context>"
            )
            return {"tool_response": {"llmContent": text, "returnDisplay": OUTPUT}}
        return {"output": f"{OUTPUT}\n", "metadata": {"exit": 1}}
