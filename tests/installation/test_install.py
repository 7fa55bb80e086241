"""One call adds everything to an application's telemetry, and one takes it out again."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ConcurrentMultiSpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_errcompact.compactor.model import ModelAnswer, ModelExtractor
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.installation import install as installation
from otel_errcompact.installation.install import current_ledger, current_tracer_provider, install, uninstall
from otel_errcompact.otel.export.exporter import ErrorClassSpanExporter
from otel_errcompact.otel.export.queue import STALLED_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_log")


@pytest.fixture(autouse=True)
def _fresh_process(monkeypatch: pytest.MonkeyPatch, in_tmp: Path) -> Iterator[None]:
    """Nothing is installed, and no ledger has been made."""
    monkeypatch.setattr(installation, "_installed", [])
    monkeypatch.setattr(installation, "_default", [])
    yield
    uninstall()


@pytest.fixture
def tracers() -> TracerProvider:
    return TracerProvider(shutdown_on_exit=False)


@pytest.fixture
def reader() -> InMemoryMetricReader:
    return InMemoryMetricReader()


@pytest.fixture
def meters(reader: InMemoryMetricReader) -> MeterProvider:
    return MeterProvider([reader], shutdown_on_exit=False)


class Quoting:
    """A model that takes the second line for the cause."""

    def read(self, text: str, /) -> ModelAnswer:
        return ModelAnswer("", text.splitlines()[1])


def fail(tracers: Any, message: str = "boom") -> None:
    with pytest.raises(ValueError, match=message), tracers.get_tracer("app").start_as_current_span("work"):
        raise ValueError(message)


def errors(reader: InMemoryMetricReader) -> int:
    data = reader.get_metrics_data()
    found = data.resource_metrics if data is not None else []
    return sum(
        point.value
        for one in found
        for scope in one.scope_metrics
        for metric in scope.metrics
        if metric.name == "errcompact.errors"
        for point in metric.data.data_points
    )


def trajectory_lines(folder: Path) -> int:
    file = folder / "errcompact-trajectory.jsonl"
    return sum(b"resourceSpans" in line for line in file.read_bytes().splitlines()) if file.exists() else 0


class TestInstall:
    def test_everything(self, tracers, meters, reader, in_tmp):
        """A failing span is counted in the ledger and in the metrics, and kept in the trajectory file."""
        added = install(tracer_provider=tracers, meter_provider=meters)
        with tracers.get_tracer("app").start_as_current_span("agent", attributes={"session.id": "s"}):
            fail(tracers)
        assert errors(reader) == 1
        assert trajectory_lines(in_tmp) == 1
        assert added.trajectory is not None
        assert added.trajectory.path == in_tmp / "errcompact-trajectory.jsonl"
        assert added.ledger is current_ledger()

    def test_what_happens_outside_spans_can_be_sent(self, tracers, meters, reader):
        """OTLP can hold all that is measured where no span is; older exporters sent none of the process's metrics."""
        added = install(tracer_provider=tracers, meter_provider=meters)
        added.ledger.observe("r", RawError(text="KeyError: 'sku'", tool="parse"))
        (resource,) = encode_metrics(reader.get_metrics_data()).resource_metrics
        assert {metric.name for scope in resource.scope_metrics for metric in scope.metrics} >= {
            "errcompact.errors",
            "errcompact.class.info",
        }

    def test_own_cost_is_measured(self, tracers, meters):
        """The ledger has a real clock for its own cost."""
        added = install(tracer_provider=tracers, meter_provider=meters)
        from otel_errcompact.errors import RawError

        assert added.ledger.observe("r", RawError(text="x")).duration_ns > 0

    def test_before_exporters(self, tracers, meters):
        """The processor runs before exporters that were there already, which ask it for the class of a failure."""
        exporter = InMemorySpanExporter()
        lookup: list[Any] = []
        tracers.add_span_processor(
            SimpleSpanProcessor(ErrorClassSpanExporter(exporter, lambda span_id: lookup[0].class_of(span_id)))
        )
        lookup.append(install(tracer_provider=tracers, meter_provider=meters).processor)
        fail(tracers)
        (span,) = exporter.get_finished_spans()
        assert len(span.attributes["errcompact.class"]) == 16

    def test_twice(self, tracers, meters, reader, caplog):
        """Installing twice on one provider changes nothing, says so, and gives the same installation."""
        caplog.set_level(logging.INFO, "otel_errcompact")
        first = install(tracer_provider=tracers, meter_provider=meters)
        caplog.clear()
        assert install(tracer_provider=tracers) is first
        assert [record.getMessage() for record in caplog.records] == [f"already installed on {tracers!r}"]
        fail(tracers)
        assert errors(reader) == 1

    def test_two_providers(self, tracers, meters, reader):
        """Two providers share the process's ledger, and nothing is counted twice."""
        other = TracerProvider(shutdown_on_exit=False)
        first = install(tracer_provider=tracers, meter_provider=meters)
        second = install(tracer_provider=other, meter_provider=meters)
        assert first.ledger is second.ledger
        fail(tracers)
        fail(other)
        assert errors(reader) == 2
        first.uninstall()
        fail(tracers)
        fail(other)
        assert errors(reader) == 3

    def test_two_ledgers(self, tracers, meters, reader, in_tmp):
        """Two installations with other options have a ledger each; one metric counts both."""
        other = TracerProvider(shutdown_on_exit=False)
        options = Options(trajectory=TrajectoryOptions(enabled=False))
        first = install(tracer_provider=tracers, meter_provider=meters)
        second = install(tracer_provider=other, meter_provider=meters, options=options)
        assert first.ledger is not second.ledger
        fail(tracers)
        fail(other)
        assert errors(reader) == 2
        assert trajectory_lines(in_tmp) == 1

    def test_off_switch(self, tracers, meters, reader, in_tmp, monkeypatch):
        """With the off switch set nothing is installed."""
        monkeypatch.setenv("OTEL_ERRCOMPACT_ENABLED", "false")
        added = install(tracer_provider=tracers, meter_provider=meters)
        fail(tracers)
        assert (added.processor, added.telemetry, added.trajectory) == (None, None, None)
        assert (errors(reader), trajectory_lines(in_tmp)) == (0, 0)
        added.uninstall()

    def test_without_trajectory(self, tracers, meters, in_tmp):
        """The file can be switched off."""
        options = Options(trajectory=TrajectoryOptions(enabled=False))
        assert install(tracer_provider=tracers, meter_provider=meters, options=options).trajectory is None
        fail(tracers)
        assert trajectory_lines(in_tmp) == 0

    def test_provider_without_processors(self, meters):
        """A tracer provider that takes no span processors is refused with its value."""
        provider = trace.NoOpTracerProvider()
        with pytest.raises(ConfigurationError, match=r"tracer_provider=<opentelemetry\.trace\.NoOpTracerProvider"):
            install(tracer_provider=provider, meter_provider=meters)

    def test_concurrent_processors(self, meters, reader):
        """A provider that runs its processors in parallel is served too."""
        tracers = TracerProvider(active_span_processor=ConcurrentMultiSpanProcessor(), shutdown_on_exit=False)
        added = install(tracer_provider=tracers, meter_provider=meters)
        fail(tracers)
        added.uninstall()
        fail(tracers)
        assert errors(reader) == 1
        tracers.shutdown()

    def test_provider_of_another_shape(self, meters, reader):
        """A provider that keeps its processors in another way is served; uninstalled, the processor is inert."""

        class Other:
            def __init__(self) -> None:
                self.inner = TracerProvider(shutdown_on_exit=False)

            def add_span_processor(self, processor: Any) -> None:
                self.inner.add_span_processor(processor)

        provider: Any = Other()
        added = install(tracer_provider=provider, meter_provider=meters)
        fail(provider.inner)
        added.uninstall()
        fail(provider.inner)
        assert errors(reader) == 1


