"""Google's Agent Development Kit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent, LoopAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.plugins.reflect_retry_tool_plugin import ReflectAndRetryToolPlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools import AgentTool, FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types
from opentelemetry import trace
from opentelemetry.trace import StatusCode

import otel_errcompact as errcompact
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.integrations.google_adk import CompactionPlugin
from otel_errcompact.otel import semconv
from otel_errcompact_context import providers
from otel_errcompact_context.messages import with_text
from tests.integrations import conversations
from tests.integrations.conftest import World
from tests.integrations.conversations import CONVERSATIONS, Conversation, Seen, verify

Call = tuple[str, dict[str, Any]]
Turn = str | Sequence[Call]
"""What the model does: it says something, or calls tools side by side."""

ROOT = Path(__file__).parents[2]
BOOM: Turn = [("boom", {"x": 1})]
STOPPED = "I have stopped: boom was tried 3 times without success."
CONFIRMATION = "adk_request_confirmation"


class Scripted(BaseLlm):
    """
    Plays its turns, the last one for ever, and keeps what it was given to read.
    """

    turns: list[Turn]
    read: list[LlmRequest]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.read.append(llm_request.model_copy(deep=True))
        turn = self.turns[min(len(self.read), len(self.turns)) - 1]
        if isinstance(turn, str):
            if stream:
                yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=turn)]), partial=True)
            parts = [types.Part(text=turn)]
        else:
            parts = [types.Part.from_function_call(name=name, args=args) for name, args in turn]
        yield LlmResponse(content=types.Content(role="model", parts=parts))

    def answers(self) -> list[dict[str, Any]]:
        """What the tools have answered, as the model has last read it."""
        parts = [part for content in self.read[-1].contents for part in content.parts or ()]
        return [part.function_response.response or {} for part in parts if part.function_response]


class Tools:
    """
    Tools that count how often they were executed.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []

    def boom(self, x: int) -> int:
        """Fail."""
        self.calls.append("boom")
        raise ValueError(f"bad x={x}")

    def fine(self) -> str:
        """Work."""
        self.calls.append("fine")
        return "all is well"


def agent(model: Scripted, *tools: Any, name: str = "shop", **settings: Any) -> LlmAgent:
    return LlmAgent(name=name, description=name, model=model, tools=list(tools), **settings)


def scripted(*turns: Turn) -> Scripted:
    return Scripted(model="scripted", turns=list(turns), read=[])


class Program:
    """
    An agent with its plugins, in a session.
    """

    def __init__(self, root: Any, *plugins: BasePlugin) -> None:
        self.runner = InMemoryRunner(app=App(name="shop", root_agent=root, plugins=list(plugins)))

    async def say(self, *parts: types.Part | str, mode: StreamingMode = StreamingMode.NONE) -> list[Event]:
        sessions = self.runner.session_service
        known = await sessions.list_sessions(app_name="shop", user_id="u")
        if not known.sessions:
            await sessions.create_session(app_name="shop", user_id="u", session_id="s")
        content = types.Content(
            role="user", parts=[types.Part(text=part) if isinstance(part, str) else part for part in parts]
        )
        config = RunConfig(streaming_mode=mode)
        events = self.runner.run_async(user_id="u", session_id="s", new_message=content, run_config=config)
        return [event async for event in events]


def asked(events: list[Event]) -> list[types.FunctionCall]:
    return [call for event in events for call in event.get_function_calls() if call.name == CONFIRMATION]


def reply(call: types.FunctionCall, **answer: Any) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=call.id, name=CONFIRMATION, response=answer))


def last_text(events: list[Event]) -> str:
    content = events[-1].content
    return (content.parts[0].text or "") if content is not None and content.parts else ""


def answers_in(events: list[Event]) -> list[dict[str, Any]]:
    return [response.response or {} for event in events for response in event.get_function_responses()]


DIGESTS = [
    "[ValueError] at boom (",
    "[ValueError]: bad x=1 #",
    "[ValueError]: bad x=1 #",
]


