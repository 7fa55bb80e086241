"""Microsoft Agent Framework, its real agent and function loop over a chat client that plays a script."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from agent_framework import (
    Agent,
    AgentResponse,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
    MiddlewareTermination,
    ResponseStream,
    tool,
)
from agent_framework.observability import ChatTelemetryLayer, disable_instrumentation, enable_instrumentation
from opentelemetry import trace

import otel_errcompact as errcompact
from otel_errcompact.escalator.actions import Action
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.integrations.agent_framework import ASK, CompactionMiddleware
from tests.integrations.conversations import CONVERSATIONS, Conversation, Seen, Tools, verify

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence

    from conftest import World

STOPPED = "I have stopped: boom was tried 3 times without success."
DIGESTS = [
    "[ValueError]: bad x=1 #{key} again (x2, 2 in a row; ",
    "[ValueError]: bad x=1 #{key} again (x3, 3 in a row; ESCALATED at 3",
]


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, ChatTelemetryLayer, BaseChatClient):
    """
    A model that plays what it is given, and then repeats the last; it keeps what it has read.
    """

    def __init__(self, *turns: str | list[str], **settings: Any) -> None:
        super().__init__(**settings)
        self.turns = list(turns)
        self.requests = 0
        self.read: list[str] = []
        self.heard: list[str] = []
        self.offered: set[str] = set()

    def _inner_get_response(
        self, *, messages: Sequence[Message], options: Mapping[str, Any], stream: bool = False, **_: object
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        self.requests += 1
        self.messages = messages
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        self.read += [str(one.result) for one in messages[-1].contents if one.exception is not None]
        self.heard += [str(one.text) for one in messages[-1].contents if messages[-1].role == "user"]
        self.offered |= {one.name for one in options.get("tools") or ()}
        contents = [Content.from_text(turn)] if isinstance(turn, str) else [self._call(name) for name in turn]

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(role="assistant", contents=contents)

        async def response() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", contents)])

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else response()

    def _call(self, name: str) -> Content:
        return Content.from_function_call(f"{name}-{self.requests}", name, arguments={"x": 1})


class Boom:
    """
    A tool that fails the same way until it is mended.
    """

    def __init__(self) -> None:
        self.executed = 0
        self.mended = False
        self.tools = [made(self.boom)]

    def boom(self, x: int) -> str:
        self.executed += 1
        if self.mended:
            return "fine"
        raise ValueError(f"bad x={x}")


def made(function: Any) -> FunctionTool:
    return tool(function, approval_mode="never_require")


def run(agent: Agent, message: object = "go", *, stream: bool = False, **options: Any) -> AgentResponse[Any]:
    async def running() -> AgentResponse[Any]:
        if not stream:
            return await agent.run(message, **options)
        streamed = agent.run(message, stream=True, **options)
        async for _ in streamed:
            pass
        return await streamed.get_final_response()

    return asyncio.run(running())


def digests(world: World) -> list[str]:
    """What the model must have read of a failure that recurs three times."""
    (key, *_) = world.classes_on_spans()
    first = f"[ValueError] at boom (test_agent_framework.py): bad x=1 #{key[:4]}"
    return [first, *(text.format(key=key[:4]) for text in DIGESTS)]


def begin_with(texts: list[str], starts: list[str]) -> bool:
    """Whether there are as many texts, which begin so."""
    return len(texts) == len(starts) and all(text.startswith(start) for text, start in zip(texts, starts, strict=True))


streaming = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.mark.duty("render")
@pytest.mark.duty("gate")
@streaming
def test_a_tool_that_fails_the_same_way_for_ever_stops_at_the_threshold(world: World, stream: bool) -> None:
    """Three executions, three requests, digests alone, and an answer that says why it ends."""
    client, boom, middleware = Client(["boom"]), Boom(), CompactionMiddleware(agent="shop")
    agent = Agent(client, tools=boom.tools, middleware=[middleware])
    session = agent.create_session()

    result = run(agent, stream=stream, session=session)

    assert (boom.executed, client.requests) == (3, 3)
    assert begin_with(client.read, digests(world)[:2])
    assert result.text == STOPPED
    results = [one.result for message in result.messages for one in message.contents if one.type == "function_result"]
    assert begin_with(results, digests(world))
    report = middleware.runs.report(session.session_id)
    assert (report.result, report.agent) == ("halted", "shop")
    assert (world.errors(), world.escalations(), world.runs()) == (
        {"new": 1, "repeat": 2}, {"halt": 1}, {"halted": 1},
    )  # fmt: skip
    assert ["bad x=1" in text and "Traceback" in text for text in world.raw_errors()] == [True] * 3
    assert len(set(world.classes_on_spans())) == 1


@pytest.mark.duty("ask")
@streaming
def test_a_human_is_asked_for_approval_and_the_run_goes_on(world: World, stream: bool) -> None:
    """What the human says besides is read by the model, which never sees the question; nothing runs or counts twice."""
    client, boom = Client(["boom"], ["boom"], ["boom"], ["boom"], "done"), Boom()
    middleware = CompactionMiddleware(on_escalation=lambda _: errcompact.Pause("is the shop open?"))
    agent = Agent(client, tools=boom.tools, middleware=[middleware])
    session = agent.create_session()

    (request,) = run(agent, stream=stream, session=session).user_input_requests
    assert (request.type, request.function_call.name) == ("function_approval_request", ASK)
    assert request.function_call.parse_arguments()["reason"] == "is the shop open?"
    assert (boom.executed, client.requests) == (3, 3)

    boom.mended = True
    reply = Message("user", [request.to_function_approval_response(approved=True), Content.from_text("it is open")])
    result = run(agent, reply, stream=stream, session=session)

    assert (result.text, boom.executed, client.requests) == ("done", 4, 5)
    assert client.heard == ["go", "it is open"]
    assert client.offered == {"boom"}
    assert (world.errors(), world.escalations(), world.runs(), world.resolutions()) == (
        {"new": 1, "repeat": 2}, {"pause": 1, "continue": 1}, {"recovered": 1}, 1,
    )  # fmt: skip


def test_a_run_without_a_session_is_found_again_by_the_request(world: World) -> None:
    """The application hands the history on, and the tool works in the end."""
    client, boom = Client(["boom"], ["boom"], ["boom"], ["boom"], "done"), Boom()
    middleware = CompactionMiddleware(on_escalation=lambda _: errcompact.Pause())
    agent = Agent(client, tools=boom.tools, middleware=[middleware])
    asked = run(agent)
    boom.mended = True

    approval = asked.user_input_requests[0].to_function_approval_response(approved=True)
    result = run(agent, [Message("user", ["go"]), *asked.messages, Message("user", [approval])])

    assert (result.text, boom.executed) == ("done", 4)
    assert (world.errors(), world.runs(), world.resolutions()) == ({"new": 1, "repeat": 2}, {"recovered": 1}, 1)


@streaming
def test_the_history_of_a_session_holds_digests(world: World, stream: bool) -> None:
    """What the model reads in the next invocation, too, is no longer the text that the framework has for all errors."""
    client = Client(["boom"], "done")
    agent = Agent(client, tools=Boom().tools, middleware=[CompactionMiddleware()])
    session = agent.create_session()
    run(agent, stream=stream, session=session)
    run(agent, "again", session=session)

    results = [one.result for message in client.messages for one in message.contents if one.type == "function_result"]
    assert results == digests(world)[:1]


def test_a_human_who_denies_halts_the_run(world: World) -> None:
    """And the next invocation of the same session starts afresh."""
    client, boom = Client(["boom"]), Boom()
    middleware = CompactionMiddleware(on_escalation=lambda _: errcompact.Pause())
    agent = Agent(client, tools=boom.tools, middleware=[middleware])
    session = agent.create_session()
    (request,) = run(agent, session=session).user_input_requests

    denied = run(agent, Message("user", [request.to_function_approval_response(approved=False)]), session=session)
    assert (STOPPED in denied.text, boom.executed) == (True, 3)

    client.turns = ["hello"]
    assert run(agent, session=session).text == "hello"
    assert world.runs() == {"halted": 1, "clean": 1}


@streaming
def test_a_new_message_in_place_of_a_reply_begins_a_new_run(world: World, stream: bool) -> None:
    """Nobody will answer: the session is not held up for ever."""
    client, boom = Client(["boom"]), Boom()
    agent = Agent(
        client,
        tools=boom.tools,
        middleware=[CompactionMiddleware(on_escalation=lambda _: errcompact.Pause())],
    )
    session = agent.create_session()
    assert len(run(agent, stream=stream, session=session).user_input_requests) == 1

    client.turns = ["hello"]
    assert run(agent, "never mind", stream=stream, session=session).text == "hello"
    assert world.runs() == {"halted": 1, "clean": 1}


def test_a_stream_that_was_abandoned_leaves_nothing_to_the_next_invocation(world: World) -> None:
    """Its run ends when the session is next invoked, whose failures count from one."""
    client = Client(["boom"], "done")
    agent = Agent(client, tools=Boom().tools, middleware=[CompactionMiddleware()])
    session = agent.create_session()

    async def abandon() -> None:
        async for update in agent.run("go", stream=True, session=session):
            if any(one.type == "function_result" for one in update.contents):
                return

    asyncio.run(abandon())
    client.turns = [["boom"], ["boom"], "done"]
    assert run(agent, session=session).text == "done"
    assert (world.errors(), world.runs()) == ({"new": 2, "repeat": 1}, {"unresolved": 2})


def test_an_agent_in_a_tool_with_the_session_of_the_agent_around_it_is_part_of_its_run(world: World) -> None:
    """It neither begins nor ends that run."""
    middleware = CompactionMiddleware()
    inner = Agent(Client(["boom"], "done"), name="inner", tools=Boom().tools, middleware=[middleware])
    client = Client(["inner"], ["boom"], ["boom"], "done")
    outer = Agent(
        client,
        name="outer",
        tools=[inner.as_tool(propagate_session=True), *Boom().tools],
        middleware=[middleware],
    )
    called = client._call
    client._call = lambda name: (  # type: ignore[method-assign]
        Content.from_function_call("1", name, arguments={"task": "go"}) if name == "inner" else called(name)
    )
    session = outer.create_session()

    assert STOPPED in run(outer, session=session).text
    assert (world.errors(), world.runs()) == ({"new": 1, "repeat": 2}, {"halted": 1})


def test_two_of_it_on_one_agent_are_refused(world: World) -> None:
    """Each would count all that fails."""
    agent = Agent(Client(["boom"], "done"), tools=Boom().tools, middleware=[CompactionMiddleware() for _ in range(2)])
    with pytest.raises(ConfigurationError, match="an agent has two CompactionMiddleware"):
        run(agent)
    assert world.errors() == {}


def test_what_the_handler_says_is_read_by_the_model(world: World) -> None:
    """With the digest that led to it."""
    client = Client(["boom"], ["boom"], ["boom"], "done")
    client.function_invocation_configuration["max_consecutive_errors_per_request"] = 9
    middleware = CompactionMiddleware(on_escalation=lambda _: errcompact.Continue("x is 2"))
    run(Agent(client, tools=Boom().tools, middleware=[middleware]))

    assert [text.endswith("\nOPERATOR: x is 2") for text in client.read] == [False, False, True]


def test_a_human_who_denies_in_another_process_halts_the_run(world: World) -> None:
    """Where nothing is known of the run: the request tells of it."""
    client, boom = Client(["boom"]), Boom()
    settings: dict[str, Any] = {"on_escalation": lambda _: errcompact.Pause()}
    agent = Agent(client, tools=boom.tools, middleware=[CompactionMiddleware(**settings)])
    asked = run(agent)
    (request,) = asked.user_input_requests
    world.ledger.end(request.function_call.parse_arguments()["run"])

    elsewhere = Agent(client, tools=boom.tools, middleware=[CompactionMiddleware(**settings)])
    answer = Message("user", [request.to_function_approval_response(approved=False)])
    denied = run(elsewhere, [Message("user", ["go"]), *asked.messages, answer])

    assert (
        STOPPED in denied.text,
        boom.executed,
        client.requests,
    ) == (True, 3, 3)


@pytest.mark.duty("success")
def test_a_success_resolves_the_error(world: World) -> None:
    """Two failures and a success, twice: nothing escalates."""
    client, boom = Client(*[["boom"], ["boom"], ["mend"], ["boom"], ["mend"]] * 2, "done"), Boom()

    def mend() -> str:
        boom.mended = not boom.mended
        return "mended"

    agent = Agent(client, tools=[*boom.tools, made(mend)], middleware=[CompactionMiddleware()])

    assert run(agent).text == "done"
    assert (boom.executed, world.errors(), world.escalations(), world.resolutions()) == (
        6, {"new": 1, "repeat": 3}, {}, 2,
    )  # fmt: skip


@pytest.mark.duty("span")
@pytest.mark.parametrize("sensitive", [False, True], ids=["plain", "sensitive"])
def test_with_native_spans_an_occurrence_counts_once(world: World, sensitive: bool) -> None:
    """The framework's span of the tool lies inside ours, with the exception only where sensitive data is enabled."""
    enable_instrumentation(enable_sensitive_data=sensitive, force=True)
    try:
        run(Agent(Client(["boom"], ["boom"], "done"), tools=Boom().tools, middleware=[CompactionMiddleware()]))
    finally:
        disable_instrumentation()

    native = [span for span in world.spans() if span.instrumentation_scope.name == "agent_framework"]
    assert sum(span.name == "execute_tool boom" for span in native) == 2
    assert world.errors() == {"new": 1, "repeat": 1}
    assert (len(world.raw_errors()), len(set(world.classes_on_spans()))) == (2, 1)


