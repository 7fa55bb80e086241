"""What a receiver does with a request: joins, marks, passes on byte for byte, and refuses what is none."""

from __future__ import annotations

import gzip
import json
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.hosts.calls import Answer, HostCall, HostResult
from otel_errcompact.hosts.runs import LedgerRuns
from otel_errcompact.hosts.telemetry.bodies import JSON, PROTOBUF
from otel_errcompact.hosts.telemetry.counting import ReportedRuns, ServiceRuns
from otel_errcompact.hosts.telemetry.forwarding import Forwarder
from otel_errcompact.hosts.telemetry.hooked import HookedRuns
from otel_errcompact.hosts.telemetry.receiver import Receiver, Request
from otel_errcompact.hosts.telemetry.wire import Mark, mark_message
from tests.hosts.telemetry.conftest import Kept
from tests.hosts.telemetry.messages import entries, logs, read_attributes, record, span, spans

if TYPE_CHECKING:
    from otel_errcompact.hosts.calls import HostRuns
    from tests.hosts.telemetry.conftest import Bench

FAILED: dict[str, object] = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "query",
    "gen_ai.conversation.id": "c",
}


def failed(number: int, text: str = "no such table: orders") -> Any:
    """A span of a failed call."""
    call = {**FAILED, "gen_ai.tool.call.id": f"call_{number}"}
    return span("execute_tool query", call, span_id=number + 1, failed=True, description=text)


def wire(number: int, content: bytes) -> bytes:
    """A field with its content."""
    assert len(content) < 1 << 14
    length = bytes([len(content)]) if len(content) < 128 else bytes([len(content) & 0x7F | 0x80, len(content) >> 7])
    return bytes([number << 3 | 2]) + length + content


def strip(request: Any) -> Any:
    """A request without the attributes of ours, to compare it with what was sent."""
    bare = type(request)()
    bare.CopyFrom(request)
    for entry in entries(bare):
        for part in (entry, *getattr(entry, "events", ())):
            kept = [each for each in part.attributes if not each.key.startswith("errcompact.")]
            del part.attributes[:]
            part.attributes.extend(kept)
    return bare


def test_a_call_counts_once_however_often_it_arrives(bench: Bench) -> None:
    """A sender whose answer was lost sends its batch again: the class is on it all the same."""
    request = spans(failed(1), failed(2))
    first, second = bench.send(request), bench.send(request)
    assert bench.ledger.report("c").occurrences == 2
    assert first == second
    assert strip(first) == request


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
    passed_on = bench.send(
        logs(record({"event.name": "tool_result", **call}), scope="com.anthropic.claude_code.events")
    )
    assert bench.ledger.report("s").occurrences == 1
    assert read_attributes(entries(passed_on)[0])["errcompact.class"]


class SharedRuns:
    """The runs of a service, which a hook has told of a call already."""

    def __init__(self, known: str) -> None:
        self.known = known
        self.asked: list[tuple[HostCall, HostResult]] = []

    def conclude(self, call: HostCall, result: HostResult, *, is_read: bool = True) -> Answer:
        del is_read
        self.asked.append((call, result))
        return Answer(outcome="counted") if call.call_id == self.known else Answer(outcome="failure", key="ab", count=1)


def test_a_call_that_a_hook_has_reported_is_passed_on_as_it_is() -> None:
    """The service's runs know it by its id; what they know no class of gets none."""
    runs, kept = SharedRuns("call_1"), Kept()
    forwarder = Forwarder(kept)
    receiver = Receiver(runs, forwarder)
    request = spans(failed(1), failed(2))
    receiver.receive(Request("traces", request.SerializeToString()))
    assert forwarder.flush()
    forwarder.close()
    assert [(call.run_id, call.tool, call.call_id) for call, _ in runs.asked] == [
        ("c", "query", "call_1"),
        ("c", "query", "call_2"),
    ]
    passed_on = ExportTraceServiceRequest.FromString(kept.messages[0].body)
    assert [read_attributes(entry) for entry in entries(passed_on)] == [{}, {"errcompact.class": "ab"}]