@pytest.mark.duty("render")
@pytest.mark.parametrize("mode", [StreamingMode.NONE, StreamingMode.SSE], ids=["whole", "streamed"])
async def test_the_model_reads_digests(world: World, mode: StreamingMode) -> None:
    """An error result each, and never a traceback."""
    tools, model = Tools(), scripted(BOOM)
    events = await Program(agent(model, tools.boom), CompactionPlugin()).say("go", mode=mode)
    answers = answers_in(events)
    assert [list(answer) for answer in answers] == [["error"], ["error"], ["error"]]
    assert [answer["error"][: len(start)] for answer, start in zip(answers, DIGESTS, strict=True)] == DIGESTS
    assert [answer["error"] for answer in model.answers()] == [answer["error"] for answer in answers[:2]]
    assert not any("Traceback" in str(request) for request in model.read)


@pytest.mark.duty("gate")
async def test_a_loop_ends_at_the_threshold(world: World) -> None:
    """The tool was executed three times, the model asked three times, and the verdict is ours to tell."""
    tools, model, plugin = Tools(), scripted(BOOM), CompactionPlugin(agent="shop")
    events = await Program(agent(model, tools.boom), plugin).say("go")
    assert (len(tools.calls), len(model.read)) == (3, 3)
    assert last_text(events) == STOPPED
    assert (events[-1].custom_metadata or {})[semconv.RESULT] == "halted"
    assert plugin.runs.report(events[-1].invocation_id).result == "halted"
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [text.splitlines()[-1] for text in world.raw_errors()] == ["ValueError: bad x=1"] * 3
    assert all(text.startswith("Traceback (most recent call last):") for text in world.raw_errors())


async def test_the_next_invocation_starts_afresh(world: World) -> None:
    """A halt ends an invocation, and not the session."""
    tools, model, plugin = Tools(), scripted(BOOM, BOOM, BOOM, "done"), CompactionPlugin()
    program = Program(agent(model, tools.boom), plugin)
    await program.say("go")
    events = await program.say("and now?")
    assert last_text(events) == "done"
    assert plugin.runs.report(events[-1].invocation_id).result == "clean"
    assert world.runs() == {"halted": 1, "clean": 1}


async def test_the_synchronous_runner(world: World) -> None:
    """It has an event loop of its own in a thread of its own."""
    tools, plugin = Tools(), CompactionPlugin()
    program = Program(agent(scripted(BOOM), tools.boom), plugin)
    await program.runner.session_service.create_session(app_name="shop", user_id="u", session_id="s")
    message = types.Content(role="user", parts=[types.Part(text="go")])
    events = list(program.runner.run(user_id="u", session_id="s", new_message=message))
    assert (len(tools.calls), world.runs()) == (3, {"halted": 1})
    assert plugin.runs.report(events[-1].invocation_id).agent == "shop"


@pytest.mark.duty("success")
async def test_a_success_resolves(world: World) -> None:
    """It ends the streak of the tool that failed, and of no other."""
    failing = [True, True, False, True]

    def flaky(x: int) -> str:
        if failing.pop(0):
            raise ValueError(f"bad x={x}")
        return "ok"

    tools = Tools()
    call: Turn = [("flaky", {"x": 1})]
    model = scripted(call, [("fine", {})], call, call, call, "done")
    await Program(agent(model, flaky, tools.fine), CompactionPlugin()).say("go")
    assert model.answers()[1:4:2] == [{"result": "all is well"}, {"result": "ok"}]
    assert (world.errors(), world.resolutions()) == ({"new": 1, "repeat": 2}, 1)
    assert (world.escalations(), world.runs()) == ({}, {"unresolved": 1})


