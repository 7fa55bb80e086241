"""Add the library to an application's telemetry, and remove it."""

from __future__ import annotations

import atexit
import logging
import time
import uuid
from threading import RLock
from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider as SdkLoggerProvider
from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider

from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact.otel import semconv
from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.logs.processor import ErrorCompactionLogRecordProcessor
from otel_errcompact.otel.metrics.instruments import Telemetry
from otel_errcompact.otel.sdk import TakesLogProcessors, TakesProcessors, put_first, read_processors, take_out
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor
from otel_errcompact.otel.spans.sampling import record_unsampled, restore_sampler
from otel_errcompact.otel.spans.tracker import FailureTracker
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.sdk.trace.sampling import Sampler
    from opentelemetry.trace import TracerProvider

    from otel_errcompact.compactor.model import ModelExtractor

_logger = logging.getLogger(semconv.SCOPE)

_PROCESS: Final = str(uuid.uuid4())
_UNNAMED: Final = "unknown_service"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Installation:
    """
    Holds the parts that `install` added.

    With `enabled=False` there are none, and all but the ledger are None.
    """

    ledger: Ledger
    """Where failures become numbers."""

    tracer_provider: TracerProvider | None = None
    processor: ErrorCompactionSpanProcessor | None = None
    """None also where the global tracer provider takes no span processors."""

    logger_provider: LoggerProvider | None = None
    log_processor: ErrorCompactionLogRecordProcessor | None = None
    """None also where the logger provider takes no processors, or another ledger watches it already."""

    telemetry: Telemetry | None = None
    trajectory: TrajectoryFile | None = None
    """None also where the options switch the file off."""

    replaced_sampler: Sampler | None = None
    """The provider's own sampler, where another one now records the spans that it drops."""

    automatic: bool = False
    """Whether auto-instrumentation installed it: an `install` in code takes its place."""

    def uninstall(self) -> None:
        """
        Remove all parts.

        Providers that were created stay, since OpenTelemetry has no way to replace them.
        """
        with _lock:
            if self not in _installed:
                return
            _installed.remove(self)
            if self.processor is not None:
                take_out(self.tracer_provider, self.processor)
                self.processor.shutdown()
            restore_sampler(self.tracer_provider, self.replaced_sampler)
            if self.log_processor is not None and not any(
                other.log_processor is self.log_processor for other in _installed
            ):
                take_out(self.logger_provider, self.log_processor)
                self.log_processor.shutdown()
            if any(other.ledger is self.ledger for other in _installed):
                return
            for listener in (self.telemetry, self.trajectory):
                if listener is not None:
                    self.ledger.remove_listener(listener)
                    listener.close()
            if self.trajectory is not None:
                atexit.unregister(self.trajectory.close)


class _Providers(NamedTuple):
    """
    The providers that an application gives.
    """

    tracers: TracerProvider | None
    meters: MeterProvider | None
    loggers: LoggerProvider | None


class _Listening(NamedTuple):
    """
    The providers and options of a ledger's listeners.
    """

    meter_provider: MeterProvider
    logger_provider: LoggerProvider | None
    options: Options
    ledger: Ledger


_lock: Final = RLock()
_installed: Final[list[Installation]] = []
_default: Final[list[Ledger]] = []


def install(
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    options: Options | None = None,
    ledger: Ledger | None = None,
    model: ModelExtractor | None = None,
    service_name: str = "",
    automatic: bool = False,
) -> Installation:
    """
    Add the library to an application's telemetry.

    That is: the processors of spans and log records, the instruments and the trajectory file.

    Call it after the application has set its own providers. Where there is no tracer provider, one is made and set
    globally, with OTLP exporters if the standard variables name an endpoint. Installing twice on one tracer provider
    changes nothing, unless the first was automatic and the second gives arguments.

    Args:
        tracer_provider: Whose spans are watched; the global one if None.
        meter_provider: Where the metrics go; the global one if None.
        logger_provider: Whose log records are watched for exceptions, and where our own go; the global one if None.
        options: All options; read from the environment if None.
        ledger: Where failures become numbers; the process's own if None.
        model: Reads prose that no parser understands; a `ledger` brings its own.
        service_name: The service's name on providers that are made here, where no standard variable gives one.
        automatic: Whether auto-instrumentation calls: make no provider, and give way to an `install` with arguments.

    Raises:
        ConfigurationError: `tracer_provider` takes no span processors, or both `ledger` and `model` are given.
    """
    if tracer_provider is not None and not isinstance(tracer_provider, TakesProcessors):
        raise ConfigurationError(f"tracer_provider={tracer_provider!r} takes no span processors; give the SDK's")
    if ledger is not None and model is not None:
        raise ConfigurationError(f"model={model!r} comes beside a ledger; give it to the ledger")
    given = any(argument is not None for argument in (meter_provider, logger_provider, options, ledger, model))
    options = options or (ledger.options if ledger is not None else Options.from_environ())
    with _lock:
        ledger = ledger or _ledger_for(options, model)
        _give_way(tracer_provider or trace.get_tracer_provider(), given=given)
        if not options.enabled:
            _logger.info("not installed: enabled=False")
            return Installation(ledger=ledger)
        known = _on(tracer_provider or trace.get_tracer_provider())
        if known is not None:
            _logger.info("already installed on %r", known.tracer_provider)
            return known
        given_providers = _Providers(tracer_provider, meter_provider, logger_provider)
        added = _install_on(given_providers, options, ledger, service_name, automatic=automatic)
        _installed.append(added)
        return added