class TestUninstall:
    def test_everything(self, tracers, meters, reader, in_tmp):
        """Afterwards nothing is watched, counted or written, and the provider is as it was."""
        exporter = SimpleSpanProcessor(InMemorySpanExporter())
        tracers.add_span_processor(exporter)
        install(tracer_provider=tracers, meter_provider=meters)
        uninstall()
        fail(tracers)
        assert errors(reader) == 0
        assert trajectory_lines(in_tmp) == 0
        assert tracers._active_span_processor._span_processors == (exporter,)

    def test_twice(self, tracers, meters):
        """Uninstalling twice is no mistake."""
        added = install(tracer_provider=tracers, meter_provider=meters)
        added.uninstall()
        added.uninstall()
        uninstall()

    def test_again(self, tracers, meters, reader, caplog):
        """It can be installed again on the same providers, without a warning of the SDK's."""
        install(tracer_provider=tracers, meter_provider=meters)
        fail(tracers)
        uninstall()
        caplog.clear()
        tracers.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
        install(tracer_provider=tracers, meter_provider=meters)
        fail(tracers)
        assert caplog.records == []
        assert errors(reader) == 2


class TestCurrent:
    def test_tracer_provider(self, tracers, meters, monkeypatch):
        """Our own spans go where the library was installed last, else to the global provider."""
        foreign = trace.NoOpTracerProvider()
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: foreign)
        assert current_tracer_provider() is foreign
        install(tracer_provider=tracers, meter_provider=meters)
        assert current_tracer_provider() is tracers


