"""What a receiver does with a request: joins what is one call, counts it once, and refuses what is none."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.runs import LedgerRuns
from otel_errcompact_hosts.telemetry.bodies import JSON, PROTOBUF
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.entries import Entries
from otel_errcompact_hosts.telemetry.receiver import Receiver, Request
from packages.hosts.tests.telemetry.messages import logs, record, span, spans

if TYPE_CHECKING:
    from packages.hosts.tests.telemetry.conftest import Bench

FAILED: dict[str, object] = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "query",
    "gen_ai.conversation.id": "c",
}


def failed(number: int, text: str = "no such table: orders") -> Any:
    """A span of a failed call."""
    call = {**FAILED, "gen_ai.tool.call.id": f"call_{number}"}
    return span("execute_tool query", call, span_id=number + 1, failed=True, description=text)


def test_a_record_without_ids_counts_once_however_often_it_arrives(bench: Bench) -> None:
    """Its bytes are its name: a later record of the same failure has another time."""
    told = {"event.name": "gemini_cli.tool_call", "session.id": "g", "function_name": "read_file", "success": False}
    told |= {"error": "File not found: /w/missing.txt"}
    bench.send(logs(record(told, at=1)))
    bench.send(logs(record(told, at=1)))
    bench.send(logs(record(told, at=2)))
    assert bench.ledger.report("g").occurrences == 2


def test_a_log_record_and_a_span_of_one_call_count_once(bench: Bench) -> None:
    """Whichever comes first, by the id of the call."""
    call = {"session.id": "s", "tool_name": "Read", "tool_use_id": "toolu_1", "success": "false", "error": "gone"}
    execution = {"session.id": "s", "tool_use_id": "toolu_1", "success": False, "error": "gone"}
    bench.send(
        spans(
            span("claude_code.tool.execution", execution, span_id=2, failed=True),
            span("claude_code.tool", {"session.id": "s", "tool_name": "Read", "tool_use_id": "toolu_1"}),
            scope="com.anthropic.claude_code.tracing",
        )
    )
    bench.send(logs(record({"event.name": "tool_result", **call}), scope="com.anthropic.claude_code.events"))
    assert bench.ledger.report("s").occurrences == 1


def test_what_hooks_report_they_count_and_the_telemetry_does_not() -> None:
    """Also that of a sub-agent, and what comes behind the hook that ends the session."""
    hooked = LedgerRuns(ledger=Ledger())
    for run_id in ("c", "g1"):
        hooked.conclude(HostCall(run_id=run_id, tool="query", call_id="call_1"), HostResult(text="gone", failed=True))
    hooked.conclude(HostCall(run_id="x", tool="make", stoppable=False), HostResult(text="gone", failed=True))
    hooked.end("g1")
    ledger = Ledger()
    receiver = Receiver(LedgerRuns(ledger=ledger), is_hooked=hooked.is_hooked)
    receiver.receive(Request("traces", spans(failed(1), failed(2)).SerializeToString()))
    told = {"event.name": "gemini_cli.tool_call", "function_name": "read_file", "success": False, "error": "gone"}
    request = logs(*(record({**told, "session.id": run_id}) for run_id in ("g1", "c/reviewer", "x", "other")))
    receiver.receive(Request("logs", request.SerializeToString()))
    assert sorted(ledger.store.run_ids()) == ["other", "x"]
    assert sorted(hooked.ledger.store.run_ids()) == ["c", "x"]


def test_what_its_sender_counts_counts_no_second_time(bench: Bench) -> None:
    """A process with this library, a receiver in front of this one: each says so."""
    ours = spans(failed(1), service="shop", errcompact__counted="true")
    scoped = spans(failed(2), scope="otel_errcompact")
    marked = failed(3)
    marked.attributes.add(key="errcompact.class").value.string_value = "ab12"
    for request in (ours, scoped, spans(marked)):
        bench.send(request)
    assert bench.ledger.report("c").occurrences == 0


def test_a_call_counts_once_however_often_it_arrives(bench: Bench) -> None:
    """A sender whose answer was lost sends its batch again, packed or not."""
    request = spans(failed(1), failed(2))
    bench.send(request)
    bench.send(request)
    packed = gzip.compress(request.SerializeToString(), mtime=0)
    assert bench.post("traces", packed, encoding="gzip").status == 200
    assert bench.ledger.report("c").occurrences == 2


def test_of_metrics_nothing_is_read(bench: Bench) -> None:
    """They are answered, so that a sender of all three signals is content."""
    assert bench.post("metrics", b'{"resourceMetrics": 7}', JSON) == (200, JSON, b"{}")
    assert bench.post("metrics", b"\xff") == (200, PROTOBUF, b"")
    assert bench.post("metrics", b"", "text/plain").status == 415


def test_fields_that_this_release_does_not_know_are_no_hindrance(bench: Bench) -> None:
    """Of each kind, in front of what it knows and behind; a message in several pieces is all of them."""
    unknown = b"\xf2\x3f\x03new" + b"\xf8\x3f\x96\x01" + b"\xfd\x3f\x01\x02\x03\x04" + b"\xf9\x3f" + bytes(8)
    (group,) = spans(failed(1), service="shop").resource_spans
    (part,) = group.scope_spans

    def wrap(number: int, content: bytes) -> bytes:
        return unknown + bytes([number << 3 | 2]) + varint(len(content)) + content + unknown

    def varint(size: int) -> bytes:
        return bytes([size & 0x7F | 0x80, size >> 7])

    about = group.resource.SerializeToString()
    one_part = wrap(1, b"") + wrap(2, part.spans[0].SerializeToString() + unknown)
    body = wrap(1, wrap(1, about) + wrap(1, b"") + wrap(2, one_part))
    assert bench.post("traces", body).status == 200
    assert bench.ledger.report("c").agent == "shop"


def test_json_counts_with_names_and_numbers_of_any_style(bench: Bench) -> None:
    """With ids in hexadecimal digits, and what is unknown left out."""
    request = {"resourceSpans": [{"scope_spans": [{"spans": [
        {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "execute_tool query",
         "startTimeUnixNano": "1764200000000000000", "endTimeUnixNano": 1764200000000000001, "new": {"field": [1.5]},
         "parentSpanId": None, "status": {"code": 2, "message": "no such table"},
         "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                        {"key": "gen_ai.tool.name", "value": {"stringValue": "query"}}]}]}]}]}  # fmt: skip
    reply = bench.post("traces", json.dumps(request).encode(), "application/json; charset=utf-8")
    assert reply == (200, JSON, b"{}")
    assert bench.ledger.report("0af7651916cd43dd8448eb211c80319c").occurrences == 1


def test_protobuf_and_json_count_the_same(bench: Bench) -> None:
    """A log record in JSON, with its numbers as texts."""
    told = {"event.name": "tool_result", "session.id": "s", "tool_name": "Read", "success": "false", "error": "gone"}
    request = logs(record({**told, "tool_use_id": "t1"}), scope="com.anthropic.claude_code.events")
    bench.post("logs", json_format.MessageToJson(request).encode(), JSON)
    bench.send(request)
    assert bench.ledger.report("s").occurrences == 1


@pytest.mark.parametrize(
    ("body", "content_type", "encoding", "status", "problem"),
    [
        (b"\xff\xff\xff", PROTOBUF, "", 400, "the body is no request with traces in protobuf"),
        (b"\x0a\xff", PROTOBUF, "", 400, "the body is no request with traces in protobuf"),
        (b"not gzip", PROTOBUF, "gzip", 400, "the body is no gzip"),
        (gzip.compress(b"\x0a\x00", mtime=0)[:-9], PROTOBUF, "gzip", 400, "a gzip without its end"),
        (b"{", JSON, "", 400, "the body is no request with traces in JSON"),
        (b"[]", JSON, "", 400, "a request is an object"),
        (b'{"resourceSpans": 7}', JSON, "", 400, "the body is no request with traces in JSON"),
        (b'{"resourceSpans": [7]}', JSON, "", 400, "the body is no request with traces in JSON"),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "xyz"}]}]}]}', JSON, "", 400, "traceId is 'xyz'"),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": 7}]}]}]}', JSON, "", 400, "in JSON"),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"kind": 1e999}]}]}]}', JSON, "", 400, "kind is 'inf'"),
        (b'{"a":' * 50_000, JSON, "", 400, "the body is no request with traces in JSON"),
        (b"\xff", JSON, "", 400, "the body is no request with traces in JSON"),
        (b"", "text/plain", "", 415, "the content type is 'text/plain'; send application/x-protobuf"),
        (b"", "", "", 415, "the content type is ''"),
        (b"", PROTOBUF, "br", 415, "the content encoding is 'br'; send gzip, or none"),
    ],
)
def test_what_is_no_request_gets_one_clear_sentence(
    bench: Bench, body: bytes, content_type: str, encoding: str, status: int, problem: str
) -> None:
    """As `google.rpc.Status`, in the sender's own encoding; nothing of it counts."""
    reply = bench.post("traces", body, content_type, encoding)
    assert reply.status == status
    text = reply.body.decode("utf-8", "replace") if content_type == PROTOBUF else json.loads(reply.body)["message"]
    assert problem in text
    assert "\n" not in text[4:]
    assert bench.total() == 0


