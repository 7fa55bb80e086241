"""Write what happens in a run as attributes, and read it."""

from __future__ import annotations

import functools
import json
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, get_args

from otel_errcompact.digest import cut_middle
from otel_errcompact.engine.events import (
    Began,
    Changed,
    Ended,
    Event,
    Handled,
    Observation,
    Refused,
    Resolved,
    Resumed,
    Settled,
    Succeeded,
)
from otel_errcompact.errors import SHED, UNCLASSIFIED, Operation
from otel_errcompact.escalator.escalation import ActionName, AnsweredEscalation, Escalation
from otel_errcompact.escalator.thresholds import MODES, Thresholds
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact.audit.otlp_json import Value
    from otel_errcompact.errors import FailureKind, RawError
    from otel_errcompact.history.history import ErrorClass

Attributes = dict[str, "Value"]

MAX_TEXT: Final = 65_536
"""Characters of one text in a line that is no raw error, and of a call's arguments; longer ones lose their middle."""

_MODEL_FORMATS: Final = frozenset({"prose", UNCLASSIFIED, SHED})
"""Formats of facts that a model may have found, or that are not in the text."""


def clip(text: str) -> str:
    """Return a text without its middle if it exceeds the limit."""
    return cut_middle(text, MAX_TEXT)


@functools.cache
def no_thresholds() -> Thresholds:
    """Return thresholds that are never reached, for incomplete records."""
    limits = ("same", "rejected", "loop", "loop_halt", "refuse", "consecutive", "total")
    return Thresholds.model_validate_json(json.dumps(dict.fromkeys(limits, 2**31)))


def _write_thresholds(thresholds: Thresholds) -> str:
    # Not by pydantic: its first serialisation holds a lock of its own, which a fork in another thread leaves held.
    return json.dumps({**dict(thresholds), "halts": list(thresholds.halts)}, separators=(",", ":"))


def _read_thresholds(text: str) -> Thresholds:
    try:
        return Thresholds.model_validate_json(text or "{}")
    except ValueError:  # of pydantic
        return no_thresholds()


def _write_tick(tick: int) -> Value:
    return tick or ""  # an empty text is not written


def _write_kind(kind: FailureKind) -> str:
    return next((name for name in ("rejected", "unknown", "transient") if getattr(kind, name)), "")


def _write_keys(classes: tuple[ErrorClass, ...]) -> tuple[str, ...]:
    return tuple(found.key for found in classes)


def _read_mode(name: str) -> str:
    return name if name in MODES else "enforce"