class TestLedger:
    def test_default(self):
        """Without an installation there is one ledger for the process, made at the first call."""
        assert current_ledger() is current_ledger()

    def test_adopted(self, tracers, meters):
        """An installation with the same options adopts it, so that runs that are open already are known."""
        ledger = current_ledger()
        assert install(tracer_provider=tracers, meter_provider=meters).ledger is ledger

    def test_other_options(self, tracers, meters):
        """With other options it has one of its own, and the process gets its own back afterwards."""
        ledger = current_ledger()
        options = Options(control_flow=frozenset({"Interrupt"}))
        added = install(tracer_provider=tracers, meter_provider=meters, options=options)
        assert added.ledger is not ledger
        assert current_ledger() is added.ledger
        uninstall()
        assert current_ledger() is ledger

    def test_given(self, tracers, meters):
        """A ledger that is given brings its options."""
        ledger = Ledger(Options(enabled=False))
        added = install(tracer_provider=tracers, meter_provider=meters, ledger=ledger)
        assert added.ledger is ledger
        assert added.processor is None

    def test_with_a_model(self, tracers, meters):
        """A model reads for a new ledger, also where the process has one already."""
        ledger = current_ledger()
        model = ModelExtractor(Quoting())
        added = install(tracer_provider=tracers, meter_provider=meters, model=model)
        observed = added.ledger.observe("run", RawError(text="Deploying shop\nThe probe got no answer\nFinished"))
        assert added.ledger is not ledger
        assert observed.found.facts.cause == "The probe got no answer"

    @pytest.mark.parametrize("given", [{"mode": "observe"}, {"options": {"mode": "observe"}}])
    def test_options_beside_their_object(self, given):
        """Fields of the options, and a dictionary of them, are answered with the line that works."""
        with pytest.raises(ConfigurationError, match=r"install\(options=errcompact.Options\(mode='observe'\)\)$"):
            install(**given)

    def test_with_a_model_beside_a_ledger(self):
        """A ledger that is given has its own model or none, so a second one is refused."""
        with pytest.raises(ConfigurationError, match=r"model=.*give it to the ledger"):
            install(ledger=Ledger(), model=ModelExtractor(Quoting()))