def test_a_span_that_fails_inside_a_tool_is_not_counted_besides(world: World) -> None:
    """As the root cause of the tool's failure it counts with it, and handled it is no failure of the run."""
    tracer = trace.get_tracer("http")

    def get() -> str:
        with tracer.start_as_current_span("GET"):
            raise ConnectionError("refused")

    def cached() -> str:
        try:
            return get()
        except ConnectionError:
            return "from the cache"

    client = Client(["get"], ["cached"], "done")
    run(Agent(client, tools=[made(get), made(cached)], middleware=[CompactionMiddleware()]))

    assert world.errors() == {"new": 1, "handled": 1}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_handler_that_raises_halts_the_run_and_is_counted(world: World, asynchronous: bool) -> None:
    """Its failure stands in the answer, and among our own failures."""

    def handler(_: errcompact.Escalation) -> Action:
        raise LookupError("nobody on duty")

    async def ahandler(escalation: errcompact.Escalation) -> Action:
        await asyncio.sleep(0)
        return handler(escalation)

    middleware = CompactionMiddleware(on_escalation=ahandler if asynchronous else handler)
    result = run(Agent(Client(["boom"]), tools=Boom().tools, middleware=[middleware]))

    assert STOPPED in result.text
    assert world.internal_failures() == {"escalation_handler": 1}


