"""
Cline: what the user of a task has seen (`ui_messages.json`).

What the model was shown is in the file beside it, `api_conversation_history.json`, which is a chat, and counts where
both are there. Here a call is what Cline asked to do or did, and its result the output or the error after it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_lab.transcripts.records import fields_of, items_of
from otel_errcompact_lab.transcripts.records import records as records_in
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.records import Place, Record
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "cline"
FILE: Final = "ui_messages.json"
MODEL_FILE: Final = "api_conversation_history.json"

_COMMAND: Final = "execute_command"
_MCP: Final = "use_mcp_tool"
_CALLS: Final = {"command": _COMMAND, "tool": "tool", "use_mcp_server": _MCP}
_ERRORS: Final = frozenset({"clineignore_error", "diff_error", "error"})
_SPOKEN: Final = frozenset({"completion_result", "followup", "plan_mode_respond", "task", "text", "user_feedback"})
_APPROVAL: Final = "REQ_APP"
"""What stands behind a command that needs approval."""

_INCOMPLETE: Final = lazy_pattern(r"Cline tried to use (?P<tool>\w{1,60})\b")
_NS: Final = 1_000_000


def detect(value: object) -> bool:
    """Recognise the list of messages."""
    return any(_is_message(item) for item in items_of(value)[:1])


def read(values: Values) -> Runs:
    """Read each list as a run."""
    for value, place in values:
        task = _Task(place)
        for message in records_in(items_of(value), place):
            if message.fields.get("partial") is not True:
                task.take(message)
        yield task.run()


def _is_message(value: object) -> bool:
    fields = fields_of(value)
    kind = fields.get("type")
    return "ts" in fields and kind in ("ask", "say") and isinstance(fields.get(str(kind)), str)


@dataclass(slots=True)
class _Task:
    place: Place
    builder: RunBuilder = field(default_factory=RunBuilder)
    tool: str = ""
    """The tool of the call that is under way."""

    output: list[str] = field(default_factory=list[str])

    def run(self) -> RecordedRun:
        if self.output:
            self.answer("\n".join(self.output), None)
        return self.builder.build(self.place.stem, AGENT, self.place.path)

    def take(self, message: Record) -> None:
        kind, text, time_ns = message.text(message.text("type")), message.text("text"), _time_of(message)
        if kind in _CALLS:
            self.settle(time_ns)
            self.request(kind, text, time_ns)
        elif kind == "command_output":
            self.output += [text] if text else []
        elif kind == "mcp_server_response":
            self.answer(text, time_ns)
        elif kind in _ERRORS:
            self.fail(text, time_ns)
        elif kind == "api_req_started":
            self.settle(time_ns)
        elif kind in _SPOKEN:
            self.builder.say(text)

    def request(self, kind: str, text: str, time_ns: int | None) -> None:
        self.tool, arguments = _CALLS[kind], text
        if kind == "command":
            arguments = json.dumps({"command": text.removesuffix(_APPROVAL)}, ensure_ascii=False)
        else:
            self.tool = _name_in(text) or self.tool
        self.builder.request("", tool=self.tool, arguments=arguments, time_ns=time_ns)

    def settle(self, time_ns: int | None) -> None:
        """Answer the open call: the model went on without an error."""
        if self.output or self.tool == _COMMAND:
            self.answer("\n".join(self.output), time_ns)
        elif self.tool:
            self.answer("", time_ns, flagged=False)

    def fail(self, text: str, time_ns: int | None) -> None:
        incomplete = _INCOMPLETE.match(text)
        if incomplete is not None:
            self.settle(time_ns)
            self.tool = incomplete["tool"]
            self.builder.request("", tool=self.tool, arguments="", time_ns=time_ns)
        if self.tool:
            self.answer("\n".join((*self.output, text)), time_ns, flagged=True)

    def answer(self, result: str, time_ns: int | None, *, flagged: bool | None = None) -> None:
        self.builder.answer("", tool=self.tool, result=result, flagged=flagged, time_ns=time_ns)
        self.tool, self.output = "", []


def _name_in(text: str) -> str:
    try:
        fields = fields_of(json.loads(text))
    except (ValueError, RecursionError):
        return ""
    name = fields.get("toolName") or fields.get("tool")
    return name if isinstance(name, str) else ""


def _time_of(message: Record) -> int | None:
    milliseconds = message.integer("ts", minimum=0, maximum=2**43)
    return None if milliseconds is None else milliseconds * _NS
