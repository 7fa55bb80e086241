"""The pipeline of a replay: new providers with the library installed."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, SynchronousMultiSpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import NoOpTracer

from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.installation.install import install
from otel_errcompact.otel import semconv
from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.export.exporter import ErrorClassSpanExporter
from otel_errcompact.otel.export.metric_reader import MetricReader
from otel_errcompact.otel.metrics.usage import TokenUsage
from otel_errcompact_lab.replay.calls import play_run
from otel_errcompact_lab.replay.lives import play_life
from otel_errcompact_lab.replay.tally import Tallies
from otel_errcompact_lab.replay.traces import play_trace, run_of
from otel_errcompact_lab.transcripts import RecordedLife, RecordedTrace

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer

    from otel_errcompact.audit.trajectory import TrajectoryFile
    from otel_errcompact.engine.listeners import Listener
    from otel_errcompact.installation.install import Installation
    from otel_errcompact_lab.replay.results import OnCall, ReplayedRun
    from otel_errcompact_lab.transcripts import RecordedRun


_logger: Final = logging.getLogger(semconv.SCOPE)


class OneFailureExporter(SpanExporter):
    """
    Exports spans until one export fails; later spans are counted as lost.

    An exporter has tried again for seconds before it says that it has failed. An application has time for that with
    every batch, a replay has not.
    """

    def __init__(self, inner: SpanExporter) -> None:
        self.lost = 0
        """Spans that were not exported."""
        self._inner = inner

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export the spans."""
        if not self.lost and self._succeeds(spans):
            return SpanExportResult.SUCCESS
        self.lost += len(spans)
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._inner.shutdown()

    def _succeeds(self, spans: Sequence[ReadableSpan]) -> bool:
        try:
            return self._inner.export(spans) is SpanExportResult.SUCCESS
        except Exception as error:  # noqa: BLE001 - older exporters raise whatever their transport does
            _logger.warning("spans cannot be exported: %s", error)
            return False


SCOPE: Final = "otel_errcompact_lab.replay"
"""The instrumentation scope of replayed tool calls. Spans of our boundaries' own scope the processor leaves to them."""

SERVICE: Final = "errcompact-replay"
"""The name of the service, unless the environment gives one."""

MAX_OPEN_RUNS: Final = 500
"""Conversations that a later trace may continue; beyond that number the one touched least recently is ended."""

FLUSH_EVERY: Final = 1_000
"""Spans after which the exporter's queue is flushed, before it is full and drops spans."""


@dataclass(slots=True, kw_only=True)
class Pipeline:
    """Plays recorded runs one after the other; `open_pipeline` makes one."""

    tracer: Tracer
    """Makes the spans of recorded tool calls."""

    processor: SpanProcessor
    """Is told of the spans of recorded traces; the tracer provider's own, so that both go the same way."""

    ledger: Ledger
    tallies: Tallies
    """What listens to the ledger."""

    usage: TokenUsage
    """Where the tokens of the whole context go: the whole of which those of errors are a part."""

    exporter: OneFailureExporter | None = None
    trajectory: TrajectoryFile | None = None

    @property
    def lost_spans(self) -> int:
        """Spans whose export failed; final once the pipeline is closed."""
        return self.exporter.lost if self.exporter is not None else 0

    @property
    def unwritten(self) -> int:
        """Lines that the disk did not take."""
        return self.trajectory.unwritten if self.trajectory is not None else 0

    def play(self, record: RecordedRun | RecordedTrace | RecordedLife) -> Iterator[ReplayedRun]:
        """
        Play one record, and yield the runs that end with it.

        A trace may be one turn of a longer conversation: such a run ends with `finish`.
        """
        self.tallies.source = record.source
        if isinstance(record, RecordedTrace):
            yield from self._play_trace(record)
        elif isinstance(record, RecordedLife):
            if record.run_id in self.tallies:
                yield self._end_run(self.tallies.close(record.run_id))
            yield self._end_run(play_life(record, self.ledger, self.tallies))
        else:
            yield self._end_run(self._play_run(record))

    def finish(self) -> Iterator[ReplayedRun]:
        """End the open runs and yield them; call it after each file."""
        while self.tallies:
            yield self._end_run(self.tallies.close_oldest())

    def _end_run(self, run: ReplayedRun) -> ReplayedRun:
        # The record lacks the number of requests: each token counts once, as if a cache held the earlier ones.
        self.usage.record(run.context_tokens, semconv.TOKENS_IN, agent=run.agent)
        return run

    def _play_run(self, run: RecordedRun) -> ReplayedRun:
        run_id = run.run_id or Path(run.source).stem
        tally = self.tallies.open(run_id, agent=run.agent, outcome=run.outcome)
        play_run(run, tally, self.tracer, self.tallies.on_call)
        return self.tallies.close(run_id)

    def _play_trace(self, trace: RecordedTrace) -> Iterator[ReplayedRun]:
        run_id = run_of(trace)
        first = run_id not in self.tallies
        tally = self.tallies.open(run_id)
        tally.raw_errors_alone = trace.holds_raw_errors_alone and (first or tally.raw_errors_alone)
        play_trace(trace, tally, self.tallies, self.processor, SCOPE)
        if trace.run_id in self.tallies:
            yield self._end_run(self.tallies.close(trace.run_id))
        while len(self.tallies) > MAX_OPEN_RUNS:
            yield self._end_run(self.tallies.close_oldest())