def test_telemetry_takes_no_answer_of_a_human() -> None:
    """No agent reads what telemetry is answered: the answer waits for the next call that a hook reports."""
    runs = LedgerRuns(ledger=Ledger())
    runs.conclude(HostCall(run_id="s1", tool="Read", call_id="t1"), HostResult(text="gone", failed=True))
    runs.resume("s1", "use the other file")
    receiver = Receiver(ServiceRuns(runs), is_hooked=lambda _: True)
    for call_id in ("t1", "t2"):
        claude = {"event.name": "tool_result", "session.id": "s1", "tool_name": "Read", "tool_use_id": call_id}
        told = logs(record({**claude, "success": "false", "error": "gone"}), scope="com.anthropic.claude_code.events")
        receiver.receive(Request("logs", told.SerializeToString()))
    assert runs.report("s1").occurrences == 2
    answer = runs.conclude(HostCall(run_id="s1", tool="Read", call_id="t3"), HostResult(text="fine", failed=False))
    assert answer.guidance == "OPERATOR: use the other file"


def test_where_hooks_give_no_ids_they_count_and_the_telemetry_does_not() -> None:
    """Nothing would join the two, so a run that hooks report is theirs; elsewhere the id joins them."""
    runs = SharedRuns("")
    hooked = HookedRuns(cast("HostRuns", runs))
    receiver = Receiver(runs, is_hooked=hooked.reports)
    hooked.conclude(HostCall(run_id="g1", tool="read_file"), HostResult(text="gone", failed=True))
    told = {"event.name": "gemini_cli.tool_call", "function_name": "read_file", "success": False, "error": "gone"}
    request = logs(record({**told, "session.id": "g1"}), record({**told, "session.id": "g2"}))
    receiver.receive(Request("logs", request.SerializeToString()))
    claude = {"event.name": "tool_result", "session.id": "g1", "tool_name": "Read", "tool_use_id": "t1"}
    claude |= {"success": "false", "error": "gone"}
    named = logs(record(claude), scope="com.anthropic.claude_code.events")
    receiver.receive(Request("logs", named.SerializeToString()))
    assert [(call.run_id, call.call_id) for call, _ in runs.asked] == [("g1", ""), ("g2", ""), ("g1", "t1")]


def test_what_its_sender_counts_is_passed_on_as_it_is(bench: Bench) -> None:
    """A process with this library, a receiver in front of this one: each says so."""
    ours = spans(failed(1), service="shop", errcompact__counted="true")
    scoped = spans(failed(2), scope="otel_errcompact")
    marked = failed(3)
    marked.attributes.add(key="errcompact.class").value.string_value = "ab12"
    for request in (ours, scoped, spans(marked)):
        assert bench.send(request) == request
    assert bench.ledger.report("c").occurrences == 0


def test_requests_without_failures_are_passed_on_byte_for_byte(bench: Bench) -> None:
    """Packed as they came, unknown fields and all."""
    plain = spans(span("chat", {"gen_ai.operation.name": "chat"})).SerializeToString() + b"\xf2\x3f\x03new"
    packed = gzip.compress(plain, mtime=0)
    assert bench.post("traces", packed, encoding="gzip").status == 200
    newest = bench.newest()
    assert (newest.body, newest.encoding, newest.content_type) == (packed, "gzip", PROTOBUF)


def test_metrics_are_passed_on_byte_for_byte(bench: Bench) -> None:
    """In both encodings; nothing of them is read."""
    text = b'{ "resourceMetrics": [] }'
    assert bench.post("metrics", text, JSON).body == b"{}"
    assert bench.newest().body == text
    assert bench.post("metrics", b"").status == 200
    assert bench.newest().body == b""


def test_all_but_the_marks_stays_as_it_was_when_something_failed(bench: Bench) -> None:
    """Fields that this release does not know stay where they are, in front of the marks and behind."""
    unknown = b"\xf2\x3f\x03new"
    entry = failed(1).SerializeToString() + unknown

    def wrap(content: bytes) -> bytes:
        return wire(1, b"\x12\x00") + wire(1, b"\x12" + encode(content) + unknown)

    def encode(content: bytes) -> bytes:
        return wire(2, wire(2, content) + unknown)[1:]

    bench.post("traces", gzip.compress(wrap(entry)), encoding="gzip")
    passed_on = bench.newest_body()
    (found,) = entries(ExportTraceServiceRequest.FromString(passed_on))
    assert found.attributes[-1].key == "errcompact.class"
    assert passed_on == wrap(entry + wire(9, found.attributes[-1].SerializeToString()))


