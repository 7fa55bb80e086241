"""Write OTLP/JSON: values, records, and the envelope of each line."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii as quote
from math import isfinite
from typing import TYPE_CHECKING, Final, cast

from opentelemetry.trace import format_span_id, format_trace_id

from otel_errcompact import late
from otel_errcompact.digest import encodable
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.resources import Resource

    from otel_errcompact.errors import SpanRef

Value = str | bytes | bool | int | tuple[str, ...]

INFO: Final = 9
ERROR: Final = 17
"""Severity numbers."""

_ESCAPED: Final = 12
"""Bytes of a character as JSON at most."""

_SAMPLES: Final = 16
"""Samples of a long text, each a thousandth of it."""

_NOT_FINITE: Final = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
_IDENTITY: Final = ("service.name", "service.namespace")
"""The attributes of the resource in the lines of a run's life; those of raw errors have all that others do not say."""


def write_log_record(
    event: str, attributes: Mapping[str, Value], *, time_ns: int, severity: int = INFO, span: SpanRef | None = None
) -> str:
    """Return a log record in OTLP/JSON; empty attributes are left out."""
    ids = ""
    if span is not None:
        ids = f',"traceId":"{format_trace_id(span.trace_id)}","spanId":"{format_span_id(span.span_id)}"'
    return (
        f'{{"timeUnixNano":"{time_ns}","severityNumber":{severity},"eventName":{quote(event)},'
        f'"attributes":[{write_attributes(attributes)}]{ids}}}'
    )


def write_attributes(attributes: Mapping[str, Value]) -> str:
    """
    Return attributes in OTLP/JSON, without empty texts, False and empty lists.

    By hand, since this is most of a line: an encoder of JSON takes twice as long.
    """
    written: list[str] = []
    for name, value in attributes.items():
        if type(value) is str:  # as most are
            if value:
                text = quote(value) if value.isascii() else quote(encodable(value))
                written.append(f'{_KEYS[name]}{{"stringValue":{text}}}}}')
        elif value or (value == 0 and value is not False):
            written.append(f"{_KEYS[name]}{_write_value(value)}}}")
    return ",".join(written)


def write_text(text: str) -> str:
    """
    Return a text as a string of JSON, in ASCII.

    Some readers take U+2028 and similar characters for the end of a line.
    """
    return quote(text if text.isascii() else encodable(text))


class _Keys(dict[str, str]):
    """How attributes begin, by their names: those that this library gives them."""

    def __missing__(self, name: str) -> str:
        self[name] = begin = f'{{"key":{quote(name)},"value":'
        return begin


_KEYS: Final = _Keys()


def _write_value(value: Value) -> str:
    if isinstance(value, str):
        return f'{{"stringValue":{write_text(value)}}}'
    if isinstance(value, bool):
        return f'{{"boolValue":{"true" if value else "false"}}}'
    if isinstance(value, int):
        return f'{{"intValue":"{value}"}}'
    if isinstance(value, bytes):
        return f'{{"bytesValue":"{base64.b64encode(value).decode("ascii")}"}}'
    items = ",".join([f'{{"stringValue":{write_text(item)}}}' for item in value])
    return f'{{"arrayValue":{{"values":[{items}]}}}}'


def redact_value(value: Value) -> Value:
    """Return a value without secrets."""
    if isinstance(value, str):
        return late.redact(value)
    return tuple(map(late.redact, value)) if isinstance(value, tuple) else value


def build_span_envelope(resource: Resource) -> tuple[str, str]:
    """
    Return the text around the span, equal in all lines.

    By hand, since the official encoder takes longer to import than all else that is installed; a test compares.
    """
    attributes = ",".join(
        [
            f"{_KEYS[name]}{_write_resource_value(value)}}}"
            for name, value in resource.attributes.items()
            if not name.startswith("telemetry.sdk.")  # no SDK writes these lines
        ]
    )
    described = f'{{"attributes":[{attributes}]}}' if attributes else "{}"
    scope = f'{{"name":{quote(semconv.SCOPE)}}}'
    schema = f',"schemaUrl":{quote(resource.schema_url)}' if resource.schema_url else ""
    head = f'{{"resourceSpans":[{{"resource":{described},"scopeSpans":[{{"scope":{scope},"spans":['
    tail = f"]}}]{schema}}}]}}"
    return head, tail


def _write_resource_value(value: object) -> str:
    if isinstance(value, float):
        return f'{{"doubleValue":{float.__repr__(value) if isfinite(value) else quote(_NOT_FINITE[str(value)])}}}'
    if isinstance(value, str | bool | int | bytes):
        return _write_value(value)
    if isinstance(value, Sequence):
        items = ",".join([_write_resource_value(item) for item in cast("Sequence[object]", value)])
        return f'{{"arrayValue":{{"values":[{items}]}}}}' if items else '{"arrayValue":{}}'
    return "{}"  # as where there is no value


def build_log_envelope(resource: Resource) -> tuple[str, str]:
    """
    Return what is before and after the log record of a line.

    The resource is named only, since most lines are small.
    """
    attributes = {name: str(resource.attributes[name]) for name in _IDENTITY if resource.attributes.get(name)}
    head = (
        f'{{"resourceLogs":[{{"resource":{{"attributes":[{write_attributes(attributes)}]}},'
        f'"scopeLogs":[{{"scope":{{"name":{quote(semconv.SCOPE)}}},"logRecords":['
    )
    return head, "]}]}]}"


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
    return len(quote(text)) - len('""')
