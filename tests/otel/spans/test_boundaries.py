"""Inside a boundary the boundary decides: one occurrence if it fails, handled if it succeeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

from otel_errcompact import run
from otel_errcompact.otel.spans import boundaries

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Span, Tracer

TOOL = {"gen_ai.operation.name": "execute_tool"}


def fetch(tracer: Tracer, *, error: BaseException | None = None, name: str = "GET") -> None:
    """A span inside a tool, whose failure goes on."""
    with tracer.start_as_current_span(name):
        if error is not None:
            raise error


def attempt(tracer: Tracer, error: BaseException, name: str = "GET") -> None:
    """A span inside a tool, whose failure the tool handles."""
    with pytest.raises(type(error)):
        fetch(tracer, error=error, name=name)


def call(tracer: Tracer, work: Callable[[], object], tool: str = "db", **attributes: str) -> None:
    """A tool call, as an instrumentation that records exceptions has it."""
    with tracer.start_as_current_span(f"execute_tool {tool}", attributes={**TOOL, **attributes}):
        work()


def quiet_call(
    tracer: Tracer, work: Callable[[], object], kind: str, description: str | None, tool: str = "db"
) -> None:
    """A tool call that fails as the official GenAI instrumentations have it: no event, the exception stays inside."""
    span = tracer.start_span(f"execute_tool {tool}", attributes=TOOL)
    with trace.use_span(span, record_exception=False, set_status_on_exception=False):
        work()
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, description))
    span.end()


class TestFailing:
    def test_tool_alone(self, rig, tracer):
        """A failing tool call is one occurrence, with the tool's name, its call id and its arguments."""
        attributes = {
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"id": 1}',
            "gen_ai.agent.name": "shop",
        }
        with pytest.raises(KeyError):
            call(tracer, lambda: {}["a"], **attributes)
        (observation,) = rig.told.observed
        raw = observation.raw
        assert (raw.tool, raw.call_id, raw.arguments, raw.agent) == ("db", "c1", '{"id": 1}', "shop")
        assert raw.boundary
        assert raw.message == "'a'"

    def test_inner_failure_passes_on(self, rig, tracer):
        """The failure inside and the tool's own are one occurrence, counted when the tool ends, under its name."""
        with pytest.raises(ConnectionError), trace.use_span(tracer.start_span("agent")):
            call(tracer, lambda: fetch(tracer, error=ConnectionError("refused")))
        assert rig.told.tools == ["db"]
        assert rig.told.causes == ["refused"]
        assert rig.told.handled == []

    def test_wrapped(self, rig, tracer):
        """Where the tool wraps the failure inside, the root cause is the deepest one."""

        def work() -> None:
            try:
                fetch(tracer, error=ConnectionError("refused"))
            except ConnectionError as error:
                raise RuntimeError("no database") from error

        with pytest.raises(RuntimeError):
            call(tracer, work)
        (observation,) = rig.told.observed
        assert (observation.raw.tool, observation.raw.type) == ("db", "RuntimeError")
        assert observation.found.facts.cause == "refused"
        assert rig.told.handled == []

    def test_passed_on_through_inner_spans(self, rig, tracer):
        """A failure that several spans inside record is held once."""
        with pytest.raises(ConnectionError):
            call(tracer, lambda: fetch_twice(tracer))
        assert rig.told.tools == ["db"]
        assert rig.processor.duplicates == 2

    def test_other_inner_failures_are_handled(self, rig, tracer):
        """What failed inside and is no part of the tool's own failure was handled."""

        def work() -> None:
            attempt(tracer, TimeoutError("3 s"))
            raise ValueError("no such order")

        with pytest.raises(ValueError, match="no such order"):
            call(tracer, work)
        assert rig.told.causes == ["no such order"]
        assert rig.told.handled_messages == ["3 s"]

    def test_group(self, rig, tracer):
        """A tool that fails with a group of what failed inside is one occurrence, and nothing was handled."""
        errors = (ConnectionError("a"), ConnectionError("b"))

        def work() -> None:
            for error in errors:
                attempt(tracer, error)
            raise ExceptionGroup("2 failed", errors)

        with pytest.raises(ExceptionGroup):
            call(tracer, work)
        assert len(rig.told.observed) == 1
        assert rig.told.handled == []
        assert rig.processor.duplicates == 2

    def test_recorded_before_it_failed(self, rig, tracer):
        """An exception that the tool's own span has recorded and handled before it failed is counted as handled."""

        def work() -> None:
            trace.get_current_span().record_exception(TimeoutError("3 s"))
            raise ValueError("no such order")

        with pytest.raises(ValueError, match="no such order"):
            call(tracer, work)
        assert rig.told.causes == ["no such order"]
        assert rig.told.handled_messages == ["3 s"]


