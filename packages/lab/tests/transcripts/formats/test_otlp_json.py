"""What is read of OTLP/JSON traces."""

from __future__ import annotations

import base64
import json

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from otel_errcompact_lab.transcripts import RecordedEvent, RecordedSpan, read
from otel_errcompact_lab.transcripts.formats import otlp_json

T0 = 1_772_445_600_000_000_000
TRACE = 0x0AF7651916CD43DD8448EB211C80319C


def write(folder, *spans):
    """Write spans, a request each."""
    path = folder / "traces.jsonl"
    lines = [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]} for span in spans]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def span(span_id, trace_id=TRACE, **more):
    """Make a span."""
    return {"traceId": f"{trace_id:032x}", "spanId": f"{span_id:016x}", "name": "s", **more}


def read_span(folder, **more):
    """Write one span and read it."""
    (trace,) = read(write(folder, span(1, **more)), on_problem=pytest.fail)
    return trace.spans[0]


def attribute_value(folder, value):
    """Write one attribute and read it."""
    return read_span(folder, attributes=[{"key": "k", "value": value}]).attributes.get("k")


def test_a_span_is_read_whole(sample):
    """Ids, times, kind, status, attributes, events, scope, resource and dropped counts."""
    assert sample("otlp.jsonl")[1].spans[0] == RecordedSpan(
        trace_id=TRACE,
        span_id=0x00F067AA0BA902B7,
        parent_id=0xB7AD6B7169203331,
        name="execute_tool db.query",
        start_ns=T0 + 100,
        end_ns=T0 + 200,
        kind="internal",
        status="error",
        status_description="ConnectionError: connection refused",
        attributes={"gen_ai.tool.name": "db.query", "retries": 3},
        events=(
            RecordedEvent(
                name="exception",
                time_ns=T0 + 200,
                attributes={"exception.type": "ConnectionError", "exception.message": "connection refused"},
            ),
        ),
        scope_name="shop",
        scope_version="1.2",
        resource={"service.name": "shop-agent"},
        dropped_attributes=1,
        dropped_events=2,
        dropped_links=3,
    )


def test_a_trace_is_gathered_from_the_requests_it_is_spread_over(sample):
    """Spans in several lines are one trace, in the order in which they ended; other signals are no problem."""
    assert [(trace.run_id, [one.name for one in trace.spans]) for trace in sample("otlp.jsonl")] == [
        ("1af7651916cd43dd8448eb211c80319c", ["invoke_agent other"]),
        ("0af7651916cd43dd8448eb211c80319c", ["execute_tool db.query", "invoke_agent shop"]),
    ]


def test_traces_are_held_up_to_a_bound(tmp_path, monkeypatch):
    """With too many spans held, the trace touched least recently is handed on; a late span of it comes apart."""
    monkeypatch.setattr(otlp_json, "MAX_OPEN_SPANS", 2)
    path = write(tmp_path, span(1, 0xA), span(2, 0xB), span(3, 0xA), span(4, 0xB))
    traces = list(read(path, on_problem=pytest.fail))
    assert [(int(trace.run_id, 16), [one.span_id for one in trace.spans]) for trace in traces] == [
        (0xB, [2]),
        (0xA, [1, 3]),
        (0xB, [4]),
    ]


