"""
Inspect AI: logs of evaluations, each sample a run.

A log is one document, or an archive (`.eval`) whose samples are read as documents of one sample (`archive`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import documents, fields_of, is_list
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.records import Record
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "inspect-ai"

_GRADES: Final = {"C": True, "I": False}
"""What a score says of the answer: correct, or incorrect."""


def detect(value: object) -> bool:
    """Recognise a log with its samples."""
    fields = fields_of(value)
    return "eval" in fields and is_list(fields.get("samples"))


def read(values: Values) -> Runs:
    """Read each sample as a run."""
    for log in documents(values):
        task = log.child("eval").text("task")
        yield from (_read_run(sample, task) for sample in log.children("samples"))


def _read_run(sample: Record, task: str) -> RecordedRun:
    builder = RunBuilder()
    for message in sample.children("messages"):
        _take_message(message, builder)
    outcome, succeeded = _read_outcome(sample)
    return builder.build(
        f"{task or sample.place.stem}/{sample.label('id')}.{sample.label('epoch')}",
        AGENT,
        sample.place.path,
        outcome=outcome,
        succeeded=succeeded,
    )


def _read_outcome(sample: Record) -> tuple[str, bool | None]:
    error = sample.child("error").text("message")
    if error:
        return error.splitlines()[0], False
    scores = sample.child("scores")
    for name in scores.fields:
        score = scores.child(name)
        value = score.fields.get("value")
        grade = _GRADES.get(value) if isinstance(value, str) else score.lenient_flag("value")
        if grade is not None:
            return f"{name} {value}", grade
    return "", None


def _take_message(message: Record, builder: RunBuilder) -> None:
    text = message.prose("content")
    if message.text("role") != "tool":
        builder.say(text)
        for call in message.children("tool_calls"):
            builder.request_call(call)
        return
    error = message.child("error")
    builder.answer(
        message.text("tool_call_id"),
        tool=message.text("function"),
        result=error.text("message") or text,  # the model is answered either
        flagged=bool(error.fields),
    )