def test_the_status_of_an_error_is_a_message_of_protobuf(bench: Bench) -> None:
    """Code and text, each in its field."""
    reply = bench.post("traces", b"\xff")
    assert reply.body[:3] == b"\x08\x03\x12"
    assert reply.body[3] & 0x7F | (reply.body[4] << 7 if reply.body[3] & 0x80 else 0) > 0
    assert reply.content_type == PROTOBUF


def test_what_is_too_long_is_not_unpacked(bench: Bench) -> None:
    """A bomb costs no more than the bound, whole or packed."""
    packed = gzip.compress(b"\x00" * 50_000_000, mtime=0)
    reply = bench.post("traces", packed, PROTOBUF, "gzip")
    assert (reply.status, b"unpacks to more than 8388608 bytes" in reply.body) == (413, True)
    assert bench.post("traces", b"\x00" * 8_388_609).status == 413
    reply = bench.post("traces", b" " * 4_194_305, JSON)
    assert (reply.status, b"longer than 4194304 bytes of JSON" in reply.body) == (413, True)


def pack_again_and_again(body: bytes, members: int) -> bytes:
    """A body in gzip, with empty pieces behind it."""
    return gzip.compress(body, mtime=0) + gzip.compress(b"", mtime=0) * (members - 1)


ONE = spans(failed(1)).SerializeToString()
MANY = ExportTraceServiceRequest()
MANY.resource_spans.add().scope_spans.add().spans.extend([Span()] * 200_000)


