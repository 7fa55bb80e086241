"""Exceptions that arrive as log records: the same occurrence as a span's, or one of their own."""

from __future__ import annotations

import contextvars
import inspect
import logging
import pickle
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.sdk import _logs as sdk_logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs import export as sdk_export
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import Status, StatusCode, format_trace_id

import otel_errcompact as errcompact
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import SpanRef
from otel_errcompact.otel.logs.processor import ErrorCompactionLogRecordProcessor
from otel_errcompact.otel.spans.context import context_of
from otel_errcompact.otel.spans.recorded import read_exception
from otel_errcompact.runtime.guard import Guard
from tests.otel.conftest import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.trace import Span, Tracer

InMemory: Any = getattr(sdk_export, "InMemoryLogRecordExporter", None) or sdk_export.InMemoryLogExporter
HAS_EXCEPTIONS = "exception" in inspect.signature(LogRecord.__init__).parameters
"""Whether a log record takes the exception itself; not yet in OpenTelemetry 1.39."""

CHAT = {"gen_ai.operation.name": "chat"}
TOOL = {"gen_ai.operation.name": "execute_tool"}


class Logs:
    """
    A logger provider with the processor beside a tracer provider with its own.
    """

    def __init__(self, rig: Any) -> None:
        self.rig = rig
        self.exporter = InMemory()
        self.provider = LoggerProvider(shutdown_on_exit=False, resource=Resource({}))
        self.processor = ErrorCompactionLogRecordProcessor(rig.ledger, tracker=rig.processor.tracker)
        self.provider.add_log_record_processor(self.processor)
        self.provider.add_log_record_processor(sdk_export.SimpleLogRecordProcessor(self.exporter))

    def emit(
        self,
        error: BaseException | None = None,
        *,
        event: str = "",
        severity: SeverityNumber | None = SeverityNumber.ERROR,
        span: Span | None = None,
        scope: str = "app",
        live: bool = False,
        **attributes: Any,
    ) -> None:
        """Emit a record of an exception, as an instrumentation does: with the object itself, or what it says."""
        if error is not None and not live:
            told = read_exception(error)
            known = {"exception.type": told.type, "exception.message": told.message, "exception.stacktrace": told.text}
            attributes = {**known, **attributes}
        context = (span or trace.get_current_span()).get_span_context()
        details: dict[str, Any] = {
            "timestamp": 7,
            "severity_number": severity,
            "body": "it failed",
            "attributes": attributes,
            "event_name": event or None,
            "context": context_of(SpanRef(trace_id=context.trace_id, span_id=context.span_id)) if span else None,
        }
        if live:
            details["exception"] = error
        self.provider.get_logger(scope).emit(**details)

    def classes(self) -> list[str | None]:
        """The classes on the exported records."""
        return [
            (data.log_record.attributes or {}).get("errcompact.class") for data in self.exporter.get_finished_logs()
        ]


@pytest.fixture
def logs(rig) -> Logs:
    return Logs(rig)


@contextmanager
def bridged(logs: Logs) -> Iterator[logging.Logger]:
    """A standard logger whose records become OpenTelemetry's by its own handler."""
    if not hasattr(sdk_logs, "LoggingHandler"):  # pragma: no cover - it has moved out of the SDK
        pytest.skip("this SDK has no handler")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        handler = sdk_logs.LoggingHandler(logger_provider=logs.provider)
    logger = logging.getLogger("app.worker")
    logger.addHandler(handler)
    try:
        yield logger
    finally:
        logger.removeHandler(handler)


def quiet(tracer: Tracer, name: str, attributes: dict[str, str], kind: str, description: str, tell: Any) -> Span:
    """A span that ends as the official GenAI instrumentations have it, with a log record beside."""
    span = tracer.start_span(name, attributes=attributes)
    with trace.use_span(span, record_exception=False, set_status_on_exception=False):
        tell()
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, description))
    span.end()
    return span