def test_the_success_of_a_sibling_does_not_end_a_streak(world: World) -> None:
    """Calls that run side by side: the one that fails stops the run after three requests."""
    boom = Boom()

    async def fine() -> str:
        await asyncio.sleep(0.001)
        return "fine"

    run(Agent(Client(["boom", "fine"]), tools=[*boom.tools, made(fine)], middleware=[CompactionMiddleware()]))

    assert (boom.executed, world.errors(), world.runs()) == (3, {"new": 1, "repeat": 2}, {"halted": 1})


def test_a_sub_agent_has_a_run_of_its_own(world: World) -> None:
    """Its halt is an answer to the agent around it, and counted nowhere else."""
    inner = Agent(Client(["boom"]), name="inner", tools=Boom().tools, middleware=[CompactionMiddleware()])
    client = Client(["inner"], "done")
    outer = Agent(client, name="outer", tools=[inner.as_tool()], middleware=[CompactionMiddleware()])
    client._call = lambda name: Content.from_function_call("1", name, arguments={"task": "go"})  # type: ignore[method-assign]

    assert run(outer).text == "done"
    assert (client.read, world.errors(), world.runs()) == ([], {"new": 1, "repeat": 2}, {"halted": 1, "clean": 1})


def test_what_the_framework_itself_refuses_counts(world: World) -> None:
    """Bad arguments, and a tool that does not exist; its own limit of errors in a row still holds."""
    client = Client(["strict"], ["nothing"], ["strict"], "done")

    def strict(x: list[int]) -> None:
        """Is never executed."""

    agent = Agent(client, tools=[made(strict)], middleware=[CompactionMiddleware()])
    assert run(agent).text == "done"

    bad, unknown, again = client.read
    assert "1 validation error for" in bad
    assert unknown.startswith('Error: Requested function "nothing" not found. #')
    assert "again (x2, " in again
    assert world.errors() == {"new": 2, "repeat": 1}


