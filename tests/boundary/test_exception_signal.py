"""Raw errors of our own boundaries go where the application wants exceptions: to spans, to log records, or to both."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs import export as sdk_export
from opentelemetry.sdk._logs._internal import ConcurrentMultiLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import otel_errcompact as errcompact
from otel_errcompact.boundary import recording
from otel_errcompact.config import Options, TelemetryOptions, TrajectoryOptions
from otel_errcompact.engine.events import Observation
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.engine.report import RunReport
from otel_errcompact.installation import install as installation
from otel_errcompact.otel.logs import records
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


InMemory: Any = getattr(sdk_export, "InMemoryLogRecordExporter", None) or sdk_export.InMemoryLogExporter


class App:
    """
    An application with telemetry of its own, and the library installed on it.
    """

    def __init__(self, signal: str, *, exported: bool = True) -> None:
        self.spans = InMemorySpanExporter()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        self.logs = InMemory()
        self.loggers = LoggerProvider(shutdown_on_exit=False)
        if exported:
            self.loggers.add_log_record_processor(sdk_export.SimpleLogRecordProcessor(self.logs))
        options = Options(
            telemetry=TelemetryOptions.model_validate({"exception_signal": signal}),
            trajectory=TrajectoryOptions(enabled=False),
        )
        self.installed = errcompact.install(
            tracer_provider=tracers,
            meter_provider=MeterProvider(shutdown_on_exit=False),
            logger_provider=self.loggers,
            ledger=Ledger(options),
        )

    def events(self) -> list[dict[str, Any]]:
        """The attributes of the exception events on spans."""
        return [dict(event.attributes or {}) for span in self.spans.get_finished_spans() for event in span.events]

    def records(self) -> list[Any]:
        return [data.log_record for data in self.logs.get_finished_logs()]

    def event_names(self) -> list[str]:
        """The names of the log records that are events."""
        return [record.event_name for record in self.records()]


@pytest.fixture
def make_app(monkeypatch: pytest.MonkeyPatch, in_tmp: Path) -> Iterator[Callable[..., App]]:
    monkeypatch.setattr(installation, "_installed", [])
    recording._warn_once.cache_clear()
    yield App
    errcompact.uninstall()


def fail(app: App) -> RunReport:
    with errcompact.run("r") as run, run.tool("db"):
        raise ValueError("no such\norder")
    assert app.installed.processor is not None
    return run.report()


@pytest.mark.parametrize(
    ("signal", "events", "logged"),
    [
        pytest.param("events", 1, 0, id="on the span"),
        pytest.param("logs", 0, 1, id="as a log record"),
        pytest.param("logs/dup", 1, 1, id="both"),
    ],
)
def test_where_it_goes(make_app, signal, events, logged):
    """One occurrence, whatever the signal."""
    app = make_app(signal)
    report = fail(app)
    assert (report.occurrences, report.handled) == (1, 0)
    assert (len(app.events()), len(app.records())) == (events, logged)


def test_the_record(make_app):
    """At ERROR, under the operation's name, in the span, with all that the event would say; the span keeps the rest."""
    app = make_app("logs")
    with errcompact.run("r") as run:
        for text in ("no such\norder", "bad \udc80"):
            run.fail(text, tool="db", exit_code=3)
    first, second = app.records()
    span = app.spans.get_finished_spans()[0]
    assert app.event_names() == ["gen_ai.execute_tool.exception"] * 2
    assert (first.severity_number.value, first.body) == (17, "no such order")
    assert (first.trace_id, first.span_id) == (span.context.trace_id, span.context.span_id)
    assert first.attributes == {
        "exception.type": "tool_error",
        "exception.message": "",
        "exception.stacktrace": "no such\norder",
        "errcompact.class": span.attributes["errcompact.class"],
    }
    assert second.attributes["exception.stacktrace"] == "bad \\udc80"
    assert second.attributes["errcompact.raw"] == b"bad \xed\xb2\x80"
    assert span.attributes["error.type"] == "error"  # as in the metrics: the type of the class
    assert (span.status.status_code.name, span.status.description) == ("ERROR", "no such order")


def test_what_leaves_the_run(make_app):
    """Under the name of the agent's operation."""
    app = make_app("logs")
    with pytest.raises(ValueError, match="boom"), errcompact.run("r"):
        raise ValueError("boom")
    assert app.event_names() == ["gen_ai.invoke_agent.exception"]