class TestOneOccurrence:
    """A span event and a log record of the same failure."""

    @pytest.mark.parametrize("live", [True, False])
    def test_record_in_the_span(self, rig, logs, tracer, live):
        """The usual order: the record comes while the span is open, and the exception leaves it."""
        if live and not HAS_EXCEPTIONS:
            pytest.skip("records of this SDK carry no exception")
        with pytest.raises(ValueError, match="boom"), tracer.start_as_current_span("work"):
            try:
                raise ValueError("boom")
            except ValueError as error:
                logs.emit(error, event="exception", live=live)
                raise
        assert rig.told.causes == ["boom"]
        assert rig.processor.duplicates == 1

    def test_record_in_the_span_without_the_object(self, rig, logs, tracer):
        """By type and message among the failures of the span."""
        error = ValueError("boom")
        with pytest.raises(ValueError, match="boom"), tracer.start_as_current_span("work"):
            logs.emit(error, event="exception")
            raise error
        assert rig.told.causes == ["boom"]

    def test_record_of_the_cause(self, rig, logs, tracer):
        """The span fails with what was raised from the logged exception."""
        with pytest.raises(RuntimeError), tracer.start_as_current_span("work"):
            try:
                raise ValueError("boom")
            except ValueError as error:
                logs.emit(error, event="exception")
                raise RuntimeError("outer") from error
        assert rig.told.causes == ["boom"]

    @pytest.mark.parametrize("where", ["its span", "the span around", "no span"])
    def test_record_after_the_span(self, rig, logs, tracer, where):
        """Told of by whoever catches it: it is known by the object."""
        with tracer.start_as_current_span("agent"):
            try:
                with tracer.start_as_current_span("work") as span:
                    raise ValueError("boom")
            except ValueError as error:
                at = {"its span": span, "the span around": None, "no span": trace.INVALID_SPAN}[where]
                logs.emit(error, span=at)
        assert rig.told.causes == ["boom"]
        assert rig.processor.duplicates == 1

    def test_record_after_the_span_without_the_object(self, rig, logs, tracer):
        """From another thread, as a queue of log records has it."""
        caught: list[BaseException] = []
        try:
            with tracer.start_as_current_span("work") as span:
                raise ValueError("boom")
        except ValueError as error:
            caught.append(error)
        logs.emit(caught[0], event="exception", span=span)
        assert rig.told.causes == ["boom"]
        assert logs.classes() == [rig.told.observed[0].found.key]

    def test_record_in_the_span_around(self, rig, logs, tracer):
        """Type and message are those of a child."""
        with tracer.start_as_current_span("agent"):
            try:
                with tracer.start_as_current_span("work"):
                    raise ValueError("boom")
            except ValueError as error:
                caught = error
            logs.emit(caught)
        assert rig.told.causes == ["boom"]

    def test_logged_on_its_way_up(self, rig, logs, tracer):
        """Each layer logs and raises again: one occurrence."""

        def layer(depth: int) -> None:
            with tracer.start_as_current_span(f"layer {depth}"):
                try:
                    if not depth:
                        raise ValueError("boom")
                    layer(depth - 1)
                except ValueError as error:
                    logs.emit(error)
                    raise

        with pytest.raises(ValueError, match="boom"):
            layer(2)
        assert rig.told.causes == ["boom"]

    def test_recorded_on_a_span_that_goes_on(self, rig, logs, tracer):
        """The record counts, and the event says nothing new."""
        with tracer.start_as_current_span("work") as span:
            error = ValueError("boom")
            span.record_exception(error)
            logs.emit(error, event="exception")
        assert (rig.told.causes, rig.told.handled) == (["boom"], [])

    def test_different_failures(self, rig, logs, tracer):
        """What the span fails with is another occurrence than what was logged in it."""
        with pytest.raises(ValueError, match="outer"), tracer.start_as_current_span("work"):
            logs.emit(KeyError("inner"))
            raise ValueError("outer")
        assert rig.told.causes == ["'inner'", "outer"]

    def test_the_same_failure_again(self, rig, logs, tracer):
        """Two spans fail alike, and both are logged: two."""
        for _ in range(2):
            with pytest.raises(ValueError, match="boom"), tracer.start_as_current_span("work"):
                try:
                    raise ValueError("boom")
                except ValueError as error:
                    logs.emit(error, event="exception")
                    raise
        assert rig.told.causes == ["boom", "boom"]

    def test_retries_in_one_span(self, rig, logs, tracer):
        """Only the objects tell them apart."""
        with tracer.start_as_current_span("work"):
            for _ in range(2):
                try:
                    raise ValueError("boom")
                except ValueError as error:
                    logs.emit(error, event="exception")
        assert rig.told.causes == ["boom", "boom"]

    def test_a_class_that_takes_no_mark(self, rig, logs, tracer):
        """Type and message recognise it."""

        class Sealed(Exception):
            def __setattr__(self, name: str, value: object) -> None:
                if name.startswith("__errcompact"):
                    raise AttributeError(name)
                super().__setattr__(name, value)

        with pytest.raises(Sealed), tracer.start_as_current_span("work"):
            try:
                raise Sealed("boom")
            except Sealed as error:
                logs.emit(error, event="exception")
                raise
        assert rig.told.causes == ["boom"]

    def test_a_marked_exception_can_be_pickled(self, logs):
        """Marks are numbers."""
        error = ValueError("boom")
        with pytest.raises(ValueError, match="boom"):
            try:
                raise error
            finally:
                logs.emit(error)
        assert vars(error)
        assert pickle.loads(pickle.dumps(error)).args == ("boom",)

    @given(st.lists(st.tuples(st.sampled_from(["before", "after", "both", "none"]), st.booleans()), max_size=6))
    def test_any_interleaving(self, make_rig, steps):
        """However record and event of k failures come, and whether or not the object can be seen: k."""
        rig = make_rig()
        logs, tracer = Logs(rig), rig.tracer()
        with tracer.start_as_current_span("agent"):
            for number, (when, live) in enumerate(steps):
                caught: BaseException | None = None
                try:
                    with tracer.start_as_current_span("work") as span:
                        try:
                            raise ValueError(f"boom {'x' * number}")
                        except ValueError as error:
                            caught = error
                            if when in {"before", "both"} and live:
                                logs.emit(error, event="exception")
                        if when in {"before", "both"} and not live:
                            logs.emit(caught, event="exception")
                        raise caught
                except ValueError as error:
                    if when in {"after", "both"} and live:
                        logs.emit(error, event="exception", span=span)
                if when in {"after", "both"} and not live:
                    logs.emit(caught, event="exception", span=span)
        assert len(rig.told.observed) == len(steps)


