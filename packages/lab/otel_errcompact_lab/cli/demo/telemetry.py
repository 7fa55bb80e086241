"""The demo's telemetry: real instruments, the trajectory file, OTLP where configured."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NoOpTracer

from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.installation.install import Installation, install
from otel_errcompact.otel import semconv
from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.export.metric_reader import MetricReader
from otel_errcompact.otel.export.resending import log_processor, span_processor
from otel_errcompact.otel.metrics.usage import TokenUsage

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from opentelemetry.sdk.metrics.export import Metric

    from otel_errcompact.audit.trajectory import TrajectoryFile

SERVICE: Final = "errcompact-demo"
"""The name of the service, unless the environment gives one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One number of one instrument."""

    instrument: str
    attributes: Mapping[str, str]
    value: int

    def __str__(self) -> str:
        labels = ", ".join(f"{name}={value}" for name, value in sorted(self.attributes.items()))
        return f"{self.instrument}{{{labels}}} {self.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What an operator gets of the session."""

    points: tuple[Point, ...]
    """What the counters and gauges say, in a stable order."""

    exported: bool
    """Whether spans go to an OTLP endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """The telemetry of the session that is under way."""

    tracer_provider: TracerProvider
    usage: TokenUsage
    """Counts all tokens, of which those of errors are a part."""

    reader: InMemoryMetricReader
    exported: bool
    trajectory: TrajectoryFile | None

    @property
    def unwritten(self) -> int:
        """Lines of the trajectory that the disk did not take."""
        return self.trajectory.unwritten if self.trajectory is not None else 0

    def signals(self) -> Signals:
        """Return the operator's signals so far."""
        points = (point for metric in _list_metrics(self.reader) for point in _list_points(metric))
        return Signals(points=tuple(sorted(points, key=str)), exported=self.exported)


@contextmanager
def telemetry(trajectory: Path) -> Generator[Telemetry]:
    """
    Install the library on new providers for the block, then flush.

    Raises:
        ConfigurationError: The SDK is switched off.
    """
    # The session is written for the default thresholds, whatever the environment sets.
    options = Options(trajectory=TrajectoryOptions(path=trajectory))
    resource = Resource.create({SERVICE_NAME: SERVICE}).merge(OTELResourceDetector().detect())
    reader = InMemoryMetricReader()
    exporter = otlp.make_exporter("metrics")
    readers = (reader,) if exporter is None else (reader, MetricReader(exporter))
    meters = MeterProvider(readers, resource, shutdown_on_exit=False)
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    if isinstance(tracers.get_tracer(semconv.SCOPE), NoOpTracer):
        raise ConfigurationError("OTEL_SDK_DISABLED switches off the SDK whose counters the demo shows; unset it")
    ledger = Ledger(options, timer=time.perf_counter_ns)
    loggers = LoggerProvider(resource, shutdown_on_exit=False)
    if (records_exporter := otlp.make_exporter("logs")) is not None:
        loggers.add_log_record_processor(log_processor(records_exporter, ledger.guard))
    with _silence_log():
        installed = install(
            tracer_provider=tracers, meter_provider=meters, logger_provider=loggers, options=options, ledger=ledger
        )
        try:
            exported = _export_spans(tracers, installed)
            usage = TokenUsage(meters, scope=SERVICE, provider=SERVICE)
            yield Telemetry(
                tracer_provider=tracers, usage=usage, reader=reader, exported=exported, trajectory=installed.trajectory
            )
        finally:
            tracers.shutdown()
            loggers.shutdown()
            # Before the instruments are taken out: some of them are only read when metrics are exported.
            meters.shutdown()
            installed.uninstall()


def _export_spans(tracers: TracerProvider, installed: Installation) -> bool:
    exporter = otlp.make_exporter("traces")
    if exporter is None or installed.processor is None:
        return False
    tracers.add_span_processor(span_processor(exporter, installed.processor.class_of, installed.ledger.guard))
    return True


@contextmanager
def _silence_log() -> Generator[None]:
    # Our own log records are kept off the terminal: they would stand between the agent's steps.
    logger = logging.getLogger(semconv.SCOPE)
    handler = logging.NullHandler()
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated


def _list_metrics(reader: InMemoryMetricReader) -> Iterator[Metric]:
    data = reader.get_metrics_data()
    for resource in data.resource_metrics if data else ():
        for scope in resource.scope_metrics:
            yield from scope.metrics


def _list_points(metric: Metric) -> Iterator[Point]:
    for point in metric.data.data_points:
        if isinstance(point, NumberDataPoint):
            attributes = {name: str(value) for name, value in (point.attributes or {}).items()}
            yield Point(instrument=metric.name, attributes=attributes, value=int(point.value))