def _install_on(
    given: _Providers, options: Options, ledger: Ledger, service_name: str, *, automatic: bool
) -> Installation:
    # Metrics first: at exit the last provider made is shut down first, and its end still changes metrics.
    meters = given.meters or (metrics.get_meter_provider() if automatic else _global_meter_provider(service_name))
    created = given.tracers is None and not automatic and _set_global_tracer_provider(service_name)
    listening = _Listening(meters, given.loggers, options, ledger)
    if created and given.loggers is None:
        _set_global_logger_provider(ledger, service_name)
    tracers = given.tracers or trace.get_tracer_provider()
    return _add(tracers, listening, export=created, automatic=automatic)


def uninstall() -> None:
    """
    Remove everything that `install` has added.
    """
    with _lock:
        for added in tuple(_installed):
            added.uninstall()


def current_ledger() -> Ledger:
    """
    Return the ledger installed last, or the process's own.
    """
    with _lock:
        return _installed[-1].ledger if _installed else _ledger_for(None)


def current_tracer_provider() -> TracerProvider:
    """
    Return the tracer provider of the last installation, or the global one.
    """
    with _lock:
        installed = _installed[-1].tracer_provider if _installed else None
    return installed or trace.get_tracer_provider()


def current_logger_provider() -> LoggerProvider:
    """
    Return the logger provider of the last installation, or the global one.
    """
    with _lock:
        installed = _installed[-1].logger_provider if _installed else None
    return installed or _logs.get_logger_provider()


def _on(tracers: TracerProvider) -> Installation | None:
    return next((known for known in _installed if known.tracer_provider is tracers), None)


def _give_way(tracers: TracerProvider, *, given: bool) -> None:
    """
    Remove an automatic installation that an explicit one replaces.

    An explicit one is asked for in code, or follows one that had no provider to watch.
    """
    for known in tuple(_installed):
        if known.automatic and (known.processor is None or (given and known.tracer_provider is tracers)):
            known.uninstall()


def _ledger_for(options: Options | None, model: ModelExtractor | None = None) -> Ledger:
    """
    Return the process's own ledger, or one for these options.

    A new one is made for other options, or for a model.
    """
    if _default and model is None and (options is None or options == _default[0].options):
        return _default[0]
    options = options or Options.from_environ()
    backend = open_backend(options.store)
    made = Ledger(options, backend=backend, timer=time.perf_counter_ns, model=model)
    if not _default:
        _default.append(made)
    return made


def _resource(service_name: str) -> Resource:
    """
    Return what providers made here add to the SDK's resource.

    The SDK calls a service without a name after its interpreter, as it calls every other one.

    Newer SDKs give each process an id. Without one, the counters of two processes of a service are one series to
    Prometheus, which then jumps between them.
    """
    known = Resource.create()
    instance = known.attributes.get(semconv.SERVICE_INSTANCE_ID) or _PROCESS
    added = {semconv.COUNTED: "true", semconv.SERVICE_INSTANCE_ID: instance}
    if service_name and str(known.attributes.get(semconv.SERVICE_NAME, _UNNAMED)).startswith(_UNNAMED):
        added[semconv.SERVICE_NAME] = service_name
    return known.merge(Resource(added))


def _global_meter_provider(service_name: str) -> MeterProvider:
    """
    Return the global meter provider, made here only with an exporter.

    A global provider cannot be replaced, and the application may have its own to set later.
    """
    provider = metrics.get_meter_provider()
    if hasattr(provider, "force_flush") or (exporter := otlp.metric_exporter()) is None:
        return provider
    from otel_errcompact.otel.export.metric_reader import MetricReader

    metrics.set_meter_provider(SdkMeterProvider([MetricReader(exporter)], resource=_resource(service_name)))
    return metrics.get_meter_provider()