class TestFirstStart:
    def test_without_exporter(self, tracers, meters, caplog, in_tmp):
        """Where nothing exports anything, one quiet line says where the raw errors are and how to export them."""
        caplog.set_level("INFO")
        install(tracer_provider=tracers, meter_provider=meters)
        (record,) = caplog.records
        file = in_tmp / "errcompact-trajectory.jsonl"
        assert record.getMessage() == (
            f"raw errors are kept in {file}; "
            "to export them set OTEL_EXPORTER_OTLP_ENDPOINT (pip install 'otel-errcompact[otlp]'), "
            "or give the tracer provider an exporter"
        )
        assert record.levelno == logging.INFO

    def test_without_anything(self, tracers, meters, caplog):
        """And if the file is switched off too, it says that there is none."""
        caplog.set_level("INFO")
        options = Options(trajectory=TrajectoryOptions(enabled=False))
        install(tracer_provider=tracers, meter_provider=meters, options=options)
        assert "raw errors are not kept in a file; to export them" in caplog.records[0].getMessage()

    def test_with_exporter(self, tracers, meters, caplog, in_tmp):
        """Where there is an exporter already it says where the file is, and no more."""
        caplog.set_level("INFO")
        tracers.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
        install(tracer_provider=tracers, meter_provider=meters)
        (record,) = caplog.records
        assert record.getMessage() == f"raw errors are kept in {in_tmp}/errcompact-trajectory.jsonl"


def run_python(code: str, **environ: str) -> dict[str, Any]:
    """What a fresh process prints as JSON: global providers can be set only once."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environ},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return {"stderr": done.stderr, **json.loads(done.stdout)}


GLOBAL = """
import json
from opentelemetry import _logs, metrics, trace
from otel_errcompact import install, run, uninstall
added = install()
again = install()
tracers = trace.get_tracer_provider()
try:
    with trace.get_tracer("app").start_as_current_span("work"):
        raise ValueError("boom")
except ValueError:
    pass
with run(agent="shop") as agent:
    agent.fail("OperationalError: no such column", tool="sql")
processors = getattr(tracers, "_active_span_processor", None)
processors = processors._span_processors if processors else ()
print(json.dumps({
    "same": added is again,
    "tracers": type(tracers).__module__,
    "loggers": type(_logs.get_logger_provider()).__name__,
    "meters": type(metrics.get_meter_provider()).__name__,
    "processors": [type(one).__name__ for one in processors],
    "exporter": [type(getattr(one, "span_exporter", None)).__name__ for one in processors],
    "written": sum("sql" in line and "resourceSpans" in line for line in open("errcompact-trajectory.jsonl")),
}))
uninstall()
import os
os._exit(0) if EXIT else None
"""


FIRST_USE = """
import json
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
import otel_errcompact as errcompact
from otel_errcompact.installation import install as installation
reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
def fail():
    with errcompact.run(agent="shop") as run:
        run.fail("OperationalError: no such column", tool="sql")
    data = reader.get_metrics_data()
    points = [point for resource in (data.resource_metrics if data else ()) for scope in resource.scope_metrics
              for metric in scope.metrics if metric.name == "errcompact.errors" for point in metric.data.data_points]
    try:
        kept = sum("resourceSpans" in line for line in open("errcompact-trajectory.jsonl"))
    except FileNotFoundError:
        kept = 0
    found.append([len(installation._installed), sum(point.value for point in points), kept])