def fetch_twice(tracer: Tracer) -> None:
    with tracer.start_as_current_span("session"):
        fetch(tracer, error=ConnectionError("refused"))


class TestFailingWithoutEvent:
    def test_inner_exception_is_the_root(self, rig, tracer):
        """A tool that has only `error.type` takes its facts from the failure inside, and stays the operation."""
        quiet_call(tracer, lambda: attempt(tracer, ConnectionError("refused")), "ToolError", "an error occurred")
        (observation,) = rig.told.observed
        assert (observation.raw.tool, observation.raw.type, observation.raw.message) == (
            "db",
            "ConnectionError",
            "refused",
        )
        assert observation.raw.text.startswith("Traceback (most recent call last):")
        assert rig.told.handled == []

    def test_same_type_and_message(self, rig, tracer):
        """Of several failures inside, the one the tool names is the root, and the others were handled."""

        def work() -> None:
            attempt(tracer, ConnectionError("refused"))
            attempt(tracer, TimeoutError("3 s"), name="POST")

        quiet_call(tracer, work, "ConnectionError", "refused")
        assert rig.told.causes == ["refused"]
        assert rig.told.handled_messages == ["3 s"]

    def test_newest_is_the_root(self, rig, tracer):
        """Where the tool names none, the newest failure inside is the root."""

        def work() -> None:
            attempt(tracer, ConnectionError("refused"))
            attempt(tracer, TimeoutError("3 s"), name="POST")

        quiet_call(tracer, work, "tool_error", None)
        assert rig.told.causes == ["3 s"]
        assert rig.told.handled_messages == ["refused"]

    def test_recovered_is_no_root(self, rig, tracer):
        """A failure inside that a later span of the same name recovered from is not the root."""

        def work() -> None:
            attempt(tracer, ConnectionError("refused"))
            fetch(tracer)

        quiet_call(tracer, work, "quota", "no credit left")
        assert [observation.raw.message for observation in rig.told.observed] == ["no credit left"]
        assert rig.told.handled_messages == ["refused"]

    def test_nothing_inside(self, rig, tracer):
        """A tool that fails without anything inside has what its status tells."""
        quiet_call(tracer, lambda: None, "quota", "no credit left")
        (observation,) = rig.told.observed
        assert (observation.raw.type, observation.raw.text) == ("quota", "no credit left")