@pytest.mark.duty("ask")
async def test_a_pause_is_asked_as_a_confirmation_and_goes_on(world: World) -> None:
    """ADK would execute a confirmed call again; here the human's words take the place of that."""
    tools, model = Tools(), scripted(BOOM, BOOM, BOOM, "I see")
    plugin = CompactionPlugin(on_escalation=lambda escalation: errcompact.Pause("ask ops"))
    program = Program(agent(model, tools.boom), plugin)
    paused = await program.say("go")
    (question,) = asked(paused)
    confirmation = (question.args or {})["toolConfirmation"]
    assert confirmation["hint"] == ("one error class keeps recurring (3 of 3): [ValueError] bad x=1\nask ops")
    assert (confirmation["confirmed"], confirmation["payload"]) == (False, {"message": ""})
    assert (len(tools.calls), len(model.read)) == (3, 3)
    assert plugin.runs.report(paused[-1].invocation_id).result == "halted"
    resumed = await program.say(reply(question, confirmed=True, payload={"message": "use x=2"}))
    assert last_text(resumed) == "I see"
    assert (len(tools.calls), len(model.read)) == (3, 4)
    answers = [answer["error"] for answer in model.answers()]
    assert len(answers) == 3
    assert answers[2].endswith("\nA human has answered: use x=2")
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1, "continue": 1}
    assert world.runs() == {"unresolved": 1}


async def test_a_human_says_no(world: World) -> None:
    """The turn ends, and the tool is not executed."""
    tools, model = Tools(), scripted(BOOM)
    plugin = CompactionPlugin(on_escalation=lambda escalation: errcompact.Pause())
    program = Program(agent(model, tools.boom), plugin)
    (question,) = asked(await program.say("go"))
    assert (question.args or {})["toolConfirmation"]["hint"].startswith("one error class keeps recurring (3 of 3)")
    events = await program.say(reply(question, confirmed=False))
    assert STOPPED in last_text(events)
    assert (len(tools.calls), len(model.read)) == (3, 3)
    assert world.escalations() == {"pause": 1, "halt": 1}
    assert world.runs() == {"halted": 1}


async def test_one_question_for_calls_side_by_side(world: World) -> None:
    """Several calls of the turn that breaks the threshold fail; a human is asked once."""
    tools = Tools()
    turn: Turn = [("boom", {"x": 1}), ("boom", {"x": 1}), ("fine", {})]
    model = scripted(BOOM, BOOM, turn, "done")
    plugin = CompactionPlugin(on_escalation=lambda escalation: errcompact.Pause())
    program = Program(agent(model, tools.boom, tools.fine), plugin)
    (question,) = asked(await program.say("go"))
    assert sorted(tools.calls) == ["boom"] * 4 + ["fine"]
    assert last_text(await program.say(reply(question, confirmed=True))) == "done"
    assert sorted(tools.calls) == ["boom"] * 4 + ["fine"]
    assert world.errors() == {"new": 1, "repeat": 2, "after_escalation": 1}


async def test_an_asynchronous_handler_lets_the_agent_go_on(world: World) -> None:
    """`Continue` gives fresh counters."""

    async def go_on(escalation: errcompact.Escalation) -> errcompact.Continue:
        return errcompact.Continue("try harder")

    tools, model = Tools(), scripted(*[[("boom", {"x": x})] for x in range(4)], "done")
    await Program(agent(model, tools.boom), CompactionPlugin(on_escalation=go_on)).say("go")
    assert (len(tools.calls), len(model.read)) == (4, 5)
    assert world.escalations() == {"continue": 1}


async def test_a_handler_that_raises(world: World) -> None:
    """The run halts, and the handler's failure is counted."""

    def broken(escalation: errcompact.Escalation) -> errcompact.Halt:
        raise LookupError("no pager")

    tools = Tools()
    events = await Program(agent(scripted(BOOM), tools.boom), CompactionPlugin(on_escalation=broken)).say("go")
    assert STOPPED in last_text(events)
    assert len(tools.calls) == 3
    assert world.internal_failures() == {"escalation_handler": 1}


