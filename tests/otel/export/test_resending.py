"""The real exporters at real sockets: whatever a collector does, the agent pays with memory only, within a bound."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from threading import Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.context import set_value
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Link, StatusCode

from otel_errcompact.otel import sdk
from otel_errcompact.otel.export import resending
from otel_errcompact.otel.export.metric_reader import MetricReader
from otel_errcompact.otel.export.queue import MAX_BYTES, BatchPolicy
from otel_errcompact.otel.export.resending import (
    ResendingLogExporter,
    ResendingLogProcessor,
    ResendingSpanProcessor,
    span_bytes,
)
from otel_errcompact.otel.logs import records
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from opentelemetry.sdk.trace import ReadableSpan

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs the extra 'otlp'")

import grpc
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.clock import PATIENCE_S, waits_until

PACE = BatchPolicy(delay_s=0.05, batch=8)
ATTEMPT_S = 0.75
"""
The exporters' own time-out: what they wait between attempts of theirs, 0.8 s at least, is longer, so they make one.

A collector that answers later than that has taken what is sent once more; one that always answers has time.
"""


class HttpCollector(ThreadingHTTPServer):
    """
    Takes OTLP by HTTP, or answers with whatever status it is told to.
    """

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.status = 200
        self.asked = 0
        self.spans: list[str] = []
        self.classes: list[str] = []
        self.records: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: HttpCollector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked += 1
        if self.server.status == 200 and self.path == "/v1/traces":
            request = ExportTraceServiceRequest.FromString(body)
            self.server.spans += span_names(request)
            self.server.classes += classes(request)
        if self.server.status == 200 and self.path == "/v1/logs":
            logs = ExportLogsServiceRequest.FromString(body)
            self.server.records += [
                record.body.string_value
                for resource in logs.resource_logs
                for scope in resource.scope_logs
                for record in scope.log_records
            ]
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def span_names(request: ExportTraceServiceRequest) -> list[str]:
    return [span.name for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


def classes(request: ExportTraceServiceRequest) -> list[str]:
    return [
        attribute.value.string_value
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
        for attribute in span.attributes
        if attribute.key == "errcompact.class"
    ]


@contextmanager
def serving(server: HttpCollector) -> Iterator[HttpCollector]:
    with server:
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def collector() -> Iterator[HttpCollector]:
    with serving(HttpCollector()) as server:
        yield server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    """The exporters say of each attempt that it failed."""
    caplog.set_level(logging.CRITICAL, "opentelemetry")


class Agent:
    """
    A tracer provider whose spans go out by the exporter that is tested.
    """

    def __init__(self, inner: SpanExporter, **options: Any) -> None:
        self.guard = Guard()
        self.processor = ResendingSpanProcessor(inner, self.guard, **{"batches": PACE, **options})
        self.processor.queue._backoff_s = (0.05,)
        self.provider = TracerProvider(shutdown_on_exit=False, resource=Resource({}))
        self.provider.add_span_processor(self.processor)
        self.tracer = self.provider.get_tracer("app")

    def work(self, *names: str) -> float:
        """Make spans, and return what that took."""
        started = time.monotonic()
        for name in names:
            self.tracer.start_span(name).end()
        return time.monotonic() - started


def names(number: int) -> list[str]:
    return [f"span {n:04}" for n in range(number)]


def http_exporter(port: int, timeout_s: float = ATTEMPT_S) -> SpanExporter:
    return HttpSpanExporter(f"http://127.0.0.1:{port}/v1/traces", timeout=timeout_s)


def test_a_collector_that_takes_everything(collector):
    """Nothing is dropped, and a flush means that it has arrived."""
    agent = Agent(http_exporter(collector.server_port, timeout_s=PATIENCE_S))
    agent.work(*names(50))
    assert agent.provider.force_flush()
    assert collector.spans == names(50)
    agent.provider.shutdown()
    assert agent.guard.failures == {}


def test_nothing_listens_until_it_does():
    """Everything arrives once somebody listens, in order, once; the application has not waited."""
    port = free_port()
    agent = Agent(http_exporter(port))
    assert agent.work(*names(30)) < PATIENCE_S
    assert waits_until(lambda: agent.processor.queue._failures > 0)
    with serving(HttpCollector(port)) as server:
        assert waits_until(lambda: len(agent.processor.queue) == 0)
        assert server.spans == names(30)
    agent.provider.shutdown()
    assert agent.guard.failures == {}


def test_a_listener_that_never_answers(silent):
    """The application does not wait; a shutdown does no longer than is named; what is lost is counted."""
    inner = http_exporter(silent, timeout_s=300)
    agent = Agent(inner)
    assert agent.work(*names(100)) < PATIENCE_S
    started = time.monotonic()
    agent.provider.shutdown()
    assert time.monotonic() - started < PATIENCE_S
    assert agent.guard.failures == {"export_dropped": 100}
    inner.shutdown()  # Or it would try again when the listener is gone.


@pytest.mark.parametrize("status", [503, 429, 500, 404])
def test_a_collector_that_refuses_until_it_does_not(collector, status):
    """Whatever it says, everything is kept, and arrives in order, once."""
    collector.status = status
    agent = Agent(http_exporter(collector.server_port))
    agent.processor.queue._backoff_s = (0.05, 0.05, 0.05, 0.3)
    agent.work(*names(30))
    assert waits_until(lambda: collector.asked >= 2)
    collector.status = 200
    assert waits_until(lambda: len(agent.processor.queue) == 0)
    assert collector.spans == names(30)
    agent.provider.shutdown()
    assert agent.guard.failures == {}


def test_one_bad_span_does_not_stand_in_the_way(collector):
    """The exporter cannot encode it, or the collector answers 400 to it: it is given up, the others arrive."""

    class Picky(SpanExporter):
        def __init__(self) -> None:
            self.inner = http_exporter(collector.server_port)

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            collector.status = 400 if any(span.name == "bad" for span in spans) else 200
            return self.inner.export(spans)

    agent = Agent(Picky())
    agent.processor.queue._backoff_s = (0.01,)
    agent.work(*names(10), "bad", *names(10))
    assert waits_until(lambda: len(agent.processor.queue) == 0)
    assert sorted(collector.spans) == sorted(names(10) * 2)
    assert agent.guard.failures == {"export_dropped": 1}
    agent.provider.shutdown()


class GrpcCollector:
    """
    Takes OTLP by gRPC, or answers UNAVAILABLE.
    """

    def __init__(self) -> None:
        self.away = True
        self.asked = 0
        self.spans: list[str] = []
        self._server = grpc.server(ThreadPoolExecutor(4))
        handler = grpc.unary_unary_rpc_method_handler(
            self._export,
            request_deserializer=ExportTraceServiceRequest.FromString,
            response_serializer=ExportTraceServiceResponse.SerializeToString,
        )
        service = "opentelemetry.proto.collector.trace.v1.TraceService"
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"Export": handler}),))
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def _export(self, request: ExportTraceServiceRequest, context: grpc.ServicerContext) -> ExportTraceServiceResponse:
        self.asked += 1
        if self.away:
            context.abort(grpc.StatusCode.UNAVAILABLE, "the collector is restarting")
        self.spans += span_names(request)
        return ExportTraceServiceResponse()

    def stop(self) -> None:
        self._server.stop(None)


@pytest.fixture
def grpc_collector() -> Iterator[GrpcCollector]:
    server = GrpcCollector()
    yield server
    server.stop()


def test_grpc_unavailable_until_it_is_not(grpc_collector):
    """The same by gRPC."""
    agent = Agent(GrpcSpanExporter(f"http://127.0.0.1:{grpc_collector.port}", insecure=True, timeout=1))
    agent.work(*names(30))
    assert waits_until(lambda: grpc_collector.asked >= 1)
    grpc_collector.away = False
    assert waits_until(lambda: len(agent.processor.queue) == 0)
    assert grpc_collector.spans == names(30)
    agent.provider.shutdown()
    assert agent.guard.failures == {}


@pytest.mark.skipif(
    tuple(map(int, version("opentelemetry-sdk").split(".")[:2])) < (1, 35),
    reason="before 1.35 the exporter itself tries again for a minute, whatever its timeout",
)
def test_grpc_takes_more_than_one_message_may_hold(grpc_collector):
    """A server takes 4 MiB by default: batches stay below, and what is larger by itself is given up, not the rest."""
    grpc_collector.away = False
    agent = Agent(
        GrpcSpanExporter(f"http://127.0.0.1:{grpc_collector.port}", insecure=True, timeout=1),
        batches=BatchPolicy(0.05, 512),
    )
    for number in range(12):
        size = 5_000_000 if number == 5 else 1_000_000
        agent.tracer.start_span(f"span {number}", attributes={"text": "x" * size}).end()
    assert waits_until(lambda: len(agent.processor.queue) == 0)
    assert sorted(grpc_collector.spans) == sorted(f"span {number}" for number in range(12) if number != 5)
    assert agent.guard.failures == {"export_dropped": 1}
    agent.provider.shutdown()


class Away(SpanExporter):
    """A collector that is not there, as its exporter says it."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.FAILURE