class TestBoundary:
    """Inside a tool or model call the call's outcome decides."""

    def test_logged_by_a_tool_that_succeeds(self, rig, logs, tracer):
        """It was handled, whatever its severity."""
        with tracer.start_as_current_span("execute_tool db", attributes=TOOL):
            logs.emit(TimeoutError("3 s"), event="exception")
            logs.emit(KeyError("a"), severity=SeverityNumber.DEBUG)
            assert rig.told.handled == []
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["3 s", "'a'"]

    def test_logged_by_a_tool_that_fails_with_it(self, rig, logs, tracer):
        """One occurrence, under the tool's name."""
        with pytest.raises(ValueError, match="boom"), tracer.start_as_current_span("execute_tool db", attributes=TOOL):
            try:
                raise ValueError("boom")
            except ValueError as error:
                logs.emit(error)
                raise
        assert (rig.told.tools, rig.told.handled) == (["db"], [])
        assert logs.classes() == [rig.told.observed[0].found.key]

    def test_logged_by_a_tool_that_fails_otherwise(self, rig, logs, tracer):
        """What it has logged before was handled."""
        with pytest.raises(ValueError, match="no"), tracer.start_as_current_span("execute_tool db", attributes=TOOL):
            logs.emit(TimeoutError("3 s"))
            raise ValueError("no such order")
        assert (rig.told.causes, rig.told.handled_messages) == (["no such order"], ["3 s"])

    def test_logged_inside_a_span_inside(self, rig, logs, tracer):
        """The record, the inner span and the tool tell of the same failure."""
        error = ValueError("boom")
        tool = tracer.start_as_current_span("execute_tool db", attributes=TOOL)
        with pytest.raises(ValueError, match="boom"), tool, tracer.start_as_current_span("GET"):
            logs.emit(error)
            raise error
        assert (rig.told.tools, rig.told.handled) == (["db"], [])

    def test_logged_after_the_boundary_has_handled_it(self, rig, logs, tracer):
        """A record is no second failure."""
        with tracer.start_as_current_span("execute_tool db", attributes=TOOL):
            try:
                with tracer.start_as_current_span("GET") as span:
                    raise ValueError("boom")
            except ValueError as error:
                caught = error
        logs.emit(caught, span=span)
        assert (rig.told.causes, rig.told.handled_messages) == ([], ["boom"])

    @pytest.mark.parametrize("kind", ["TimeoutError", "timeout", "504"])
    def test_a_record_beside_a_bare_status(self, rig, logs, tracer, kind):
        """Official GenAI: the span says little, the record says all, whatever `error.type` calls it."""

        def tell() -> None:
            logs.emit(
                TimeoutError("no answer"), event="gen_ai.client.operation.exception", severity=SeverityNumber.WARN
            )

        quiet(tracer, "chat gpt", CHAT, kind, "the model call failed", tell)
        (observation,) = rig.told.observed
        assert (observation.raw.tool, observation.raw.type) == ("chat", "TimeoutError")
        assert (observation.found.facts.cause, rig.told.handled) == ("no answer", [])
        assert observation.raw.text.endswith("TimeoutError: no answer\n")
        assert logs.classes() == [observation.found.key]

    def test_a_record_after_a_bare_status(self, rig, logs, tracer):
        """It has been counted by then."""
        span = quiet(tracer, "chat gpt", CHAT, "timeout", "the model call failed", lambda: None)
        logs.emit(TimeoutError("no answer"), event="gen_ai.client.operation.exception", span=span)
        assert rig.told.causes == ["the model call failed"]

    def test_a_record_beside_a_bare_status_of_an_agent(self, rig, logs, tracer):
        """No boundary: the record counts at once, and the status is its echo."""
        quiet(tracer, "invoke_agent shop", {}, "X", "failed", lambda: logs.emit(KeyError("a"), event="exception"))
        assert rig.told.causes == ["'a'"]

    def test_another_log_beside_a_bare_status(self, rig, logs, tracer):
        """What an application logs beside is not what the span failed with, unless it is of its type."""
        quiet(tracer, "invoke_agent shop", {}, "ValueError", "no", lambda: logs.emit(KeyError("a")))
        assert rig.told.causes == ["'a'", "no"]

    def test_a_name_that_only_promised_a_boundary(self, rig, logs, tracer):
        """Then what a record says of itself holds."""
        with tracer.start_as_current_span("chat"):
            logs.emit(TimeoutError("3 s"), severity=SeverityNumber.INFO)
            logs.emit(KeyError("a"))
        assert (rig.told.causes, rig.told.handled_messages) == (["'a'"], ["3 s"])