@pytest.mark.duty("span")
async def test_the_native_span_carries_the_raw_error(world: World) -> None:
    """ADK records no exception on it; ours stands there once, and is counted once."""
    tools = Tools()
    await Program(agent(scripted(BOOM), tools.boom), CompactionPlugin()).say("go")
    spans = [span for span in world.spans() if span.name == "execute_tool boom"]
    assert [len(span.events) for span in spans] == [1, 1, 1]
    assert {span.status.status_code for span in spans} == {StatusCode.ERROR}
    assert {span.instrumentation_scope.name for span in spans if span.instrumentation_scope} == {"gcp.vertex.agent"}
    assert len(set(world.classes_on_spans())) == 1
    assert len(world.classes_on_spans()) == 3
    assert world.errors() == {"new": 1, "repeat": 2}


async def test_a_failing_request_inside_a_tool_is_its_root_cause(world: World) -> None:
    """One occurrence, though two spans have recorded it."""
    tracer = trace.get_tracer("http")

    def fetch() -> str:
        with tracer.start_as_current_span("GET"):
            raise ConnectionError("refused")

    model = scripted([("fetch", {})], "done")
    await Program(agent(model, fetch), CompactionPlugin()).say("go")
    assert world.errors() == {"new": 1}
    assert model.answers()[0]["error"].startswith("[ConnectionError] at ")


async def test_a_failing_request_that_a_tool_gets_over_is_handled(world: World) -> None:
    """The agent is not told of it."""
    tracer = trace.get_tracer("http")

    def fetch() -> str:
        try:
            with tracer.start_as_current_span("GET"):
                raise ConnectionError("refused")
        except ConnectionError:
            return "from the cache"

    model = scripted([("fetch", {})], "done")
    await Program(agent(model, fetch), CompactionPlugin()).say("go")
    assert (world.errors(), world.runs()) == ({"handled": 1}, {"clean": 1})
    assert model.answers() == [{"result": "from the cache"}]


@pytest.mark.parametrize(
    ("answer", "digest"),
    [
        pytest.param({"error": "no such order 7"}, "no such order 7", id="an error"),
        pytest.param({"content": [{"type": "text", "text": "no such order 7"}], "isError": True}, "no such", id="MCP"),
    ],
)
async def test_what_a_tool_returns_as_an_error_is_a_failure(world: World, answer: dict[str, Any], digest: str) -> None:
    """A dictionary that says so, as ADK's own tools and its tutorials have it."""

    def order() -> dict[str, Any]:
        return answer

    model = scripted([("order", {})])
    events = await Program(agent(model, order), CompactionPlugin()).say("go")
    answers = answers_in(events)
    assert [list(one) for one in answers] == [["error"]] * 3
    assert digest in answers[0]["error"]
    assert (world.errors(), world.runs()) == ({"new": 1, "repeat": 2}, {"halted": 1})


async def test_a_status_in_an_answer_counts_and_stops_nothing(world: World) -> None:
    """An answer that only says so, as ADK's tutorials have it, declares nothing."""

    def order() -> dict[str, Any]:
        return {"status": "error", "error_message": "no such order 7"}

    model = scripted(*[[("order", {})]] * 7, "done")
    events = await Program(agent(model, order), CompactionPlugin()).say("go")
    assert "no such order 7" in str(answers_in(events)[0])
    assert (world.errors(), world.runs()) == ({"new": 1, "repeat": 2, "after_escalation": 4}, {"unresolved": 1})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        pytest.param(("boom", {}), "mandatory", id="an argument is missing"),
        pytest.param(("boo", {"x": 1}), "boom", id="an unknown tool"),
    ],
)
async def test_calls_that_are_no_good_are_failures(world: World, call: Call, words: str) -> None:
    """ADK answers them itself; the digest keeps what helps. Calls that no tool takes have a threshold of their own."""
    tools = Tools()
    at_three = errcompact.Thresholds(
        same=3, rejected=3, halts=frozenset({"same", "rejected"}), refuse=99, loop=99, loop_halt=99
    )
    events = await Program(agent(scripted([call]), tools.boom), CompactionPlugin(thresholds=at_three)).say("go")
    assert words in answers_in(events)[0]["error"]
    assert (tools.calls, world.errors(), world.runs()) == ([], {"new": 1, "repeat": 2}, {"halted": 1})