@pytest.mark.cost
def test_memory_while_the_collector_is_away():
    """Ten thousand failures of 100 kB are a gigabyte; no more than the bound of it waits, and the rest is counted."""
    agent = Agent(Away(), batches=BatchPolicy(5, 512))
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(10_000):
            span = agent.tracer.start_span("work")
            span.add_event("exception", {"exception.stacktrace": f"{number:06}" + "x" * 100_000})
            span.end()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert MAX_BYTES * 0.5 < peak - before < MAX_BYTES * 1.05
    agent.provider.shutdown()
    assert agent.guard.failures == {"export_dropped": 10_000}


@pytest.mark.cost
def test_memory_of_small_spans_while_the_collector_is_away():
    """The estimate holds where the texts are short, too."""
    bound = 4 * 1024 * 1024
    agent = Agent(Away(), batches=BatchPolicy(5, 512), max_bytes=bound)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(4_000):
            with agent.tracer.start_as_current_span("work", attributes={"gen_ai.tool.name": f"tool {number}"}) as span:
                span.record_exception(ValueError(f"boom {number}"))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert bound * 0.4 < held - before < bound * 1.05
    agent.provider.shutdown()


def test_the_estimate_knows_every_text():
    """Attributes, events, links, the status: each may be what is large."""
    provider = TracerProvider(shutdown_on_exit=False, resource=Resource({}))
    context = provider.get_tracer("a").start_span("other").get_span_context()
    span: Any = provider.get_tracer("a").start_span("work", links=[Link(context, {"text": "x" * 1_000})])
    empty = span_bytes(span)
    span.set_attribute("list", ["x" * 1_000] * 3)
    span.set_attribute("number", 7)
    span.add_event("exception", {"text": "x" * 1_000})
    full = span_bytes(span)
    assert full - empty > 4_000
    span.set_status(StatusCode.ERROR, "x" * 1_000)
    assert span_bytes(span) - full > 1_000
    assert empty > 1_000 + sys.getsizeof("")