class TestSucceeding:
    def test_inner_failure_is_handled(self, rig, tracer):
        """A failed attempt under a tool call that in the end succeeds was handled, and is no occurrence."""

        def work() -> None:
            attempt(tracer, ConnectionError("refused"))
            fetch(tracer)

        call(tracer, work)
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["refused"]

    def test_handled_and_raised_later(self, rig, tracer):
        """A failure that was handled, and is raised again outside, is an occurrence after all."""
        error = ConnectionError("refused")
        with pytest.raises(ConnectionError), tracer.start_as_current_span("agent"):
            call(tracer, lambda: attempt(tracer, error))
            raise error
        assert rig.told.tools == ["agent"]
        assert rig.told.handled_messages == ["refused"]

    def test_resolves(self, rig, tracer):
        """The success of a tool resolves its failures, and not those of another tool."""
        with tracer.start_as_current_span("agent"):
            with pytest.raises(KeyError):
                call(tracer, lambda: {}["a"])
            call(tracer, lambda: None, tool="list")
            assert rig.told.resolved == []
            call(tracer, lambda: None)
        assert [tool for _, tool in rig.told.resolved] == ["db"]

    def test_recorded_by_the_tool(self, rig, tracer):
        """An exception that a succeeding tool's own span has recorded was handled."""
        call(tracer, lambda: trace.get_current_span().record_exception(ValueError("boom")))
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["boom"]

    def test_cancelled(self, rig, tracer):
        """A tool that is cancelled has neither failed nor succeeded."""

        def cancel() -> None:
            raise KeyboardInterrupt

        with tracer.start_as_current_span("agent"):
            with pytest.raises(KeyError):
                call(tracer, lambda: {}["a"])
            with pytest.raises(KeyboardInterrupt):
                call(tracer, cancel)
        assert len(rig.told.observed) == 1
        assert rig.told.resolved == []

    def test_recorded_cancellation(self, rig, tracer):
        """Nor has one whose cancellation is recorded as an error; what failed inside was handled."""
        with tracer.start_as_current_span("agent"):
            with pytest.raises(KeyError):
                call(tracer, lambda: {}["a"])
            quiet_call(tracer, lambda: attempt(tracer, ValueError("boom")), "asyncio.CancelledError", "")
        assert rig.told.tools == ["db"]
        assert rig.told.handled_messages == ["boom"]
        assert rig.told.resolved == []

    @pytest.mark.parametrize(
        ("kind", "description"),
        [
            pytest.param("tool_error", "The user doesn't want to proceed with this tool use.", id="declined"),
            pytest.param("tool_error", "<tool_use_error>Sibling tool call errored</tool_use_error>", id="sibling"),
            pytest.param("langgraph.errors.GraphInterrupt", "approve?", id="interrupt"),
            pytest.param("otel_errcompact.escalator.exceptions.RunHalted", "run 'r' halted: enough", id="halted"),
        ],
    )
    def test_no_failure(self, rig, tracer, kind, description):
        """A call that a human declined, or that the framework interrupted, has neither failed nor succeeded."""
        with tracer.start_as_current_span("agent"):
            with pytest.raises(KeyError):
                call(tracer, lambda: {}["a"])
            quiet_call(tracer, lambda: None, kind, description)
        assert len(rig.told.observed) == 1
        assert rig.told.handled == []
        assert rig.told.resolved == []

    def test_inside_an_unrelated_handler(self, rig, tracer):
        """A tool that succeeds while an ordinary exception is being handled has succeeded."""
        with tracer.start_as_current_span("agent"):
            try:
                call(tracer, lambda: {}["a"])
            except KeyError:
                call(tracer, lambda: None)
        assert [tool for _, tool in rig.told.resolved] == ["db"]


class TestModelAndMcp:
    def test_model_call(self, rig, tracer):
        """A model call is a boundary, and its operation is its name."""
        with (
            pytest.raises(ConnectionError),
            tracer.start_as_current_span("chat gpt", attributes={"gen_ai.operation.name": "chat"}),
        ):
            raise ConnectionError("refused")
        (observation,) = rig.told.observed
        assert (observation.raw.tool, str(observation.raw.operation), observation.raw.boundary) == (
            "chat",
            "chat",
            True,
        )

    def test_mcp_result(self, rig, tracer):
        """An MCP result with `isError` is a failure without any exception."""
        span = tracer.start_span("tools/call search", attributes={"mcp.method.name": "tools/call"})
        span.set_attribute("error.type", "tool_error")
        span.set_status(StatusCode.ERROR)
        span.end()
        (observation,) = rig.told.observed
        assert (observation.raw.tool, observation.raw.type, observation.raw.text) == (
            "search",
            "tool_error",
            "tool_error",
        )