async def test_an_identical_call_that_keeps_failing_is_refused(world: World) -> None:
    """It is not executed, and says why."""
    tools = Tools()
    plugin = CompactionPlugin(thresholds=errcompact.Thresholds())
    events = await Program(agent(scripted([*BOOM, *BOOM], BOOM, BOOM, "done"), tools.boom), plugin).say("go")
    assert len(tools.calls) == 3  # two of one turn, which count once
    assert answers_in(events)[3]["error"].startswith("NOT EXECUTED: ")
    assert world.errors() == {"new": 1, "repeat": 2}


async def test_a_sibling_that_works_does_not_end_the_streak(world: World) -> None:
    """Calls side by side: one fails for ever, the other works."""
    tools, model = Tools(), scripted([("boom", {"x": 1}), ("fine", {})])
    await Program(agent(model, tools.boom, tools.fine), CompactionPlugin()).say("go")
    assert sorted(tools.calls) == ["boom"] * 3 + ["fine"] * 3
    assert (world.errors(), world.runs()) == ({"new": 1, "repeat": 2}, {"halted": 1})


async def test_control_flow_goes_its_way(world: World) -> None:
    """It is no failure, and ADK decides what becomes of it."""

    class ModelRetry(Exception):
        pass

    def steer() -> None:
        raise ModelRetry

    with pytest.raises(ModelRetry):
        await Program(agent(scripted([("steer", {})]), steer), CompactionPlugin()).say("go")
    assert (world.errors(), world.runs()) == ({}, {"clean": 1})


async def test_an_agent_behind_a_tool_is_a_run_of_its_own(world: World) -> None:
    """Its halt is what the outer agent reads, and no second failure."""
    tools, inner, outer = Tools(), scripted(BOOM), scripted([("clerk", {"request": "go"})], "done")
    plugin = CompactionPlugin()
    clerk = AgentTool(agent(inner, tools.boom, name="clerk"))
    events = await Program(agent(outer, clerk), plugin).say("go")
    assert STOPPED in outer.answers()[0]["result"]
    assert (len(tools.calls), last_text(events)) == (3, "done")
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.runs() == {"halted": 1, "clean": 1}


async def test_an_agent_behind_a_tool_that_waits_for_a_human(world: World) -> None:
    """ADK cannot resume it, and tells the outer agent so; that is no failure of the outer agent's tool."""
    tools, inner, outer = Tools(), scripted(BOOM), scripted([("clerk", {"request": "go"})], "done")
    plugin = CompactionPlugin(on_escalation=lambda escalation: errcompact.Pause())
    clerk = AgentTool(agent(inner, tools.boom, name="clerk"))
    events = await Program(agent(outer, clerk), plugin).say("go")
    assert (len(tools.calls), last_text(events)) == (3, "done")
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1}


async def test_an_agent_that_is_handed_over_to_stays_in_the_run(world: World) -> None:
    """One invocation is one run, whichever agent has the word."""
    tools, inner = Tools(), scripted([("boom", {"x": 1})])
    outer = scripted([("boom", {"x": 1})], [("transfer_to_agent", {"agent_name": "clerk"})])
    clerk = agent(inner, tools.boom, name="clerk")
    root = agent(outer, tools.boom, sub_agents=[clerk])
    await Program(root, CompactionPlugin()).say("go")
    assert (len(tools.calls), world.runs()) == (3, {"halted": 1})


async def test_a_loop_agent_ends_with_its_run(world: World) -> None:
    """It would go round for ever on an agent that says it was halted."""
    tools = Tools()
    loop = LoopAgent(name="loop", sub_agents=[agent(scripted(BOOM), tools.boom)])
    await Program(loop, CompactionPlugin()).say("go")
    assert (len(tools.calls), world.runs()) == (3, {"halted": 1})


