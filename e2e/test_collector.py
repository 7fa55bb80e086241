"""The shipped collector configuration, run by the real collector with a small OTLP/HTTP server as its back ends."""

from __future__ import annotations

import dataclasses
import http.client
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from e2e.driving import Agent
from e2e.programs import QUICK, free_ports
from e2e.sink import Sink, attributes, eventually
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.redaction.issued import ISSUED
from otel_errcompact.redaction.redact import redact
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.receiver import Receiver
from otel_errcompact_hosts.telemetry.serving import TelemetryServer
from tests.redaction import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from google.protobuf.message import Message
    from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

CONFIGURATION: Final = Path(__file__).parent.parent / "collector-config"
OTELCOL: Final = os.environ.get("OTELCOL") or shutil.which("otelcol") or ""
ERROR: Final = 2
SECONDS_TO_START: Final = 120.0

pytestmark = pytest.mark.skipif(
    not OTELCOL, reason="no collector: set OTELCOL to what collector-config/builder.yaml builds"
)

PYTHON_STACK: Final = (
    "Traceback (most recent call last):\n"
    '  File "/app/agent.py", line 12, in run\n'
    "    return tool(city)\n"
    '  File "/app/tools.py", line 7, in weather\n'
    "    raise LookupError(city)\n"
    "LookupError: no weather for Oslo\t\u2028 \N{SNOWFLAKE}"
)
JAVA_STACK: Final = (
    "java.lang.IllegalStateException: pool is closed\n"
    "\tat com.shop.Pool.take(Pool.java:41)\n"
    "\tat com.shop.Agent.run(Agent.java:7)\n"
)


@dataclasses.dataclass(slots=True, kw_only=True)
class Collector:
    """One collector process and the back end behind it."""

    folder: Path
    sink: Sink
    environment: dict[str, str] = dataclasses.field(default_factory=dict[str, str])
    configuration: str = "otelcol.yaml"
    overlay: str = ""
    """A file that is laid over it."""

    port: int = 0
    grpc_port: int = 0
    health_port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def collector_grpc(self) -> str:
        """Where agents send to by gRPC."""
        return f"http://127.0.0.1:{self.grpc_port}"

    @property
    def collector_http(self) -> str:
        """Where agents send to by HTTP."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, *, same_ports: bool = False) -> None:
        """
        Start the process and wait until it says that it is healthy.

        Args:
            same_ports: Listen where it did before, so that senders find it again.
        """
        *ports, zpages = free_ports(4)
        if not same_ports:
            self.port, self.grpc_port, self.health_port = ports
        defaults = {
            **QUICK,
            "OTLP_GRPC_ADDRESS": f"127.0.0.1:{self.grpc_port}",
            "OTLP_HTTP_ADDRESS": f"127.0.0.1:{self.port}",
            "HEALTH_ADDRESS": f"127.0.0.1:{self.health_port}",
            "ZPAGES_ADDRESS": f"127.0.0.1:{zpages}",
            "QUEUE_DIRECTORY": str(self.folder / "queue"),
            "PROMETHEUS_URL": self.sink.url,
            "TEMPO_URL": self.sink.url,
            "LOKI_URL": self.sink.url,
        }
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    OTELCOL,
                    *(f"--config={CONFIGURATION / name}" for name in (self.configuration, self.overlay) if name),
                ],
                env={**defaults, **self.environment},
                stdout=log,
                stderr=log,
            )
        assert eventually(self.is_healthy, SECONDS_TO_START), (self.folder / "log").read_text()

    def is_healthy(self) -> bool:
        """Whether the health endpoint says so."""
        connection = http.client.HTTPConnection("127.0.0.1", self.health_port, timeout=5)
        try:
            connection.request("GET", "/")
            answer = connection.getresponse()
            return answer.status == 200 and json.load(answer)["status"] == "Server available"
        except OSError:
            return False
        finally:
            connection.close()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Stop the process."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)
            self.process = None

    def send(self, request: Message) -> int:
        """Send one request by OTLP/HTTP and return the status of the answer."""
        path = {
            ExportTraceServiceRequest: "/v1/traces",
            ExportMetricsServiceRequest: "/v1/metrics",
            ExportLogsServiceRequest: "/v1/logs",
        }[type(request)]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("POST", path, request.SerializeToString(), {"Content-Type": "application/x-protobuf"})
        status = connection.getresponse().status
        connection.close()
        return status


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector that keeps no healthy trace, shared by all tests that leave it as it is."""
    yield from running(tmp_path_factory.mktemp("collector"))


@pytest.fixture
def own_collector(tmp_path: Path) -> Iterator[Collector]:
    """A collector of the test's own."""
    yield from running(tmp_path)


def running(folder: Path) -> Iterator[Collector]:
    """A running collector and its sink."""
    found = Collector(folder=folder, sink=Sink(), environment={"HEALTHY_TRACES_PERCENT": "0"})
    try:
        found.start()
        yield found
    finally:
        found.stop()
        found.sink.close()


def pairs(**values: Any) -> list[KeyValue]:
    """OTLP attributes; two underscores in a name stand for a dot."""
    return [KeyValue(key=key.replace("__", "."), value=value_of(value)) for key, value in values.items()]


