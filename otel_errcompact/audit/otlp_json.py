"""Write OTLP/JSON: values, records, and the envelope of each line."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, cast

from opentelemetry.trace import format_span_id, format_trace_id

from otel_errcompact.digest import encodable
from otel_errcompact.otel import semconv
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.resources import Resource

    from otel_errcompact.errors import SpanRef

Value = str | bytes | bool | int | tuple[str, ...]

INFO: Final = 9
ERROR: Final = 17
"""Severity numbers."""

_SEVERITIES: Final = {INFO: "INFO", ERROR: "ERROR"}

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
_HERE: Final = "\0spans\0"
_ESCAPED: Final = 12
"""Bytes of a character as JSON at most."""

_SAMPLES: Final = 16
"""Samples of a long text, each a thousandth of it."""

_NOT_FINITE: Final = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
_IDENTITY: Final = ("service.name", "service.namespace", semconv.SERVICE_INSTANCE_ID)
"""The attributes of the resource in the lines of a run's life; those of raw errors have all."""


def build_log_record(
    event: str, attributes: Mapping[str, Value], *, time_ns: int, severity: int = INFO, span: SpanRef | None = None
) -> dict[str, Any]:
    """Return a log record in OTLP/JSON; empty attributes are left out."""
    at = str(time_ns)
    fields: dict[str, Any] = {
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": severity,
        "severityText": _SEVERITIES[severity],
        "eventName": event,
        "attributes": to_key_values(attributes),
    }
    if span is not None:
        fields["traceId"] = format_trace_id(span.trace_id)
        fields["spanId"] = format_span_id(span.span_id)
    return fields


def to_key_values(attributes: Mapping[str, Value]) -> list[dict[str, object]]:
    """Return attributes in OTLP/JSON, without empty texts, False and empty lists."""
    return [
        {"key": name, "value": to_any_value(value)}
        for name, value in attributes.items()
        if value or (value == 0 and value is not False)
    ]


def to_any_value(value: Value) -> dict[str, Any]:
    """Return one value in OTLP/JSON."""
    if isinstance(value, str):
        return {"stringValue": encodable(value)}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode("ascii")}
    return {"arrayValue": {"values": [{"stringValue": encodable(item)} for item in value]}}


def redact_value(value: Value) -> Value:
    """Return a value without secrets."""
    if isinstance(value, str):
        return redact(value)
    return tuple(map(redact, value)) if isinstance(value, tuple) else value


def build_span_envelope(resource: Resource) -> tuple[str, str]:
    """
    Return the text around the span, equal in all lines.

    By hand, since the official encoder takes longer to import than all else that is installed; a test compares.
    """
    attributes = [{"key": name, "value": _to_resource_value(value)} for name, value in resource.attributes.items()]
    fields: dict[str, Any] = {
        "resource": {"attributes": attributes} if attributes else {},
        "scopeSpans": [{"scope": {"name": semconv.SCOPE}, "spans": [_HERE]}],
    }
    if resource.schema_url:
        fields["schemaUrl"] = resource.schema_url
    head, tail = to_json({"resourceSpans": [fields]}).split(to_json(_HERE))
    return head, tail


def _to_resource_value(value: object) -> dict[str, Any]:
    if isinstance(value, float):
        return {"doubleValue": value if isfinite(value) else _NOT_FINITE[str(value)]}
    if isinstance(value, str | bool | int | bytes):
        return to_any_value(value)
    if isinstance(value, Sequence):
        items = [_to_resource_value(item) for item in cast("Sequence[object]", value)]
        return {"arrayValue": {"values": items} if items else {}}
    return {}  # as where there is no value


def build_log_envelope(resource: Resource) -> tuple[str, str]:
    """
    Return what is before and after the log record of a line.

    The resource is named only, since most lines are small.
    """
    attributes = {name: str(resource.attributes[name]) for name in _IDENTITY if resource.attributes.get(name)}
    fields = {
        "resourceLogs": [
            {
                "resource": {"attributes": to_key_values(attributes)},
                "scopeLogs": [{"scope": {"name": semconv.SCOPE}, "logRecords": [_HERE]}],
            }
        ]
    }
    head, tail = to_json(fields).split(to_json(_HERE))
    return head, tail


def to_json(fields: object) -> str:
    """
    Encode a value as ASCII JSON.

    Some readers take U+2028 and similar characters for the end of a line.
    """
    return _ENCODER.encode(fields)


def is_longer(text: str, limit: int) -> bool:
    """
    Return whether a text surely takes more than `limit` bytes of JSON.

    A text of which every character is escaped would take six times its size, and be thrown away. A few samples tell
    whether that is likely; only then the text is read, as far as the limit.
    """
    if len(text) > limit:
        return True
    if len(text) * _ESCAPED <= limit:
        return False
    step, sample, part = len(text) // _SAMPLES + 1, len(text) // 1_000 + 1, limit // _SAMPLES + 1
    sampled = sum(_json_size(text[at : at + sample]) for at in range(0, len(text), step))
    if sampled * step <= limit * sample:
        return False
    size = 0
    for at in range(0, len(text), part):
        size += _json_size(text[at : at + part])
        if size > limit:
            return True
    return False


def _json_size(text: str) -> int:
    return len(to_json(text)) - len('""')