class TestAlone:
    """Outside any boundary, and never on a span."""

    @pytest.mark.parametrize(
        ("event", "severity", "counted"),
        [
            pytest.param("", SeverityNumber.ERROR, 1, id="an error"),
            pytest.param("", SeverityNumber.FATAL, 1, id="worse"),
            pytest.param("", SeverityNumber.WARN, 0, id="a warning"),
            pytest.param("", None, 0, id="no severity"),
            pytest.param("exception", SeverityNumber.WARN, 1, id="an exception event"),
            pytest.param("db.client.operation.exception", None, 1, id="the exception of an operation"),
            pytest.param("exceptional", SeverityNumber.INFO, 0, id="another event"),
        ],
    )
    @pytest.mark.parametrize("traced", [True, False])
    def test_what_counts(self, rig, logs, tracer, event, severity, counted, traced):
        """Somebody must say that an operation failed."""
        span = tracer.start_span("work") if traced else trace.INVALID_SPAN
        with trace.use_span(span):
            logs.emit(ValueError("boom"), event=event, severity=severity)
        assert len(rig.told.observed) == counted
        assert rig.told.handled == []

    def test_no_exception(self, rig, logs):
        """An error without one is a log record like any other."""
        logs.emit(event="errcompact.escalation")
        logs.emit(**{"error.type": "ValueError"})
        assert (rig.told.observed, logs.classes()) == ([], [None, None])

    def test_an_event_that_says_nothing(self, rig, logs):
        """Its body is all there is."""
        logs.emit(event="exception")
        assert rig.told.causes == ["it failed"]

    def test_control_flow(self, rig, logs):
        """A cancellation is no failure."""
        logs.emit(event="exception", **{"exception.type": "asyncio.exceptions.CancelledError"})
        assert rig.told.observed == []

    @pytest.mark.parametrize(
        "scope", ["otel_errcompact", "opentelemetry.sdk.trace.export", "opentelemetry.exporter.otlp"]
    )
    def test_our_own_and_telemetry_itself(self, rig, logs, scope):
        """Their maker has counted them, or they are none of the application's."""
        logs.emit(ValueError("boom"), event="exception", scope=scope)
        assert rig.told.observed == []

    def test_instrumentations(self, rig, logs):
        """They tell of the application."""
        logs.emit(ValueError("boom"), event="exception", scope="opentelemetry.instrumentation.x")
        assert rig.told.causes == ["boom"]

    def test_what_is_known_of_it(self, rig, logs, tracer):
        """The raw error as a span would tell it, and its class on the record that goes on."""
        with tracer.start_as_current_span("agent", attributes={"gen_ai.agent.name": "shop"}) as span:
            logs.emit(ValueError("boom"), event="exception", **{"gen_ai.tool.name": "db"})
        (observation,) = rig.told.observed
        raw, context = observation.raw, span.get_span_context()
        assert (raw.type, raw.message, raw.tool, raw.agent, raw.boundary) == ("ValueError", "boom", "db", "shop", False)
        assert (raw.time_ns, raw.span) == (7, SpanRef(trace_id=context.trace_id, span_id=context.span_id))
        assert logs.classes() == [observation.found.key]

    def test_its_run(self, rig, logs, tracer):
        """The conversation, else the run that is open, else the trace's, else one of its own that is not kept."""
        logs.emit(ValueError("a"), **{"gen_ai.conversation.id": "c"})
        with errcompact.run("r", ledger=rig.ledger, tracer_provider=rig.provider):
            logs.emit(ValueError("b"))
        with tracer.start_as_current_span("invoke_agent shop") as span:
            logs.emit(ValueError("c"))
        logs.emit(ValueError("d"))
        trace_id = format_trace_id(span.get_span_context().trace_id)
        *bound, unbound = [observation.run_id for observation in rig.told.observed]
        assert (bound, unbound[:8]) == (["c", "r", trace_id], "unbound-")
        assert unbound not in rig.ledger.store.run_ids()
        assert [report.run_id for report in rig.told.ended] == ["r", trace_id]

    def test_no_span(self, rig, logs):
        """It has no exemplar and no tool; its operation is the logger's name."""
        logs.emit(ValueError("boom"))
        raw = rig.told.observed[0].raw
        assert (raw.span, raw.tool, str(raw.operation)) == (None, "", "app")

    def test_without_spans(self):
        """The processor works alone."""
        ledger, told = Ledger(), Told()
        ledger.listeners.add(told)
        provider = LoggerProvider(shutdown_on_exit=False)
        provider.add_log_record_processor(ErrorCompactionLogRecordProcessor(ledger))
        provider.get_logger("app").emit(event_name="exception", attributes={"exception.message": "boom"}, timestamp=7)
        assert (len(told.observed), ledger.store.run_ids()) == (1, ())