def value_of(value: Any) -> AnyValue:
    """An OTLP value."""
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case bytes():
            return AnyValue(bytes_value=value)
        case list():
            return AnyValue(array_value=ArrayValue(values=[value_of(item) for item in value]))
        case _:
            return AnyValue(string_value=value)


def exception(**values: Any) -> Span.Event:
    """An exception event."""
    return Span.Event(name="exception", time_unix_nano=time.time_ns(), attributes=pairs(**values))


def span(trace: bytes | None = None, *, status: int = 0, message: str = "", **values: Any) -> Span:
    """A span; `events` are its events and `scope_name` the name of its scope."""
    events = values.pop("events", ())
    found = Span(
        trace_id=trace or os.urandom(16),
        span_id=os.urandom(8),
        name=values.pop("name", "execute_tool weather"),
        start_time_unix_nano=time.time_ns(),
        end_time_unix_nano=time.time_ns(),
        attributes=pairs(**values),
        events=events,
    )
    found.status.code = status  # type: ignore[assignment]
    found.status.message = message
    return found


OURS: Final = "otel_errcompact"
THEIRS: Final = "other.language"
TOOL_EXCEPTION: Final = "gen_ai.execute_tool.exception"


def traces(*spans: Span, service: str = "shop", scope: str = OURS, **resource: Any) -> Message:
    """A request of spans, by the library unless `scope` says otherwise."""
    request = ExportTraceServiceRequest()
    outer = request.resource_spans.add()
    outer.resource.attributes.extend(pairs(service__name=service, **resource))
    inner = outer.scope_spans.add()
    inner.scope.name = scope
    inner.spans.extend(spans)
    return request


def log(body: str, **values: Any) -> Message:
    """A request of one log record."""
    return logs(record(body, **values), scope="")


def record(body: str = "", *, event: str = "", severity: int = 17, inside: bool = False, **values: Any) -> LogRecord:
    """A log record, at ERROR unless `severity` says otherwise; `event` is its name."""
    found = LogRecord(
        time_unix_nano=time.time_ns(),
        severity_number=severity,
        event_name=event,
        attributes=pairs(**values),  # type: ignore[arg-type]
    )
    found.body.string_value = body
    if inside:
        found.trace_id, found.span_id = os.urandom(16), os.urandom(8)
    return found


def logs(*records: LogRecord, service: str = "shop", scope: str = OURS, **resource: Any) -> Message:
    """A request of log records, by the library unless `scope` says otherwise."""
    request = ExportLogsServiceRequest()
    outer = request.resource_logs.add()
    outer.resource.attributes.extend(pairs(service__name=service, **resource))
    inner = outer.scope_logs.add()
    inner.scope.name = scope
    inner.log_records.extend(records)
    return request


def counter(value: int, **values: Any) -> Message:
    """A request of one counter with one point."""
    request = ExportMetricsServiceRequest()
    outer = request.resource_metrics.add()
    outer.resource.attributes.extend(pairs(service__name="shop"))
    metric = outer.scope_metrics.add().metrics.add(name="shop.orders")
    metric.sum.aggregation_temporality = 2
    metric.sum.is_monotonic = True
    metric.sum.data_points.add(as_int=value, time_unix_nano=time.time_ns(), attributes=pairs(**values))
    return request


def arrived(sink: Sink, sent: Span) -> Span:
    """The span as it reached the back end."""
    assert eventually(lambda: any(one.span_id == sent.span_id for one in sink.spans())), "the span did not arrive"
    found = [one for one in sink.spans() if one.span_id == sent.span_id]
    assert len(found) == 1
    return found[0]


def arrived_record(sink: Sink, name: str) -> LogRecord:
    """The log record that has this as its attribute `name`, as it reached the back end."""

    def named() -> list[LogRecord]:
        return [one for one in sink.logs() if attributes(one.attributes).get("name") == name]

    assert eventually(lambda: bool(named())), "the record did not arrive"
    (found,) = named()
    return found


@pytest.mark.parametrize(
    "names",
    [
        ("otelcol.yaml",),
        ("otelcol.yaml", "otelcol-jaeger.yaml"),
        ("otelcol.yaml", "otelcol-receiver.yaml"),
        ("otelcol.yaml", "otelcol-jaeger.yaml", "otelcol-receiver.yaml"),
        ("otelcol-balancer.yaml",),
        ("otelcol-agent.yaml",),
    ],
    ids=lambda names: names[-1],
)
def test_configuration_is_valid(names: tuple[str, ...]) -> None:
    """The collector itself finds nothing wrong with its configuration, also where none of its variables is set."""
    files = [f"--config={CONFIGURATION / name}" for name in names]
    done = subprocess.run([OTELCOL, "validate", *files], capture_output=True, check=False, env=QUICK)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_exact_components() -> None:
    """The collector that builder.yaml describes has the components that the configurations use, and no more."""
    listed = subprocess.run([OTELCOL, "components"], capture_output=True, check=True, text=True).stdout
    names = {line.split()[-1] for line in listed.splitlines() if line.strip().startswith("- name:")}

    assert names == {
        "batch", "delta_to_cumulative", "file_storage", "filter", "forward", "health_check", "load_balancing",
        "memory_limiter", "otlp", "otlp_http", "span_metrics", "tail_sampling", "transform", "zpages",
    }  # fmt: skip


