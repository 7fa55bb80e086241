"""
Write the state of a run as parts, and read it.

What the agent of one process has read, and raw errors, stay in that process: another agent has not read them, and they
are not redacted.
"""

from __future__ import annotations

import json
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from otel_errcompact.errors import NOWHERE, Evidence, Facts, FailureKind, Location, Operation, SpanRef
from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.history.history import ErrorClass
from otel_errcompact.history.streaks import Streak

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from otel_errcompact.engine.state import RunState

SCHEMA: Final = 2
"""The form of the parts; a change of what they hold raises it."""

SETTINGS: Final = "settings"
COUNTS: Final = "counts"
STEPS: Final = "steps"
ANSWERED: Final = "answered:"
"""With the number of the answer behind it: an answer never changes."""

CLASS: Final = "class:"
FACTS: Final = "facts:"
"""With the key of a class behind each: its counts, and what most occurrences leave as it is."""

_PLAIN_SETTINGS: Final = ("life", "agent", "mode", "attended", "asks", "stoppable", "failed", "guidance")
_NUMBERS: Final = (
    "handled",
    "repeats",
    "after_escalation",
    "raw_tokens",
    "sent_tokens",
    "digest_tokens",
    "escalated_at",
)
_COUNTS_OF_CLASS: Final = (
    "key", "short", "first_seen_ns", "last_seen_ns", "open_since_ns", "count", "resolved", "overcome",
    "replaced", "ended", "escalated", "unlifted", "uncounted", "tick", "streak",
)  # fmt: skip
_PLAIN_CLASS: Final = ("template", "tool", "hint")
_PLACES: Final = ("location", "key_location")
_LISTS: Final = ("details", "wrappers", "names")
_PLAIN_FACTS: Final = tuple(name for name in Facts.__slots__ if name not in {*_PLACES, *_LISTS, "evidence", "output"})
_DEFAULTS: Final = Facts(type="", cause="")


class RunCodec:
    """Writes the state of a run as parts, and reads it."""

    def dump(self, state: RunState, marks: dict[str, object]) -> dict[str, str | None]:
        """Return the parts that have changed; None for those that are gone."""
        parts: dict[str, str | None] = {}
        settings = _mark_settings(state)
        if marks.get(SETTINGS) != settings:
            marks[SETTINGS] = settings
            parts[SETTINGS] = _write({**_read_fields(state, _PLAIN_SETTINGS), **_dump_settings(state)})
        counts = _write([*_get_numbers(state), state.history.dump()])
        if marks.get(COUNTS) != counts:
            marks[COUNTS] = parts[COUNTS] = counts
        steps = _mark_steps(state)
        if marks.get(STEPS) != steps:
            marks[STEPS] = steps
            parts[STEPS] = _write(_dump_steps(state))
            written = marks.get(ANSWERED, 0)
            for number in range(cast("int", written), len(state.answered)):
                parts[f"{ANSWERED}{number}"] = _write(_dump_answered(state.answered[number]))
            marks[ANSWERED] = len(state.answered)
        if _dump_classes(state, marks, parts):
            parts[COUNTS] = counts  # with which classes are read
        return parts

    def load(self, state: RunState, bodies: Mapping[str, str], marks: dict[str, object], *, whole: bool) -> bool:
        """
        Take over parts; return False where all parts are needed.

        Raises:
            ValueError: Another version of this library has written them.
        """
        if SETTINGS in bodies:
            _load_settings(state, json.loads(bodies[SETTINGS]))
            marks[SETTINGS] = _mark_settings(state)
        if STEPS in bodies:
            _load_answers(state, bodies, whole=whole)
            _load_steps(state, json.loads(bodies[STEPS]))
            marks[STEPS], marks[ANSWERED] = _mark_steps(state), len(state.answered)
        history = state.history
        counts = bodies.get(COUNTS)
        if counts is None:
            return True
        *numbers, dumped = json.loads(counts)
        known = {} if whole else {found.key: found for found in history}
        keys = [name.removeprefix(CLASS) for name in bodies if name.startswith(CLASS)]
        read = {key: _load_class(key, bodies, known.get(key)) for key in keys}
        evicted = history.evicted
        history.load(dumped, {**known, **read}.values())
        if not whole and history.evicted != evicted:
            return False
        for name, number in zip(_NUMBERS, numbers, strict=True):
            setattr(state, name, number)
        marks[COUNTS] = counts
        written = _written_classes(marks)
        for key, found in read.items():
            written[key] = _mark_class(found)
        return True


_get_numbers: Final = attrgetter(*_NUMBERS)
_get_settings: Final = attrgetter(*_PLAIN_SETTINGS, "thresholds")
_write: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def _read_fields(value: object, names: Sequence[str]) -> dict[str, object]:
    return {name: getattr(value, name) for name in names}


# Settings.


def _mark_settings(state: RunState) -> object:
    return *_get_settings(state), frozenset(state.members), frozenset(state.askers)


def _dump_settings(state: RunState) -> dict[str, object]:
    thresholds = state.thresholds
    given = {name: getattr(thresholds, name) for name in thresholds.model_fields_set}
    if "halts" in given:
        given["halts"] = sorted(thresholds.halts)
    return {"schema": SCHEMA, "thresholds": given, "members": sorted(state.members), "askers": sorted(state.askers)}


def _load_settings(state: RunState, read: dict[str, Any]) -> None:
    if read["schema"] != SCHEMA:
        raise ValueError(f"the run is in form {read['schema']} of another otel-errcompact; this one reads {SCHEMA}")
    if state.life != read["life"]:
        state.begun = False  # listeners know of another run of its id
    for name in _PLAIN_SETTINGS:
        setattr(state, name, read[name])
    state.thresholds = Thresholds(**read["thresholds"])
    state.members, state.askers = set(read["members"]), set(read["askers"])