class TestStandardLibrary:
    """What `logger.exception` becomes: the bare type, and the first argument in place of the message."""

    @pytest.mark.parametrize(
        "error",
        [
            pytest.param(KeyError("a"), id="a message that is not the argument"),
            pytest.param(FileNotFoundError(2, "No such file", "x"), id="several arguments"),
            pytest.param(ValueError(), id="no argument"),
            pytest.param(ValueError("two\nlines"), id="two lines"),
        ],
    )
    def test_logged_and_raised(self, rig, logs, tracer, error):
        """One occurrence, and its type and message are whole."""
        with bridged(logs) as logger, pytest.raises(type(error)), tracer.start_as_current_span("work"):
            try:
                raise error
            except Exception:
                logger.exception("failed")
                raise
        (observation,) = rig.told.observed
        assert (observation.raw.type, observation.raw.message) == (read_exception(error).type, str(error))

    def test_logged_later(self, rig, logs, tracer):
        """Where the object is out of sight, the stack text tells type and message."""
        try:
            raise pickle.PicklingError("boom", 2)
        except pickle.PicklingError as error:
            caught = error
        with bridged(logs) as logger, pytest.raises(pickle.PicklingError), tracer.start_as_current_span("work"):
            logger.error("failed", exc_info=caught)
            raise caught
        (observation,) = rig.told.observed
        assert (observation.raw.type, observation.raw.message) == ("_pickle.PicklingError", "('boom', 2)")

    def test_a_stack_text_of_another_shape(self, rig, logs):
        """Then the attributes are all that is known."""
        stack = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nsomething else\n'
        logs.emit(**{"exception.type": "Boom", "exception.message": "x", "exception.stacktrace": stack})
        assert (rig.told.observed[0].raw.type, rig.told.observed[0].raw.message) == ("Boom", "x")

    def test_a_stack_text_that_ends_otherwise(self, rig, logs):
        """A message that is no part of its last line is kept."""
        stack = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nBoom: other\n'
        logs.emit(**{"exception.type": "Boom", "exception.message": "x", "exception.stacktrace": stack})
        assert rig.told.observed[0].raw.message == "x"

    def test_no_stack_text(self, rig, logs):
        """The exception that is being handled has one."""
        with pytest.raises(KeyError):
            try:
                raise KeyError("a")
            except KeyError:
                logs.emit(**{"exception.type": "KeyError", "exception.message": "a"})
                raise
        raw = rig.told.observed[0].raw
        assert (raw.message, raw.text.endswith("KeyError: 'a'\n")) == ("'a'", True)

    def test_another_exception_is_being_handled(self, rig, logs):
        """What is in sight is not what the record tells of."""

        class Unprintable(ValueError):
            def __str__(self) -> str:
                raise OSError

        for live in (KeyError("other"), ValueError("other"), Unprintable("x")):
            with pytest.raises(type(live)):
                try:
                    raise live
                except Exception:
                    logs.emit(**{"exception.type": type(live).__name__, "exception.message": "boom"})
                    raise
        assert [observation.raw.message for observation in rig.told.observed] == ["boom"] * 3

    def test_debug_with_an_exception(self, rig, logs):
        """Said in passing."""
        with bridged(logs) as logger:
            logger.setLevel(logging.DEBUG)
            logger.debug("retrying", exc_info=ValueError("boom"))
            logger.setLevel(logging.NOTSET)
        assert len(logs.exporter.get_finished_logs()) == 1
        assert rig.told.observed == []