@pytest.mark.parametrize("first", ["ours", "theirs"])
async def test_beside_the_plugin_that_asks_to_reflect(world: World, first: str) -> None:
    """Whoever is asked first, the failure counts once and the model reads the digest."""
    tools = Tools()
    plugins: list[BasePlugin] = [CompactionPlugin(), ReflectAndRetryToolPlugin(max_retries=5)]
    events = await Program(agent(scripted(BOOM), tools.boom), *plugins[:: 1 if first == "ours" else -1]).say("go")
    assert [list(answer) for answer in answers_in(events)] == [["error"]] * 3
    assert (len(tools.calls), world.errors(), world.runs()) == (3, {"new": 1, "repeat": 2}, {"halted": 1})


@pytest.mark.parametrize(
    ("answer", "errors"),
    [
        pytest.param({"status": "pending", "ticket": 7}, {}, id="it has begun"),
        pytest.param(None, {}, id="nothing yet"),
        pytest.param({"error": "queue full"}, {"new": 1}, id="it could not begin"),
    ],
)
async def test_a_long_running_tool(world: World, answer: dict[str, Any] | None, errors: dict[str, int]) -> None:
    """What has begun is neither a failure nor a success."""
    failing = [True, False]

    def export() -> dict[str, Any] | None:
        if failing.pop(0):
            raise ValueError("bad")
        return answer

    turn: Turn = [("export", {})]
    model = scripted(turn, turn, "done")
    await Program(agent(model, LongRunningFunctionTool(export)), CompactionPlugin()).say("go")
    assert world.resolutions() == 0
    assert sum(world.errors().values()) == 1 + sum(errors.values())


@pytest.mark.parametrize("confirmed", [True, False])
async def test_the_confirmation_that_a_tool_itself_needs(world: World, confirmed: bool) -> None:
    """Waiting for it is no failure, and neither is a human's no."""
    tools, model = Tools(), scripted([("fine", {})], "done")
    program = Program(agent(model, FunctionTool(tools.fine, require_confirmation=True)), CompactionPlugin())
    (question,) = asked(await program.say("go"))
    await program.say(reply(question, confirmed=confirmed))
    assert tools.calls == (["fine"] if confirmed else [])
    assert (world.errors(), set(world.runs())) == ({}, {"clean"})


async def test_a_run_that_the_application_has_opened(world: World) -> None:
    """Then that is the run, and it ends where the application says."""
    tools, plugin = Tools(), CompactionPlugin()
    async with errcompact.run("mine", agent="shop") as run:
        await Program(agent(scripted(BOOM), tools.boom), plugin).say("go")
        assert run.report().occurrences == 3
    assert world.runs() == {"halted": 1}


async def test_an_invocation_that_fails_ends_its_run(world: World) -> None:
    """The model is not ours to judge."""

    class Broken(BaseLlm):
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            raise ConnectionError("no model")
            yield

    plugin = CompactionPlugin()
    with pytest.raises(ConnectionError):
        await Program(LlmAgent(name="shop", model=Broken(model="broken")), plugin).say("go")
    assert sum(world.runs().values()) == 1


async def test_a_tool_that_asks_by_its_own(world: World) -> None:
    """A confirmation that we did not ask for is the tool's."""
    seen: list[bool] = []

    def ask(tool_context: ToolContext) -> dict[str, str]:
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="really?")
            return {"error": "waits"}
        seen.append(tool_context.tool_confirmation.confirmed)
        return {"status": "done"}

    program = Program(agent(scripted([("ask", {})], "done"), ask), CompactionPlugin())
    (question,) = asked(await program.say("go"))
    await program.say(reply(question, confirmed=True))
    assert (seen, world.errors()) == ([True], {})


