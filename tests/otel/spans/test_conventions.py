"""Spans that real instrumentations have made, played through the real processor: what is translate of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.trace import SpanContext, Status, StatusCode, format_trace_id

from otel_errcompact.otel.spans.conventions import CONVENTIONS, find_convention

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Span

    from otel_errcompact_lab.replay.traces import RebuiltSpan

read = pytest.importorskip("otel_errcompact_lab.transcripts", reason="the lab reads the recordings").read
traces = pytest.importorskip("otel_errcompact_lab.replay.traces", reason="the lab plays the recordings")

RECORDED = Path(__file__).parents[1] / "recorded" / "spans"
AT_START = "recorded.at_start"
EARLY = "recorded.early"
OVERLOADED = "Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}"


class Seen(NamedTuple):
    """
    What came of one failure; the defaults are what the spans did not say.
    """

    tool: str
    call_id: str = ""
    arguments: str = ""
    run: str = "the trace"
    type: str = ""
    message: str = ""
    resolved: bool = False
    boundary: bool = True


UNDERSTOOD: Final = {
    "agent_framework-native-handled": [Seen("find_order", call_id="c1", type="LookupError", resolved=True)],
    "agent_framework-native-model_failed": [Seen("chat", type="TimeoutError")],
    "agent_framework-native-nested": [Seen("find_order", call_id="c1", type="LookupError", resolved=True)],
    "agent_framework-sensitive-handled": [
        Seen(
            "find_order",
            arguments='{"order": "A-1"}',
            call_id="c1",
            type="LookupError",
            message="no such order: A-1",
        )
    ],
    "agent_framework-sensitive-model_failed": [Seen("chat", type="TimeoutError", message="the model did not answer")],
    "agent_framework-sensitive-nested": [
        Seen(
            "find_order",
            arguments='{"order": "A-1"}',
            call_id="c1",
            type="LookupError",
            message="no such order: A-1",
        )
    ],
    "agno-official-handled": [Seen("find_order", call_id="c1", message="no such order: A-1", resolved=True)],
    "agno-official-model_failed": [],
    "agno-official-nested": [Seen("find_order", call_id="c1", message="no such order: A-1", resolved=True)],
    "agno-openinference-handled": [
        Seen("find_order", arguments='{"order": "A-1"}', run="t-1", message="no such order: A-1")
    ],
    "agno-openinference-model_failed": [
        Seen("shop.run", run="t-1", message="the model did not answer", boundary=False)
    ],
    "agno-openinference-nested": [
        Seen("find_order", arguments='{"order": "A-1"}', run="t-1", message="no such order: A-1")
    ],
    "agno-openllmetry-handled": [Seen("find_order", arguments='{"order": "A-1"}', message="no such order: A-1")],
    "agno-openllmetry-model_failed": [],
    "agno-openllmetry-nested": [Seen("find_order", arguments='{"order": "A-1"}', message="no such order: A-1")],
    "anthropic-native-handled": [Seen("find_order", call_id="c1", type="tool_error", resolved=True)],
    "anthropic-native-model_failed": [Seen("chat", type="overloaded_error")],
    "anthropic-official-handled": [Seen("find_order", call_id="c1", type="tool_error", resolved=True)],
    "anthropic-official-model_failed": [
        Seen(
            "chat",
            type="anthropic.OverloadedError",
            message=OVERLOADED,
        )
    ],
    "anthropic-openinference-handled": [Seen("find_order", call_id="c1", type="tool_error", resolved=True)],
    "anthropic-openinference-model_failed": [
        Seen(
            "chat",
            type="anthropic.OverloadedError",
            message=OVERLOADED,
        )
    ],
    "anthropic-openllmetry-handled": [Seen("find_order", call_id="c1", type="tool_error", resolved=True)],
    "anthropic-openllmetry-model_failed": [
        Seen(
            "chat",
            type="anthropic.OverloadedError",
            message=OVERLOADED,
        ),
        Seen("chat", type="overloaded_error"),
    ],
    # The server of the tool is in the same process, and makes a span in a trace of its own.
    "claude_agent-logfire-handled": [
        Seen(
            "mcp__shop__find_order",
            arguments='{"order":"A-1"}',
            call_id="c1",
            message="no such order: A-1",
        ),
        Seen("find_order", type="tool_error"),
    ],
    "claude_agent-openinference-handled": [
        Seen(
            "mcp__shop__find_order",
            arguments='{"order": "A-1"}',
            call_id="c1",
            type="Exception",
            message="no such order: A-1",
        ),
        Seen("find_order", type="tool_error"),
    ],
    "crewai-openinference-handled": [
        Seen("find_order", arguments='{"order": "A-1"}', type="LookupError", message="no such order: A-1")
    ],
    "crewai-openinference-model_failed": [
        Seen("shop._execute_core", type="TimeoutError", message="the model did not answer", boundary=False)
    ],
    "crewai-openllmetry-handled": [],
    "crewai-openllmetry-model_failed": [
        Seen("shop.agent", type="TimeoutError", message="the model did not answer", boundary=False)
    ],
    "google_adk-native-crashed": [Seen("find_order", run="t-1", type="LookupError", message="no such order: A-1")],
    "google_adk-native-handled": [
        Seen("find_order", call_id="c1", run="t-1", type="TOOL_ERROR", message="TOOL_ERROR", resolved=True)
    ],
    "google_adk-native-model_failed": [
        Seen("generate_content", run="t-1", type="TimeoutError", message="the model did not answer")
    ],
    "google_adk-native-nested": [
        Seen("find_order", call_id="c1", run="t-1", type="TOOL_ERROR", message="TOOL_ERROR", resolved=True)
    ],
    "langchain-official-crashed": [Seen("find_order", call_id="c1", type="LookupError", message="no such order: A-1")],
    "langchain-official-handled": [
        Seen("find_order", call_id="c1", type="LookupError", message="no such order: A-1", resolved=True)
    ],
    "langchain-official-interrupted": [],
    "langchain-official-model_failed": [
        Seen("invoke_agent shop", run="t-1", type="TimeoutError", message="the model did not answer", boundary=False)
    ],
    "langchain-official-nested": [
        Seen("find_order", call_id="i1", type="LookupError", message="no such order: A-1", resolved=True)
    ],
    "langchain-openinference-crashed": [
        Seen("find_order", arguments="A-1", run="t-1", type="LookupError", message="no such order: A-1")
    ],
    "langchain-openinference-handled": [
        Seen("find_order", arguments="A-1", run="t-1", type="LookupError", message="no such order: A-1")
    ],
    "langchain-openinference-interrupted": [],
    "langchain-openinference-model_failed": [
        Seen("chat", run="t-1", type="TimeoutError", message="the model did not answer")
    ],
    "langchain-openinference-nested": [
        Seen("find_order", arguments="A-1", run="t-1", type="LookupError", message="no such order: A-1")
    ],
    "langchain-openllmetry-crashed": [
        Seen("find_order", arguments='{"order": "A-1"}', run="t-1", type="LookupError", message="no such order: A-1")
    ],
    "langchain-openllmetry-handled": [
        Seen(
            "find_order",
            arguments='{"order": "A-1"}',
            run="t-1",
            type="LookupError",
            message="no such order: A-1",
        )
    ],
    "langchain-openllmetry-interrupted": [],
    "langchain-openllmetry-model_failed": [
        Seen("chat", run="t-1", type="TimeoutError", message="the model did not answer")
    ],
    "langchain-openllmetry-nested": [
        Seen(
            "find_order",
            arguments='{"order": "A-1"}',
            run="t-1",
            type="LookupError",
            message="no such order: A-1",
        )
    ],
    "llama_index-official-handled": [
        Seen("find_order", call_id="c1", type="LookupError", message="no such order: A-1", resolved=True)
    ],
    "llama_index-official-model_failed": [
        Seen("invoke_agent shop", type="TimeoutError", message="the model did not answer", boundary=False)
    ],
    "llama_index-official-nested": [
        Seen("find_order", call_id="c1", type="LookupError", message="no such order: A-1", resolved=True)
    ],
    "llama_index-openinference-handled": [
        Seen("find_order", arguments='{"order": "A-1"}', type="LookupError", message="no such order: A-1")
    ],
    "llama_index-openinference-model_failed": [Seen("chat", type="TimeoutError", message="the model did not answer")],
    "llama_index-openinference-nested": [
        Seen("find_order", arguments='{"order": "A-1"}', type="LookupError", message="no such order: A-1")
    ],
    "mcp-native-fast": [
        Seen(
            "find_order",
            type="fastmcp.exceptions.ToolError",
            message="Error calling tool 'find_order': no such order: A-1",
        )
    ],
    "mcp-native-server": [Seen("find_order", type="tool_error")],
    "openai-logfire-model_failed": [
        Seen("chat", type="openai.RateLimitError", message="Error code: 429 - Rate limit reached for gpt-x")
    ],
    "openai-official-model_failed": [
        Seen("chat", type="openai.RateLimitError", message="Error code: 429 - Rate limit reached for gpt-x")
    ],
    "openai-openinference-model_failed": [
        Seen("chat", type="openai.RateLimitError", message="Error code: 429 - Rate limit reached for gpt-x")
    ],
    "openai-openllmetry-model_failed": [
        Seen("chat", type="openai.RateLimitError", message="Error code: 429 - Rate limit reached for gpt-x")
    ],
    "openai_agents-logfire-crashed": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            run="t-1",
            type="agents.exceptions.UserError",
            message="Error running tool find_order: no such order: A-1",
        )
    ],
    "openai_agents-logfire-handled": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            run="t-1",
            message="Tool execution failed. Error details are redacted.",
        )
    ],
    "openai_agents-logfire-model_failed": [
        Seen("Agent run: {name!r}", run="t-1", message="the model did not answer", boundary=False)
    ],
    "openai_agents-logfire-nested": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            run="t-1",
            message="Tool execution failed. Error details are redacted.",
        )
    ],
    "openai_agents-official-crashed": [Seen("find_order", message="no such order: A-1")],
    "openai_agents-official-handled": [
        Seen("find_order", message="Tool execution failed. Error details are redacted.", resolved=True)
    ],
    "openai_agents-official-model_failed": [
        Seen("invoke_agent shop", run="t-1", message="the model did not answer", boundary=False)
    ],
    "openai_agents-official-nested": [
        Seen("find_order", message="Tool execution failed. Error details are redacted.", resolved=True)
    ],
    "openai_agents-openinference-crashed": [
        Seen("find_order", arguments='{"order":"A-1"}', message="no such order: A-1")
    ],
    "openai_agents-openinference-handled": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            message="Tool execution failed. Error details are redacted.",
        )
    ],
    "openai_agents-openinference-model_failed": [Seen("shop", message="the model did not answer", boundary=False)],
    "openai_agents-openinference-nested": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            message="Tool execution failed. Error details are redacted.",
        )
    ],
    "openai_agents-openllmetry-crashed": [
        Seen("find_order", arguments='{"order":"A-1"}', message="no such order: A-1")
    ],
    "openai_agents-openllmetry-handled": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            message="Tool execution failed. Error details are redacted.",
        )
    ],
    "openai_agents-openllmetry-model_failed": [Seen("shop.agent", message="the model did not answer", boundary=False)],
    "openai_agents-openllmetry-nested": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            message="Tool execution failed. Error details are redacted.",
        )
    ],
    "pydantic_ai-logfire-crashed": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            call_id="c1",
            run="t-1",
            type="LookupError",
            message="no such order: A-1",
        )
    ],
    "pydantic_ai-logfire-handled": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            call_id="c1",
            run="t-1",
            type="pydantic_ai.exceptions.ToolFailed",
            message="no such order: A-1",
        )
    ],
    "pydantic_ai-logfire-model_failed": [
        Seen("chat", run="t-1", type="TimeoutError", message="the model did not answer")
    ],
    "pydantic_ai-logfire-nested": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            call_id="c1",
            run="t-1",
            type="pydantic_ai.exceptions.ToolFailed",
            message="no such order: A-1",
        )
    ],
    "pydantic_ai-logfire-retried": [],
    "pydantic_ai-native-crashed": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            call_id="c1",
            run="t-1",
            type="LookupError",
            message="no such order: A-1",
        )
    ],
    "pydantic_ai-native-handled": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            call_id="c1",
            run="t-1",
            type="pydantic_ai.exceptions.ToolFailed",
            message="no such order: A-1",
        )
    ],
    "pydantic_ai-native-model_failed": [
        Seen("chat", run="t-1", type="TimeoutError", message="the model did not answer")
    ],
    "pydantic_ai-native-nested": [
        Seen(
            "find_order",
            arguments='{"order":"A-1"}',
            call_id="c1",
            run="t-1",
            type="pydantic_ai.exceptions.ToolFailed",
            message="no such order: A-1",
        )
    ],
    "pydantic_ai-native-retried": [],
    "smolagents-official-handled": [],
    "smolagents-official-model_failed": [
        Seen(
            "invoke_agent shop",
            type="smolagents.utils.AgentGenerationError",
            message="Error while generating output:\nthe model did not answer",
            boundary=False,
        )
    ],
    "smolagents-official-nested": [],
    "smolagents-openinference-handled": [
        Seen("find_order", arguments='{"order": "A-1"}', type="LookupError", message="no such order: A-1")
    ],
    "smolagents-openinference-model_failed": [
        Seen(
            "Step 1",
            type="smolagents.utils.AgentGenerationError",
            message="Error while generating output:\nthe model did not answer",
            boundary=False,
        )
    ],
    "smolagents-openinference-nested": [
        Seen("find_order", arguments='{"order": "A-1"}', type="LookupError", message="no such order: A-1")
    ],
    "strands-native-handled": [
        Seen(
            "find_order",
            arguments='{"order": "A-1"}',
            call_id="c1",
            run="t-1",
            type="LookupError",
            message="no such order: A-1",
        )
    ],
    "strands-native-model_failed": [Seen("chat", run="t-1", type="TimeoutError", message="the model did not answer")],
    "strands-native-nested": [
        Seen(
            "find_order",
            arguments='{"order": "A-1"}',
            call_id="c1",
            run="t-1",
            type="LookupError",
            message="no such order: A-1",
        )
    ],
}
"""By recording, every failure that must be counted: once each, however many spans tell of it."""


def known(span: RebuiltSpan, moment: str) -> BoundedAttributes:
    """The attributes that a span had at an earlier moment."""
    whole = span.original.attributes
    names = whole.get(moment, whole)
    return BoundedAttributes(attributes={name: value for name, value in whole.items() if name in names})


@pytest.fixture
def play(make_rig) -> Callable:
    """Starts and ends recorded spans in the order in which it happened, and returns what the ledger told."""

    def run(name: str):
        rig = make_rig()
        for trace in read(RECORDED / f"{name}.jsonl", on_problem=pytest.fail):
            spans = [traces.RebuiltSpan(span, span.scope_name) for span in trace.spans]
            for index, ends in traces.in_order(trace.spans):
                span = spans[index]
                if ends:
                    span._attributes = BoundedAttributes(attributes=span.original.attributes)
                    rig.processor.on_end(span)
                else:
                    span._attributes = known(span, AT_START)
                    rig.processor.on_start(span)
                    span._attributes = known(span, EARLY)
        return rig.told

    return run


def seen(told) -> list[Seen]:
    resolved = set(told.resolved)
    return [
        Seen(
            raw.tool or str(raw.operation),
            raw.call_id,
            raw.arguments,
            "the trace"
            if raw.span and observation.run_id == format_trace_id(raw.span.trace_id)
            else observation.run_id,
            raw.type,
            raw.message,
            (observation.run_id, raw.tool) in resolved,
            raw.boundary,
        )
        for observation in told.observed
        for raw in (observation.raw,)
    ]


class TestRecorded:
    @pytest.mark.parametrize("name", UNDERSTOOD)
    def test_recording(self, play, name):
        """Each failure is one occurrence, with all its spans say; a success resolves it, but not of another order."""
        told = play(name)
        assert seen(told) == UNDERSTOOD[name]
        assert told.handled == []

    def test_every_recording(self):
        """No recording is left out."""
        assert {path.stem for path in RECORDED.glob("*.jsonl")} == set(UNDERSTOOD)

    def test_nobody_is_named(self):
        """Recordings name no machine and no user."""
        named = re.compile(r"(?<![\\w.-])/(?:home|root|tmp|Users|var|work)/")
        assert [path.name for path in RECORDED.glob("*.jsonl") if named.search(path.read_text(encoding="utf-8"))] == []


TOOL = {"openinference.span.kind": "TOOL", "tool.name": "buy", "input.value": "{}"}
CHAIN = {"openinference.span.kind": "CHAIN"}
LATE = "openinference.instrumentation.langchain"


def fail(span: Span, error: Exception) -> None:
    span.record_exception(error)
    span.set_status(Status(StatusCode.ERROR, str(error)))


class TestScopes:
    @pytest.mark.parametrize(
        ("scope", "name"),
        [
            pytest.param("openinference.instrumentation.dspy", "OpenInference", id="by its beginning"),
            pytest.param("openinference.instrumentation.agno", "OpenInference for Agno", id="the longest that fits"),
            pytest.param("opentelemetry.instrumentation.langchain", "OpenLLMetry for LangChain", id="itself"),
            pytest.param("opentelemetry.instrumentation.langchain.x", "OpenTelemetry GenAI", id="no beginning"),
            pytest.param("opentelemetry.instrumentation.genai.langchain", "OpenTelemetry GenAI", id="official"),
            pytest.param("", "OpenTelemetry GenAI", id="none"),
        ],
    )
    def test_convention(self, scope, name):
        """A scope follows the row it is in, and the official convention if it is in none."""
        assert find_convention(scope).name == name

    def test_no_scope_twice(self):
        """No scope is in two rows."""
        scopes = [scope for row in CONVENTIONS for scope in row.scopes]
        assert len(scopes) == len(set(scopes))

    def test_one_name_in_two_scopes(self, rig):
        """That a name is of no interest in one scope says nothing of another."""
        rig.tracer("app").start_span("buy").end()
        fail(span := rig.tracer(LATE).start_span("buy"), ValueError("x"))
        span.set_attributes(TOOL)
        span.end()
        assert rig.told.tools == ["buy"]
        assert rig.told.observed[0].raw.boundary


class TestToldLate:
    def test_failure_inside(self, rig):
        """What fails inside a span that may turn out to be no boundary is counted at once, and passed on as known."""
        tracer = rig.tracer(LATE)
        with tracer.start_as_current_span("graph") as graph:
            with tracer.start_as_current_span("node") as node:
                fail(tool := tracer.start_span("buy"), ValueError("sold out"))
                tool.set_attributes(TOOL)
                tool.end()
                assert rig.told.causes == ["sold out"]
                fail(node, ValueError("sold out"))
                node.set_attributes(CHAIN)
            graph.set_attributes(CHAIN)
        assert rig.told.causes == ["sold out"]
        assert rig.told.handled == []

    def test_held_by_what_is_told(self, rig):
        """A boundary around it that is one for sure holds the failure instead."""
        with rig.tracer().start_as_current_span("execute_tool outer", attributes=OUTER):
            with rig.tracer(LATE).start_as_current_span("node") as node:
                fail(plain := rig.tracer().start_span("GET"), ValueError("503"))
                plain.end()
                node.set_attributes(CHAIN)
            assert rig.told.observed == []
        assert rig.told.handled_messages == ["503"]

    def test_agent_inside(self, rig):
        """An agent inside it is an agent: of its failure nobody else decides."""
        with rig.tracer(LATE).start_as_current_span("node") as node:
            agent = rig.tracer(LATE).start_span("x", attributes={"openinference.span.kind": "AGENT"})
            fail(agent, ValueError("no idea"))
            agent.end()
            node.set_attributes(CHAIN)
        assert rig.told.causes == ["no idea"]


OUTER = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "outer"}
INNER = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "inner"}


class TestNesting:
    def test_tool_inside_a_model_call(self, rig, tracer):
        """A model call that works out does not make good the failure of a tool that it asked for."""
        with tracer.start_as_current_span("chat m", attributes={"gen_ai.operation.name": "chat"}):
            fail(tool := tracer.start_span("execute_tool inner", attributes=INNER), ValueError("x"))
            tool.end()
        assert rig.told.tools == ["inner"]
        assert rig.told.handled == []

    def test_tool_inside_a_tool(self, rig, tracer):
        """A tool that makes good the failure of another one has handled it."""
        with tracer.start_as_current_span("execute_tool outer", attributes=OUTER):
            fail(tool := tracer.start_span("execute_tool inner", attributes=INNER), ValueError("x"))
            tool.end()
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["x"]

    @pytest.mark.parametrize(
        ("inner", "outer", "message"),
        [
            pytest.param("", "no seats", "no seats", id="only outside"),
            pytest.param("no seats", "", "no seats", id="only inside"),
        ],
    )
    def test_one_call_by_two_instrumentations(self, rig, tracer, inner, outer, message):
        """A call of which two instrumentations make spans fails once, with what either of them knows."""
        with tracer.start_as_current_span("execute_tool outer", attributes=OUTER) as whole:
            part = rig.tracer("other").start_span("execute_tool outer", attributes=OUTER)
            part.set_status(Status(StatusCode.ERROR, inner))
            part.end()
            whole.set_status(Status(StatusCode.ERROR, outer))
        assert [observation.raw.message for observation in rig.told.observed] == [message]
        assert rig.told.handled == []


class TestAgents:
    def test_own_words(self, rig, tracer):
        """An agent that fails with the failure of a tool, in words of its own, is no second failure."""
        with tracer.start_as_current_span("invoke_agent shop", attributes=AGENT) as agent:
            with tracer.start_as_current_span("turn"):
                tool = tracer.start_span("execute_tool inner", attributes=INNER)
                tool.set_status(Status(StatusCode.ERROR, "no seats"))
                tool.end()
            agent.set_status(Status(StatusCode.ERROR, "the tool inner failed: no seats"))
        assert rig.told.tools == ["inner"]

    def test_another_failure(self, rig, tracer):
        """An agent that fails with something else is."""
        with tracer.start_as_current_span("invoke_agent shop", attributes=AGENT) as agent:
            tool = tracer.start_span("execute_tool inner", attributes=INNER)
            tool.set_status(Status(StatusCode.ERROR, "no seats"))
            tool.end()
            agent.set_status(Status(StatusCode.ERROR, "no turns left"))
        assert rig.told.causes == ["no seats", "no turns left"]

    def test_conversation(self, rig, tracer):
        """A tool's span that names no conversation is part of its agent's."""
        with tracer.start_as_current_span("invoke_agent shop", attributes=AGENT) as agent:
            agent.set_attribute("gen_ai.conversation.id", "t-9")
            fail(tool := tracer.start_span("execute_tool inner", attributes=INNER), ValueError("x"))
            tool.end()
        assert [observation.run_id for observation in rig.told.observed] == ["t-9"]

    def test_another_sdk(self, rig):
        """An agent's span that cannot be referred to weakly is let be."""

        class Slotted:
            __slots__ = ("attributes", "instrumentation_scope", "name", "parent")

            def get_span_context(self):
                return SpanContext(1, 2, is_remote=False)

        span = Slotted()
        span.name, span.attributes, span.parent, span.instrumentation_scope = "invoke_agent x", {}, None, None
        rig.processor.on_start(span)
        assert len(rig.processor._open_spans) == 0