class TestOurOwnBoundaries:
    """The boundary counts what leaves it; what is logged in it is the same, or handled."""

    @pytest.mark.parametrize("sampled", [True, False])
    def test_logged_inside(self, make_rig, sampled):
        """Also where no span is recorded."""
        provider = TracerProvider(shutdown_on_exit=False, **({} if sampled else {"sampler": ALWAYS_OFF}))
        rig = make_rig(provider)
        logs = Logs(rig)
        with errcompact.run("r", ledger=rig.ledger, tracer_provider=rig.provider) as run:
            with run.tool("db"):
                try:
                    raise ValueError("boom")
                except ValueError as error:
                    logs.emit(error)
                    raise
            with run.tool("db"):
                logs.emit(KeyError("a"))
        assert rig.told.causes == ["boom"]
        assert rig.told.handled_messages == (["'a'"] if sampled else [])

    @pytest.mark.parametrize("sampled", [True, False])
    def test_logged_after(self, make_rig, sampled):
        """The boundary has counted it."""
        provider = TracerProvider(shutdown_on_exit=False, **({} if sampled else {"sampler": ALWAYS_OFF}))
        rig = make_rig(provider)
        logs = Logs(rig)
        with errcompact.run("r", ledger=rig.ledger, tracer_provider=rig.provider) as run:
            try:
                with run.tool("db", reraise=True):
                    raise ValueError("boom")
            except ValueError as error:
                logs.emit(error)
        assert rig.told.causes == ["boom"]

    def test_logged_and_leaves_the_run(self, rig, logs):
        """Counted by the record; the run knows."""
        with (
            pytest.raises(ValueError, match="boom"),
            errcompact.run("r", ledger=rig.ledger, tracer_provider=rig.provider),
        ):
            try:
                raise ValueError("boom")
            except ValueError as error:
                logs.emit(error)
                raise
        assert rig.told.causes == ["boom"]

    def test_a_task_that_outlives_its_call(self, make_rig):
        """Nobody else counts what it logs then."""
        rig = make_rig(TracerProvider(shutdown_on_exit=False, sampler=ALWAYS_OFF))
        logs = Logs(rig)
        with errcompact.run("r", ledger=rig.ledger, tracer_provider=rig.provider) as run:
            with run.tool("db"):
                inside = contextvars.copy_context()
            inside.run(logs.emit, ValueError("boom"))
        assert rig.told.causes == ["boom"]


