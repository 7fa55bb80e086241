"""What a span says of the failure it recorded, and what makes it a boundary."""

from __future__ import annotations

import json
import traceback
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import INVALID_SPAN_CONTEXT, Status, StatusCode

from otel_errcompact.otel.data import BoundaryCall, EndedSpan
from otel_errcompact.otel.spans.conventions import read_span
from otel_errcompact.otel.spans.recorded import (
    build_raw_error,
    is_control_flow_name,
    match_live,
    mentions,
    read_exception,
    read_failures,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Span


def ended(
    work: Callable[[Span], object] = lambda span: None,
    *,
    name: str = "work",
    limits: SpanLimits | None = None,
    attributes: dict[str, str] | None = None,
    scope: str = "app",
) -> EndedSpan:
    """A span that has ended after `work` was done with it."""
    provider = TracerProvider(shutdown_on_exit=False, span_limits=limits)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    span = provider.get_tracer(scope).start_span(name, attributes=attributes)
    work(span)
    span.end()
    return read_span(exporter.get_finished_spans()[0])


def raised(error: BaseException) -> BaseException:
    """An exception with a traceback."""
    try:
        raise error
    except BaseException as caught:
        return caught


def escaping(error: BaseException) -> Callable[[Span], object]:
    """What the SDK does with a span that an exception leaves."""

    def work(span: Span) -> None:
        span.record_exception(raised(error))
        span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {error}"))

    return work


def told(
    kind: str = "",
    description: str | None = None,
    *,
    http_status: int = 0,
    http_name: str = "http.response.status_code",
) -> Callable[[Span], object]:
    """What the official GenAI instrumentations do: a status and `error.type`, and no event."""

    def work(span: Span) -> None:
        if kind:
            span.set_attribute("error.type", kind)
        if http_status:
            span.set_attribute(http_name, http_status)
        span.set_status(Status(StatusCode.ERROR, description))

    return work


class TestFailures:
    def test_healthy_span(self):
        """A span without exception event and without status ERROR has no failure."""
        assert read_failures(ended(lambda span: span.add_event("gen_ai.choice"))) == ([], 0)

    def test_event(self):
        """An exception event gives type, message and the whole stack trace."""
        error = raised(LookupError("no such order"))
        (recorded,), repeated = read_failures(ended(lambda span: span.record_exception(error)))
        assert (recorded.type, recorded.message, recorded.traced) == ("LookupError", "no such order", True)
        assert recorded.text == "".join(traceback.format_exception(error))
        assert repeated == 0

    def test_recorded_and_escaping(self):
        """An exception that is recorded by hand and then leaves the same span is one failure."""

        def work(span: Span) -> None:
            span.record_exception(raised(ValueError("x")))
            escaping(ValueError("x"))(span)

        distinct, repeated = read_failures(ended(work))
        assert [recorded.message for recorded in distinct] == ["x"]
        assert repeated == 1

    def test_cause_and_wrapper(self):
        """A recorded cause and the wrapper whose stack trace holds it are one failure: the wrapper."""

        def wrap() -> None:
            try:
                raise ValueError("inner")
            except ValueError as error:
                raise RuntimeError("outer") from error

        def work(span: Span) -> None:
            span.record_exception(raised(ValueError("inner")))
            try:
                wrap()
            except RuntimeError as error:
                span.record_exception(error)

        distinct, repeated = read_failures(ended(work))
        assert [recorded.type for recorded in distinct] == ["RuntimeError"]
        assert repeated == 1

    def test_distinct(self):
        """Distinct exceptions on one span stay distinct, and what it failed with stands last."""

        def work(span: Span) -> None:
            span.record_exception(raised(ValueError("first attempt")))
            span.record_exception(raised(ValueError("second attempt")))
            escaping(TimeoutError("gave up"))(span)

        distinct, repeated = read_failures(ended(work))
        assert [recorded.message for recorded in distinct] == ["first attempt", "second attempt", "gave up"]
        assert repeated == 0

    def test_newest_records_only(self):
        """Of very many exception events the newest 64 are looked at."""

        def work(span: Span) -> None:
            for number in range(100):
                span.add_event("exception", {"exception.type": "E", "exception.message": f"m{number};"})

        distinct, _ = read_failures(ended(work))
        assert [recorded.message for recorded in distinct] == [f"m{number};" for number in range(36, 100)]

    @pytest.mark.parametrize(
        ("work", "expected"),
        [
            pytest.param(told("ConnectError", "refused"), ("ConnectError", "refused", "refused"), id="message"),
            pytest.param(
                told("httpx.ConnectError", "ConnectError: refused"),
                ("httpx.ConnectError", "refused", "ConnectError: refused"),
                id="type and message",
            ),
            pytest.param(told("tool_error"), ("tool_error", "", "tool_error"), id="type only"),
            pytest.param(told("", "it broke"), ("", "it broke", "it broke"), id="description only"),
            pytest.param(told("404", http_status=404), ("404", "", "HTTP 404"), id="http"),
            pytest.param(told("503", "busy", http_status=503), ("503", "busy", "HTTP 503: busy"), id="http, described"),
            pytest.param(
                told(http_status=404, http_name="http.status_code"), ("", "", "HTTP 404"), id="http, by its older name"
            ),
            pytest.param(
                told(), ("", "", "the span ended with status ERROR and says nothing more"), id="nothing at all"
            ),
        ],
    )
    def test_status_only(self, work, expected):
        """A span with status ERROR and no event has failed with what its status and `error.type` tell."""
        (recorded,), _ = read_failures(ended(work))
        assert (recorded.type, recorded.message, recorded.text) == expected
        assert not recorded.traced

    def test_empty_event(self):
        """An exception event that says nothing leaves the word to the status."""

        def work(span: Span) -> None:
            span.add_event("exception")
            span.set_status(Status(StatusCode.ERROR, "it broke"))

        assert read_failures(ended(work))[0][0].text == "it broke"

    def test_event_without_stack(self):
        """An exception event without a stack trace gives its type and message as the text."""
        work = lambda span: span.add_event("exception", {"exception.type": "E", "exception.message": "m"})  # noqa: E731
        recorded = read_failures(ended(work))[0][0]
        assert (recorded.text, recorded.traced) == ("E: m", False)

    def test_result_as_stack(self):
        """A text that is no Python traceback is whole as it is, whatever the message says."""
        details = {"exception.type": "tool_error", "exception.message": "", "exception.stacktrace": "go: build failed"}
        recorded = read_failures(ended(lambda span: span.add_event("exception", details)))[0][0]
        assert (recorded.type, recorded.text, recorded.traced) == ("tool_error", "go: build failed", True)


class TestAnswers:
    def test_text_alone(self):
        """A tool's answer that was kept as it was has no type and no message but what its text says."""
        answer = "usage: export [-h]\nexport: error: invalid choice: 'xlsx'\n"

        def work(span: Span) -> None:
            span.add_event("exception", {"exception.stacktrace": answer})
            span.set_status(Status(StatusCode.ERROR, "usage: export [-h] export: error: invalid choice: 'xlsx'"))

        (recorded,), _ = read_failures(ended(work))
        assert (recorded.type, recorded.message, recorded.text) == ("", "", answer)


class TestLimits:
    def test_cut_stack(self):
        """A stack trace that the length limit has cut is marked, and ended by what the status description tells."""
        limits = SpanLimits(max_attribute_length=60)
        recorded = read_failures(ended(escaping(ValueError("the value 17 is too large")), limits=limits))[0][0]
        first, *_, mark, last = recorded.text.splitlines()
        assert first == "Traceback (most recent call last):"
        assert mark == "... cut by the span limits ..."
        assert last == "ValueError: the value 17 is too large"
        assert not recorded.traced

    def test_cut_message(self):
        """A message that the length limit has cut is completed from the status description."""
        message = "the value " + "1" * 100
        limits = SpanLimits(max_attribute_length=40)
        recorded = read_failures(ended(escaping(ValueError(message)), limits=limits))[0][0]
        assert (recorded.type, recorded.message) == ("ValueError", message)

    def test_message_that_only_looks_complete(self):
        """A message of one digit, found by chance in what is left of a stack trace, does not make the trace whole."""
        limits = SpanLimits(max_attribute_length=120)
        recorded = read_failures(ended(escaping(ValueError("1")), limits=limits))[0][0]
        assert recorded.text.endswith("... cut by the span limits ...\nValueError: 1")

    def test_dropped_type_and_message(self):
        """Where the attribute limit has dropped type and message, the status description has them."""
        limits = SpanLimits(max_event_attributes=2)
        recorded = read_failures(ended(escaping(ValueError("boom")), limits=limits))[0][0]
        assert (recorded.type, recorded.message, recorded.traced) == ("ValueError", "boom", True)

    def test_foreign_description(self):
        """A description that tells of something else does not replace what was recorded."""

        def work(span: Span) -> None:
            span.record_exception(raised(ValueError("boom")))
            span.set_status(Status(StatusCode.ERROR, "KeyError: 'a'"))

        limits = SpanLimits(max_attribute_length=20)
        recorded = read_failures(ended(work, limits=limits))[0][0]
        assert (recorded.type, recorded.message) == ("ValueError", "boom")

    def test_message_not_repeated_in_the_stack(self):
        """A SyntaxError, whose traceback words its message differently, is whole all the same."""
        error: BaseException | None = None
        try:
            compile("x = (", "order.py", "exec")
        except SyntaxError as caught:
            error = caught
        recorded = read_failures(ended(lambda span: span.record_exception(error)))[0][0]
        assert recorded.traced


class TestLive:
    @pytest.mark.parametrize(
        ("error", "work", "live"),
        [
            pytest.param(ValueError("x"), escaping(ValueError("x")), True, id="same"),
            pytest.param(ValueError("y"), escaping(ValueError("x")), False, id="another message"),
            pytest.param(KeyError("x"), escaping(ValueError("x")), False, id="another type"),
            pytest.param(ConnectionError("x"), told("ConnectionError", "x"), True, id="status"),
            pytest.param(ConnectionError("x"), told("ConnectionError", "ConnectionError: x"), True, id="status, SDK's"),
            pytest.param(ConnectionError("x"), told("", "ConnectionError: x"), True, id="description only"),
            pytest.param(ConnectionError("x"), told("builtins.ConnectionError"), True, id="type only"),
            pytest.param(ConnectionError("x"), told("", "something else"), False, id="untyped, described otherwise"),
            pytest.param(ConnectionError("x"), told("ConnectionError", "another"), False, id="described otherwise"),
        ],
    )
    def test_match(self, error, work, live):
        """A live exception is the recorded one only if its type, qualified or bare, and its message agree."""
        span = ended(work)
        assert (match_live(error, read_failures(span)[0][-1], span) is not None) is live

    def test_cut_message(self):
        """A message that the limits have cut, and nothing completes, agrees with one that starts with it."""

        def work(span: Span) -> None:
            span.record_exception(raised(ValueError("abcdefghijklmnop")))
            span.set_status(StatusCode.ERROR)

        span = ended(work, limits=SpanLimits(max_attribute_length=12))
        assert match_live(ValueError("abcdefghijklmnop"), read_failures(span)[0][-1], span)

    def test_unprintable(self):
        """An exception that cannot be printed is no match, and no fault of ours."""

        class Hostile(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no")

        span = ended(told("Hostile", "x"))
        assert not match_live(Hostile(), read_failures(span)[0][-1], span)


class TestRawError:
    def test_from_event(self):
        """A plain span's failure carries its name as the operation, its ids and time; it has no tool."""
        span = ended(escaping(ValueError("x")), name="load", attributes={"gen_ai.agent.name": "shop"})
        raw = build_raw_error(span, read_failures(span)[0][-1], exception=None, call=None)
        assert (raw.tool, str(raw.operation), raw.agent) == ("", "load", "shop")
        assert (raw.type, raw.message, raw.boundary) == ("ValueError", "x", False)
        assert raw.time_ns == span.end_ns
        assert raw.span is not None
        assert (raw.span.trace_id, raw.span.span_id) == (span.context.trace_id, span.context.span_id)
        assert raw.span.sampled

    @pytest.mark.parametrize(("status", "known"), [(127, 127), ("127", None), (None, None)], ids=repr)
    def test_exit_status(self, status: object, known: int | None):
        """A command's exit status is part of its failure, where it is a number."""
        attributes = {} if status is None else {"process.exit.code": status}
        span = ended(told("tool_error", "jqq: command not found"), attributes=attributes)
        raw = build_raw_error(span, read_failures(span)[0][-1], exception=None, call=None)
        assert raw.exit_code == known

    def test_live_exception_completes_the_text(self):
        """Where the span has no stack trace, the live exception gives it whole."""
        error = raised(LookupError("no such order"))
        span = ended(told("LookupError", "no such order"))
        raw = build_raw_error(span, read_failures(span)[0][-1], exception=error, call=None)
        assert raw.text == "".join(traceback.format_exception(error))
        assert (raw.type, raw.message, raw.exception) == ("LookupError", "no such order", error)

    def test_of_a_call(self):
        """A boundary's failure carries the call's tool, operation, id and arguments."""
        call = BoundaryCall(tool="db", call_id="c1", arguments='{"table": "orders"}')
        span = ended(told("tool_error"))
        raw = build_raw_error(span, read_failures(span)[0][-1], exception=None, call=call)
        assert (raw.tool, str(raw.operation), raw.call_id) == ("db", "db orders", "c1")
        assert raw.arguments == '{"table": "orders"}'
        assert raw.boundary

    def test_span_without_context(self):
        """A span that has no ids has invalid ones."""
        assert read_span(ReadableSpan("x")).context is INVALID_SPAN_CONTEXT


class TestBoundary:
    @pytest.mark.parametrize(
        ("name", "attributes", "expected"),
        [
            pytest.param("load", {}, None, id="plain"),
            pytest.param("execute_tool db", {}, None, id="name without attributes"),
            pytest.param("invoke_agent shop", {"gen_ai.operation.name": "invoke_agent"}, None, id="agent"),
            pytest.param("chat gpt", {"gen_ai.operation.name": "chat"}, ("chat", "chat", "", ""), id="model"),
            pytest.param(
                "embeddings e5",
                {"gen_ai.operation.name": "embeddings"},
                ("embeddings", "embeddings", "", ""),
                id="embeddings",
            ),
            pytest.param(
                "execute_tool x",
                {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "db.query",
                    "gen_ai.tool.call.id": "c1",
                    "gen_ai.tool.call.arguments": '{"id": 1}',
                },
                ("db.query", "db.query 1", "c1", '{"id": 1}'),
                id="tool",
            ),
            pytest.param(
                "execute_tool db.query",
                {"gen_ai.operation.name": "execute_tool"},
                ("db.query", "db.query", "", ""),
                id="tool named by the span",
            ),
            pytest.param(
                "tools/call search", {"mcp.method.name": "tools/call"}, ("search", "search", "", ""), id="MCP"
            ),
            pytest.param("tools/list", {"mcp.method.name": "tools/list"}, None, id="other MCP method"),
        ],
    )
    def test_call(self, name, attributes, expected):
        """Tool calls, MCP calls and model calls are boundaries, if their attributes say so."""
        call = ended(name=name, attributes=attributes).read_call()
        found = call and (call.tool, str(call.operation), call.call_id, call.arguments)
        assert found == expected

    @pytest.mark.parametrize(
        ("attributes", "expected"),
        [
            pytest.param({}, "", id="none"),
            pytest.param({"session.id": "s"}, "s", id="session"),
            pytest.param({"gen_ai.conversation.id": "c", "session.id": "s"}, "c", id="conversation before session"),
            pytest.param({"gen_ai.conversation.id": 7}, "7", id="number"),
        ],
    )
    def test_conversation(self, attributes, expected):
        """A span's own conversation names its run, else its session."""
        assert ended(attributes=attributes).conversation == expected

    def test_settled_by_maker(self):
        """Spans of our own scope are settled by their maker, and so is their class."""
        assert ended(scope="otel_errcompact", attributes={"errcompact.class": "3f2a"}).is_settled_by_maker
        assert not ended(scope="app").is_settled_by_maker
        assert not read_span(ReadableSpan("x")).is_settled_by_maker

    def test_class_on(self):
        """The class a maker has put on its span is read from there."""
        assert ended(attributes={"errcompact.class": "3f2a"}).dedup_key == "3f2a"
        assert read_span(ReadableSpan("x")).dedup_key == ""


@pytest.mark.parametrize(
    ("text", "kind", "message", "expected"),
    [
        pytest.param("ValueError: 1\n", "ValueError", "1", True, id="a line"),
        pytest.param("ValueError: 1", "ValueError", "1", True, id="the end"),
        pytest.param("ValueError: 10\n", "ValueError", "1", False, id="a longer message"),
        pytest.param("MyValueError: 1\n", "ValueError", "1", False, id="a longer type"),
        pytest.param("MyValueError: 1\nValueError: 1\n", "ValueError", "1", True, id="a second match"),
        pytest.param("x.y.ValueError: 1\r\n", "ValueError", "1", True, id="qualified in the text"),
        pytest.param("ValueError: 1\n", "x.y.ValueError", "1", True, id="qualified in the record"),
        pytest.param("  | ValueError: 1\n", "ValueError", "1", True, id="in a group"),
        pytest.param("KeyboardInterrupt\n", "KeyboardInterrupt", "", True, id="no message"),
        pytest.param("", "ValueError", "1", False, id="empty"),
    ],
)
def test_mentions(text, kind, message, expected):
    """A stack trace mentions an exception if a line of it ends that exception's own traceback."""
    assert mentions(text, kind, message) is expected


def test_qualified_name():
    """A type is written with its module, unless it is a built-in."""
    assert read_exception(ValueError()).type == "ValueError"
    assert read_exception(UnicodeError()).type == "UnicodeError"
    assert read_exception(json.JSONDecodeError("m", "d", 0)).type == "json.decoder.JSONDecodeError"


@pytest.mark.parametrize(
    ("kind", "extra", "expected"),
    [
        pytest.param("asyncio.exceptions.CancelledError", frozenset(), True, id="cancellation"),
        pytest.param("langgraph.errors.GraphInterrupt", frozenset({"GraphInterrupt"}), True, id="declared"),
        pytest.param("ValueError", frozenset(), False, id="failure"),
    ],
)
def test_control_flow_by_name(kind, extra, expected):
    """A recorded type steers the program if it is a cancellation or was declared to be control flow."""
    assert is_control_flow_name(kind, extra) is expected
