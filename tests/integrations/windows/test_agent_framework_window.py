"""Microsoft Agent Framework: its real agent and function loop keep what they send within a small window."""

from __future__ import annotations

import inspect
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatContext,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)
from agent_framework.observability import ChatTelemetryLayer

from otel_errcompact.digest.tokens import estimate_mixed_tokens
from otel_errcompact.integrations.agent_framework import CompactionMiddleware
from otel_errcompact_context import ContextOptions, ContextWindow, MemoryArchive
from otel_errcompact_context.exceptions import ContextOverflowError
from otel_errcompact_context.integrations.agent_framework import WindowMiddleware, _read, _write

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence

    from tests.integrations.conftest import World

ROUNDS = 30
TASK = "Find the slowest module."
OPTIONS = ContextOptions(window_tokens=3_000, reserve_tokens=500, keep_results=2)
"""A room of 2,500 tokens for 30 results of about 150 each."""

TELLS_SESSION = "session" in inspect.signature(ChatContext).parameters
REFUSAL = RuntimeError("prompt is too long: 1800 tokens > 1200 maximum")


def window_of(options: ContextOptions = OPTIONS, **more: Any) -> ContextWindow:
    return ContextWindow(options, archive=MemoryArchive(), count_tokens=estimate_mixed_tokens, observers=(), **more)


