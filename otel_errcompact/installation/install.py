"""Add the library to an application's telemetry, and remove it."""

from __future__ import annotations

import atexit
import logging
import time
import uuid
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Never, cast

from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider as SdkLoggerProvider
from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider
from opentelemetry.sdk.resources import Resource

from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact.installation import DECIDED
from otel_errcompact.otel import semconv
from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.logs.processor import ErrorCompactionLogRecordProcessor
from otel_errcompact.otel.metrics.instruments import Telemetry
from otel_errcompact.otel.providers import LentTracerProvider, follow_global_providers, is_placeholder
from otel_errcompact.otel.sdk import put_first, read_processors, sends_by_otlp, take_out
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor
from otel_errcompact.otel.spans.sampling import record_unsampled, restore_sampler
from otel_errcompact.otel.spans.tracker import FailureTracker
from otel_errcompact.runtime.forks import FORKS_WAIT
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.sdk.trace.export import SpanExporter
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
    """Whether auto-instrumentation or the first use installed it: an `install` in code takes its place."""

    request: _Request | None = None
    """What was asked for. Installations on providers that the application has set later have the same."""

    def uninstall(self) -> None:
        """
        Remove all parts, also from providers that were joined later.

        Providers that were made here stay, for spans that are open.
        """
        with _lock:
            if self not in _installed:
                return
            _installed.remove(self)
            for added in [each for each in _installed if self.request and each.request is self.request]:
                added.uninstall()
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
                    self.ledger.listeners.remove(listener)
                    listener.close()
            if self.trajectory is not None:
                atexit.unregister(self.trajectory.close)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Request:
    """
    Holds what an application has asked for; None is the global provider.
    """

    tracers: TracerProvider | None
    meters: MeterProvider | None
    loggers: LoggerProvider | None
    options: Options
    ledger: Ledger
    automatic: bool


_lock: Final = RLock()
_installed: Final[list[Installation]] = []
_default: Final[list[Ledger]] = []
_own: Final[dict[str, Any]] = {}
"""The providers that were made here, by signal."""


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
    **unknown: Never,
) -> Installation:
    """
    Add the library to an application's telemetry.

    That is: the processors of spans and log records, the instruments and the trajectory file.

    Before or after the application's own set-up: providers that it sets later are joined. No global provider is set
    here. Where there is none and the standard variables name an OTLP endpoint, our own metrics and log records go there
    by providers of our own, and a tracer provider is lent until the application sets one. Installing twice on one
    tracer provider changes nothing, unless the first was automatic and the second gives arguments.

    Args:
        tracer_provider: Whose spans are watched; the global one if None.
        meter_provider: Where the metrics go; the global one if None.
        logger_provider: Whose log records are watched for exceptions, and where our own go; the global one if None.
        options: All options; read from the environment if None.
        ledger: Where failures become numbers; the process's own if None.
        model: Reads prose that no parser understands; a `ledger` brings its own.
        service_name: The service's name on providers that are made here, where no standard variable gives one.
        automatic: Whether no code of the application asks: give way to an `install` with arguments.
        unknown: Nothing: a field of the options stands in `Options`, and the error says so.

    Raises:
        ConfigurationError: `tracer_provider` takes no span processors, both `ledger` and `model` are given, or options
            that are none.
    """
    if unknown or not isinstance(cast("object", options), Options | None):
        given: dict[str, object] = {**unknown, **(options if isinstance(options, dict) else {})}
        fields = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise ConfigurationError(f"options are given as install(options=errcompact.Options({fields}))")
    if tracer_provider is not None and not hasattr(tracer_provider, "add_span_processor"):
        raise ConfigurationError(f"tracer_provider={tracer_provider!r} takes no span processors; give the SDK's")
    if ledger is not None and model is not None:
        raise ConfigurationError(f"model={model!r} comes beside a ledger; give it to the ledger")
    asks = any(argument is not None for argument in (meter_provider, logger_provider, options, ledger, model))
    options = options or (ledger.options if ledger is not None else Options.from_environ())
    with _lock:
        DECIDED.append(True)
        ledger = ledger or _ledger_for(options, model)
        _give_way(given=asks)
        if not options.enabled:
            _logger.info("not installed: enabled=False")
            return Installation(ledger=ledger)
        known = _find_installation(tracer_provider or trace.get_tracer_provider())
        if known is not None:
            _logger.info("already installed on %r", known.tracer_provider)
            return known
        request = _Request(
            tracers=tracer_provider,
            meters=meter_provider,
            loggers=logger_provider,
            options=options,
            ledger=ledger,
            automatic=automatic,
        )
        added = _add_installation(request, service_name)
        _installed.append(added)
        follow_global_providers(_join_providers)
        if not automatic:
            _say_where(added)
        return added


