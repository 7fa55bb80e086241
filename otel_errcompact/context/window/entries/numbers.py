"""Durations and times of entries, in seconds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, cast

from otel_errcompact.context.window.entries import names
from otel_errcompact.context.window.entries.fields import Entry, Field, plain_name
from otel_errcompact.runtime.lazy import lazy_pattern

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
        entry.refuse(found.path, found.value, "a number of seconds, not below zero")
        return None
    return value * scale


def find_time(entry: Entry) -> float | None:
    """Return when it ended, in seconds since the epoch; None if nothing says so."""
    for name, found in entry.all(names.TIMES):
        value = found.value
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, object]", value)
            value = inner.get("end", inner.get("completed", inner.get("start", inner.get("created"))))
        seconds = _read_moment(value)
        if seconds is not None:
            return seconds
        if name in {"time", "timestamp"} and value is not None:
            wanted = "a number of seconds since the epoch (of a datetime its .timestamp()), not below zero"
            entry.refuse(found.path, value, wanted)
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