@pytest.mark.parametrize(
    "text", [pytest.param("x" * 1_000, id="ascii"), pytest.param("\u4e2d" * 1_000, id="two bytes a character")]
)
def test_the_estimate_is_what_a_text_takes(text):
    """Whatever its alphabet is."""
    provider = TracerProvider(shutdown_on_exit=False, resource=Resource({}))
    without: Any = provider.get_tracer("a").start_span("work", attributes={"text": ""})
    span: Any = provider.get_tracer("a").start_span("work", attributes={"text": text})
    assert span_bytes(span) - span_bytes(without) == sys.getsizeof(text) - sys.getsizeof("")


def test_the_estimate_knows_other_spans():
    """Those that are not the SDK's own are read by their public attributes alone."""
    provider = TracerProvider(shutdown_on_exit=False, resource=Resource({}))
    span: Any = provider.get_tracer("a").start_span("work", attributes={"text": "x" * 1_000})
    span.add_event("exception", {"text": "x" * 1_000})

    class Other:
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(span, name)

    other: Any = Other()
    assert span_bytes(other) == span_bytes(span) > 2_000


def test_a_span_that_cannot_be_weighed_is_no_fault_of_the_application(monkeypatch, collector):
    """It is counted as a failure of ours."""
    monkeypatch.setattr(Guard, "strict", False)
    agent = Agent(http_exporter(collector.server_port))
    monkeypatch.setattr(agent.processor.queue, "_size_of", lambda _: 1 // 0)
    agent.work("span")
    assert agent.guard.failures == {"export": 1}
    agent.provider.shutdown()


def test_spans_go_out_with_their_class(collector):
    """What the library makes itself for an exporter."""
    guard = Guard()
    exporter = http_exporter(collector.server_port, timeout_s=PATIENCE_S)
    processor = resending.span_processor(exporter, lambda _: "3f2a", guard)
    provider = TracerProvider(shutdown_on_exit=False, resource=Resource({}))
    provider.add_span_processor(processor)
    provider.get_tracer("a").start_span("work").end()
    provider.shutdown()
    assert (collector.spans, collector.classes) == (["work"], ["3f2a"])


def test_unsampled_spans_stay_where_they_are(collector):
    """As with the SDK's own processors."""
    from opentelemetry.sdk.trace.sampling import Decision, StaticSampler

    processor = ResendingSpanProcessor(http_exporter(collector.server_port))
    provider = TracerProvider(StaticSampler(Decision.RECORD_ONLY), shutdown_on_exit=False)
    provider.add_span_processor(processor)
    provider.get_tracer("a").start_span("work").end()
    assert len(processor.queue) == 0
    assert processor.force_flush(None)
    provider.shutdown()
    assert collector.spans == []


def test_without_a_guard_nothing_is_counted():
    """An application may bring its own exporter and no ledger."""
    processor = ResendingSpanProcessor(Away(), batches=PACE)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(processor)
    provider.get_tracer("a").start_span("work").end()
    provider.shutdown()
    assert len(processor.queue) == 0


class TestLogRecords:
    @pytest.fixture
    def guard(self) -> Guard:
        return Guard()

    def provider(self, url: str, guard: Guard) -> tuple[LoggerProvider, ResendingLogExporter]:
        exporter = ResendingLogExporter(HttpLogExporter(f"{url}/v1/logs", timeout=ATTEMPT_S), guard, batches=PACE)
        exporter.queue._backoff_s = (0.05,)
        provider = LoggerProvider(Resource({}), shutdown_on_exit=False)
        provider.add_log_record_processor(ResendingLogProcessor(exporter))
        return provider, exporter

    def test_they_wait_as_spans_do(self, guard):
        """Nothing listens, then somebody does."""
        port = free_port()
        provider, exporter = self.provider(f"http://127.0.0.1:{port}", guard)
        for name in names(20):
            records.emit(provider, "event", name, {}, span=None, time_ns=1)
        assert waits_until(lambda: exporter.queue._failures > 0)
        with serving(HttpCollector(port)) as server:
            assert waits_until(lambda: len(exporter.queue) == 0)
            assert server.records == names(20)
        provider.shutdown()
        assert guard.failures == {}

    def test_a_record_that_waits_does_not_hold_its_span(self, guard):
        """The context that it was emitted in does, whatever that has recorded; its ids are enough."""
        exporter = ResendingLogExporter(SimpleNamespace(shutdown=lambda: None), guard, batches=BatchPolicy(delay_s=60))
        provider = LoggerProvider(Resource({}), shutdown_on_exit=False)
        provider.add_log_record_processor(ResendingLogProcessor(exporter))
        tracer = TracerProvider(shutdown_on_exit=False, resource=Resource({})).get_tracer("a")
        with tracer.start_as_current_span("work") as span:
            records.emit(provider, "event", "text", {}, span=None, time_ns=0)
        ((waiting, _),) = exporter.queue._fresh
        assert not getattr(waiting.log_record, "context", None)
        assert waiting.log_record.span_id == span.get_span_context().span_id
        provider.shutdown()

    def test_the_record_of_others_stays_as_it_is(self, guard):
        """Processors behind this one may read its context."""
        context = set_value("key", "value")
        data: Any = SimpleNamespace(log_record=SimpleNamespace(body="text", attributes={}, context=context))
        exporter = ResendingLogExporter(SimpleNamespace(export=lambda _: None, shutdown=lambda: None), guard)
        exporter.export([data])
        assert data.log_record.context is context
        exporter.shutdown()

    def test_a_flush_means_that_they_have_arrived(self, guard, collector):
        """Through the SDK's provider."""
        provider, _ = self.provider(collector.url, guard)
        records.emit(provider, "event", "text", {"a": "b"}, span=None, time_ns=0)
        assert provider.force_flush()
        assert collector.records == ["text"]
        provider.shutdown()

    def test_what_is_lost_is_counted_apart(self, guard):
        """Log records are no spans."""
        provider, _ = self.provider(f"http://127.0.0.1:{free_port()}", guard)
        records.emit(provider, "event", "text", {}, span=None, time_ns=0)
        provider.shutdown()
        assert guard.failures == {resending.LOG_EXPORT_DROPPED: 1}


class TestMetrics:
    def test_a_shutdown_does_not_wait_for_a_collector_that_never_answers(self, silent):
        """The last export is left to itself."""
        exporter = HttpMetricExporter(f"http://127.0.0.1:{silent}/v1/metrics", timeout=300)
        provider = MeterProvider([MetricReader(exporter)], shutdown_on_exit=False)
        provider.get_meter("a").create_counter("c").add(1)
        started = time.monotonic()
        provider.shutdown(timeout_millis=300_000)
        assert time.monotonic() - started < PATIENCE_S
        exporter.shutdown()  # Or it would try again when the listener is gone.

    def test_a_collector_that_is_there_gets_them(self, collector):
        """Once more at the end."""
        exporter = HttpMetricExporter(f"{collector.url}/v1/metrics")
        provider = MeterProvider([MetricReader(exporter)], shutdown_on_exit=False)
        provider.get_meter("a").create_counter("c").add(1)
        assert provider.force_flush()
        asked = collector.asked
        provider.shutdown()
        assert (asked, collector.asked) == (1, 2)

    @pytest.mark.programs
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_a_process_forked_during_an_export_exports(self, collector):
        """Its parent waits for an answer then, under a lock that nothing in the child would release."""
        reader = MetricReader(HttpMetricExporter(f"{collector.url}/v1/metrics"))
        provider = MeterProvider([reader], shutdown_on_exit=False)
        with reader._export_lock:
            child = os.fork()
            if child == 0:
                os._exit(reader._export_lock.locked())
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        provider.shutdown()

    def test_another_sdk_s_reader_is_left_alone(self):
        """What is not where it was is not looked for."""
        sdk.free_export_lock(object())

    @pytest.mark.parametrize(
        ("environ", "expected"),
        [
            pytest.param({}, 10_000, id="ours"),
            pytest.param({"OTEL_METRIC_EXPORT_INTERVAL": "60000"}, 60_000, id="the environment's"),
            pytest.param({"OTEL_METRIC_EXPORT_INTERVAL": "soon"}, 10_000, id="not a number"),
        ],
    )
    def test_how_often(self, monkeypatch, environ, expected):
        """Every ten seconds, unless the environment says otherwise."""
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        reader = MetricReader(HttpMetricExporter("http://127.0.0.1:1/v1/metrics"))
        assert reader._export_interval_millis == expected
        reader._shutdown_event.set()
