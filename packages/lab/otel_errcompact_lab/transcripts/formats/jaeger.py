"""
Jaeger's JSON, as its query API and its user interface save it.

The tags into which OpenTelemetry translates status, kind and scope become these again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, get_args

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_lab.transcripts.model import RecordedEvent, RecordedSpan, RecordedTrace, SpanKind, in_order_of_end
from otel_errcompact_lab.transcripts.records import Record, documents, fields_of, items_of
from otel_errcompact_lab.transcripts.run_builder import FIRST_NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from otel_errcompact_lab.transcripts.model import AttributeValue, StatusCode
    from otel_errcompact_lab.transcripts.records import Value

_KINDS: Final[dict[str, SpanKind]] = {kind: kind for kind in get_args(SpanKind)}
_STATUSES: Final[dict[str, StatusCode]] = {"OK": "ok", "ERROR": "error"}

_KIND: Final = "span.kind"
_ERROR: Final = "error"
_STATUS: Final = "otel.status_code"
_DESCRIPTION: Final = "otel.status_description"
_SCOPES: Final = ("scope", "library")
"""Tags with the instrumentation scope: the present name and the former one."""

_SCOPE_NAMES: Final = tuple(f"otel.{scope}.name" for scope in _SCOPES)
_SCOPE_VERSIONS: Final = tuple(f"otel.{scope}.version" for scope in _SCOPES)
_TRANSLATED: Final = frozenset({_KIND, _ERROR, _STATUS, _DESCRIPTION, *_SCOPE_NAMES, *_SCOPE_VERSIONS})
"""Tags that repeat a span's own fields; no attributes."""

_NS_PER_US: Final = 1_000
_MAX_US: Final = 2**62 // _NS_PER_US
"""A start and a duration up to this give an end that fits into 64 bits."""

_ID: Final = lazy_pattern(r"[0-9a-fA-F]{1,32}", re.ASCII)


def detect(value: object) -> bool:
    """Recognise a query's answer with traces of spans."""
    return any("spans" in fields_of(trace) for trace in items_of(fields_of(value).get("data"))[:1])


def read(values: Iterable[Value]) -> Iterator[RecordedTrace]:
    """Read each trace."""
    for answer in documents(values):
        yield from filter(None, map(_read_trace, answer.children("data")))


def _read_trace(trace: Record) -> RecordedTrace | None:
    processes = trace.child("processes")
    resources = {key: _read_resource(processes.child(key)) for key in processes.fields}
    found = (_read_span(span, resources.get(span.text("processID"), {})) for span in trace.children("spans"))
    spans = in_order_of_end(span for span in found if span is not None)
    if not spans:
        return None
    return RecordedTrace(run_id=f"{spans[0].trace_id:032x}", source=trace.place.path, spans=spans)


def _read_resource(process: Record) -> dict[str, AttributeValue]:
    service = process.text("serviceName")
    return ({"service.name": service} if service else {}) | _read_tags(process, "tags")


def _read_span(span: Record, resource: Mapping[str, AttributeValue]) -> RecordedSpan | None:
    trace_id, span_id = _read_id(span, "traceID"), _read_id(span, "spanID")
    if not trace_id or not span_id:
        span.place.problem("needs a traceID and a spanID of at most 32 hex digits and is skipped")
        return None
    tags = _read_tags(span, "tags")
    start_ns = _read_nanoseconds(span, "startTime") or FIRST_NS
    return RecordedSpan(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=_read_parent(span) or None,
        name=span.text("operationName"),
        start_ns=start_ns,
        end_ns=start_ns + _read_nanoseconds(span, "duration"),
        kind=_KINDS.get(str(tags.get(_KIND)), "internal"),
        status=_read_status(tags),
        status_description=_first_tag(tags, (_DESCRIPTION,)),
        attributes={key: value for key, value in tags.items() if key not in _TRANSLATED},
        events=tuple(_read_event(log, start_ns) for log in span.children("logs")),
        scope_name=_first_tag(tags, _SCOPE_NAMES),
        scope_version=_first_tag(tags, _SCOPE_VERSIONS),
        resource=resource,
    )


def _read_status(tags: Mapping[str, AttributeValue]) -> StatusCode:
    # Spans of other instrumentations show a failure by the tag `error` alone.
    failed = str(tags.get(_ERROR)).lower() == "true"
    return _STATUSES.get(str(tags.get(_STATUS)), "error" if failed else "unset")


def _read_event(log: Record, span_start_ns: int) -> RecordedEvent:
    fields = _read_tags(log, "fields")
    name = str(fields.pop("event", ""))
    return RecordedEvent(name=name, time_ns=_read_nanoseconds(log, "timestamp") or span_start_ns, attributes=fields)


def _read_parent(span: Record) -> int:
    children = (one for one in span.children("references") if one.text("refType") == "CHILD_OF")
    reference = next(children, None)
    holder, key = (span, "parentSpanID") if reference is None else (reference, "spanID")
    parent_id = _read_id(holder, key)
    if parent_id is None:
        holder.place.inner(key).problem("must be at most 32 hex digits; it is ignored")
    return parent_id or 0


def _first_tag(tags: Mapping[str, AttributeValue], names: Iterable[str]) -> str:
    return next((str(tags[name]) for name in names if name in tags), "")


def _read_id(holder: Record, key: str) -> int | None:
    # Leading zeros may be lost. 0, which is no valid id, if it is missing; None if it cannot be read.
    text = holder.text(key) or "0"
    return int(text, 16) if _ID.fullmatch(text) else None


def _read_nanoseconds(holder: Record, key: str) -> int:
    return (holder.integer(key, minimum=0, maximum=_MAX_US) or 0) * _NS_PER_US


def _read_tags(holder: Record, key: str) -> dict[str, AttributeValue]:
    found = ((tag.text("key"), _read_tag(tag)) for tag in holder.children(key))
    return {name: value for name, value in found if name and value is not None}


def _read_tag(tag: Record) -> AttributeValue | None:
    value = tag.fields.get("value")
    if tag.fields.get("type") == "int64" or type(value) is int:
        return tag.integer("value")
    if isinstance(value, (str, bool, float)):
        return value
    return tag.json("value") or None