def test_control_flow_is_neither_failure_nor_success(world: World) -> None:
    """A tool that ends the loop ends it as ever."""

    def leave() -> str:
        raise MiddlewareTermination(result="left")

    client = Client(["leave"])
    run(Agent(client, tools=[made(leave)], middleware=[CompactionMiddleware()]))

    assert (client.requests, world.errors(), world.runs()) == (1, {}, {"clean": 1})


def test_an_answer_that_says_it_failed_counts(world: World) -> None:
    """Although the tool reported no failure."""

    def odd() -> dict[str, object]:
        return {"ok": False, "error": "quota exceeded"}

    client = Client(["odd"], "done")
    run(Agent(client, tools=[made(odd)], middleware=[CompactionMiddleware()]))

    assert world.errors() == {"new": 1}
    assert "quota exceeded" in client.read[0]


class Player(Client):
    """A model that plays a conversation."""

    def __init__(self, conversation: Conversation) -> None:
        limits = {"max_consecutive_errors_per_request": 99}
        super().__init__("done", function_invocation_configuration=limits)
        self.turns = [*map(str, range(len(conversation.turns)))]
        self.conversation = conversation

    def _inner_get_response(self, **options: Any) -> Any:
        at = self.requests
        asks = self.conversation.turns[at] if at < len(self.conversation.turns) else ()
        self.turns = [[str(place) for place in range(len(asks))] or "done"]
        return super()._inner_get_response(**options)

    def _call(self, name: str) -> Content:
        ask = self.conversation.turns[self.requests - 1][int(name)]
        return Content.from_function_call(f"{name}-{self.requests}", ask.tool, arguments=ask.arguments)


