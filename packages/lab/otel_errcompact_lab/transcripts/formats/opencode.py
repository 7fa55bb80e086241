"""
OpenCode: a session as `opencode export` writes it.

A message is `{"info", "parts"}`; a part of kind `tool` holds a call with its result. What a sub-agent did is in the
export of its own session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import documents, fields_of, items_of
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.records import Record
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "opencode"

_FLAGS: Final = {"completed": False, "error": True}
"""Statuses of calls that are over."""

_NS: Final = 1_000_000


def detect(value: object) -> bool:
    """Recognise a session with its messages."""
    fields = fields_of(value)
    return "info" in fields and any("parts" in fields_of(message) for message in items_of(fields.get("messages"))[:1])


def read(values: Values) -> Runs:
    """Read each document as a run."""
    for session in documents(values):
        builder = RunBuilder()
        for message in session.children("messages"):
            for part in message.children("parts"):
                _take_part(part, builder)
        run_id = session.child("info").text("id") or session.place.stem
        yield builder.build(run_id, AGENT, session.place.path)


def _take_part(part: Record, builder: RunBuilder) -> None:
    kind = part.text("type")
    if kind == "text":
        builder.say(part.text("text"))
    if kind != "tool":
        return
    state, call_id = part.child("state"), part.text("callID")
    flagged, time = _FLAGS.get(state.text("status")), state.child("time")
    builder.request(
        call_id, tool=part.text("tool"), arguments=state.json("input"), time_ns=time.unix_time("start", _NS)
    )
    if flagged is not None:
        builder.answer(
            call_id,
            result=state.text("error" if flagged else "output"),
            flagged=flagged,
            exit_code=state.child("metadata").integer("exit"),
            time_ns=time.unix_time("end", _NS),
        )