def uninstall() -> None:
    """
    Remove everything that `install` has added; no later use installs.
    """
    with _lock:
        DECIDED.append(True)
        for added in tuple(_installed):
            added.uninstall()


def current_ledger() -> Ledger:
    """
    Return the ledger installed last, or the process's own.

    The first use in a process installs, unless `install` or `uninstall` was called before, or the off switch is set.
    """
    with _lock:
        if not DECIDED:
            _install_at_first_use(_ledger_for(None))
        return _installed[-1].ledger if _installed else _ledger_for(None)


def _install_at_first_use(ledger: Ledger) -> None:
    DECIDED.append(True)
    with FORKS_WAIT, ledger.guard.stage("install"):
        added = install(ledger=ledger, automatic=True)
        if added in _installed:
            _say_where(added)


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


def current_meter_provider() -> MeterProvider:
    """
    Return the global meter provider, or our own where there is none.
    """
    known = metrics.get_meter_provider()
    return _own.get("meters", known) if is_placeholder(known) else known


def _find_installation(tracers: TracerProvider) -> Installation | None:
    return next((known for known in _installed if known.tracer_provider is tracers), None)


def _give_way(*, given: bool) -> None:
    # An automatic one leaves where another is asked for, and where it watches no provider.
    for known in tuple(_installed):
        if known.automatic and (given or known.processor is None):
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
    made = Ledger(options, backend=backend, timer=time.perf_counter_ns, work_timer=time.thread_time_ns, model=model)
    if not _default:
        _default.append(made)
    return made


def _build_resource(service_name: str) -> Resource:
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


def _add_installation(request: _Request, service_name: str) -> Installation:
    # Metrics first: at exit the last provider made is shut down first, and its end still changes metrics.
    meters = request.meters or metrics.get_meter_provider()
    tracers = request.tracers or trace.get_tracer_provider()
    loggers = request.loggers or _logs.get_logger_provider()
    exporter = None
    if is_placeholder(meters):
        meters = _own_meter_provider(service_name) or meters
    if is_placeholder(tracers) and (exporter := otlp.make_exporter("traces")) is not None:
        tracers = LentTracerProvider(resource=_build_resource(service_name))
        tracers.lend()
    if isinstance(tracers, LentTracerProvider) and is_placeholder(loggers):
        loggers = _own_logger_provider(request.ledger, service_name) or loggers
    telemetry, trajectory = _connect_listeners(
        request, tracers, meters, None if is_placeholder(loggers) else loggers, service_name
    )
    return _watch_providers(request, tracers, loggers, telemetry, trajectory, exporter)


def _own_meter_provider(service_name: str) -> MeterProvider | None:
    """
    Return a provider for our own metrics alone, made once.

    None where no exporter is configured.
    """
    if "meters" not in _own and (exporter := otlp.make_exporter("metrics")) is not None:
        from otel_errcompact.otel.export.metric_reader import MetricReader

        _own["meters"] = SdkMeterProvider([MetricReader(exporter)], resource=_build_resource(service_name))
    return _own.get("meters")


def _own_logger_provider(ledger: Ledger, service_name: str) -> LoggerProvider | None:
    """
    Return a provider for our own log records alone, made once.

    None where no exporter is configured.
    """
    if "loggers" not in _own and (exporter := otlp.make_exporter("logs")) is not None:
        from otel_errcompact.otel.export.queue import MAX_BYTES
        from otel_errcompact.otel.export.resending import MAX_LOG_BYTES, log_processor

        loggers = SdkLoggerProvider(resource=_build_resource(service_name))
        signal = ledger.options.telemetry.exception_signal
        max_bytes = MAX_LOG_BYTES if signal == "events" else MAX_BYTES
        loggers.add_log_record_processor(log_processor(exporter, ledger.guard, max_bytes))
        _own["loggers"] = loggers
    return _own.get("loggers")


