"""`errcompact serve --otlp`: hooks and telemetry in one process, and what it sends on."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.runs import LedgerRuns
from otel_errcompact_hosts.telemetry.receiver import Receiver, Request
from packages.hosts.tests.service.services import Place
from packages.hosts.tests.telemetry.messages import span, spans
from tests.collectors import PATIENCE_S, collecting, post

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.engine.ledger import Ledger

pytest.importorskip("grpc", reason="the extra otlp is not installed")


@pytest.fixture
def place() -> Iterator[Place]:
    """A folder for a service."""
    found = Place()
    yield found
    found.close()


@pytest.mark.programs
def test_the_service_counts_what_came_and_sends_its_own_calls_alone(place: Place) -> None:
    """A call of a hook, which has no span, gets one; a reported call has one already; requests get none."""
    call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query", "gen_ai.conversation.id": "c"}
    sent = spans(span("execute_tool query", call, failed=True, description="no such table: orders"), service="shop")
    with collecting() as collector:
        endpoint = f"http://127.0.0.1:{collector.port}"
        process, said = place.start_receiving(
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf"
        )
        ports = r"OTLP on 127\.0\.0\.1:(\d+) \(HTTP\) and 127\.0\.0\.1:\d+ \(gRPC\), counted and not passed on"
        found = re.fullmatch(rf"errcompact: listening on {place.socket}; {ports}\n", said)
        assert found, said
        assert post(f"http://127.0.0.1:{found[1]}/v1/traces", sent.SerializeToString())[0] == 200
        assert place.ask("POST", "/v1/failures", {"run": "r", "tool": "sql", "text": "no such table: items"})[0] == 200
        assert {each["run"]: each["failures"] for each in place.ask("GET", "/v1/runs")[1]["runs"]} == {"r": 1}
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in output
    traces = [ExportTraceServiceRequest.FromString(body) for body in collector.bodies("/v1/traces")]
    assert sorted(
        (service_of(group), part.scope.name, each.name)
        for request in traces
        for group in request.resource_spans
        for part in group.scope_spans
        for each in part.spans
    ) == [("errcompact-service", "otel_errcompact", "execute_tool sql")]
    metrics = [ExportMetricsServiceRequest.FromString(body) for body in collector.bodies("/v1/metrics")]
    assert {
        attribute.value.string_value
        for request in metrics
        for group in request.resource_metrics
        for part in group.scope_metrics
        for metric in part.metrics
        if metric.name == "errcompact.errors"
        for point in metric.sum.data_points
        for attribute in point.attributes
        if attribute.key == "gen_ai.agent.name"
    } == {"shop (telemetry)"}
    assert {
        (service_of(group), part.scope.name)
        for request in metrics
        for group in request.resource_metrics
        for part in group.scope_metrics
    } == {("errcompact-service", "otel_errcompact")}
    assert collector.bodies("/v1/logs") == []
    kept = place.trajectory.read_text(encoding="utf-8")
    assert [text in kept for text in ("no such table: orders", "no such table: items")] == [False, True]


def test_a_report_makes_no_span_and_leaves_a_humans_answer(ledger: Ledger) -> None:
    """Telemetry holds the call already, and no agent reads what its sender is answered."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    runs = LedgerRuns(ledger=ledger, tracer_provider=provider)
    receiver = Receiver(runs)
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "sql", "gen_ai.conversation.id": "s"}

    def report(number: int) -> None:
        ended = span("execute_tool sql", attributes, span_id=number, failed=True, description="no such table: items")
        receiver.receive(Request("traces", spans(ended).SerializeToString()))

    report(1)
    assert exporter.get_finished_spans() == ()
    runs.resume("s", "migrate first")
    report(2)
    result = HostResult(text="no such table: items", failed=True)
    assert runs.conclude(HostCall(run_id="s", tool="sql"), result).guidance == "OPERATOR: migrate first"
    assert [each.name for each in exporter.get_finished_spans()] == ["execute_tool sql"]
    assert ledger.report("s").occurrences == 3


@pytest.mark.programs
@pytest.mark.parametrize(
    "variables",
    [{"OTEL_SERVICE_NAME": "desk"}, {"OTEL_RESOURCE_ATTRIBUTES": "service.name=desk"}],
    ids=["name", "attributes"],
)
def test_the_standard_variables_name_the_service(place: Place, variables: dict[str, str]) -> None:
    """Its own name is for where they name none."""
    with collecting() as collector:
        endpoint = f"http://127.0.0.1:{collector.port}"
        process, _ = place.start_receiving(
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf", **variables
        )
        assert place.ask("POST", "/v1/failures", {"run": "r", "tool": "sql", "text": "no such table: items"})[0] == 200
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
    (body,) = collector.bodies("/v1/traces")
    assert [service_of(group) for group in ExportTraceServiceRequest.FromString(body).resource_spans] == ["desk"]


def service_of(group: object) -> str:
    """The name of the service that a group is of."""
    attributes = group.resource.attributes  # type: ignore[attr-defined]
    return next(each.value.string_value for each in attributes if each.key == "service.name")
