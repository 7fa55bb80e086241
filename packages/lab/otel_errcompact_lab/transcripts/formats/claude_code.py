"""
Claude Code: a session as JSON lines, one record a line.

Read are `user` and `assistant` records. `progress` records, often the majority, embed whole messages of sub-agents that
stand in files of their own, so reading them would count errors twice. Sidechains (sub-agents) are runs of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import Record, documents, fields_of
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "claude-code"


def detect(value: object) -> bool:
    """Recognise a session's record."""
    fields = fields_of(value)
    kind = fields.get("type")
    return isinstance(kind, str) and ("sessionId" in fields or "leafUuid" in fields or kind == "file-history-snapshot")


def read(values: Values) -> Runs:
    """
    Read each session's main chain, then its sidechains, as runs.

    A session ends with the file, or where the next one begins.
    """
    session = _Session("")
    for entry in documents(values):
        session_id = entry.text("sessionId")
        if session_id and session_id != session.session_id:
            yield from session.runs()
            session = _Session(session_id)
        session.take(entry)
    yield from session.runs()


@dataclass(slots=True)
class _Session:
    session_id: str
    source: str = ""

    builders: dict[str, RunBuilder] = field(default_factory=dict[str, RunBuilder])
    """By chain: empty for the main one, else the sub-agent's id."""

    seen: set[tuple[str, str]] = field(default_factory=set["tuple[str, str]"])
    """What was read, by kind and id; resumed sessions hold records twice."""

    roots: dict[str, str] = field(default_factory=dict[str, str])
    """Of sidechain records that name no agent: the first record of their chain."""

    def runs(self) -> Runs:
        for chain, builder in self.builders.items():
            run_id = f"{self.session_id}/{chain}" if chain else self.session_id
            yield builder.build(run_id, AGENT, self.source)

    def take(self, entry: Record) -> None:
        self.source = entry.place.path
        chain = self.chain_of(entry)
        if entry.text("type") not in {"user", "assistant"} or self.is_repeated("record", entry.text("uuid")):
            return
        builder = self.builders.setdefault(chain, RunBuilder())
        message = entry.child("message")
        if isinstance(message.fields.get("content"), str):
            builder.say(message.text("content"))
        else:
            time_ns = entry.time("timestamp")
            for block in message.children("content"):
                self.take_block(block, entry, builder, time_ns)

    def take_block(self, block: Record, entry: Record, builder: RunBuilder, time_ns: int | None) -> None:
        kind = block.text("type")
        call_id = block.text("tool_use_id" if kind == "tool_result" else "id")
        if self.is_repeated(kind, call_id):
            return
        if kind == "text":
            builder.say(block.text("text"))
        elif kind == "tool_use":
            builder.request_call(block, time_ns=time_ns)
        elif kind == "tool_result":
            builder.answer(
                call_id,
                result=block.prose("content"),
                line=entry.place.line,
                flagged=_read_flag(block, entry),
                time_ns=time_ns,
            )

    def chain_of(self, entry: Record) -> str:
        if not entry.flag("isSidechain"):
            return ""
        uuid = entry.text("uuid") or "sidechain"
        return entry.text("agentId") or self.roots.setdefault(uuid, self.roots.get(entry.text("parentUuid"), uuid))

    def is_repeated(self, kind: str, identity: str) -> bool:
        known = (kind, identity) in self.seen
        if identity:
            self.seen.add((kind, identity))
        return known


def _read_flag(block: Record, entry: Record) -> bool | None:
    # Without a flag a `toolUseResult` that is a text marks a failure, an object a success.
    flag = block.flag("is_error")
    outcome = entry.fields.get("toolUseResult")
    return isinstance(outcome, str) if flag is None and outcome is not None else flag