async def test_what_an_operator_says_in_between_is_read_by_the_model(world: World) -> None:
    """Also where no call has failed since: in a content of its own in the next request."""
    plugin = CompactionPlugin()

    def works(tool_context: ToolContext) -> str:
        plugin.runs.of(tool_context.invocation_id).resume("it is open now")
        return "fine"

    model = scripted([("works", {})], "done")
    await Program(agent(model, works), plugin).say("go")
    last = model.read[-1].contents[-1]
    assert (last.role, [part.text for part in last.parts or ()]) == ("user", ["OPERATOR: it is open now"])


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
async def test_a_conversation_comes_to_what_is_written(world: World, conversation: Conversation) -> None:
    """The same decisions as in every framework; where it only observes, the first failure ends the run, as without."""
    tools, plugin = conversations.Tools(conversation.turns), CompactionPlugin(**conversation.settings)
    turns = [[(ask.tool, ask.arguments) for ask in turn] for turn in conversation.turns]
    model = scripted(*turns, "done")
    program = Program(agent(model, tools.check, tools.edit), plugin)
    if conversation.mode == "observe":
        with pytest.raises(ValueError, match=conversations.WRONG):
            await program.say("go")
        assert world.errors() == {"new": 1}
        return
    events = await program.say("go")
    said = [
        part.text or "" for request in model.read[-1:] for content in request.contents for part in content.parts or ()
    ]
    heard = [part.text or "" for request in model.read for part in request.contents[-1].parts or ()]
    told = [str(value) for answer in answers_in(events) for value in answer.values()]
    read = "\n".join([*told, *said, *heard])
    verify(conversation, Seen(plugin.runs.report(events[-1].invocation_id), tools.executed, read))


def test_the_example(tmp_path: Path) -> None:
    """It prints what the model read, and how it ended."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "with_google_adk.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    # Forty pages of 1,200 characters.
    assert lines[0].startswith("longest request: ")
    assert 10_000 < int(lines[0].split()[2].replace(",", "")) < 20_000
    assert lines[1] == "model reads: What is a cup of tea?"
    assert lines[2].startswith("model reads: {'error': \"[KeyError] at price (")
    assert lines[-1] == "it ended:    halted"


def test_message_lists_hold_the_objects_of_the_sdk():
    """
    Contents of `google.genai` are read, come back as they were, and the SDK takes what was edited.
    """
    asked = types.Part(function_call=types.FunctionCall(name="price", args={"item": "tea"}), thought_signature=b"sig")
    answer = types.Part.from_function_response(name="price", response={"error": "3.50 " * 100})
    messages = [
        types.Content(role="user", parts=[types.Part(text="what does tea cost?")]),
        types.Content(role="model", parts=[types.Part(text="hm", thought=True), asked]),
        types.Content(role="user", parts=[answer]),
    ]

    conversation = providers.read_list(messages, estimate_tokens)
    call, result = conversation.messages[1].parts[1], conversation.messages[2].parts[0]
    cut = [
        types.Content.model_validate(
            providers.gemini.GEMINI.write_message(with_text(conversation.messages[index], part, text, estimate_tokens))
        )
        for index, part, text in [(1, 1, '{"item": "t"}'), (2, 0, "cut")]
    ]

    assert (call.kind, call.tool, call.text) == ("call", "price", '{"item":"tea"}')
    assert (result.kind, result.tool, result.failed) == ("result", "price", True)
    assert providers.find_problems(conversation) == ()
    assert all(a is b for a, b in zip(messages, providers.write_list(conversation), strict=True))
    assert cut == [
        types.Content(
            role="model",
            parts=[
                types.Part(text="hm", thought=True),
                types.Part(
                    function_call=types.FunctionCall(name="price", args={"item": "t"}), thought_signature=b"sig"
                ),
            ],
        ),
        types.Content(role="user", parts=[types.Part.from_function_response(name="price", response={"error": "cut"})]),
    ]
    assert providers.plain(messages[1]) == {
        "role": "model",
        "parts": [
            {"text": "hm", "thought": True},
            {"functionCall": {"name": "price", "args": {"item": "tea"}}, "thoughtSignature": "c2ln"},
        ],
    }