class TestNested:
    def test_same_exception(self, rig, tracer):
        """An inner boundary's failure that leaves the outer one too is one occurrence, of the outer one."""
        with pytest.raises(KeyError):
            call(tracer, lambda: call(tracer, lambda: {}["a"], tool="inner"), tool="outer")
        assert rig.told.tools == ["outer"]
        assert rig.told.handled == []
        assert rig.processor.duplicates == 1

    def test_mcp_under_a_tool(self, rig, tracer):
        """A tool that answers with what its MCP call failed with is one occurrence."""

        def mcp() -> None:
            span = tracer.start_span("tools/call search", attributes={"mcp.method.name": "tools/call"})
            span.set_attribute("error.type", "tool_error")
            span.set_status(Status(StatusCode.ERROR, "no such index"))
            span.end()

        quiet_call(tracer, mcp, "tool_error", None, tool="search")
        (observation,) = rig.told.observed
        assert (observation.raw.tool, observation.raw.message) == ("search", "no such index")

    def test_outer_recovers(self, rig, tracer):
        """An inner boundary's failure that the outer one recovers from was handled."""

        def work() -> None:
            with pytest.raises(KeyError):
                call(tracer, lambda: {}["a"], tool="inner")

        call(tracer, work, tool="outer")
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["'a'"]

    def test_agent_inside_a_tool(self, rig, tracer):
        """Inside a tool that is an agent, that agent sees its tools fail: they count at once, and once."""

        def agent() -> None:
            with tracer.start_as_current_span("invoke_agent helper"):
                with pytest.raises(KeyError):
                    call(tracer, lambda: {}["a"], tool="inner")
                assert rig.told.tools == ["inner"]
                call(tracer, lambda: {}["b"], tool="inner")

        with pytest.raises(KeyError):
            call(tracer, agent, tool="helper")
        assert rig.told.tools == ["inner", "inner"]
        assert rig.told.handled == []

    def test_agent_inside_a_tool_that_succeeds(self, rig, tracer):
        """What an agent's own span fails with is held by the tool around it."""

        def agent() -> None:
            with pytest.raises(ValueError, match="too many turns"), tracer.start_as_current_span("invoke_agent helper"):
                raise ValueError("too many turns")

        call(tracer, agent, tool="helper")
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["too many turns"]


class TestUnconfirmed:
    def test_name_alone(self, rig, tracer):
        """A span that is a boundary by its name and not by its attributes is plain: what it held counts by itself."""
        with tracer.start_as_current_span("chat with the customer"):
            attempt(tracer, ConnectionError("refused"))
        assert rig.told.tools == ["GET"]
        assert not rig.told.observed[0].raw.boundary

    def test_name_alone_inside_a_boundary(self, rig, tracer):
        """Inside a boundary it leaves what it held to that."""

        def work() -> None:
            with tracer.start_as_current_span("chat with the customer"):
                attempt(tracer, ConnectionError("refused"))

        call(tracer, work)
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["refused"]

    def test_very_many_inside_a_boundary(self, rig, tracer):
        """What the boundary around it cannot hold was handled."""

        def work() -> None:
            for _ in range(3):
                with tracer.start_as_current_span("chat with the customer"):
                    for number in range(20):
                        attempt(tracer, ConnectionError(f"no {number}"))
            assert len(rig.told.handled) == 28

        call(tracer, work)
        assert rig.told.observed == []
        assert len(rig.told.handled) == 60

    def test_name_alone_that_outlives_its_boundary(self, rig, tracer):
        """If the boundary has ended before it, what it held counts by itself."""
        spans = []
        call(tracer, lambda: spans.append(tracer.start_span("chat with the customer")))
        with trace.use_span(spans[0], end_on_exit=True):
            attempt(tracer, ConnectionError("refused"))
        assert rig.told.tools == ["GET"]

    def test_name_alone_that_fails(self, rig, tracer):
        """Its own failure is that of a plain span, and one with what it held."""
        with pytest.raises(ConnectionError), tracer.start_as_current_span("chat with the customer"):
            fetch(tracer, error=ConnectionError("refused"))
        assert rig.told.tools == ["GET"]
        assert rig.processor.duplicates == 1