def tokens(messages: Sequence[Message]) -> int:
    read = [_read(message, place) for place, message in enumerate(messages)]
    return window_of(ContextOptions(window_tokens=1_000_000)).compact(read, format="anthropic").tokens_after


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, ChatTelemetryLayer, BaseChatClient):
    """
    Calls the tool so often, and is done then; refuses what is longer than its window.

    Args:
        rounds: How often it calls the tool.
        limit: The most tokens that it takes.
        refusal: What it raises.
        failing: The turns in which it asks for what there is not.
        usage: How many tokens it counts for each one that is estimated; 0 if it tells none.
    """

    def __init__(
        self,
        rounds: int = ROUNDS,
        limit: int = 1_000_000,
        refusal: Exception = REFUSAL,
        failing: tuple[int, ...] = (),
        usage: float = 0,
    ) -> None:
        super().__init__(function_invocation_configuration={"max_iterations": 60})
        self.rounds = rounds
        self.limit = limit
        self.refusal = refusal
        self.failing = failing
        self.usage = usage
        self.turns = 0
        self.refusals = 0
        self.read: list[list[Message]] = []
        self.beside = 0

    def _inner_get_response(
        self, *, messages: Sequence[Message], options: Mapping[str, Any], stream: bool = False, **_: object
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        said = [one.to_json_schema_spec() for one in options.get("tools") or ()]
        self.beside = window_of().count_beside([*said, options.get("instructions") or ""])

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(role="assistant", contents=self._play(messages))

        async def response() -> ChatResponse:
            counted = int((tokens(messages) + self.beside) * self.usage)
            contents = self._play(messages)
            usage: Any = {"input_token_count": counted} if self.usage else None
            return ChatResponse(messages=[Message("assistant", contents)], usage_details=usage)

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else response()

    def _play(self, messages: Sequence[Message]) -> list[Content]:
        if tokens(messages) > self.limit:
            self.refusals += 1
            raise self.refusal
        self.read.append(list(messages))
        self.turns += 1
        if self.turns > self.rounds:
            return [Content.from_text("done")]
        number = -self.turns if self.turns in self.failing else self.turns
        return [Content.from_function_call(f"c{len(self.read)}", "profile", arguments={"number": number})]


@tool(approval_mode="never_require")
def profile(number: int) -> str:
    """Profile a module."""
    if number < 0:
        raise LookupError(f"no module {number}")
    return f"module {number}: 12 ms\n" * 30


def agent_of(client: Client, *middleware: Any, **settings: Any) -> Agent:
    return Agent(client, tools=[profile], middleware=list(middleware), **settings)


async def ask(agent: Agent, text: str = TASK, *, stream: bool = False, session: Any = None) -> str:
    if not stream:
        return (await agent.run(text, session=session)).text
    answer = agent.run(text, session=session, stream=True)
    said = "".join([update.text async for update in answer])
    assert (await answer.get_final_response()).text == said
    return said


def assert_valid(messages: Sequence[Message]) -> None:
    """Each message with calls is followed by their results."""
    for place, message in enumerate(messages):
        asked = [one.call_id for one in message.contents if one.type == "function_call"]
        behind = messages[place + 1].contents if asked else []
        assert [one.call_id for one in behind if one.type == "function_result"] == asked
    assert messages[0].role == "user"


@pytest.mark.duty("window")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_long_run_stays_within_a_small_window(stream: bool) -> None:
    """At every call of the model; the task is in each, and the session keeps its history whole."""
    client = Client()
    agent = agent_of(client, WindowMiddleware(window_of()), instructions="Be brief.")
    session = agent.create_session()

    assert await ask(agent, stream=stream, session=session) == "done"

    assert len(client.read) == ROUNDS + 1
    assert all(tokens(read) + client.beside <= 2_500 for read in client.read)
    for read in client.read:
        talk = [message for message in read if message.role != "system"]
        assert_valid(talk)
        assert talk[0].text == TASK
    assert any("[errcompact" in json.dumps(_read(message, 0)) for message in client.read[-1])
    kept = next(state["messages"] for state in session.state.values() if "messages" in state)
    assert tokens(kept) > 4_500


async def test_between_two_cuts_each_request_begins_with_the_one_before() -> None:
    """So a provider's cache holds; what was not cut is the framework's own object."""
    client = Client()
    await ask(agent_of(client, WindowMiddleware(window_of())))

    def texts(messages: Sequence[Message]) -> list[str]:
        return [json.dumps(_read(message, 0)) for message in messages]

    grown = [texts(before) == texts(after)[: len(before)] for before, after in pairwise(client.read)]
    assert grown.count(False) <= 6
    assert not all(grown)
    own = [sum(one is other for one in before for other in after) for before, after in pairwise(client.read)]
    assert min(own[3:]) >= 1


async def test_two_conversations_do_not_mix() -> None:
    """Though they have one middleware and one client; with sessions and without."""
    client, window = Client(rounds=25), WindowMiddleware(window_of())
    agent = agent_of(client, window)
    bounds = []
    for text in ("the first task", "the second task"):
        for session in (None, agent.create_session()):
            client.turns = 0
            await ask(agent, text, session=session)
            bounds.append(len(client.read))
    said = [json.dumps([_read(message, 0) for message in read]) for read in client.read]
    assert all("the first" in text and "the second" not in text for text in said[: bounds[1]])
    assert all("the second" in text and "the first" not in text for text in said[bounds[1] :])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_refusal_is_survived(stream: bool) -> None:
    """The window is smaller than the options say: the request is compacted harder, and sent again."""
    client, window = Client(limit=1_200), WindowMiddleware(window_of())
    agent = agent_of(client, window)

    assert await ask(agent, stream=stream) == "done"

    assert 1 <= client.refusals <= 4
    assert len(client.read) == ROUNDS + 1
    for read in client.read:
        assert_valid(read)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_what_compacting_does_not_help_is_told(stream: bool) -> None:
    """After as many attempts as the options say, with the client's own error as the cause."""
    client = Client(limit=0)
    with pytest.raises(ContextOverflowError) as caught:
        await ask(agent_of(client, WindowMiddleware(window_of())), stream=stream)
    assert caught.value.__cause__ is REFUSAL
    assert client.refusals <= 3
    with pytest.raises(ValueError, match="no such model"):
        await ask(agent_of(Client(limit=0, refusal=ValueError("no such model")), WindowMiddleware(window_of())))


async def test_estimates_are_calibrated_by_usage() -> None:
    """Where the model counts half as much again, as much less is sent."""
    client, window = Client(usage=1.5), WindowMiddleware(window_of())
    await ask(agent_of(client, window))
    assert tokens(client.read[-1]) + client.beside <= 2_000


async def test_what_another_middleware_answers_is_handed_on() -> None:
    """Without a call of the model."""

    class Answers(ChatMiddleware):
        async def process(self, context: Any, call_next: Any) -> None:
            context.result = ChatResponse(messages=[Message("assistant", ["by rule"])])

    client = Client()
    assert await ask(agent_of(client, WindowMiddleware(window_of()), Answers())) == "by rule"
    assert client.read == []


async def test_a_summary_is_written_before_the_call() -> None:
    """By an asynchronous summariser."""

    async def summarise(_: Any) -> str:
        return f"{TASK} All so far took 12 ms."

    client = Client()
    await ask(agent_of(client, WindowMiddleware(window_of(summarize=summarise))))
    assert any("All so far took 12 ms" in message.text for read in client.read for message in read)
    for read in client.read:
        assert_valid(read)


@pytest.mark.skipif(not TELLS_SESSION, reason="this release tells its chat middleware of no session")
async def test_after_a_cut_digests_say_all_again(world: World) -> None:
    """A digest says its class at length once; what that was is gone from the request."""
    seen: list[str] = []
    for forgets in (True, False):
        compaction = CompactionMiddleware()
        window = WindowMiddleware(window_of(), runs=compaction.runs if forgets else None)
        client = Client(rounds=25, failing=(1, 25))
        agent = agent_of(client, compaction, window)
        await ask(agent, session=agent.create_session())
        seen.append(str(client.read[-1][-1].contents[0].result))
    assert "[LookupError] at profile" in seen[0]
    assert "[LookupError]: no module -25" in seen[1]


def test_each_content_is_read_as_what_it_means_and_written_back() -> None:
    """What was not changed is the very object; what was keeps all else that the framework knows of it."""
    image = Content.from_data(b"\x89PNG", media_type="image/png")
    failed = Content.from_function_result("c1", result="no", exception="ValueError: no")
    mixed = Content.from_function_result("c2", result=[Content.from_text("see"), image])
    message = Message(
        "tool",
        [
            Content.from_text("one"),
            Content.from_function_call("c1", "look", arguments='{"page": 1}'),
            failed,
            mixed,
            Content.from_text_reasoning(text="hm"),
            image,
            Content.from_data(b"%PDF", media_type="application/pdf"),
            Content.from_function_approval_request(
                "a1", Content.from_function_call("c9", "look", arguments={"page": 2})
            ),
        ],
        author_name="shop",
    )
    read = _read(message, 0)
    assert [block["type"] if "type" in block else block["media_type"] for block in read["content"]] == [
        "text",
        "tool_use",
        "tool_result",
        "tool_result",
        "thinking",
        "image",
        "application/pdf",
        "agent_framework_function_approval_request",
    ]
    assert read["content"][1]["input"] == {"page": 1}
    assert read["content"][2]["is_error"]
    assert [block["type"] for block in read["content"][3]["content"]] == ["text", "image"]
    # The archive has to hold all of it.
    assert "iVBO" in read["content"][5]["source"]

    edits = {0: {"text": "1"}, 1: {"input": {"page": "..."}}, 2: {"content": "short"}}
    blocks = [{**block, **edits.get(place, {})} for place, block in enumerate(read["content"])]
    made = _write({**read, "content": blocks}, [message])
    assert (made.role, made.author_name) == ("tool", "shop")
    assert made.contents[0].text == "1"
    assert made.contents[1].parse_arguments() == {"page": "..."}
    assert (made.contents[2].result, made.contents[2].exception) == ("short", "ValueError: no")
    assert all(one is other for one, other in zip(made.contents[3:], message.contents[3:], strict=True))
    assert message.contents[2].result == "no"
    assert _write({"role": "user", "content": "a marker"}, []).text == "a marker"