def _set_global_tracer_provider(service_name: str) -> bool:
    """Set a global tracer provider if none exists; return whether it did."""
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return False
    trace.set_tracer_provider(SdkTracerProvider(resource=_resource(service_name)))
    return True


def _set_global_logger_provider(ledger: Ledger, service_name: str) -> None:
    """
    Set a global logger provider if none exists and it can export.

    Return whether it did.
    """
    if hasattr(_logs.get_logger_provider(), "force_flush") or (exporter := otlp.log_exporter()) is None:
        return
    from otel_errcompact.otel.export.queue import MAX_BYTES
    from otel_errcompact.otel.export.resending import MAX_LOG_BYTES, log_processor

    loggers = SdkLoggerProvider(resource=_resource(service_name))
    signal = ledger.options.telemetry.exception_signal
    loggers.add_log_record_processor(
        log_processor(exporter, ledger.guard, MAX_LOG_BYTES if signal == "events" else MAX_BYTES)
    )
    _logs.set_logger_provider(loggers)


def _add(tracers: TracerProvider, listening: _Listening, *, export: bool, automatic: bool) -> Installation:
    ledger = listening.ledger
    telemetry, trajectory = _listen(tracers, listening)
    sampler = record_unsampled(tracers) if listening.options.telemetry.record_unsampled else None
    tracker = _find_tracker(ledger)
    takes = isinstance(tracers, TakesProcessors)
    processor = ErrorCompactionSpanProcessor(ledger, tracker=tracker) if takes else None
    loggers = listening.logger_provider or _logs.get_logger_provider()
    log_processor = _watch(loggers, tracker)
    if isinstance(tracers, TakesProcessors) and processor is not None:
        exported = bool(read_processors(tracers))
        tracers.add_span_processor(processor)
        put_first(tracers, processor)
        if export and (exporter := otlp.span_exporter()) is not None:
            from otel_errcompact.otel.export.resending import span_processor

            exported = True
            tracers.add_span_processor(span_processor(exporter, processor.class_of, ledger.guard))
        if not exported and not automatic:
            _say_where(trajectory)
    else:
        _logger.warning("%r takes no span processors: only what our own boundaries see is counted", tracers)
    return Installation(
        ledger=ledger,
        tracer_provider=tracers,
        processor=processor,
        logger_provider=listening.logger_provider if log_processor is None else loggers,
        log_processor=log_processor,
        telemetry=telemetry,
        trajectory=trajectory,
        replaced_sampler=sampler,
        automatic=automatic,
    )


def _find_tracker(ledger: Ledger) -> FailureTracker:
    """
    Return the tracker that all processors of a ledger share.

    One trace may be on several providers.
    """
    for known in _installed:
        processor = known.processor or known.log_processor
        if known.ledger is ledger and processor is not None:
            return processor.tracker
    return FailureTracker(ledger)


def _watch(loggers: LoggerProvider, tracker: FailureTracker) -> ErrorCompactionLogRecordProcessor | None:
    """Watch a provider's log records, if it takes processors and is new."""
    if not isinstance(loggers, TakesLogProcessors):
        return None
    for known in _installed:
        if known.log_processor is not None and known.log_processor in (read_processors(loggers) or ()):
            return known.log_processor if known.log_processor.tracker is tracker else None
    processor = ErrorCompactionLogRecordProcessor(tracker.ledger, tracker=tracker)
    loggers.add_log_record_processor(processor)
    put_first(loggers, processor)
    return processor


def _listen(tracers: TracerProvider, listening: _Listening) -> tuple[Telemetry | None, TrajectoryFile | None]:
    """Connect the audit sink and the instruments to a ledger, once."""
    options, ledger = listening.options, listening.ledger
    for other in _installed:
        if other.ledger is ledger:
            return other.telemetry, other.trajectory
    trajectory = None
    if options.trajectory.enabled:
        trajectory = TrajectoryFile(options.trajectory, resource=getattr(tracers, "resource", None), guard=ledger.guard)
        ledger.add_listener(trajectory)
        # Before the SDK's own, which are registered earlier: what is lost then is in the last export of the metrics.
        atexit.register(trajectory.close)
    telemetry = Telemetry(
        listening.meter_provider, ledger, options.telemetry, logger_provider=listening.logger_provider
    )
    ledger.add_listener(telemetry)
    return telemetry, trajectory


def _say_where(trajectory: TrajectoryFile | None) -> None:
    where = f"are kept in {trajectory.path} and go nowhere else" if trajectory is not None else "are kept nowhere"
    _logger.warning(
        "no exporter is configured: raw errors %s. To export them set %s (pip install 'otel-errcompact[otlp]'), "
        "or give the tracer provider an exporter",
        where,
        otlp.ENDPOINT,
    )