class TestOurOwn:
    """Spans of our own boundaries: their maker has told the ledger, the processor only settles what was inside."""

    def settled(self, rig, work: Callable[[Span], object], *, failed: bool, tool: str = "db") -> None:
        span = rig.tracer("otel_errcompact").start_span(f"execute_tool {tool}", attributes=TOOL)
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            work(span)
        if failed:
            details = {
                "exception.type": "KeyError",
                "exception.message": "'a'",
                "exception.stacktrace": "KeyError: 'a'",
            }
            span.add_event("exception", {**details, "errcompact.class": "3f2a"})
            span.set_attribute("errcompact.class", "3f2a")
            span.set_status(Status(StatusCode.ERROR, "'a'"))
        span.end()

    def test_failure(self, rig):
        """A failure is not counted a second time."""
        self.settled(rig, lambda span: None, failed=True)
        assert rig.told.observed == []

    def test_failure_inside_is_part_of_it(self, rig, tracer):
        """The failure inside that it passed on is part of it; another one was handled."""

        def work(span: Span) -> None:
            attempt(tracer, TimeoutError("3 s"), name="POST")
            attempt(tracer, KeyError("a"))

        self.settled(rig, work, failed=True)
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["3 s"]

    def test_success(self, rig, tracer):
        """What failed inside one that succeeds was handled, and nothing is resolved a second time."""
        self.settled(rig, lambda span: attempt(tracer, KeyError("a")), failed=False)
        assert rig.told.handled_messages == ["'a'"]
        assert rig.told.resolved == []

    def test_passed_on(self, rig, tracer):
        """A span around it that records the same failure is no further occurrence."""
        with pytest.raises(KeyError), tracer.start_as_current_span("agent"):
            self.settled(rig, lambda span: None, failed=True)
            raise KeyError("a")
        assert rig.told.observed == []
        assert rig.processor.duplicates == 1

    def test_instrumented_tool_around_it(self, rig, tracer):
        """A framework's span around our boundary of the same tool, whose result is the digest, is no success."""
        rig.ledger.observe("r", raw_error_of("db"))
        call(tracer, lambda: self.settled(rig, lambda span: None, failed=True), **{"gen_ai.conversation.id": "r"})
        assert rig.told.resolved == []
        call(tracer, lambda: self.settled(rig, lambda span: None, failed=False), **{"gen_ai.conversation.id": "r"})
        assert rig.told.resolved == [("r", "db")]

    def test_retried_inside(self, rig, tracer):
        """If our boundary succeeds at the second attempt, so has the tool around it."""
        rig.ledger.observe("r", raw_error_of("db"))

        def work() -> None:
            self.settled(rig, lambda span: None, failed=True)
            self.settled(rig, lambda span: None, failed=False)

        call(tracer, work, **{"gen_ai.conversation.id": "r"})
        assert rig.told.resolved == [("r", "db")]

    def test_error_result_around_it(self, rig, tracer):
        """A framework's span that fails because our boundary has is no further occurrence."""
        quiet_call(tracer, lambda: self.settled(rig, lambda span: None, failed=True), "tool_error", None)
        assert rig.told.observed == []
        assert rig.processor.duplicates == 1

    def test_run_that_passes_a_failure_on(self, rig, tracer):
        """A run's own span passes on what was counted inside it, without a class of its own."""
        ours = rig.tracer("otel_errcompact")
        with (
            pytest.raises(KeyError),
            tracer.start_as_current_span("server"),
            ours.start_as_current_span("invoke_agent"),
            tracer.start_as_current_span("work"),
        ):
            raise KeyError("a")
        assert rig.told.tools == ["work"]
        key = rig.told.observed[0].found.key
        assert [rig.processor.class_of(span.context.span_id) for span in rig.exporter.get_finished_spans()] == [key] * 3

    def test_other_spans_of_ours(self, rig):
        """A run's own span is never counted."""
        with (
            pytest.raises(ValueError, match="boom"),
            rig.tracer("otel_errcompact").start_as_current_span("invoke_agent"),
        ):
            raise ValueError("boom")
        assert rig.told.observed == []