def test_the_same_is_made_of_what_is_inside(make_app):
    """What a failing call has handled, and what it passes on, are told apart by the object alone, too."""
    counts = []
    for signal in ("events", "logs", "logs/dup"):
        app = make_app(signal)
        tracer = app.installed.tracer_provider.get_tracer("app")
        with errcompact.run("r") as run, run.tool("db"):
            with pytest.raises(TimeoutError), tracer.start_as_current_span("GET"):
                raise TimeoutError("3 s")
            with tracer.start_as_current_span("POST"):
                raise ValueError("no such\norder")
        report = run.report()
        counts.append((report.occurrences, report.handled, app.installed.processor.duplicates))
        app.installed.uninstall()
    assert counts == [(1, 1, 1)] * 3


@pytest.mark.parametrize("exported", [True, False])
def test_nowhere_to_go(make_app, exported, caplog, monkeypatch):
    """Log records that nobody exports would lose the raw error: it stays on the span, and the log says so once."""
    app = make_app("logs", exported=False)
    if exported:  # by a provider that nobody has set
        monkeypatch.setattr("otel_errcompact.boundary.scope.current_logger_provider", lambda: object())
    fail(app)
    fail(app)
    assert len(app.events()) == 2
    assert [record.message for record in caplog.records if record.levelno == logging.WARNING].count(
        "exceptions are wanted as log records, but none are exported: raw errors stay on their spans"
    ) == 1


def test_a_provider_that_fails(make_app, monkeypatch):
    """The raw error stays on the span."""
    monkeypatch.setattr(Guard, "strict", False)
    app = make_app("logs")
    monkeypatch.setattr(records, "emit", None)
    fail(app)
    assert len(app.events()) == 1
    assert app.installed.ledger.guard.failures["record"] == 1


class TestInstalled:
    """The processor of log records comes and goes with the rest."""

    def test_first(self, make_app):
        """Before the exporters, so that records carry their class."""
        app = make_app("events")
        first, _ = app.loggers._multi_log_record_processor._log_record_processors
        assert first is app.installed.log_processor

    def test_uninstall(self, make_app):
        """Only the application's own is left."""
        app = make_app("events")
        app.installed.uninstall()
        app.installed.uninstall()
        assert len(app.loggers._multi_log_record_processor._log_record_processors) == 1

    def test_two_tracer_providers(self, make_app):
        """One logger provider is watched once, until the last installation is taken out."""
        app = make_app("events")
        other = errcompact.install(
            tracer_provider=TracerProvider(shutdown_on_exit=False),
            logger_provider=app.loggers,
            ledger=app.installed.ledger,
        )
        assert other.log_processor is app.installed.log_processor
        app.installed.uninstall()
        assert len(app.loggers._multi_log_record_processor._log_record_processors) == 2
        other.uninstall()
        assert len(app.loggers._multi_log_record_processor._log_record_processors) == 1

    def test_two_ledgers(self, make_app):
        """The first one counts what is logged."""
        app = make_app("events")
        other = errcompact.install(
            tracer_provider=TracerProvider(shutdown_on_exit=False), logger_provider=app.loggers, ledger=Ledger()
        )
        assert other.log_processor is None
        other.uninstall()
        assert len(app.loggers._multi_log_record_processor._log_record_processors) == 2

    def test_concurrent_processors(self, make_app):
        """What the SDK calls in threads of its own is found too."""
        loggers = LoggerProvider(shutdown_on_exit=False, multi_log_record_processor=ConcurrentMultiLogRecordProcessor())
        installed = errcompact.install(
            tracer_provider=TracerProvider(shutdown_on_exit=False), logger_provider=loggers, ledger=Ledger()
        )
        counted: list[str] = []
        installed.ledger.listeners.add(
            Listener({Observation: lambda observation: counted.append(observation.raw.message)})
        )
        loggers.get_logger("app").emit(event_name="exception", attributes={"exception.message": "boom"}, timestamp=7)
        assert counted == ["boom"]
        assert make_app

    def test_no_provider(self, make_app):
        """A provider that takes no processors is left alone."""
        installed = errcompact.install(tracer_provider=TracerProvider(shutdown_on_exit=False), ledger=Ledger())
        assert (installed.log_processor, installed.logger_provider) == (None, None)
        assert make_app