class TestSafety:
    def test_a_fault_of_ours(self, rig, logs, monkeypatch):
        """It does not reach who logs, and is counted."""
        monkeypatch.setattr(Guard, "strict", False)
        monkeypatch.setattr(rig.ledger, "observe", None)
        logs.emit(ValueError("boom"))
        assert rig.ledger.guard.failures["on_emit"] == 1
        assert len(logs.exporter.get_finished_logs()) == 1

    def test_shut_down(self, rig, logs):
        """Nothing is observed any more."""
        assert logs.processor.force_flush()
        logs.processor.shutdown()
        logs.emit(ValueError("boom"))
        assert rig.told.observed == []

    def test_many_threads(self, rig, logs, tracer):
        """Each with spans and records of its own."""

        def work(number: int) -> None:
            for attempt in range(20):
                with pytest.raises(ValueError, match="boom"), tracer.start_as_current_span("work"):
                    try:
                        raise ValueError(f"boom {number} {attempt}")
                    except ValueError as error:
                        logs.emit(error, event="exception")
                        raise

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(rig.told.observed) == 80

    def test_what_it_asks_for(self, logs):
        """Exceptions and errors; other records are made only where somebody else wants them."""
        asked: Callable[..., bool] = logs.processor.enabled
        assert asked(event_name="exception", context=None)
        assert asked(severity_number=SeverityNumber.ERROR)
        assert not asked(severity_number=SeverityNumber.INFO)
        assert not asked()

    def test_a_record_of_another_shape(self, rig, logs):
        """By its public attributes, in a class of nobody's SDK; one without a place for a class goes on as it is."""

        class Record:
            attributes = {"exception.type": "ValueError", "exception.message": "boom"}  # noqa: RUF012 - never changed
            timestamp = observed_timestamp = None
            trace_id = span_id = trace_flags = None
            body = severity_number = None
            event_name = "exception"

        class Data:
            log_record = Record
            instrumentation_scope = None

        logs.processor.on_emit(Data)
        assert rig.told.causes == ["boom"]

    def test_an_exception_that_cannot_be_printed(self, rig, logs):
        """What the record says of it is all there is."""

        class Unprintable(Exception):
            def __str__(self) -> str:
                raise OSError

        class Record:
            attributes: dict[str, object] = {  # noqa: RUF012 - never changed
                "exception.type": "Unprintable",
                "exception.stacktrace": "Traceback (most recent call last):\nUnprintable: boom\n",
            }
            exception = Unprintable()
            timestamp = observed_timestamp = trace_id = span_id = trace_flags = None
            body = severity_number = None
            event_name = "exception"

        class Data:
            log_record = Record
            instrumentation_scope = None

        logs.processor.on_emit(Data)
        assert rig.told.observed[0].raw.type == "Unprintable"


def test_the_signal_is_an_option():
    """Misspelt, it raises."""
    with pytest.raises(ValueError, match="logs/dup"):
        Options.model_validate({"telemetry": {"exception_signal": "log"}})