@contextmanager
def open_pipeline(
    options: Options | None = None,
    *,
    span_exporter: SpanExporter | None = None,
    metric_exporter: MetricExporter | None = None,
    listeners: Iterable[Listener] = (),
    on_call: OnCall | None = None,
) -> Generator[Pipeline]:
    """
    Install the library on new providers for the block, then flush.

    Args:
        options: All options; read from the environment if None. A trajectory file is written if they enable it.
        span_exporter: Where spans go; without one to the OTLP endpoint in the environment, or else nowhere.
        metric_exporter: Where metrics go; likewise.
        listeners: Further listeners of the ledger, after the tallies.
        on_call: Takes each call of a record, before the ledger counts it.

    Raises:
        ConfigurationError: The SDK is switched off.
    """
    options = (options or Options.from_environ()).model_copy(update={"enabled": True})
    ledger = Ledger(options, timer=time.perf_counter_ns)
    tallies = Tallies(ledger, on_call)
    for listener in (tallies, *listeners):
        ledger.listeners.add(listener)
    resource = Resource.create({SERVICE_NAME: SERVICE}).merge(OTELResourceDetector().detect())
    metric_exporter = metric_exporter or otlp.make_exporter("metrics")
    readers = () if metric_exporter is None else (MetricReader(metric_exporter),)
    meters = MeterProvider(readers, resource, shutdown_on_exit=False)
    processors = SynchronousMultiSpanProcessor()  # type: ignore[no-untyped-call]  # of the SDK
    tracers = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, active_span_processor=processors)
    tracers.add_span_processor(_Pace(processors))
    installed = install(tracer_provider=tracers, meter_provider=meters, options=options, ledger=ledger)
    exporter = _add_exporter(tracers, span_exporter or otlp.make_exporter("traces"), installed)
    try:
        tracer = tracers.get_tracer(SCOPE)
        if isinstance(tracer, NoOpTracer):
            raise ConfigurationError("OTEL_SDK_DISABLED switches off the SDK that runs are replayed through; unset it")
        usage = TokenUsage(meters, scope=SCOPE, provider=SERVICE)
        yield Pipeline(
            tracer=tracer,
            processor=processors,
            ledger=ledger,
            tallies=tallies,
            usage=usage,
            exporter=exporter,
            trajectory=installed.trajectory,
        )
    finally:
        # The processor that knows the classes is shut down first: whatever waits for its class is exported before.
        tracers.force_flush()
        tracers.shutdown()
        # Before the instruments are taken out: some of them are only read when metrics are exported.
        meters.shutdown()
        installed.uninstall()


def _add_exporter(
    tracers: TracerProvider, exporter: SpanExporter | None, installed: Installation
) -> OneFailureExporter | None:
    if exporter is None or installed.processor is None:
        return None
    once = OneFailureExporter(ErrorClassSpanExporter(exporter, installed.processor.class_of))
    tracers.add_span_processor(BatchSpanProcessor(once))
    return once


class _Pace(SpanProcessor):
    """Keeps the exporter in step with the replay, which outruns any agent."""

    def __init__(self, processors: SpanProcessor) -> None:
        self._processors = processors
        self._spans = 0

    def on_end(self, span: ReadableSpan) -> None:  # noqa: ARG002 - the SDK's signature
        self._spans += 1
        if self._spans % FLUSH_EVERY == 0:
            self._processors.force_flush()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        # Older SDKs' base class returns None, which stops the processors behind this one from being flushed.
        return True
