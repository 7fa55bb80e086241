"""How and when an entry says that something ended: flags, statuses, codes, times in seconds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.window.entries import names
from otel_errcompact_context.window.entries.fields import plain_name

if TYPE_CHECKING:
    from otel_errcompact_context.window.entries.fields import Entry, Field


@dataclass(slots=True)
class Signs:
    """What the fields of an entry say of how it ended."""

    failed: bool = False
    """A flag, a status or an error says that it failed."""
    well: int = -1
    """How deep the innermost lies that says that it went well; -1 if nothing does."""
    ended: bool = False
    declined: bool = False
    open: bool = False


def find_signs(entry: Entry) -> Signs:
    """Collect what flags, statuses and levels say of how it ended."""
    signs = Signs()
    for name, found in (*entry.all_fields(names.WELL), *entry.all_fields(names.ILL)):
        flag = _read_flag(entry, name, found)
        if flag is not None:
            _note_word(signs, names.OK if flag is (name in names.WELL) else names.FAILED, found.depth)
    for name, found in entry.all_fields(names.STATUS):
        _note_word(signs, _read_status(entry, name, found), found.depth)
    for _, found in entry.all_fields(names.HTTP):
        if isinstance(found.value, int) and not isinstance(found.value, bool) and found.value >= _LEAST_HTTP:
            _note_word(signs, _rate_http(found.value), found.depth)
    for _, found in entry.all_fields(("level", "severity")):
        signs.failed = signs.failed or (isinstance(found.value, str) and found.value.lower() in names.LEVELS)
    if entry.ending & names.SUCCESS_WORDS:
        signs.well = max(signs.well, 0)
    signs.ended = signs.ended or (bool(entry.ending & names.ENDS) and not entry.ending & names.GIVES)
    return signs


_LEAST_HTTP: Final = 200
_LEAST_HTTP_ERROR: Final = 400
_AFTER_HTTP: Final = 600


def _rate_http(status: int) -> str:
    return names.FAILED if status >= _LEAST_HTTP_ERROR else names.OK


def _note_word(signs: Signs, word: str, depth: int) -> None:
    signs.failed = signs.failed or word in names.FAILURE_WORDS
    signs.well = max(signs.well, depth) if word in names.SUCCESS_WORDS else signs.well
    signs.ended = signs.ended or word in names.END_WORDS
    signs.declined = signs.declined or word in names.DECLINED_WORDS
    signs.open = signs.open or word in names.OPEN_WORDS


def _read_flag(entry: Entry, name: str, found: Field) -> bool | None:
    value = found.value
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    if isinstance(value, bool) or (name not in names.COUNTED and isinstance(value, int) and value in {0, 1}):
        return bool(value)
    if name not in names.COUNTED:
        entry.refuse_value(found.path, value, "true or false")
    return None


def _read_status(entry: Entry, name: str, found: Field) -> str:
    value = found.value
    if isinstance(value, str):
        word = re.sub(r"[\s-]+", "_", value.strip()).lower()
        if not word or word in names.STATUSES:
            return word
    elif isinstance(value, Mapping):
        return ""
    elif isinstance(value, int) and not isinstance(value, bool):
        # Node calls an exit code so, and clients of HTTP a status code.
        return (
            _rate_http(value)
            if _LEAST_HTTP <= value < _AFTER_HTTP
            else names.FAILED
            if value and name == "status"
            else ""
        )
    if name == "status":
        wanted = "ok, failed, timeout, cancelled, skipped, running or the like, or nothing where other fields decide"
        entry.refuse_value(found.path, value, wanted)
    return ""


def find_exit_code(entry: Entry, signs: Signs) -> int | None:
    """Return the exit code, unless what stands beside it, or further inside, says that it went well."""
    for name, found in entry.all_fields(names.EXIT_CODES):
        value = found.value
        if isinstance(value, bool) or not isinstance(value, int):
            if name != "rc":
                entry.refuse_value(found.path, value, "a whole number")
            continue
        if signs.well >= found.depth or not value:
            return value
        signs.well = -1
        return value
    status = next((found.value for _, found in entry.all_fields(("status",)) if isinstance(found.value, int)), 0)
    return status if 0 < status < _LEAST_HTTP else None


def find_code(entry: Entry, signs: Signs) -> str | int | None:
    """Return the code of an error; None if there is none."""
    for name, found in entry.all_fields(names.CODES):
        value = found.value
        if isinstance(value, bool) or not isinstance(value, str | int):
            if name in {"code", "errorcode"}:
                entry.refuse_value(found.path, value, "a text or a whole number")
            continue
        if isinstance(value, str) and ("\n" in value or value.strip().lower() in names.SUCCESS_WORDS | names.NO_ERROR):
            continue
        if isinstance(value, int) and (value == 0 or _LEAST_HTTP <= value < _LEAST_HTTP_ERROR):
            continue
        if signs.well < found.depth:
            signs.well = -1
        return value
    for _, found in entry.all_fields(names.HTTP):
        if isinstance(found.value, int) and found.value >= _LEAST_HTTP_ERROR:
            return found.value
    return None


_ISO: Final = lazy_pattern(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9})\d*)?\s?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
_SPAN: Final = lazy_pattern(r"(\d{1,12}(?:\.\d{1,12})?)\s?(ms|us|µs|ns|s|sec|seconds|m|min|h)?", re.ASCII)
_UNITS: Final = {"ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "m": 60, "min": 60, "h": 3600}
_SECONDS_BELOW: Final = 1e11
"""Larger times since the epoch are in milliseconds, microseconds or nanoseconds."""


def find_duration(entry: Entry) -> float | None:
    """Return how long it took in seconds; None if nothing says so."""
    for name, places in entry.found.items():
        unit = names.DURATION.fullmatch(name)
        if unit is None:
            continue
        found = places[0]
        scale = 1e-3 if unit[1] else 1e-6 if unit[2] else 1e-9 if unit[3] else 1.0
        return _read_span(entry, found, scale)
    return None


def _read_span(entry: Entry, found: Field, scale: float) -> float | None:
    value: object = found.value
    if isinstance(value, str) and (match := _SPAN.fullmatch(value.strip())):
        return float(match[1]) * (_UNITS.get(match[2] or "", 1.0) if match[2] else scale)
    if isinstance(value, Mapping):
        inner = {plain_name(name): item for name, item in cast("Mapping[object, object]", value).items()}
        seconds, nanos = inner.get("secs", inner.get("seconds", 0)), inner.get("nanos", 0)
        if isinstance(seconds, int) and isinstance(nanos, int):
            return seconds + nanos / 1e9
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        entry.refuse_value(found.path, found.value, "a number of seconds, not below zero")
        return None
    return value * scale


def find_time(entry: Entry) -> float | None:
    """Return when it ended, in seconds since the epoch; None if nothing says so."""
    for name, found in entry.all_fields(names.TIMES):
        value = found.value
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, object]", value)
            value = inner.get("end", inner.get("completed", inner.get("start", inner.get("created"))))
        seconds = _read_moment(value)
        if seconds is not None:
            return seconds
        if name in {"time", "timestamp"} and value is not None:
            wanted = "a number of seconds since the epoch (of a datetime its .timestamp()), not below zero"
            entry.refuse_value(found.path, value, wanted)
    return None


def _read_moment(value: object) -> float | None:
    if isinstance(value, str):
        match = _ISO.fullmatch(value.strip())
        if match is None:
            return None
        zone = (match[3] or "Z").replace("Z", "+00:00")
        zone = zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
        try:
            moment = datetime.fromisoformat(f"{match[1]}{zone}").astimezone(UTC)
        except (ValueError, OverflowError):
            return None
        seconds = moment.timestamp() + float(f"0.{match[2] or 0}")
        return seconds if seconds >= 0 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    for scale in (1, 1e3, 1e6, 1e9):
        if value / scale < _SECONDS_BELOW:
            return value / scale
    return None
