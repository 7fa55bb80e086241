"""
Gemini CLI: sessions below `~/.gemini/tmp/PROJECT/chats`.

One document with all messages, or JSON lines: the session first, then messages and changes (`$set`). A message that
grows is written again with its id, so the last one counts. Messages that were taken back (`$rewindTo`) did happen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import Record, documents, fields_of, is_list
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "gemini-cli"

_MODEL: Final = "gemini"
_FLAGS: Final = {"cancelled": None, "error": True, "success": False}
"""Statuses of calls that are over, and what they say of the outcome."""


def detect(value: object) -> bool:
    """Recognise the head of a session, or a whole one."""
    fields = fields_of(value)
    return isinstance(fields.get("sessionId"), str) and "projectHash" in fields


def read(values: Values) -> Runs:
    """Read the session as a run."""
    session: _Session | None = None
    for found in documents(values):
        session = session or _Session(found)
        session.take(found)
    if session is not None:
        yield session.run()


@dataclass(slots=True)
class _Session:
    head: Record
    messages: dict[str, Record] = field(default_factory=dict[str, Record])

    def take(self, found: Record) -> None:
        if "$set" in found.fields:
            found = found.child("$set")
        if is_list(found.fields.get("messages")):
            for message in found.children("messages"):
                self.keep(message)
        elif "type" in found.fields:
            self.keep(found)

    def keep(self, message: Record) -> None:
        self.messages[message.label("id") or f"#{len(self.messages)}"] = message

    def run(self) -> RecordedRun:
        builder = RunBuilder()
        began = self.head.time("startTime")
        if began is not None:
            builder.begin(began)
        for message in self.messages.values():
            _take_message(message, builder)
        return builder.build(self.head.text("sessionId") or self.head.place.stem, AGENT, self.head.place.path)


def _take_message(message: Record, builder: RunBuilder) -> None:
    kind, time_ns = message.text("type"), message.time("timestamp")
    if kind in ("user", _MODEL):  # all else only the user has seen
        builder.say(message.prose("content"))
    if kind == _MODEL:
        calls = list(message.children("toolCalls"))
        for call in calls:
            builder.request_call(call, time_ns=time_ns)
        for call in calls:
            _take_result(call, builder)


def _take_result(call: Record, builder: RunBuilder) -> None:
    status = call.text("status")
    said, is_error = _result_of(call)
    if status not in _FLAGS and not said:
        return
    builder.answer(
        call.text("id"),
        result=said,
        flagged=True if is_error and status != "cancelled" else _FLAGS.get(status),
        line=call.place.line,
        time_ns=call.time("timestamp"),
    )


def _result_of(call: Record) -> tuple[str, bool]:
    # With whether the model was answered an error.
    if not is_list(call.fields.get("result")):
        said = call.fields.get("result") or call.fields.get("resultDisplay")
        return said if isinstance(said, str) else "", False
    texts: list[str] = []
    is_error = False
    for part in call.children("result"):
        response = part.child("functionResponse").child("response") if "functionResponse" in part.fields else part
        key = next((name for name in ("error", "output", "text") if name in response.fields), "")
        is_error = is_error or key == "error"
        texts.append(response.json(key) if key else "")
    return "\n".join(filter(None, texts)), is_error
