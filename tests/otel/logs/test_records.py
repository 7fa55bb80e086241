"""An escalation is an OpenTelemetry log record: once, whatever the application does with its own log records."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk import _logs as sdk_logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs import export as sdk_export
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider

from otel_errcompact.engine.events import Refused
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError, SpanRef
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.otel.logs import records
from otel_errcompact.otel.metrics.instruments import Telemetry

if TYPE_CHECKING:
    from collections.abc import Iterator

InMemory: Any = getattr(sdk_export, "InMemoryLogRecordExporter", None) or sdk_export.InMemoryLogExporter

SPAN = SpanRef(trace_id=0xA, span_id=0xB)
RAW = RawError(
    text="ConnectionError: no such host",
    type="ConnectionError",
    message="no such host",
    tool="db",
    agent="shop",
    time_ns=1_700_000_000_000_000_000,
    span=SPAN,
)


class Rig:
    """
    A ledger whose escalations go to a logger provider.
    """

    def __init__(self) -> None:
        self.exporter = InMemory()
        self.provider = LoggerProvider(shutdown_on_exit=False)
        self.provider.add_log_record_processor(sdk_export.SimpleLogRecordProcessor(self.exporter))
        self.ledger = Ledger()
        meters = MeterProvider(shutdown_on_exit=False)
        self.ledger.listeners.add(Telemetry(meters, self.ledger, logger_provider=self.provider))

    def records(self) -> list[Any]:
        return [data.log_record for data in self.exporter.get_finished_logs()]

    def escalate(self, raw: RawError = RAW) -> str:
        keys = {self.ledger.observe("r", raw).found.key for _ in range(3)}
        return keys.pop()


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_an_escalation(rig):
    """Severity, body, attributes, time, the span of the occurrence and the event's name."""
    key = rig.escalate()
    (record,) = rig.records()
    assert (record.severity_text, record.severity_number.value) == ("ERROR", 17)
    assert record.body == (
        "escalation, unhandled: one error class keeps recurring (3 of 3): [ConnectionError] no such host "
        "(agent shop, run r, call db, class #200a)"
    )
    expected = {
        "errcompact.run.id": "r",
        "gen_ai.agent.name": "shop",
        "gen_ai.tool.name": "db",
        "errcompact.threshold": "same",
        "errcompact.action": "unhandled",
        "errcompact.class": key,
        "error.type": "ConnectionError",
    }
    assert record.attributes == expected
    assert (record.trace_id, record.span_id, int(record.trace_flags)) == (0xA, 0xB, 1)
    assert record.timestamp == RAW.time_ns
    assert record.event_name == "errcompact.escalation"


def test_one_that_no_span_recorded(rig):
    """It belongs to the span that is open, if one is."""
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("app")
    with tracer.start_as_current_span("agent") as span:
        rig.escalate(RawError(text="x: y", tool="db"))
    rig.ledger.end("r")
    rig.escalate(RawError(text="x: y", tool="db"))
    assert [record.span_id for record in rig.records()] == [span.get_span_context().span_id, 0]


def test_one_that_a_refused_call_brings_about(rig):
    """A refusal counts for the loop without being a failure: there is no span of its own."""
    rig.ledger.open("r", thresholds=Thresholds(loop=3))
    for text in ("IndexError: x", "OSError: y"):
        rig.ledger.observe("r", RawError(text=text, tool="db", arguments="{}", boundary=True, span=SPAN))
    assert rig.ledger.refuse(Refused(run_id="r", tool="db", arguments="{}"))
    (record,) = rig.records()
    assert (record.attributes["errcompact.threshold"], record.span_id) == ("loop", 0)


def test_without_a_provider_there_is_none(caplog):
    """The global one is asked, which does nothing; the standard log record stays."""
    ledger = Ledger()
    ledger.listeners.add(Telemetry(MeterProvider(shutdown_on_exit=False), ledger))
    for _ in range(3):
        ledger.observe("r", RAW)
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.__dict__["event.name"] == "errcompact.escalation"


def test_it_has_no_place_in_a_report(rig):
    """The span is for telemetry; what is written of an escalation stays as it was."""
    rig.escalate()
    assert "span" not in rig.ledger.report("r").model_dump_json()


class TestBridged:
    """The application sends its standard log records by OpenTelemetry itself."""

    @pytest.fixture
    def handler(self, rig) -> Iterator[logging.Handler]:
        if not hasattr(sdk_logs, "LoggingHandler"):  # pragma: no cover - it has moved out of the SDK
            pytest.skip("this SDK has no handler")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)
            return sdk_logs.LoggingHandler(logger_provider=rig.provider)

    @pytest.mark.parametrize("name", ["", "otel_errcompact"])
    def test_it_arrives_once(self, rig, handler, name):
        """By the application's handler, wherever in the chain that is, and with what tells it apart."""
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        try:
            rig.escalate()
        finally:
            logger.removeHandler(handler)
        (record,) = rig.records()
        assert record.attributes["event.name"] == "errcompact.escalation"
        assert record.attributes["errcompact.threshold"] == "same"

    def test_a_handler_that_takes_no_errors(self, rig, handler):
        """It is none for this."""
        handler.setLevel(logging.CRITICAL)
        logging.getLogger().addHandler(handler)
        try:
            rig.escalate()
        finally:
            logging.getLogger().removeHandler(handler)
        assert len(rig.records()) == 1

    def test_a_logger_that_is_off(self, rig, handler):
        """No handler is told of anything then."""
        logger = logging.getLogger("otel_errcompact")
        logging.getLogger().addHandler(handler)
        logger.setLevel(logging.CRITICAL)
        try:
            rig.escalate()
        finally:
            logger.setLevel(logging.NOTSET)
            logging.getLogger().removeHandler(handler)
        assert len(rig.records()) == 1

    def test_a_chain_that_ends_before_the_handler(self, handler):
        """What is not passed on does not reach it."""
        logger = logging.getLogger("otel_errcompact.nowhere")
        logger.propagate = False
        logging.getLogger().addHandler(handler)
        try:
            assert not records.is_bridged(logger)
            logger.propagate = True
            assert records.is_bridged(logger)
        finally:
            logging.getLogger().removeHandler(handler)