class TestBounds:
    def test_very_many_inner_failures(self, rig, tracer):
        """Of very many failures inside the oldest are handled, and none is lost."""

        def work() -> None:
            for number in range(40):
                attempt(tracer, ConnectionError(f"no {number}"))
            assert rig.told.handled_messages == [f"no {number}" for number in range(8)]

        call(tracer, work)
        assert len(rig.told.handled) == 40

    def test_very_long_inner_failures(self, rig, tracer, monkeypatch):
        """Nor do their texts pile up: the oldest are let go first, and the newest is always held."""
        monkeypatch.setattr(boundaries, "MAX_PENDING_CHARACTERS", 1_000)

        def work() -> None:
            attempt(tracer, ConnectionError("a"))
            attempt(tracer, ConnectionError("b" * 2_000))
            assert rig.told.handled_messages == ["a"]

        call(tracer, work)
        assert len(rig.told.handled) == 2

    def test_very_many_open_spans(self, make_rig, monkeypatch):
        """Spans that are never ended do not pile up; what had to be forgotten is counted."""
        monkeypatch.setattr(boundaries, "MAX_OPEN_SPANS", 8)
        rig = make_rig()
        kept = [rig.tracer().start_span("execute_tool db", attributes=TOOL) for _ in range(10)]
        assert len(kept) == 10
        assert rig.ledger.guard.failures == {"open_span_evicted": 2}

    def test_outlived_boundary(self, rig, tracer):
        """A span that outlives its boundary, and fails, counts by itself; so does one that starts inside it later."""
        context = []
        call(tracer, lambda: context.append(trace.set_span_in_context(tracer.start_span("late"))))
        late = trace.get_current_span(context[0])
        child = tracer.start_span("child", context=context[0])
        for span in (child, late):
            span.set_status(Status(StatusCode.ERROR, f"{span.name} failed"))
            span.end()
        assert rig.told.tools == ["child", "late"]

    def test_outlived_inner_boundary(self, rig, tracer):
        """A span that outlives the boundary it began in belongs to the one around: two instrumentations of one call."""
        with pytest.raises(KeyError):
            call(tracer, lambda: overlapping(tracer))
        assert rig.told.tools == ["db"]


def overlapping(tracer: Tracer) -> None:
    """A call that two more instrumentations record, whose spans end in the order in which they began."""
    first = tracer.start_span("execute_tool db", attributes=TOOL)
    second = tracer.start_span("db", context=trace.set_span_in_context(first))
    error = KeyError("a")
    for span in (first, second):
        span.record_exception(error)
        span.set_status(Status(StatusCode.ERROR, "'a'"))
        span.end()
    raise error


def test_closed_boundary():
    """A boundary that has closed meanwhile, in another thread, keeps nothing pending."""
    boundary = boundaries.Boundary(1, "r", None)
    assert boundary.close() == []
    failure = boundaries.PendingFailure(raw_error_of("db"), 2, "GET", [2])
    assert boundary.defer(failure) == [failure]
    assert not boundary.is_open


def raw_error_of(tool: str):
    from otel_errcompact.errors import RawError

    return RawError(text="KeyError: 'a'", type="KeyError", message="'a'", tool=tool)


class TestModels:
    def test_answer_ends_no_loop(self, rig, tracer):
        """The model answers between any two calls: that is no success of the agent, and ends no row of its calls."""
        chat = {"gen_ai.operation.name": "chat"}
        with run(ledger=rig.ledger, tracer_provider=rig.provider) as opened:
            for _ in range(6):
                with tracer.start_as_current_span("chat gpt", attributes=chat):
                    pass
                opened.begin_turn()
                with opened.tool("price", arguments={"item": "tea"}, gated=False) as made:
                    if not made.refused:
                        raise KeyError("tea")
        report = opened.report()
        assert (report.result, report.occurrences) == ("halted", 2)
        assert [one.escalation.threshold for one in report.escalations] == ["loop", "loop"]

    def test_answer_resolves_failures_of_the_model(self, rig, tracer):
        """A model that has failed and answers again has recovered."""
        chat = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c"}
        with pytest.raises(TimeoutError), tracer.start_as_current_span("chat gpt", attributes=chat):
            raise TimeoutError("read timed out")
        with tracer.start_as_current_span("chat gpt", attributes=chat):
            pass
        assert [one.status for one in rig.ledger.report("c").classes] == ["RECOVERED"]
