"""
Copilot CLI: the events of a session as JSON lines.

An event is `{"type", "data", "id", "timestamp", "parentId"}`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_lab.transcripts.records import Record, documents, fields_of, is_object
from otel_errcompact_lab.transcripts.run_builder import RunBuilder, words_of

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "copilot-cli"

_KINDS: Final = lazy_pattern(
    r"(?:assistant|hook|permission|session|skill|subagent|system|tool|user)\.[a-z_.]{1,60}|abort"
)
_EXITED: Final = lazy_pattern(
    r"<(?:command with [^<>\n]{1,80} )?exited with exit code (-?[0-9]{1,9})[^<>\n]{0,80}>\s*\Z"
)
"""How the result of a command ends: the call itself succeeded, whatever the command did."""

_EXIT_LENGTH: Final = 300
_BEGINNINGS: Final = frozenset({"session.start", "session.resume"})


def detect(value: object) -> bool:
    """Recognise an event."""
    fields = fields_of(value)
    kind = fields.get("type")
    return isinstance(kind, str) and is_object(fields.get("data")) and _KINDS.fullmatch(kind) is not None


def read(values: Values) -> Runs:
    """Read each session's main chain, then its sub-agents, as runs."""
    session: _Session | None = None
    for event in documents(values):
        session_id = event.child("data").text("sessionId") if event.text("type") in _BEGINNINGS else ""
        if session is None or (session_id and session.session_id not in {"", session_id}):
            if session is not None:
                yield from session.runs()
            session = _Session(event.place.path, event.place.stem)
        session.session_id = session.session_id or session_id
        session.take(event)
    if session is not None:
        yield from session.runs()


@dataclass(slots=True)
class _Session:
    source: str
    stem: str
    session_id: str = ""

    builders: dict[str, RunBuilder] = field(default_factory=dict[str, RunBuilder])
    """By chain: empty for the main one, else the sub-agent's id."""

    outcome: str = ""
    succeeded: bool | None = None

    def runs(self) -> Runs:
        name = self.session_id or self.stem
        for chain, builder in self.builders.items():
            yield builder.build(
                f"{name}/{chain}" if chain else name,
                AGENT,
                self.source,
                outcome="" if chain else self.outcome,
                succeeded=None if chain else self.succeeded,
            )

    def take(self, event: Record) -> None:
        kind, data = event.text("type"), event.child("data")
        if kind == "session.task_complete":
            self.succeeded = data.flag("success")
            self.outcome = data.text("outcome") or words_of(self.succeeded)
        elif kind == "session.error":
            self.succeeded = False
            self.outcome = next(iter(data.text("message").splitlines()), "")
        else:
            self.take_part(kind, event, data)

    def take_part(self, kind: str, event: Record, data: Record) -> None:
        chain = event.text("agentId") or data.text("parentToolCallId")
        text = _text_of(kind, data)
        if text is not None:
            self.builders.setdefault(chain, RunBuilder()).say(text)
        elif kind == "tool.execution_start":
            self.builders.setdefault(chain, RunBuilder()).request_call(data, time_ns=event.time("timestamp"))
        elif kind == "tool.execution_complete":
            _take_result(data, event, self.builders.setdefault(chain, RunBuilder()))


def _text_of(kind: str, data: Record) -> str | None:
    if kind == "user.message":
        return data.text("transformedContent") or data.text("content")
    if kind in {"assistant.message", "system.message"}:
        return data.text("content")
    return data.text("summaryContent") if kind == "session.compaction_complete" else None


def _take_result(data: Record, event: Record, builder: RunBuilder) -> None:
    success = data.flag("success")
    error = data.child("error").text("message")
    text = data.child("result").text("content")
    builder.answer(
        data.text("toolCallId"),
        result=text or error if success else error or text,
        line=event.place.line,
        flagged=None if success is None else not success,
        exit_code=_exit_code(data, text),
        time_ns=event.time("timestamp"),
    )


def _exit_code(data: Record, text: str) -> int | None:
    told = data.child("shellExecution").integer("exitCode")
    if told is not None:
        return told
    found = _EXITED.search(text[-_EXIT_LENGTH:])
    return int(found[1]) if found else None