def _watch_providers(
    request: _Request,
    tracers: TracerProvider | None,
    loggers: LoggerProvider,
    telemetry: Telemetry | None,
    trajectory: TrajectoryFile | None,
    exporter: SpanExporter | None = None,
) -> Installation:
    """Add the processors to providers that are not watched yet."""
    ledger = request.ledger
    sampler = record_unsampled(tracers) if tracers and request.options.telemetry.record_unsampled else None
    tracker = _find_tracker(ledger)
    processor = None
    if add := getattr(tracers, "add_span_processor", None):
        processor = ErrorCompactionSpanProcessor(ledger, tracker=tracker)
        add(processor)
        put_first(tracers, processor)
        if exporter is not None:
            from otel_errcompact.otel.export.resending import span_processor

            add(span_processor(exporter, _class_of, ledger.guard))
    elif tracers is not None and not is_placeholder(tracers):
        _logger.info("%r takes no span processors: only what our own boundaries see is counted", tracers)
    log_processor = _watch_records(loggers, tracker)
    return Installation(
        ledger=ledger,
        tracer_provider=tracers,
        processor=processor,
        logger_provider=request.loggers if log_processor is None else loggers,
        log_processor=log_processor,
        telemetry=telemetry,
        trajectory=trajectory,
        replaced_sampler=sampler,
        automatic=request.automatic,
        request=request,
    )


def _class_of(span_id: int) -> str | None:
    # An installation may have taken the place of the one that the exporter was made for.
    found = (known.processor.class_of(span_id) for known in tuple(_installed) if known.processor is not None)
    return next(filter(None, found), None)


def _join_providers() -> None:
    with _lock:
        for known in {added.request: added for added in _installed if added.request is not None}.values():
            _join_for(known)


def _join_for(known: Installation) -> None:
    request, telemetry = cast("_Request", known.request), known.telemetry
    meters, tracers, loggers = metrics.get_meter_provider(), trace.get_tracer_provider(), _logs.get_logger_provider()
    if request.meters is None and telemetry is not None and not is_placeholder(meters):
        # Sent by OTLP from here and from there, each failure would count twice.
        leave = sends_by_otlp(meters)
        if "meters" in _own and telemetry.join(meters, leave=leave):
            _logger.info(
                "our metrics go to the application's %r%s", meters, "" if leave else f" and to {otlp.ENDPOINT}"
            )
        telemetry.flush()
    if request.loggers is None and telemetry is not None and not is_placeholder(loggers):
        telemetry.logger_provider = None
    is_new = request.tracers is None and not is_placeholder(tracers) and _find_installation(tracers) is None
    if not is_new and (request.loggers is not None or loggers is known.logger_provider or is_placeholder(loggers)):
        return
    joined = _watch_providers(
        request, tracers if is_new else None, request.loggers or loggers, telemetry, known.trajectory
    )
    _installed.insert(_installed.index(known) + 1, joined)
    for before in (added.tracer_provider for added in _installed if is_new and added.request is request):
        if isinstance(before, LentTracerProvider):
            before.hand_over(tracers)
            _logger.info("spans go to the application's %r and no longer to %s", tracers, otlp.ENDPOINT)


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


def _watch_records(loggers: LoggerProvider, tracker: FailureTracker) -> ErrorCompactionLogRecordProcessor | None:
    """Watch a provider's log records, if it takes processors and is new."""
    if (add := getattr(loggers, "add_log_record_processor", None)) is None:
        return None
    for known in _installed:
        if known.log_processor is not None and known.log_processor in (read_processors(loggers) or ()):
            return known.log_processor if known.log_processor.tracker is tracker else None
    processor = ErrorCompactionLogRecordProcessor(tracker.ledger, tracker=tracker)
    add(processor)
    put_first(loggers, processor)
    return processor


def _connect_listeners(
    request: _Request, tracers: TracerProvider, meters: MeterProvider, loggers: LoggerProvider | None, service_name: str
) -> tuple[Telemetry | None, TrajectoryFile | None]:
    """Connect the audit sink and the instruments to a ledger, once."""
    options, ledger = request.options, request.ledger
    for other in _installed:
        if other.ledger is ledger:
            return other.telemetry, other.trajectory
    trajectory = None
    if options.trajectory.enabled:
        resource = getattr(tracers, "resource", None) or _build_resource(service_name)
        trajectory = TrajectoryFile(options.trajectory, resource=resource, guard=ledger.guard)
        ledger.listeners.add(trajectory)
        # Before the SDK's own, which are registered earlier: what is lost then is in the last export of the metrics.
        atexit.register(trajectory.close)
    telemetry = Telemetry(meters, ledger, options.telemetry, logger_provider=loggers)
    ledger.listeners.add(telemetry)
    return telemetry, trajectory


def _say_where(added: Installation) -> None:
    where = f"kept in {added.trajectory.path}" if added.trajectory is not None else "not kept in a file"
    # Our own processor exports nothing.
    exported = len(read_processors(added.tracer_provider) or ()) > 1
    how = f"set {otlp.ENDPOINT} (pip install 'otel-errcompact[otlp]'), or give the tracer provider an exporter"
    _logger.info("raw errors are %s%s", where, "" if exported else f"; to export them {how}")