@pytest.mark.parametrize(
    ("body", "content_type", "encoding", "problem"),
    [
        pytest.param(pack_again_and_again(ONE, 16), PROTOBUF, "gzip", "", id="packed in 16 pieces"),
        pytest.param(pack_again_and_again(ONE, 17), PROTOBUF, "gzip", "packed in more than 16", id="packed in more"),
        pytest.param(gzip.compress(MANY.SerializeToString() + ONE), PROTOBUF, "gzip", "200000 fields", id="many spans"),
        pytest.param(b"\x08\x00" * 200_001, PROTOBUF, "", "200000 fields", id="fields of no span"),
        pytest.param(b'{"a":[' + b"[]," * 100_000 + b"[]]}", JSON, "", "200000 parts", id="parts of JSON"),
        pytest.param(
            b'{"resourceSpans": [{}], ' + b'"b": 1, ' * 199_990 + b'"c": 1}', JSON, "", "", id="names of JSON"
        ),
    ],
)
def test_what_is_small_and_unpacks_to_much_is_refused_before_objects_are_made_of_it(
    bench: Bench, body: bytes, content_type: str, encoding: str, problem: str
) -> None:
    """Two kilobytes of gzip have cost half a minute and 740 MB; nothing of such a request counts."""
    reply = bench.post("traces", body, content_type, encoding)
    assert reply.status == (413 if problem else 200)
    assert problem in reply.body.decode("utf-8", "replace")
    assert bench.total() == (1 if not problem and encoding else 0)


def test_of_a_request_with_too_many_fields_the_first_entries_count(bench: Bench) -> None:
    """The sender learns how many did not, and so does the operator."""
    large = span("chat", {f"a{number}": number for number in range(49_990)}, span_id=9)
    request = spans(failed(1), large, failed(2), failed(3))
    body = request.SerializeToString()
    expected = ExportTraceServiceResponse()
    expected.partial_success.rejected_spans = 2
    expected.partial_success.error_message = TOO_MUCH
    assert bench.post("traces", body) == (200, PROTOBUF, expected.SerializeToString())
    assert bench.ledger.report("c").occurrences == 1
    assert bench.ledger.guard.failures["receive"] == 2


TOO_MUCH = "the rest takes more than 0.5 s, or has too many fields; send smaller batches"


@pytest.mark.parametrize(("signal", "name"), [("traces", "rejectedSpans"), ("logs", "rejectedLogRecords")])
def test_what_takes_too_much_time_is_rejected(signal: str, name: str) -> None:
    """At least one entry is read, so that a batch that is sent again gets to its end."""
    told = {"event.name": "tool_result", "session.id": "c", "tool_name": "Read", "success": "false", "error": "gone"}
    records = (record({**told, "tool_use_id": f"t{n}"}) for n in range(4))
    request = (
        logs(*records, scope="com.anthropic.claude_code.events") if signal == "logs" else spans(*map(failed, range(4)))
    )
    now = itertools.count()
    ledger = Ledger()
    receiver = Receiver(ReportedRuns(ledger), clock=lambda: next(now) * 0.09)
    fields = {"traceId": "00", "spanId": "00", "parentSpanId": "00"}
    body = json.dumps(_in_hexadecimal(json_format.MessageToDict(request), fields)).encode()
    reply = receiver.receive(Request(signal, body, JSON))
    assert json.loads(reply.body) == {"partialSuccess": {name: "2", "errorMessage": TOO_MUCH}}
    assert ledger.report("c").occurrences == 2