AGENT = {"gen_ai.operation.name": "invoke_agent"}


class TestSources:
    @pytest.mark.parametrize(
        ("given", "arguments"),
        [
            pytest.param('{"kwargs": {"a": 1}}', '{"a": 1}', id="the member"),
            pytest.param('{"kwargs": "a"}', "a", id="text"),
            pytest.param('{"kwargs": null}', '{"kwargs": null}', id="nothing in it"),
            pytest.param('["kwargs"]', '["kwargs"]', id="no object"),
            pytest.param('{"kwargs"', '{"kwargs"', id="cut"),
            pytest.param('{"a": 1}', '{"a": 1}', id="arguments themselves"),
            pytest.param("[" * 50_000 + '"kwargs"', "[" * 50_000 + '"kwargs"', id="deep"),
        ],
    )
    def test_arguments(self, rig, given, arguments):
        """Arguments that are packed into an object are taken out of it; what is no such object is kept."""
        span = rig.tracer(LATE).start_span("buy")
        span.set_attributes({**TOOL, "input.value": given})
        fail(span, ValueError("x"))
        span.end()
        assert rig.told.observed[0].raw.arguments == arguments

    @pytest.mark.parametrize(
        ("description", "message"),
        [
            pytest.param("Error: {'error': 'it\\'s gone'}", "it's gone", id="Python"),
            pytest.param('{"data": {"error": "a\\nb"}}', "a\nb", id="JSON"),
            pytest.param("{'error': 'a\nb'}", "a\nb", id="neither"),
            pytest.param("out of turns", "out of turns", id="plain"),
        ],
    )
    def test_error_in_details(self, rig, description, message):
        """The text of an error is found in the details that the OpenAI Agents SDK puts it into."""
        span = rig.tracer("openinference.instrumentation.openai_agents").start_span("buy", attributes=TOOL)
        span.set_status(Status(StatusCode.ERROR, description))
        span.end()
        assert rig.told.observed[0].raw.message == message

    def test_message_as_type(self, rig):
        """Where `error.type` holds the message it is taken for that."""
        span = rig.tracer("logfire.claude_agent_sdk").start_span("execute_tool inner", attributes=INNER)
        span.set_attribute("error.type", "Exit code 1: no such file")
        span.end()
        raw = rig.told.observed[0].raw
        assert (raw.type, raw.message) == ("", "Exit code 1: no such file")
