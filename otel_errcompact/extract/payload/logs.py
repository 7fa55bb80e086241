"""Structured logs: an object, or pairs of names and values, per line."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.payload import roles
from otel_errcompact.extract.payload.documents import read_pairs
from otel_errcompact.extract.payload.error import Body
from otel_errcompact.extract.payload.literals import parse
from otel_errcompact.extract.payload.values import MAX_FIELDS, is_object
from otel_errcompact.extract.payload.walk import read_body
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_RECORDS: Final = 300
_MAX_OTHERS: Final = 8
_LEVELS: Final = ("level", "severity", "lvl", "levelname", "loglevel", "l", "atlevel", "logseverity")
_ERRORS: Final = frozenset({
    "error", "err", "fatal", "critical", "crit", "panic", "dpanic", "alert", "emergency", "emerg", "50", "60",
    "severe", "e", "f",
})  # fmt: skip
_TIMES: Final = frozenset({
    "time", "ts", "t", "timestamp", "date", "datetime", "caller", "logger", "pid", "hostname", "mt", "m", "x", "msg",
    "source", "stack", "stacktrace", "err", "error", "event", "levelname", "lvl", "module", "loggername",
})  # fmt: skip
_MESSAGES: Final = ("msg", "message", "event", "m", "mt", "renderedmessage", "text", "log", "body")
_REASONS: Final = (
    "err", "error", "exception", "x", "excinfo", "reason", "cause", "errorverbose", "thrown", "throwable", "exc",
)  # fmt: skip
_STACKS: Final = (
    "stack", "stacktrace", "stacktraces", "excinfo", "exception", "x", "traceback", "backtrace", "errorverbose",
    "extendedstacktrace",
)  # fmt: skip
_CALLERS: Final = ("caller", "source", "file", "src", "location", "filename", "pathname")
_PLACE: Final = lazy_pattern(r"(?P<file>[^\s:()]{1,300}\.\w{1,8}):(?P<line>[0-9]{1,9})")


class Record(NamedTuple):
    """What a log says of an error."""

    body: Body
    location: Location = NOWHERE
    stack: str = ""
    """The stack that the record carries as text."""


def read_log(text: str) -> Record | None:
    """Return the first error of a log; others become details."""
    lines = text.split("\n", _MAX_RECORDS)[:_MAX_RECORDS]
    records = [(fields, line) for line in lines if (fields := _read_fields(line))]
    if not records or 2 * len(records) < sum(map(bool, lines)):
        return None
    errors = [fields for fields, _ in records if _is_error(fields)]
    if not errors:
        return None
    first = _read_record(errors[0])
    if first is None:
        return None
    others = (record.body.summary() for fields in errors[1:_MAX_OTHERS] if (record := _read_record(fields)))
    said = first.body.summary()
    more = dict.fromkeys(line for line in others if line not in said and said not in line)
    return first._replace(body=first.body._replace(details=(*first.body.details, *more)))


def _read_fields(line: str) -> dict[str, Any]:
    if line[:1] == "{":
        value = parse(line).value
    else:
        value = read_pairs(line) if "=" in line[:80] and ("level=" in line or "lvl=" in line) else None
    if not is_object(value):
        return {}
    return {roles.plain_name(str(name)): found for name, found in islice(value.items(), MAX_FIELDS)}


def _is_error(fields: dict[str, Any]) -> bool:
    level = next((fields[name] for name in _LEVELS if name in fields), None)
    if is_object(level):
        level = level.get("name") or level.get("level")
    return str(level).lower() in _ERRORS and not _TIMES.isdisjoint(fields)


_TOLD: Final = frozenset((*_MESSAGES, *_STACKS, *_CALLERS, *_TIMES))
"""Names of fields that are read apart."""


def _read_record(fields: dict[str, Any]) -> Record | None:
    said = next((str(fields[name]) for name in _MESSAGES if isinstance(fields.get(name), str) and fields[name]), "")
    inner, used = _find_reason(fields)
    stack = next(_list_stacks(fields), "")
    left = {name: value for name, value in fields.items() if name not in used and name not in _TOLD}
    beside = read_body({**left, "message": said or "error"})
    details = beside.details if beside is not None else ()
    if inner is None:
        return Record(Body(said, details=details), _find_location(fields), stack) if said else None
    message = inner.message if not said or said in inner.message else f"{said}: {inner.message}"
    key = f"{said}: {inner.key}" if inner.key and said else inner.key
    body = inner._replace(message=message, key=key, details=(*inner.details, *details))
    return Record(body, _find_location(fields), stack)


def _find_reason(fields: dict[str, Any]) -> tuple[Body | None, set[str]]:
    for name in _REASONS:
        value = fields.get(name)
        if isinstance(value, str) and value.strip() and value.strip().lower() not in ("true", "false"):
            ends = value.strip().rpartition("\n")[2], value.strip().partition("\n")[0]
            return Body(ends["Traceback (" not in value]), {name}
        body = read_body(value) if is_object(value) else None
        if body is not None:
            return body, {name}
    return None, set()


def _list_stacks(fields: dict[str, Any]) -> Iterator[str]:
    for name in (*_STACKS, *_REASONS):
        value = fields.get(name)
        if is_object(value):
            value = next((value[inner] for inner in value if roles.plain_name(str(inner)) in _STACKS), None)
        if isinstance(value, str) and "\n" in value:
            yield value


def _find_location(fields: dict[str, Any]) -> Location:
    for name in _CALLERS:
        value = fields.get(name)
        if is_object(value):
            plain = {roles.plain_name(str(inner)): found for inner, found in value.items()}
            file, line = plain.get("file") or plain.get("filename"), plain.get("line") or plain.get("lineno")
            if isinstance(file, str) and str(line).isdecimal():
                function = plain.get("function")
                return Location(function=function if isinstance(function, str) else "", file=file, line=int(str(line)))
        found = _PLACE.search(value) if isinstance(value, str) else None
        if found is not None:
            return Location(file=found["file"], line=int(found["line"]))
    return NOWHERE