def test_a_long_text_is_read_at_both_ends(bench: Bench) -> None:
    """Where its cause stands; a tool's name ends somewhere too."""
    text = "Error: no such table: orders\n" + "x\n" * 3_000_000 + "make: *** [all] Error 2"
    long = failed(1, text)
    long.attributes.add(key="gen_ai.agent.name").value.string_value = "shop" * 1_000
    bench.send(spans(long))
    report = bench.ledger.report("c")
    raw = bench.ledger.raw("c", report.classes[0].key)
    assert raw is not None
    assert (raw[:28], raw[-23:], len(raw)) == (text[:28], text[-23:], 32_767)
    assert len(report.agent) == 1_000


def _in_hexadecimal(content: Any, fields: dict[str, str]) -> Any:
    if isinstance(content, dict):
        return {
            name: base64.b64decode(item).hex() if name in fields else _in_hexadecimal(item, fields)
            for name, item in content.items()
        }
    return [_in_hexadecimal(item, fields) for item in content] if isinstance(content, list) else content


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_deep_values_are_read_to_a_depth(content_type: str) -> None:
    """What lies deeper is left out, and the rest is there."""
    value = AnyValue(string_value="deep")
    for _ in range(30):
        value = AnyValue(array_value=ArrayValue(values=[value, AnyValue(int_value=1)]))
    request = spans(Span(attributes=[KeyValue(key="x", value=value)]))
    body = request.SerializeToString()
    if content_type == JSON:
        body = json_format.MessageToJson(request).encode()
    (entry,) = Entries("traces", body, content_type)
    assert str(entry.span.attributes["x"]).count("1") == 19
    assert "deep" not in str(entry.span.attributes["x"])


VALUES = st.recursive(
    st.one_of(
        st.builds(AnyValue, string_value=st.text(max_size=5)),
        st.builds(AnyValue, bool_value=st.booleans()),
        st.builds(AnyValue, int_value=st.integers(-(2**63), 2**63 - 1)),
        st.builds(AnyValue, double_value=st.floats(allow_nan=False)),
        st.builds(AnyValue, bytes_value=st.binary(max_size=5)),
    ),
    lambda inner: st.one_of(
        st.builds(AnyValue, array_value=st.builds(ArrayValue, values=st.lists(inner, min_size=1, max_size=3))),
        st.builds(
            AnyValue,
            kvlist_value=st.builds(
                KeyValueList,
                values=st.lists(st.builds(KeyValue, key=st.text(max_size=3), value=inner), min_size=1, max_size=3),
            ),
        ),
    ),
    max_leaves=5,
)


def read_official(value: AnyValue) -> object:
    """A value as the official library reads it."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return tuple(map(read_official, value.array_value.values))
    if kind == "kvlist_value":
        return {each.key: read_official(each.value) for each in value.kvlist_value.values}
    return getattr(value, kind)


@given(
    st.dictionaries(st.text(max_size=5), VALUES, max_size=3),
    st.integers(0, 2**64 - 1),
    st.binary(min_size=16, max_size=16),
)
def test_messages_are_read_as_the_official_library_writes_them(
    content: dict[str, AnyValue], at: int, trace: bytes
) -> None:
    """Any value of any attribute, with numbers of either sign."""
    request = spans(
        Span(
            trace_id=trace,
            end_time_unix_nano=at,
            attributes=[KeyValue(key=key, value=value) for key, value in content.items()],
        )
    )
    (entry,) = Entries("traces", request.SerializeToString(), PROTOBUF)
    assert entry.span.attributes == {key: read_official(value) for key, value in content.items()}
    assert (entry.span.end_ns, entry.span.trace_id) == (at, int.from_bytes(trace, "big"))


@given(st.binary(max_size=200))
def test_no_bytes_break_the_receiver(body: bytes) -> None:
    """Any body is taken or refused, in both encodings."""
    receiver = Receiver(ReportedRuns(Ledger()))
    for content_type in (PROTOBUF, JSON):
        for signal in ("traces", "logs", "metrics"):
            assert receiver.receive(Request(signal, body, content_type)).status in {200, 400}


def test_counts_are_exact_when_log_records_and_spans_come_at_the_same_time(bench: Bench) -> None:
    """Eight senders report the same calls, and each call counts once."""
    requests = [spans(*(failed(n) for n in range(start, start + 20))).SerializeToString() for start in range(0, 80, 20)]
    threads = [
        threading.Thread(target=lambda: [bench.post("traces", body) for body in requests], daemon=True)
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert bench.ledger.report("c").occurrences == 80


def test_without_session_and_trace_the_service_is_the_run(bench: Bench) -> None:
    """Such as of a log record outside every trace."""
    told = {"event.name": "tool_result", "tool_name": "Read", "tool_use_id": "t1", "success": "false", "error": "gone"}
    bench.send(logs(record(told), scope="com.anthropic.claude_code.events", service="claude-code"))
    assert bench.ledger.report("claude-code").occurrences == 1