def test_what_an_operator_says_in_between_is_read_by_the_model(world: World) -> None:
    """Also where no call has failed since: in a message of its own."""
    client, middleware = Client(["works"], "done"), CompactionMiddleware()

    def works(x: int) -> str:
        middleware.runs.of("s").resume("it is open now")
        return "fine"

    agent = Agent(client, tools=[made(works)], middleware=[middleware])
    run(agent, session=agent.create_session(session_id="s"))
    assert client.heard == ["go", "OPERATOR: it is open now"]


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_a_conversation_comes_to_what_is_written(world: World, conversation: Conversation) -> None:
    """The same decisions as in every framework, where its own limit of errors in a row is higher."""
    client, middleware = Player(conversation), CompactionMiddleware(**conversation.settings)
    tools = Tools(conversation.turns)
    agent = Agent(client, tools=[made(tools.check), made(tools.edit)], middleware=[middleware])
    session = agent.create_session()
    result = run(agent, session=session)
    read = [str(one.result or one.text) for message in result.messages for one in message.contents]
    verify(
        conversation,
        Seen(middleware.runs.report(session.session_id), tools.executed, "\n".join([*read, *client.heard])),
    )


def test_the_example_runs(tmp_path: Path) -> None:
    """It prints what the model read and how it ended."""
    example = Path(__file__).parents[2] / "examples" / "with_agent_framework.py"
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert "no such column: amount" in done.stdout
    assert "I have stopped: " in done.stdout