def test_health(collector: Collector) -> None:
    """The health endpoint answers."""
    assert collector.is_healthy()


REDACTED: Final = [
    pytest.param(before, after, id=f"{rule}-{place}")
    for rule, texts in examples.REDACTED.items()
    for place, (before, after) in enumerate(texts)
]
KEPT: Final = [
    pytest.param(text, id=f"{rule}-{place}")
    for rule, texts in examples.KEPT.items()
    for place, text in enumerate(texts)
]


@pytest.mark.parametrize(("before", "after"), REDACTED)
def test_secret(collector: Collector, before: str, after: str) -> None:
    """What the library takes out, the collector takes out, wherever it stands, and nothing around it."""
    around = "{}\n  at x\t\N{SNOWFLAKE}"
    sent = span(
        status=ERROR,
        message=before,
        arguments=before,
        count=7,
        events=[exception(exception__type="E", exception__message=before, exception__stacktrace=around.format(before))],
    )
    assert collector.send(traces(sent)) == 200

    found = arrived(collector.sink, sent)

    assert found.status.message == after
    assert attributes(found.attributes) == {"arguments": after, "count": 7}
    assert attributes(found.events[0].attributes) == {
        "exception.type": "E",
        "exception.message": after,
        "exception.stacktrace": around.format(before).replace(before, after)
        if not before.startswith("-----BEGIN") or "END" in before
        else after,
        "errcompact.redacted": True,
    }


@pytest.mark.parametrize("text", KEPT)
def test_no_secret(collector: Collector, text: str) -> None:
    """What the library keeps, the collector keeps."""
    sent = span(status=ERROR, message=text, events=[exception(exception__type="E", exception__message=text)])
    collector.send(traces(sent))

    found = arrived(collector.sink, sent)

    assert (found.status.message, attributes(found.events[0].attributes)) == (
        text,
        {"exception.type": "E", "exception.message": text},
    )


MARKED: Final = [
    f"{begin}{body}"
    for one in ISSUED
    for begin in one.begins
    for body in (
        *("0123456789ABCDEFGHIJ", "0A1B2C3D4E5F6G7H8I9J0K1L.abcdef.x"),
        ("0A1B2C3D4E5F" * 20 if begin.isupper() else "0a1b2c3d4e5f" * 20)[: one.least],
    )
]
"""A secret of each mark that an issuer puts in front."""

NAMED: Final = [
    form.format(case(name), "1hunter2hunter")
    for name in examples.NAMES
    for case in (str.lower, str.upper, str.title, str.swapcase)
    for form in ("{}={}", "{}: {}", "{{'{}' : '{}'}}", '"{}"=>"{}"')
]
"""A secret behind each name that tells one, in all cases and with all signs."""


SIGNED: Final = [
    f"/x{before}{name}=0123456789"
    for before in ("?", "?a=b&", "&")
    for name in ("sig", "signature", "X-Amz-Signature", "x-amz-security-token", "x-goog-signature")
]
"""A secret in the query of an address, also where the address is cut off."""

OPTIONS: Final = [
    f"run {option} 1hunter2hunter"
    for option in ("--password", "--db-password", "--passwd", "--token", "--secret", "--api-key", "Bearer", "Basic")
]
"""A secret behind an option of a command or a scheme, with nothing but a space between them."""


@pytest.mark.parametrize(("before", "after"), REDACTED)
def test_secret_in_a_record(collector: Collector, before: str, after: str) -> None:
    """An exception that comes as a log record is looked through as one on a span is."""
    name = os.urandom(8).hex()
    raised = {"exception__type": "E", "exception__message": before, "exception__stacktrace": before}
    collector.send(logs(record(before, event=TOOL_EXCEPTION, name=name, **raised)))

    found = arrived_record(collector.sink, name)

    assert found.body.string_value == after
    assert attributes(found.attributes) == {
        "name": name,
        "exception.type": "E",
        "exception.message": after,
        "exception.stacktrace": after,
        "errcompact.redacted": True,
    }


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(MARKED, id="marks"),
        pytest.param(NAMED, id="names"),
        pytest.param(SIGNED, id="queries"),
        pytest.param(OPTIONS, id="options"),
    ],
)
def test_every_mark_and_name(collector: Collector, texts: list[str]) -> None:
    """What the first search passes over is no secret for the library either, whatever issued it or names it."""
    named = [span(status=ERROR, name=f"n {text}") for text in texts]
    noted = [span(status=ERROR, note=f"a {text}, b") for text in texts]
    raised = [span(status=ERROR, events=[exception(exception__message=f"e {text} !")]) for text in texts]
    sent = [one.span_id for one in (*named, *noted, *raised)]
    collector.send(traces(*named, *noted, *raised))

    assert eventually(lambda: set(sent) <= {one.span_id for one in collector.sink.spans()})
    found = {one.span_id: one for one in collector.sink.spans()}
    assert [found[one.span_id].name for one in named] == [redact(f"n {text}") for text in texts]
    assert [found[one.span_id].attributes[0].value.string_value for one in noted] == [
        redact(f"a {text}, b") for text in texts
    ]
    assert [found[one.span_id].events[0].attributes[0].value.string_value for one in raised] == [
        redact(f"e {text} !") for text in texts
    ]