# Steps of the ladder.


def _mark_steps(state: RunState) -> object:
    return state.escalation, state.answer, len(state.answered), state.asker, state.asker_until_ns


def _dump_steps(state: RunState) -> dict[str, object]:
    return {
        "escalation": _dump_escalation(state.escalation),
        "answer": _dump_answered(state.answer),
        "asker": state.asker,
        "asker_until_ns": state.asker_until_ns,
    }


def _load_steps(state: RunState, read: dict[str, Any]) -> None:
    state.escalation = _load_escalation(read["escalation"])
    state.answer = _load_answered(read["answer"])
    state.asker, state.asker_until_ns = read["asker"], read["asker_until_ns"]


def _load_answers(state: RunState, bodies: Mapping[str, str], *, whole: bool) -> None:
    numbers = sorted(int(name.removeprefix(ANSWERED)) for name in bodies if name.startswith(ANSWERED))
    read = [_load_answered(json.loads(bodies[f"{ANSWERED}{number}"])) for number in numbers]
    before = 0 if whole or not numbers else numbers[0]
    if numbers or whole:
        state.answered[before:] = filter(None, read)


def _dump_escalation(escalation: Escalation | None) -> dict[str, object] | None:
    if escalation is None:
        return None
    span = escalation.span
    dumped = _read_fields(escalation, tuple(Escalation.model_fields))
    dumped["span"] = None if span is None else [span.trace_id, span.span_id, span.sampled]
    return dumped


def _load_escalation(read: dict[str, Any] | None) -> Escalation | None:
    if read is None:
        return None
    if (span := read["span"]) is not None:
        trace_id, span_id, sampled = span
        read["span"] = SpanRef(trace_id=trace_id, span_id=span_id, sampled=sampled)
    return Escalation(**read)


def _dump_answered(answered: AnsweredEscalation | None) -> dict[str, object] | None:
    if answered is None:
        return None
    return {
        **_read_fields(answered, ("action", "message", "tick")),
        "escalation": _dump_escalation(answered.escalation),
    }


def _load_answered(read: dict[str, Any] | None) -> AnsweredEscalation | None:
    if read is None:
        return None
    read["escalation"] = _load_escalation(read["escalation"])
    return AnsweredEscalation(**read)


# Classes.


class _Mark(NamedTuple):
    """What was written or read of a class last."""

    found: ErrorClass
    revision: int
    facts: Facts


def _mark_class(found: ErrorClass) -> _Mark:
    return _Mark(found, found.revision, found.facts)


def _written_classes(marks: dict[str, object]) -> dict[str, _Mark]:
    return cast("dict[str, _Mark]", marks.setdefault(CLASS, {}))


def _dump_classes(state: RunState, marks: dict[str, object], parts: dict[str, str | None]) -> bool:
    before, written = len(parts), _written_classes(marks)
    for found in state.history:
        key = found.key
        mark = written.get(key)
        if mark is not None and mark.found is found and mark.revision == found.revision:
            continue
        written[key] = _mark_class(found)
        parts[CLASS + key] = _write(_dump_class(found))
        if mark is None or mark.facts is not found.facts:  # failures of one text share their facts
            parts[FACTS + key] = _write({**_read_fields(found, _PLAIN_CLASS), "facts": _dump_facts(found.facts)})
    if len(written) > len(state.history):
        for key in [key for key in written if state.history.get(key) is None]:
            del written[key]
            parts[CLASS + key] = parts[FACTS + key] = None
    return len(parts) > before


def _dump_class(found: ErrorClass) -> dict[str, object]:
    streaks = [
        [operation.name, operation.targets, operation.wide, streak.dump()]
        for operation, streak in found.streaks.items()
    ]
    kind = [found.kind.transient, found.kind.rejected, found.kind.unknown]
    return {**_read_fields(found, _COUNTS_OF_CLASS), "kind": kind, "streaks": streaks}


def _load_class(key: str, bodies: Mapping[str, str], known: ErrorClass | None) -> ErrorClass:
    read: dict[str, Any] = json.loads(bodies[CLASS + key])
    read["kind"] = FailureKind(*read["kind"])
    if (body := bodies.get(FACTS + key)) is not None:
        read |= json.loads(body)
        read["facts"] = _load_facts(read["facts"])
    else:
        read |= _read_fields(known, (*_PLAIN_CLASS, "facts"))
    read["streaks"] = {
        Operation(name, tuple(targets), wide): Streak.load(streak) for name, targets, wide, streak in read["streaks"]
    }
    return ErrorClass(**read)


def _dump_facts(facts: Facts) -> dict[str, object]:
    dumped: dict[str, object] = {
        name: value for name in _PLAIN_FACTS if (value := getattr(facts, name)) != getattr(_DEFAULTS, name)
    }
    for name in _PLACES:
        place: Location = getattr(facts, name)
        if place is not NOWHERE:
            dumped[name] = [place.function, place.file, place.line, place.column]
    for name in _LISTS:
        if values := getattr(facts, name):
            dumped[name] = values
    if evidence := tuple(facts.evidence):
        dumped["evidence"] = evidence
    return dumped


def _load_facts(read: dict[str, Any]) -> Facts:
    for name in _PLACES:
        if name in read:
            function, file, line, column = read[name]
            read[name] = Location(function=function, file=file, line=line, column=column)
    for name in _LISTS:
        read[name] = tuple(read.get(name, ()))
    read["evidence"] = tuple(Evidence(line, weight) for line, weight in read.get("evidence", ()))
    known: dict[str, Any] = {"type": "", "cause": "", **read}
    return Facts(**known)