def _read_texts(texts: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(item for item in texts if isinstance(item, str))


_TEXTS: Final = {
    "action": semconv.ACTION, "agent": semconv.GEN_AI_AGENT_NAME, "arguments": semconv.GEN_AI_TOOL_CALL_ARGUMENTS,
    "call": semconv.CALL, "cause": semconv.CAUSE, "digest": semconv.DIGEST, "directory": semconv.DIRECTORY,
    "file": semconv.CODE_FILE_PATH, "function": semconv.CODE_FUNCTION_NAME, "hint": semconv.HINT, "key": semconv.CLASS,
    "kind": semconv.KIND, "message": semconv.MESSAGE, "mode": semconv.MODE, "name": semconv.OPERATION,
    "result": semconv.RESULT, "run_id": semconv.RUN_ID, "stated": semconv.STATED_BY,
    "tally": semconv.TALLY, "template": semconv.TEMPLATE, "threshold": semconv.THRESHOLD,
    "thresholds": semconv.THRESHOLDS, "tool": semconv.GEN_AI_TOOL_NAME, "type": semconv.ERROR_TYPE,
}  # fmt: skip
_NUMBERS: Final = {
    "after_escalation": semconv.AFTER_ESCALATION, "began": semconv.BEGAN, "class_count": semconv.CLASS_COUNT,
    "count": semconv.COUNT, "digest_tokens": semconv.TOKENS_DIGEST, "escalation_count": semconv.ESCALATION_COUNT,
    "handled": semconv.HANDLED_COUNT, "limit": semconv.LIMIT, "line": semconv.CODE_LINE_NUMBER,
    "occurrences": semconv.OCCURRENCES, "raw_tokens": semconv.TOKENS_RAW, "recovered_count": semconv.RECOVERED_COUNT,
    "repeats": semconv.REPEATS, "sent_tokens": semconv.TOKENS_SENT, "tick": semconv.TICK,
}  # fmt: skip
_FLAGS: Final = {
    "asks": semconv.ASKS, "attended": semconv.ATTENDED, "halts": semconv.HALTS, "stoppable": semconv.STOPPABLE,
    "wide": semconv.WIDE,
}  # fmt: skip
_LISTS: Final = {"classes": semconv.CLASSES, "targets": semconv.TARGETS}
_KINDS: Final[tuple[tuple[Any, dict[str, str]], ...]] = (("", _TEXTS), (0, _NUMBERS), (False, _FLAGS), ((), _LISTS))
_FIELDS: Final = {name: (attribute, missing) for missing, names in _KINDS for name, attribute in names.items()}
"""
The attribute of each field, of whatever event, and what is read where it is missing or of another type.

A path of several names ends with the field's.
"""

_WRITERS: Final[Mapping[str, Callable[[Any], Value]]] = {
    **dict.fromkeys(("cause", "digest", "message", "template"), clip),
    "began": _write_tick,
    "classes": _write_keys,
    "kind": _write_kind,
    "thresholds": _write_thresholds,
}
_READERS: Final[Mapping[str, Callable[[Any], object]]] = {
    "mode": _read_mode,
    "targets": _read_texts,
    "thresholds": _read_thresholds,
}


class _Line:
    """
    Fields of an event that make a line.

    Args:
        event: The name of the line.
        paths: Where the fields are, with blanks between.
    """

    def __init__(self, event: str, paths: str) -> None:
        self.event = event
        self._paths = paths.split()
        self._get = attrgetter(*self._paths)
        names = [path.rpartition(".")[2] for path in self._paths]
        self._attributes = [_FIELDS[name][0] for name in names]
        self._writers = [(_FIELDS[name][0], _WRITERS[name]) for name in names if name in _WRITERS]
        self._read = [(path, *_FIELDS[name], _READERS.get(name)) for path, name in zip(self._paths, names, strict=True)]

    def write(self, event: object) -> Attributes:
        written: dict[str, Any] = dict(zip(self._attributes, self._get(event)))  # noqa: B905 - attrgetter's are as many
        for attribute, write in self._writers:
            written[attribute] = write(written[attribute])
        return written

    def read(self, attributes: Mapping[str, object]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for path, attribute, missing, read in self._read:
            value = attributes.get(attribute)
            known: Any = value if isinstance(value, type(missing)) else missing
            found[path] = known if read is None else read(known)
        parts = [found.pop(path) for path in _OPERATION.split() if path in found]
        return {**found, "operation": Operation(*parts)} if parts else found


_OPERATION: Final = "operation.name operation.targets operation.wide"
_SETTINGS: Final = "run_id agent tick mode thresholds asks attended stoppable"
_BREACH: Final = "escalation.run_id escalation.agent tick action message escalation.threshold escalation.key"
_COUNTS: Final = "run_id tick found.key kind call raw_tokens sent_tokens digest_tokens"
_SUMS: Final = (
    "run_id agent result occurrences handled repeats after_escalation class_count escalation_count recovered_count "
    "raw_tokens sent_tokens digest_tokens"
)

LINES: Final[Mapping[type, _Line]] = {
    Began: _Line(semconv.RUN_BEGIN, _SETTINGS),
    Changed: _Line(semconv.RUN_CHANGED, _SETTINGS),
    Observation: _Line(semconv.RUN_ERROR, _COUNTS),
    Handled: _Line(semconv.RUN_HANDLED, "run_id found.key"),
    Succeeded: _Line(semconv.RUN_SUCCESS, f"run_id agent tick began tool {_OPERATION} call directory"),
    Resolved: _Line(semconv.RUN_RESOLVED, "run_id agent tool classes"),
    Refused: _Line(semconv.RUN_REFUSED, "run_id agent tick began tool arguments key call directory count"),
    Escalation: _Line(semconv.RUN_ESCALATED, "run_id agent tick threshold count limit halts key tool digest"),
    AnsweredEscalation: _Line(semconv.RUN_ANSWERED, _BREACH),
    Resumed: _Line(semconv.RUN_RESUMED, "run_id agent tick message"),
    Ended: _Line(semconv.RUN_END, " ".join(f"report.{name}" for name in _SUMS.split())),
}
"""The line of each event."""

RAW: Final = _Line("", f"{_OPERATION} stated directory began")
"""What a later count of a raw error needs beyond its span."""

_PLACE: Final = "found.facts.location.function found.facts.location.file found.facts.location.line"
_FACTS: Final = _Line("", f"found.facts.type found.facts.cause found.template found.facts.tally {_PLACE} hint")
_WHOLE: Final = {LINES[kind].event: kind for kind in (Began, Changed, Succeeded, Refused, Resumed)}
"""The lines that say all of an event."""


def describe_event(event: object) -> tuple[str, Attributes]:
    """
    Return the name of an event's line, and its attributes.

    The facts of a failure are added where reading the text again might find others: of a live exception, and of what a
    model has read. What is counted by reading the lines before it, and what the raw error says, is left out.
    """
    line = LINES[type(event)]
    attributes = line.write(event)
    if isinstance(event, Observation):
        if event.sent_tokens == event.raw_tokens:
            del attributes[semconv.TOKENS_SENT]
        facts = event.found.facts
        if event.raw.exception is not None or facts.format in _MODEL_FORMATS:
            attributes |= _FACTS.write(event)
            if event.found.template == facts.cause:
                attributes[semconv.TEMPLATE] = ""
    return line.event, attributes


def describe_raw(raw: RawError) -> Attributes:
    """Return what a later count of a failure needs beyond its span."""
    return {semconv.TOOL: "" if raw.boundary else raw.tool, **RAW.write(raw)}


def read_observation(attributes: Mapping[str, object]) -> dict[str, Any]:
    """Return the counts and facts of a failure, by their paths."""
    return {**LINES[Observation].read(attributes), **_FACTS.read(attributes)}


def read_event(event: str, attributes: Mapping[str, object]) -> Event | None:
    """Return the event that a line says all of, or None."""
    if (kind := _WHOLE.get(event)) is not None:
        return kind(**LINES[kind].read(attributes))
    answered = LINES[AnsweredEscalation].read(attributes)
    if event != semconv.RUN_ANSWERED or answered["action"] not in get_args(ActionName):
        return None
    return Settled(run_id=answered["escalation.run_id"], action=answered["action"], message=answered["message"])