def test_json_is_passed_on_as_json(bench: Bench) -> None:
    """With ids in hexadecimal digits, and names of any style."""
    request = {"resourceSpans": [{"scope_spans": [{"spans": [
        {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "execute_tool query",
         "startTimeUnixNano": "1764200000000000000", "endTimeUnixNano": 1764200000000000001, "new": {"field": [1.5]},
         "status": {"code": 2, "message": "no such table"},
         "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                        {"key": "gen_ai.tool.name", "value": {"stringValue": "query"}}]}]}]}]}  # fmt: skip
    reply = bench.post("traces", json.dumps(request).encode(), "application/json; charset=utf-8")
    assert (reply.status, reply.content_type, reply.body) == (200, JSON, b"{}")
    passed_on = json.loads(bench.newest().body)
    (found,) = passed_on["resourceSpans"][0]["scope_spans"][0]["spans"]
    mark = found["attributes"].pop()
    assert mark["key"] == "errcompact.class"
    assert passed_on == request
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
    """As `google.rpc.Status`, in the sender's own encoding; nothing of it is passed on."""
    reply = bench.post("traces", body, content_type, encoding)
    assert reply.status == status
    text = reply.body.decode("utf-8", "replace") if content_type == PROTOBUF else json.loads(reply.body)["message"]
    assert problem in text
    assert "\n" not in text[4:]
    assert bench.kept.messages == []


def test_the_status_of_an_error_is_a_message_of_protobuf(bench: Bench) -> None:
    """Code and text, each in its field."""
    reply = bench.post("traces", b"\xff")
    assert reply.body[:3] == b"\x08\x03\x12"
    assert reply.body[3] & 0x7F | (reply.body[4] << 7 if reply.body[3] & 0x80 else 0) > 0
    assert reply.content_type == PROTOBUF


def test_what_is_too_long_is_not_unpacked() -> None:
    """A bomb costs no more than the bound, whole or packed."""
    receiver = Receiver(ReportedRuns(Ledger()), max_bytes=10_000)
    bomb = gzip.compress(b"\x00" * 50_000_000, mtime=0)
    assert len(bomb) > 10_000
    small = gzip.compress(b"\x00" * 100_000, mtime=0)
    assert receiver.receive(Request("traces", bomb, PROTOBUF, "gzip")).status == 413
    reply = receiver.receive(Request("traces", small, PROTOBUF, "gzip"))
    assert (reply.status, b"unpacks to more than 10000 bytes" in reply.body) == (413, True)
    assert receiver.receive(Request("traces", b"\x00" * 10_001)).status == 413


@given(st.binary(max_size=200))
def test_no_bytes_break_the_receiver(body: bytes) -> None:
    """Any body is taken or refused, in both encodings, and marks on any of them fail cleanly."""
    receiver = Receiver(ReportedRuns(Ledger()))
    for content_type in (PROTOBUF, JSON):
        for signal in ("traces", "logs", "metrics"):
            assert receiver.receive(Request(signal, body, content_type)).status in {200, 400}


@given(st.integers(0, 3), st.integers(0, 40), st.text(max_size=200), st.booleans())
def test_marks_stand_on_their_entry_alone(place: int, filler: int, text: str, with_event: bool) -> None:
    """Whatever the lengths around them are, which the marks make longer."""
    events = ((("exception", {"exception.message": text}),)) if with_event else ()
    made = [span("x" * filler, {"text": text}, span_id=n + 1, events=events) for n in range(4)]
    request = spans(*made, service="s" * filler)
    request.resource_spans.add().scope_spans.add()
    mark = Mark({"errcompact.class": "ab"}, 0 if with_event else -1)
    marked = ExportTraceServiceRequest.FromString(
        mark_message("traces", request.SerializeToString(), {(0, 0, place): mark})
    )
    assert strip(marked) == request
    assert [bool(read_attributes(entry)) for entry in entries(marked)] == [n == place for n in range(4)]
    assert [bool(read_attributes(event)) for entry in entries(marked) for event in entry.events] == [
        n == place for n in range(4) if with_event
    ]


def test_a_request_that_can_never_be_passed_on_is_partly_refused() -> None:
    """Its sender reads how much is lost, and why; the failures in it count."""
    ledger = Ledger()
    forwarder = Forwarder(Kept(), ledger.guard, max_bytes=100)
    receiver = Receiver(ReportedRuns(ledger), forwarder)
    reply = receiver.receive(Request("traces", spans(failed(1), failed(2)).SerializeToString()))
    response = ExportTraceServiceResponse.FromString(reply.body)
    assert reply.status == 200
    assert response.partial_success.rejected_spans == 2
    assert "larger than the 100 bytes" in response.partial_success.error_message
    assert ledger.report("c").occurrences == 2
    assert ledger.guard.failures["forward_dropped"] == 1
    forwarder.close()


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
    passed_on = bench.send(logs(record(told), scope="com.anthropic.claude_code.events", service="claude-code"))
    assert isinstance(passed_on, ExportLogsServiceRequest)
    assert bench.ledger.report("claude-code").occurrences == 1
