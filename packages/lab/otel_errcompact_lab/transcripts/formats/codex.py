"""
Codex: a session as JSON lines (a rollout).

A record is `{"timestamp", "type", "payload"}`, or in older files the item itself.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_lab.transcripts.records import Record, documents, fields_of, is_object, items_of, kind_of
from otel_errcompact_lab.transcripts.responses_items import Answer, answer_of, is_item, take_answer, take_item
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "codex"

_WRAPPERS: Final = frozenset({"compacted", "event_msg", "response_item", "session_meta", "turn_context"})
_ITEM_TEXTS: Final = frozenset({"input_image", "input_text", "output_text"})
"""Kinds of a message's parts that other interfaces do not have."""

_HEADER: Final = lazy_pattern(
    r"(?:(?:Chunk ID|Wall time|Original token count|Total output lines):?[^\n]{0,200}\n){0,4}"
    r"(?:Process exited with code|Exit code:) (-?[0-9]{1,9})\n"
)
"""The lines that stand over the output of a command, up to the exit status."""

_STATUS_LENGTH: Final = 1_000


def detect(value: object) -> bool:
    """Recognise a record of a rollout, or an item alone."""
    fields = fields_of(value)
    if kind_of(fields) in _WRAPPERS:
        return is_object(fields.get("payload"))
    if kind_of(fields) == "message":
        return any(kind_of(part) in _ITEM_TEXTS for part in items_of(fields.get("content"))[:1])
    return is_item(value) or fields.get("record_type") == "state"


def read(values: Values) -> Runs:
    """Read the rollouts of a file, of which there may be several."""
    session: _Session | None = None
    for line in documents(values):
        session = session or _Session(line)
        if session.is_over(line):
            yield session.run()
            session = _Session(line)
        session.take(line)
    if session is not None and session.is_used:
        yield session.run()


@dataclass(slots=True)
class _Session:
    first: Record
    name: str = ""
    ancestors: set[str] = field(default_factory=set[str])
    """Sessions this one was forked from, whose records stand in this file as well."""

    outcomes: dict[str, Answer] = field(default_factory=dict[str, Answer])
    """What the ends of calls said, until the answers come, by call."""

    builder: RunBuilder = field(default_factory=RunBuilder)
    is_used: bool = False

    def run(self) -> RecordedRun:
        place = self.first.place
        return self.builder.build(self.name or place.stem, AGENT, place.path)

    def is_over(self, line: Record) -> bool:
        """Tell whether another session begins."""
        name = _name_of(line)
        return bool(name and self.name) and name != self.name and name not in self.ancestors

    def take(self, line: Record) -> None:
        kind = line.text("type")
        name = _name_of(line)
        if name:
            self.name = self.name or name
            self.ancestors.add(line.child("payload").text("forked_from_id"))
        elif kind in _WRAPPERS:
            self.is_used = True
            self.take_payload(kind, line.child("payload"), line)
        elif is_item(line.fields):
            self.is_used = True
            self.take_item(line, line)

    def take_payload(self, kind: str, payload: Record, line: Record) -> None:
        if kind == "response_item":
            self.take_item(payload, line)
        elif kind == "compacted":
            self.builder.say(payload.text("message"))
        elif kind == "event_msg":
            self.take_event(payload)

    def take_item(self, item: Record, line: Record) -> None:
        number, time_ns = line.place.line, line.time("timestamp")
        if not item.text("type").endswith("_output"):
            take_item(item, self.builder, line=number, time_ns=time_ns)
            return
        answer = _unwrap_output(answer_of(item))
        outcome = self.outcomes.pop(answer.call_id, Answer())
        answer = dataclasses.replace(
            answer,
            flagged=outcome.flagged if answer.flagged is None else answer.flagged,
            exit_code=outcome.exit_code if answer.exit_code is None else answer.exit_code,
        )
        take_answer(answer, self.builder, line=number, time_ns=time_ns)

    def take_event(self, event: Record) -> None:
        kind, call_id = event.text("type"), event.text("call_id")
        if kind == "exec_command_end":
            self.outcomes[call_id] = Answer(exit_code=event.integer("exit_code"))
        elif kind == "patch_apply_end":
            success = event.flag("success")
            self.outcomes[call_id] = Answer(flagged=None if success is None else not success)
        elif kind == "mcp_tool_call_end":
            self.outcomes[call_id] = Answer(flagged=_flagged_by_mcp(event.child("result")))


def _name_of(line: Record) -> str:
    # Only the first record of a rollout holds the session's id.
    kind = line.text("type")
    if kind == "session_meta":
        return line.child("payload").text("id")
    return "" if kind or "record_type" in line.fields else line.text("id")


def _unwrap_output(answer: Answer) -> Answer:
    # Older versions wrote the exit status beside the output, `{"output", "metadata": {"exit_code"}}`, newer ones above
    # it. The header stays, since the model saw it.
    if answer.result.startswith('{"output":'):
        try:
            wrapped: object = json.loads(answer.result)
        except (ValueError, RecursionError):
            return answer
        output = fields_of(wrapped).get("output")
        code = fields_of(fields_of(wrapped).get("metadata")).get("exit_code")
        if isinstance(output, str):
            return dataclasses.replace(answer, result=output, exit_code=code if type(code) is int else None)
    header = _HEADER.match(answer.result[:_STATUS_LENGTH])
    return dataclasses.replace(answer, exit_code=int(header[1])) if header else answer


def _flagged_by_mcp(result: Record) -> bool | None:
    # Rust writes `{"Ok": {"isError"}}` or `{"Err": "..."}`.
    if "Err" in result.fields:
        return True
    done = result.child("Ok")
    return done.flag("isError") if "isError" in done.fields else done.flag("is_error")