@pytest.mark.parametrize("is_base64", [pytest.param(False, id="hex"), pytest.param(True, id="base64")])
def test_spans_of_the_sdk_come_back(tmp_path, is_base64):
    """What the SDK's own encoder makes of real spans is read back, with ids in hex and in base64."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "agent"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("scope", "1.0")
    with pytest.raises(KeyError), tracer.start_as_current_span("outer", kind=SpanKind.CLIENT):
        with tracer.start_as_current_span("inner", attributes={"n": 7, "f": 0.5, "b": True, "many": ["x", "y"]}):
            pass
        raise KeyError("missing")
    inner, outer = exporter.get_finished_spans()
    request = MessageToDict(encode_spans([inner, outer]))
    if not is_base64:
        _ids_as_hex(request)
    path = tmp_path / "trajectory.jsonl"
    path.write_text(json.dumps(request))
    (trace,) = read(path, on_problem=pytest.fail)
    read_inner, read_outer = trace.spans
    assert read_inner.attributes == {"n": 7, "f": 0.5, "b": True, "many": ("x", "y")}
    assert (read_inner.parent_id, read_inner.trace_id) == (outer.context.span_id, outer.context.trace_id)
    assert (read_outer.start_ns, read_outer.end_ns) == (outer.start_time, outer.end_time)
    assert (read_outer.kind, read_outer.status) == ("client", "error")
    assert outer.status.status_code is StatusCode.ERROR
    assert read_outer.status_description == outer.status.description
    assert [(event.name, event.time_ns, event.attributes) for event in read_outer.events] == [
        (event.name, event.timestamp, dict(event.attributes)) for event in outer.events
    ]
    assert (read_outer.scope_name, read_outer.scope_version) == ("scope", "1.0")
    assert read_outer.resource["service.name"] == "agent"


def _ids_as_hex(value):
    if isinstance(value, list):
        for item in value:
            _ids_as_hex(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in {"traceId", "spanId", "parentSpanId"}:
                value[key] = base64.b64decode(item).hex()
            else:
                _ids_as_hex(item)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"stringValue": "x"}, "x", id="string"),
        pytest.param({"boolValue": False}, False, id="bool"),
        pytest.param({"intValue": "-9223372036854775808"}, -(2**63), id="int-as-text"),
        pytest.param({"intValue": 7}, 7, id="int"),
        pytest.param({"doubleValue": 2}, 2.0, id="double"),
        pytest.param({"doubleValue": "Infinity"}, float("inf"), id="infinity"),
        pytest.param({"bytesValue": "AAE="}, "AAE=", id="bytes"),
        pytest.param({"arrayValue": {"values": [{"intValue": "1"}, {"intValue": "2"}]}}, (1, 2), id="list"),
        pytest.param({"arrayValue": {}}, (), id="empty-list"),
        pytest.param(
            {"arrayValue": {"values": [{"intValue": 1}, {"stringValue": "x"}]}},
            '{"values":[{"intValue":1},{"stringValue":"x"}]}',
            id="mixed-list",
        ),
        pytest.param(
            {"kvlistValue": {"values": [{"key": "a", "value": {"boolValue": True}}]}},
            '{"values":[{"key":"a","value":{"boolValue":true}}]}',
            id="map",
        ),
        pytest.param({}, None, id="empty"),
    ],
)
def test_values_of_attributes(tmp_path, value, expected):
    """Scalars and lists of one type become Python values; what Python's API cannot hold stays as JSON."""
    assert attribute_value(tmp_path, value) == expected


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param({"startTimeUnixNano": "5", "endTimeUnixNano": 9}, (5, 9), id="both"),
        pytest.param({"startTimeUnixNano": "5"}, (5, 5), id="no-end"),
        pytest.param({"endTimeUnixNano": "9"}, (9, 9), id="no-start"),
        pytest.param({"startTimeUnixNano": "9", "endTimeUnixNano": "5"}, (9, 9), id="end-before-start"),
        pytest.param({}, (946_684_800_000_000_000, 946_684_800_000_000_000), id="none"),
    ],
)
def test_times_that_are_missing(tmp_path, times, expected):
    """A span that lacks a time has start and end at the one it has."""
    found = read_span(tmp_path, **times)
    assert (found.start_ns, found.end_ns) == expected


def test_an_event_without_a_time_is_at_the_end_of_its_span(tmp_path):
    """An exception that escapes is recorded last."""
    found = read_span(tmp_path, endTimeUnixNano="9", events=[{"name": "exception"}])
    assert found.events[0].time_ns == 9


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({"code": 2}, "error", id="number"),
        pytest.param({"code": "STATUS_CODE_OK"}, "ok", id="name"),
        pytest.param({}, "unset", id="empty"),
        pytest.param({"code": 0}, "unset", id="unset"),
        pytest.param({"code": 9}, "unset", id="unknown"),
    ],
)
def test_status_codes(tmp_path, status, expected):
    """A status is a number or a name; any other is unset."""
    assert read_span(tmp_path, status=status).status == expected


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"traceId": "xyz"}, id="unreadable-trace-id"),
        pytest.param({"traceId": "AAAA"}, id="short-trace-id"),
        pytest.param({"spanId": None}, id="no-span-id"),
        pytest.param({"spanId": "0" * 16}, id="zero-span-id"),
    ],
)
def test_a_span_without_ids_is_skipped(tmp_path, fields):
    """A span that cannot be placed is reported with its way in the file; the others are read."""
    path = write(tmp_path, {**span(1), **fields}, span(2))
    problems = []
    (trace,) = read(path, on_problem=problems.append)
    assert [one.span_id for one in trace.spans] == [2]
    assert [str(problem) for problem in problems] == [
        (
            f"{path}:1: resourceSpans[0].scopeSpans[0].spans[0] needs a traceId of 16 bytes and a spanId of 8, "
            "in hex or base64, and is skipped"
        ),
    ]


def test_a_parent_id_that_cannot_be_read_makes_a_root(tmp_path):
    """The span is kept, and the id is reported."""
    problems = []
    (trace,) = read(write(tmp_path, span(1, parentSpanId="zz")), on_problem=problems.append)
    assert trace.spans[0].parent_id is None
    assert [str(problem) for problem in problems] == [
        (
            f"{tmp_path}/traces.jsonl:1: resourceSpans[0].scopeSpans[0].spans[0].parentSpanId must be 8 bytes "
            "in hex or base64; it is ignored"
        ),
    ]


def test_a_line_of_something_else_is_reported(tmp_path):
    """Among export requests a line of another kind is skipped with a message."""
    path = write(tmp_path, span(1))
    path.write_text(path.read_text() + '{"level": "info"}\n[]\n')
    problems = []
    assert len(list(read(path, on_problem=problems.append))) == 1
    assert [str(problem) for problem in problems] == [
        f"{path}:2: holds no resourceSpans and is skipped; expected is an OTLP/JSON export request",
        f"{path}:3: must be an object, not a list; it is ignored",
    ]