SECRET: Final = "ghp_0123456789abcdefABCDEF0123456789abcd"


def test_secret_in_other_places(collector: Collector) -> None:
    """Resource, span name, lists, nested values, log bodies and attributes, labels of metrics: no secret passes."""
    secret = SECRET[::-1].replace("dcba", "")  # a text of this test only
    token = f"ghp_{secret.replace('_', '')}"
    sent = span(status=ERROR, name=f"GET /?t={token}", arguments=["--token", token])
    collector.send(traces(sent, process__command_line=f"agent {token}"))
    collector.send(log(f"refused {token} today", note=f"with {token}", place="here"))
    collector.send(counter(3, note=f"with {token}"))

    found = arrived(collector.sink, sent)
    assert found.name == "GET /?t=[REDACTED:github_token]"
    assert attributes(found.attributes) == {"arguments": '["--token","[REDACTED:github_token]"]'}
    assert eventually(lambda: any(True for _ in collector.sink.sums("shop.orders")))
    labels, point = next(collector.sink.sums("shop.orders"))
    assert (labels, point.as_int) == ({"service.name": "shop", "note": "with [REDACTED:github_token]"}, 3)

    def refused() -> list[LogRecord]:
        # Records of other tests may arrive meanwhile.
        return [one for one in collector.sink.logs() if "refused" in one.body.string_value]

    assert eventually(lambda: bool(refused()))
    (record,) = refused()
    assert record.body.string_value == "refused [REDACTED:github_token] today"
    assert attributes(record.attributes) == {
        "note": "with [REDACTED:github_token]",
        "place": "here",
        "errcompact.redacted": True,
    }
    assert not collector.sink.holds(token)


def test_number_that_json_cannot_hold(collector: Collector) -> None:
    """The search for secrets reads values as JSON; where it cannot, every rule runs."""
    sent = span(status=ERROR, ratio=float("nan"), note=f"with {SECRET}", items=[f"a {SECRET}"])
    collector.send(traces(sent))

    assert attributes(arrived(collector.sink, sent).attributes) == {
        "ratio": "NaN",
        "note": "with [REDACTED:github_token]",
        "items": '["a [REDACTED:github_token]"]',
    }


def test_byte_for_byte(collector: Collector) -> None:
    """An error without a secret arrives byte for byte, with its bytes; so does a log record."""
    raw = PYTHON_STACK.encode() + b"\xed\xa0\x80"
    event = exception(
        exception__type="LookupError",
        exception__message="no weather for Oslo",
        exception__stacktrace=PYTHON_STACK,
        errcompact__class="weather-1",
        errcompact__raw=raw,
    )
    sent = span(status=ERROR, message="no weather for Oslo", events=[event], items=["a", "b"], ratio=0.5)
    collector.send(traces(sent))
    raised = record("no weather", event=TOOL_EXCEPTION, inside=True, name="whole")
    raised.attributes.extend(event.attributes)
    collector.send(logs(raised))

    assert arrived(collector.sink, sent).SerializeToString() == sent.SerializeToString()
    assert arrived_record(collector.sink, "whole").SerializeToString() == raised.SerializeToString()


def test_what_the_library_has_redacted(collector: Collector) -> None:
    """An error from which the agent has taken a secret out says so, as one does from which the collector has."""
    sent = span(status=ERROR, events=[exception(exception__message="refused [REDACTED:jwt] today")])
    collector.send(traces(sent))

    assert attributes(arrived(collector.sink, sent).events[0].attributes) == {
        "exception.message": "refused [REDACTED:jwt] today",
        "errcompact.redacted": True,
    }


def test_secret_in_bytes(collector: Collector) -> None:
    """Bytes cannot be redacted: with a secret in them they are left out, and the redacted text stays."""
    raised = {"exception__stacktrace": "a b", "errcompact__raw": f"a {SECRET} b \udc80".encode(errors="surrogatepass")}
    sent = span(status=ERROR, events=[exception(**raised)])
    collector.send(traces(sent))
    collector.send(logs(record("a b", event=TOOL_EXCEPTION, name="bytes", **raised)))

    assert attributes(arrived(collector.sink, sent).events[0].attributes) == {"exception.stacktrace": "a b"}
    kept = attributes(arrived_record(collector.sink, "bytes").attributes)
    assert kept == {"name": "bytes", "exception.stacktrace": "a b"}