found = []
DO
print(json.dumps({"found": found}))
"""


@pytest.mark.programs
@pytest.mark.parametrize(
    ("do", "environ", "found"),
    [
        pytest.param("fail(); fail()", {}, [[1, 1, 1], [1, 2, 2]], id="installs once"),
        pytest.param("errcompact.install(); fail()", {}, [[1, 1, 1]], id="after an installation nothing more"),
        pytest.param("errcompact.uninstall(); fail()", {}, [[0, 0, 0]], id="not against the application's word"),
        pytest.param("fail(); errcompact.uninstall(); fail()", {}, [[1, 1, 1], [0, 1, 1]], id="it can be taken out"),
        pytest.param("fail()", {"OTEL_ERRCOMPACT_ENABLED": "false"}, [[0, 0, 0]], id="not where it is switched off"),
        pytest.param(
            "fail(); errcompact.install(options=errcompact.Options(mode='observe', trajectory={'enabled': False})); "
            "fail(); assert installation.current_ledger().options.mode == 'observe'",
            {},
            [[1, 1, 1], [1, 2, 1]],
            id="code gets what it asks for",
        ),
    ],
)
def test_the_first_use_installs(in_tmp, do, environ, found):
    """A call that nothing was installed for is counted in metrics and kept in the file, unless someone says no."""
    assert run_python(FIRST_USE.replace("DO", do), **environ)["found"] == found


class TestGlobalProviders:
    @pytest.mark.programs
    def test_nothing_is_set(self, in_tmp):
        """Where no provider is set and no endpoint named, none is made: all wait for the application's own."""
        found = run_python(GLOBAL.replace("EXIT", "False"))
        assert found["same"]
        assert found["tracers"] == "opentelemetry.trace"
        assert found["meters"] == "_ProxyMeterProvider"
        assert found["processors"] == []
        assert found["loggers"] == "ProxyLoggerProvider"
        assert found["written"] == 1
        assert found["stderr"] == ""

    @pytest.mark.programs
    def test_endpoint(self, in_tmp):
        """With an OTLP endpoint a tracer provider is lent; our metrics and log records go there by no global one."""
        found = run_python(
            GLOBAL.replace("EXIT", "(print(flush=True) or True)"),
            OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
            OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
        )
        assert found["meters"] == "_ProxyMeterProvider"
        assert found["tracers"] == "otel_errcompact.otel.providers"
        assert found["processors"] == ["ErrorCompactionSpanProcessor", "ResendingSpanProcessor"]
        assert found["exporter"][1] == "OTLPSpanExporter"
        assert found["loggers"] == "ProxyLoggerProvider"
        assert "no exporter" not in found["stderr"]

    @pytest.mark.programs
    def test_the_process_says_that_it_counts(self, in_tmp):
        """A collector must not count once more what this process has counted itself."""
        code = """
import json
from opentelemetry import trace
from otel_errcompact import install
install()
print(json.dumps({"resource": dict(trace.get_tracer_provider().resource.attributes)}), flush=True)
import os
os._exit(0)
"""
        found = run_python(code, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
        assert found["resource"]["errcompact.counted"] == "true"

    @pytest.mark.programs
    @pytest.mark.parametrize(
        ("given", "ids"),
        [
            pytest.param({}, {"made up"}, id="made up"),
            pytest.param({"service.instance.id": "pod-1"}, {"pod-1"}, id="given"),
        ],
    )
    def test_an_sdk_that_gives_a_process_no_id(self, in_tmp, given, ids):
        """One is made up, the same for all signals: two processes without one overwrite each other's counters."""
        code = """
import json, uuid
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
create = Resource.create
def older(attributes=None, schema_url=None):
    kept = dict(create(attributes, schema_url).attributes)
    kept.pop("service.instance.id", None)
    return Resource({**kept, **GIVEN})
Resource.create = staticmethod(older)
uuid.uuid4 = lambda: "made up"
from otel_errcompact.installation import install
install.install()
resources = (
    trace.get_tracer_provider().resource,
    install._own["meters"]._sdk_config.resource,
    install._own["loggers"].resource,
)
print(json.dumps({"ids": [resource.attributes.get("service.instance.id") for resource in resources]}), flush=True)
import os
os._exit(0)
"""
        found = run_python(code.replace("GIVEN", repr(given)), OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
        assert len(found["ids"]) == 3
        assert set(found["ids"]) == ids

    @pytest.mark.programs
    def test_a_logger_provider_of_the_application(self, in_tmp):
        """It stays, and is where escalations go; so does one that is given."""
        code = """
import json
from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider, export
from otel_errcompact.errors import RawError
from otel_errcompact import install, uninstall
def made():
    exporter = getattr(export, "InMemoryLogRecordExporter", None) or export.InMemoryLogExporter
    exporters.append(exporter())
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(export.SimpleLogRecordProcessor(exporters[-1]))
    return provider
exporters = []
_logs.set_logger_provider(made())
for given in (None, made()):
    added = install(logger_provider=given)
    for _ in range(3):
        added.ledger.observe("r", RawError(text="x: y"))
    added.ledger.end("r")
    uninstall()
print(json.dumps({"records": [len(exporter.get_finished_logs()) for exporter in exporters]}), flush=True)
import os
os._exit(0)
"""
        found = run_python(code, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
        assert found["records"] == [1, 1]
        assert "Overriding" not in found["stderr"]

    @pytest.mark.programs
    @pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
    def test_a_process_ends_though_the_collector_is_away(self, in_tmp, protocol, silent):
        """Spans, log records and metrics wait a little, each, for a collector that never answers."""
        code = """
import time
began = time.monotonic()
from otel_errcompact import install, run
install()
with run(agent="shop") as one:
    for _ in range(3):
        one.fail("OperationalError: no such column", tool="sql")
now = time.monotonic()
print(now - began, now, flush=True)
"""
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{silent}",
                "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
                "OTEL_EXPORTER_OTLP_TIMEOUT": "3600",
            },
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        starting, ending = map(float, done.stdout.split())
        # On any machine the end takes less than the start; a wait takes half a minute at least, or the hour.
        assert time.monotonic() - ending < 3 * STALLED_S + 8 * starting

    @pytest.mark.programs
    def test_sdk_disabled(self, in_tmp):
        """A disabled SDK makes no spans and exports nothing."""
        found = run_python(
            GLOBAL.replace("EXIT", "False"),
            OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
            OTEL_SDK_DISABLED="true",
        )
        assert found["processors"] == []
        assert found["meters"] == "_ProxyMeterProvider"

    @pytest.mark.programs
    def test_metrics_set_later(self, in_tmp):
        """A meter provider that the application sets later gets what was counted before."""
        code = """
import json
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from otel_errcompact import install, run, uninstall
install()
def fail():
    with run(agent="shop") as agent:
        agent.fail("OperationalError: no such column", tool="sql")
fail()
reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
uninstall()
install(meter_provider=metrics.get_meter_provider())
fail()
found = {
    metric.name: sum(getattr(point, "value", 0) for point in metric.data.data_points)
    for resource in reader.get_metrics_data().resource_metrics
    for scope in resource.scope_metrics
    for metric in scope.metrics
}
print(json.dumps(found))
"""
        found = run_python(code)
        assert found["errcompact.errors"] == 2
        assert found["errcompact.context.tokens"] > 0
        assert "created already" not in found["stderr"]

    def test_foreign_global_provider(self, meters, caplog, monkeypatch):
        """A global provider that takes no processors leaves our own boundaries, and that is said in a quiet line."""
        caplog.set_level("INFO")
        provider = trace.NoOpTracerProvider()
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
        added = install(meter_provider=meters)
        assert added.processor is None
        assert added.telemetry is not None
        assert (
            caplog.records[0]
            .getMessage()
            .endswith("takes no span processors: only what our own boundaries see is counted")
        )

    def test_global_meter_provider(self, tracers, meters, reader, monkeypatch):
        """A meter provider that is set globally is used."""
        monkeypatch.setattr(metrics, "get_meter_provider", lambda: meters)
        install(tracer_provider=tracers)
        fail(tracers)
        assert errors(reader) == 1