@pytest.mark.parametrize("size", [64 * 1024, 3 * 1024 * 1024], ids=["64 KiB", "3 MiB"])
def test_long_message(collector: Collector, size: int) -> None:
    """A long message arrives whole, and the secret at its end does not."""
    text = ("lorem ipsum dolor = sit: amet 'x' " * (size // 34 + 1))[:size]
    sent = span(status=ERROR, events=[exception(exception__message=f"{text} password=hunter2")])
    assert collector.send(traces(sent)) == 200

    found = attributes(arrived(collector.sink, sent).events[0].attributes)

    assert found == {"exception.message": f"{text} password=[REDACTED:password]", "errcompact.redacted": True}


def coarse(sink: Sink, service: str) -> dict[tuple[str, ...], int]:
    """The coarse counters of one service: type, class, tool and agent."""
    return {
        tuple(str(dict(labels).get(name, "")) for name in (
            "error.type", "errcompact.class", "gen_ai.tool.name", "gen_ai.agent.name",
        )): value
        for labels, value in sink.counts("errcompact.errors").items()
        if dict(labels)["service.name"] == service
    }  # fmt: skip


def test_coarse_counters(collector: Collector) -> None:
    """Plain exception events are counted, whether their trace is kept or not, under labels the dashboards know."""
    java = exception(exception__type="IllegalStateException", exception__message="1", exception__stacktrace=JAVA_STACK)
    moved = exception(
        exception__type="IllegalStateException",
        exception__message="2",
        exception__stacktrace=JAVA_STACK.replace("41", "44"),
    )
    python = exception(exception__type="LookupError", exception__stacktrace=PYTHON_STACK)
    collector.send(
        traces(
            span(gen_ai__tool__name="take", gen_ai__agent__name="buyer", error__type="500", events=[java]),
            span(gen_ai__tool__name="take", gen_ai__agent__name="buyer", events=[moved, java]),
            span(events=[python]),
            span(events=[Span.Event(name="progress")]),
            service="java-shop",
            scope=THEIRS,
            service__instance__id="pod-1",
            deployment__environment__name="test",
        )
    )

    assert eventually(lambda: sum(coarse(collector.sink, "java-shop").values()) == 4)
    counted = coarse(collector.sink, "java-shop")
    assert {(*key[:1], *key[2:]): value for key, value in counted.items()} == {
        ("IllegalStateException", "take", "buyer"): 3,
        ("LookupError", "", ""): 1,
    }
    classes = [key[1] for key in counted]
    assert set(classes) == {
        attributes(event.attributes)["errcompact.class"] for event in failed(collector, "java-shop")
    }
    assert [(name[:7], len(name)) for name in classes] == [("coarse-", 15)] * 2
    assert len(set(classes)) == 2
    labels, point = next(
        (labels, point)
        for labels, point in collector.sink.sums("errcompact.errors")
        if labels["service.name"] == "java-shop" and labels["error.type"] == "LookupError"
    )
    assert {key: value for key, value in labels.items() if key not in {"errcompact.class", "error.type"}} == {
        "service.name": "java-shop",
        "service.instance.id": "otelcol",
        "deployment.environment.name": "test",
        "errcompact.outcome": "coarse",
        "errcompact.certainty": "declared",
    }
    assert point.start_time_unix_nano > 0


def failed(collector: Collector, service: str) -> list[Span.Event]:
    """The exception events that have reached the traces of a service."""
    return [
        event
        for request in collector.sink.requests("traces")
        for resource in request.resource_spans
        if attributes(resource.resource.attributes)["service.name"] == service
        for scope in resource.scope_spans
        for one in scope.spans
        for event in one.events
        if event.name == "exception"
    ]


def test_ours_are_not_counted_again(collector: Collector) -> None:
    """What the library has counted is not counted by the collector."""
    plain = exception(exception__type="LookupError")
    classed = exception(exception__type="E", errcompact__class="k")
    collector.send(traces(span(events=[classed]), service="ours", scope=THEIRS))
    collector.send(traces(span(events=[plain]), service="ours", scope=OURS))
    collector.send(traces(span(events=[plain]), service="ours", scope=THEIRS, errcompact__counted="true"))
    collector.send(traces(span(events=[plain]), service="theirs", scope=THEIRS))

    assert eventually(lambda: sum(coarse(collector.sink, "theirs").values()) == 1)
    assert coarse(collector.sink, "ours") == {}


def test_what_the_spans_around_a_tool_of_opencode_repeat_is_not_counted(collector: Collector) -> None:
    """One call that throws is one occurrence, on the tool's own span; where that has a class of ours, it is none."""
    thrown = exception(exception__type="Error", exception__message="File not found")
    classed = exception(exception__type="Error", errcompact__class="k")
    names = ("Tool.execute", "ai.toolCall", "SessionProcessor.process")
    collector.send(traces(*(span(name=name, events=[thrown]) for name in names), service="opencode", scope=THEIRS))
    received = [span(name=name, events=[event]) for name, event in zip(names, (classed, classed, thrown), strict=True)]
    collector.send(traces(*received, service="opencode", scope=THEIRS))
    collector.send(traces(span(events=[thrown]), service="after-opencode", scope=THEIRS))

    assert eventually(lambda: sum(coarse(collector.sink, "after-opencode").values()) == 1)
    assert sum(coarse(collector.sink, "opencode").values()) == 1


def test_what_a_receiver_counts_the_collector_does_not(tmp_path: Path) -> None:
    """Calls of tools come to a receiver without secrets; all else counts here as ever."""
    ledger = Ledger()
    server = TelemetryServer(Receiver(ReportedRuns(ledger)), port=0, grpc_port=None)
    found = Collector(
        folder=tmp_path,
        sink=Sink(),
        overlay="otelcol-receiver.yaml",
        environment={"HEALTHY_TRACES_PERCENT": "0", "RECEIVER_URL": f"http://127.0.0.1:{server.port}"},
    )
    raised = {"exception__type": "LookupError", "exception__message": "no weather, password=hunter2trustno1"}
    named = {"gen_ai__tool__name": "weather", "gen_ai__conversation__id": "c"}
    kinds: list[dict[str, Any]] = [
        {**named, "gen_ai__operation__name": "execute_tool"},
        {**named, "mcp__method__name": "tools/call"},
        {"name": "chat m", "gen_ai__operation__name": "chat", "gen_ai__conversation__id": "c"},
        {"name": "GET /weather"},
    ]
    try:
        found.start()
        calls = [span(status=ERROR, events=[exception(**raised)], **kind) for kind in kinds]
        found.send(traces(*calls, service="java-shop", scope=THEIRS))
        beside = record(event=TOOL_EXCEPTION, name="beside", **{**named, **raised})
        found.send(logs(beside, service="java-shop", scope=THEIRS))
        assert eventually(lambda: ledger.report("c").occurrences == 3)
        assert eventually(lambda: sum(coarse(found.sink, "java-shop").values()) == 2)
        tool, model = (arrived(found.sink, one).events[0] for one in (calls[0], calls[2]))
        assert "errcompact.class" not in attributes(tool.attributes)
        assert attributes(model.attributes)["errcompact.class"].startswith("coarse-")
        assert "errcompact.class" not in attributes(arrived_record(found.sink, "beside").attributes)
    finally:
        found.stop()
        found.sink.close()
        server.close()
    (key,) = {each.key for each in ledger.report("c").classes}
    raw = ledger.raw("c", key)
    assert raw is not None
    assert "hunter2trustno1" not in raw


def test_records_have_the_coarse_class(collector: Collector) -> None:
    """It leads from the count to log records of the same exception, which are no further occurrence."""
    raised = {"exception__type": "IllegalStateException", "exception__stacktrace": JAVA_STACK}
    failing = span(events=[exception(**raised)])
    beside = record("pool is closed", event="exception", name="beside", **raised)
    beside.trace_id, beside.span_id = failing.trace_id, failing.span_id
    collector.send(logs(beside, service="dup", scope=THEIRS))
    collector.send(traces(failing, service="dup", scope=THEIRS))

    assert eventually(lambda: sum(coarse(collector.sink, "dup").values()) == 1)
    (key,) = coarse(collector.sink, "dup")
    assert attributes(arrived_record(collector.sink, "beside").attributes)["errcompact.class"] == key[1]
    assert sum(coarse(collector.sink, "dup").values()) == 1


@pytest.mark.parametrize(
    ("request_of", "classed"),
    [
        pytest.param(lambda one: logs(one(event="exception"), scope=THEIRS), True, id="event"),
        pytest.param(lambda one: logs(one(event="db.query.exception"), scope=THEIRS), True, id="event of an operation"),
        pytest.param(lambda one: logs(one(event__name="exception"), scope=THEIRS), True, id="attribute"),
        pytest.param(lambda one: logs(one(event__name="db.query.exception"), scope=THEIRS), True, id="attribute's end"),
        pytest.param(lambda one: logs(one(exception__type="E", severity=13), scope=THEIRS), True, id="mentioned"),
        pytest.param(lambda one: logs(one(event="exceptional", event__name=7), scope=THEIRS), False, id="no exception"),
        pytest.param(lambda one: logs(one(event="exception"), scope=OURS), False, id="by the library"),
        pytest.param(
            lambda one: logs(one(event="exception"), scope=THEIRS, errcompact__counted="true"), False, id="counted"
        ),
        pytest.param(
            lambda one: logs(one(event="exception", errcompact__class="k"), scope=THEIRS), False, id="has a class"
        ),
    ],
)
def test_which_records_have_a_coarse_class(
    collector: Collector, request: pytest.FixtureRequest, request_of: Callable[..., Message], *, classed: bool
) -> None:
    """Those that tell of an exception, by a process that knows nothing of the library."""
    name = request.node.name
    collector.send(request_of(lambda **values: record("failed", name=name, **values)))

    found = attributes(arrived_record(collector.sink, name).attributes).get("errcompact.class", "")

    assert found.startswith("coarse-") is classed


@pytest.mark.parametrize(("signal", "events"), [("logs", 0), ("logs/dup", 1)])
def test_an_agent_that_sends_records(collector: Collector, tmp_path: Path, signal: str, events: int) -> None:
    """The raw error as a log record: whole but for secrets, with its class, beside the failing trace, counted once."""
    service = f"agent-{events}"
    agent = Agent(collector, service, "http/protobuf", tmp_path, OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN=signal)
    try:
        (failed,) = agent.do("burst", message="no such file: 'caf\udce9.txt'", tool="open").answer
        (refused,) = agent.do("burst", message=f"caf\udce9: key {SECRET} was refused", tool="login").answer
        agent.do("flush")
    finally:
        agent.close()

    def sent_by_span() -> dict[str, LogRecord]:
        return {one.span_id.hex(): one for one in collector.sink.logs() if one.event_name == TOOL_EXCEPTION}

    assert eventually(lambda: {failed["span"], refused["span"]} <= sent_by_span().keys())
    sent = sent_by_span()
    whole, redacted = (attributes(sent[each["span"]].attributes) for each in (failed, refused))
    assert whole["exception.stacktrace"] == failed["raw"].replace("\udce9", "\\udce9")
    assert whole["errcompact.raw"].decode("utf-8", "surrogatepass") == failed["raw"]
    assert (whole["errcompact.class"], sent[failed["span"]].trace_id.hex()) == (failed["key"], failed["trace"])
    assert redacted["exception.message"] == "caf\\udce9: key [REDACTED:github_token] was refused"
    assert (redacted["errcompact.redacted"], redacted.get("errcompact.raw")) == (True, None)
    assert eventually(lambda: failed["span"] in {one.span_id.hex() for one in collector.sink.spans()})
    (kept,) = (one for one in collector.sink.spans() if one.span_id.hex() == failed["span"])
    assert (kept.status.code, attributes(kept.attributes)["errcompact.class"]) == (ERROR, failed["key"])
    assert [event.name for event in kept.events] == ["exception"] * events
    assert not collector.sink.holds(SECRET)
    counted = {
        dict(labels)["errcompact.class"]: value
        for labels, value in collector.sink.counts("errcompact.errors").items()
        if dict(labels)["service.name"] == service
    }
    assert counted == {failed["key"]: 1, refused["key"]: 1}


def test_no_counter_without_points(collector: Collector) -> None:
    """A process without a plain exception gets no coarse counter: an empty one costs Prometheus's whole request."""
    collector.send(traces(span(), service="healthy", scope=THEIRS))
    collector.send(traces(span(events=[exception(exception__type="E")]), service="failing", scope=THEIRS))

    assert eventually(lambda: sum(coarse(collector.sink, "failing").values()) == 1)
    assert [found.name for found in metrics(collector.sink) if not points(found)] == []


def test_metrics_that_prometheus_refuses(collector: Collector) -> None:
    """What would cost Prometheus's whole request is left out, and the rest of the request arrives."""
    request = counter(5, kept="yes")
    others = request.resource_metrics[0].scope_metrics[0].metrics  # type: ignore[attr-defined]
    others.add(name="shop.untyped")
    others.add(name="shop.empty").sum.aggregation_temporality = 2
    others.add(name="shop.unspecified").sum.data_points.add(as_int=1)
    others.add(name="shop.gauge").gauge.data_points.add(as_int=1)
    collector.send(request)

    assert eventually(lambda: any(labels.get("kept") == "yes" for labels, _ in collector.sink.sums("shop.orders")))
    assert {found.name for found in metrics(collector.sink) if found.name.startswith("shop.")} == {
        "shop.orders",
        "shop.gauge",
    }


def test_parts_become_totals(collector: Collector) -> None:
    """Claude Code sends what was added since the last time; Prometheus gets a counter like any other."""
    began = time.time_ns()
    for number, tokens in enumerate((2, 3, 5)):
        request = counter(tokens, session__id="s1")
        metric = request.resource_metrics[0].scope_metrics[0].metrics[0]  # type: ignore[attr-defined]
        metric.name, metric.sum.aggregation_temporality = "claude_code.token.usage", 1
        point = metric.sum.data_points[0]
        point.start_time_unix_nano = began + number
        point.time_unix_nano = began + number + 1
        collector.send(request)

    def totals() -> list[int]:
        return sorted(point.as_int for _, point in collector.sink.sums("claude_code.token.usage"))

    assert eventually(lambda: totals() == [2, 5, 10])
    counters = [found for found in metrics(collector.sink) if found.name == "claude_code.token.usage"]
    assert {found.sum.aggregation_temporality for found in counters} == {2}


def test_metrics_of_two_senders_stay_apart(own_collector: Collector) -> None:
    """What Prometheus refuses of one sender is not in one request with what another one has sent."""
    own_collector.sink.delay_s = 0.5
    for number in range(20):
        own_collector.send(counter(number, number=str(number)))

    assert eventually(lambda: len(dict(own_collector.sink.counts("shop.orders"))) == 20)
    assert all(len(request.resource_metrics) == 1 for request in own_collector.sink.requests("metrics"))


def metrics(sink: Sink) -> Iterator[Metric]:
    """All metrics."""
    for request in sink.requests("metrics"):
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                yield from scope.metrics


def points(metric: Metric) -> int:
    """How many points a metric has."""
    kind = metric.WhichOneof("data")
    return len(getattr(metric, kind).data_points) if kind else 0


def test_coarse_counters_are_bounded(own_collector: Collector) -> None:
    """Types without end become one class `other`, and none is lost."""
    spans = [span(events=[exception(exception__type=f"E{number}")]) for number in range(1_200)]
    own_collector.send(traces(*spans, service="wild", scope=THEIRS))

    assert eventually(lambda: sum(coarse(own_collector.sink, "wild").values()) == 1_200)
    counted = coarse(own_collector.sink, "wild")
    assert (len(counted), counted["", "other", "", ""]) == (1_001, 200)


def test_sampling(collector: Collector) -> None:
    """At 0 %, whole traces with a failure, an exception event or an escalation stay, and healthy ones go."""
    failing, recorded, escalated, healthy, failing_late = (os.urandom(16) for _ in range(5))
    collector.send(traces(span(failing_late)))
    late = [span(failing), span(recorded), span(escalated), span(healthy)]
    collector.send(traces(span(failing), span(recorded), span(escalated), span(healthy)))
    collector.send(
        traces(
            span(failing, status=ERROR),
            span(recorded, events=[exception(exception__type="E")]),
            span(escalated, errcompact__threshold="same"),
            span(healthy, name="last"),
        )
    )
    assert eventually(lambda: sum(one.trace_id == escalated for one in collector.sink.spans()) == 2)
    time.sleep(12)  # longer than the time for which healthy traces wait
    # A run that was healthy until it was decided on is one of the failing ones all the same.
    collector.send(traces(*late, span(failing_late, status=ERROR), span(failing_late)))

    assert eventually(lambda: sum(one.trace_id == escalated for one in collector.sink.spans()) == 3)
    kept = [one.trace_id for one in collector.sink.spans()]
    assert [kept.count(trace) for trace in (failing, recorded, escalated, healthy)] == [3, 3, 3, 0]
    assert kept.count(failing_late) == 2


def test_healthy_share(tmp_path: Path) -> None:
    """A share of the healthy traces is kept."""
    found = Collector(folder=tmp_path, sink=Sink(), environment={"HEALTHY_TRACES_PERCENT": "50"})
    found.start()
    found.send(traces(*(span() for _ in range(1_000))))
    assert eventually(lambda: len(found.sink.spans()) >= 420)
    time.sleep(1)  # in which too many would come
    found.stop()
    found.sink.close()

    assert 420 <= len(found.sink.spans()) <= 580


@pytest.mark.parametrize("status", [429, 503])
def test_refusing_back_end(own_collector: Collector, status: int) -> None:
    """A back end that refuses is asked again."""
    sent = span(status=ERROR)
    own_collector.sink.status = status
    own_collector.send(traces(sent))
    assert eventually(lambda: own_collector.sink.refused > 0)
    own_collector.sink.status = 200

    assert arrived(own_collector.sink, sent).SerializeToString() == sent.SerializeToString()


def test_nothing_is_lost(own_collector: Collector) -> None:
    """With the back ends away and the collector killed in between, all failures, logs and metrics arrive, once."""
    port = own_collector.sink.port
    own_collector.sink.close()
    batches = [[span(status=ERROR, events=[exception(exception__type="E")]) for _ in range(50)] for _ in range(20)]
    for number, batch in enumerate(batches):
        assert own_collector.send(traces(*batch)) == 200
        assert own_collector.send(log(f"record {number}")) == 200
        assert own_collector.send(counter(number, number=str(number))) == 200
    time.sleep(3)  # the sampler hands over in a moment, not at once
    own_collector.stop(signal.SIGKILL)
    own_collector.start()
    own_collector.sink = back = Sink(port)

    assert eventually(lambda: len({one.span_id for one in back.spans()}) == 1_000, 60)
    assert {one.span_id for one in back.spans()} == {one.span_id for batch in batches for one in batch}
    assert eventually(lambda: len({one.body.string_value for one in back.logs()}) == 20, 40)
    assert eventually(lambda: len(dict(back.counts("shop.orders"))) == 20, 40)


def test_own_telemetry(collector: Collector) -> None:
    """The collector says how it is itself, under its own service name."""
    assert eventually(lambda: "otelcol_exporter_queue_size" in own_metrics(collector.sink), 30)
    assert {
        "otelcol_exporter_queue_capacity",
        "otelcol_exporter_queue_size",
        "otelcol_exporter_sent_spans",
        "otelcol_receiver_accepted_spans",
        "otelcol_process_uptime",
    } <= own_metrics(collector.sink)


@pytest.mark.parametrize("environment", ["", "staging"])
def test_own_telemetry_names_an_environment(tmp_path: Path, environment: str) -> None:
    """That of a collector which takes what one environment sends; its silence then explains no other's."""
    found = Collector(
        folder=tmp_path, sink=Sink(), environment={"COLLECTOR_ENVIRONMENT": environment} if environment else {}
    )
    try:
        found.start()
        assert eventually(lambda: own_environments(found.sink) == {environment}, 30), own_environments(found.sink)
    finally:
        found.stop()
        found.sink.close()


def own_environments(sink: Sink) -> set[object]:
    """The environments that the collector says it is of; empty for none."""
    resources = (
        attributes(each.resource.attributes) for sent in sink.requests("metrics") for each in sent.resource_metrics
    )
    return {
        each.get("deployment.environment.name", "")
        for each in resources
        if each.get("service.name") == "otelcol-errcompact"
    }


def own_metrics(sink: Sink) -> set[str]:
    """The names of the collector's own metrics."""
    return {
        metric.name
        for request in sink.requests("metrics")
        for resource in request.resource_metrics
        if attributes(resource.resource.attributes).get("service.name") == "otelcol-errcompact"
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
