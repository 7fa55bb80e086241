"""The middleware that keeps LangChain's messages within the model's window."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import PrivateAttr

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context.exceptions import ContextOverflowError
from otel_errcompact_context.integrations.langchain import WindowMiddleware
from tests.integrations.windows.lists import LINES, ROOM, TooLongError, small

WAYS = pytest.mark.parametrize("way", ["sync", "async"])


class Model(GenericFakeChatModel):
    """Says what it is told to, remembers what it was given, and refuses some calls as too long."""

    refusals: list[int] = []  # noqa: RUF012 - pydantic copies it
    _given: list[list[Any]] = PrivateAttr(default_factory=list)

    def bind_tools(self, tools: Any, **_: Any) -> Model:
        """Return itself."""
        return self

    def _generate(self, messages: Any, *args: Any, **more: Any) -> Any:
        self._given.append(list(messages))
        if len(self._given) in self.refusals:
            raise TooLongError
        return super()._generate(messages, *args, **more)


@tool
def read(path: str) -> str:
    """Read a file."""
    return f"{path}\n{LINES}"


def asks(number: int) -> AIMessage:
    """An answer that asks for a call."""
    return AIMessage("", tool_calls=[{"name": "read", "args": {"path": f"{number}.py"}, "id": f"c{number}"}])


def model(calls: int, refusals: tuple[int, ...] = ()) -> Model:
    """A model that reads so many files."""
    return Model(messages=iter([*map(asks, range(calls)), AIMessage("done")]), refusals=list(refusals))


def run(agent: Any, way: str, text: str = "Read all.", thread: str = "t") -> dict[str, Any]:
    """Run an agent to its end."""
    given, config = {"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": thread}, "recursion_limit": 100}
    return asyncio.run(agent.ainvoke(given, config)) if way == "async" else agent.invoke(given, config)


def size(messages: list[Any]) -> int:
    """About what messages cost."""
    return sum(estimate_tokens(f"{message.content}{getattr(message, 'tool_calls', '')}") for message in messages)


@WAYS
@pytest.mark.duty("window")
def test_a_long_run_stays_within_the_window(way: str) -> None:
    """Each call fits and is in order, the same beginning is sent the same way, and the state keeps everything."""
    told = model(20)
    middleware = WindowMiddleware(small(window_tokens=6_000, reserve_tokens=1_000))
    done = run(create_agent(told, [read], middleware=[middleware]), way)
    assert len(done["messages"]) == 42
    assert all(message.content.endswith(LINES) for message in done["messages"] if isinstance(message, ToolMessage))
    assert len(told._given) == 21
    kept = 0
    for earlier, given in zip([[], *told._given], told._given, strict=False):
        assert size(given) <= 5_000
        calls = [call["id"] for message in given if isinstance(message, AIMessage) for call in message.tool_calls]
        assert calls == [message.tool_call_id for message in given if isinstance(message, ToolMessage)]
        kept += [message.content for message in given[: len(earlier)]] == [message.content for message in earlier]
    assert kept >= 18
    assert any("[errcompact " in message.content for message in told._given[-1])


@WAYS
def test_below_the_trigger_the_model_reads_the_very_messages(way: str) -> None:
    """Nothing is converted back that was not cut."""
    told = model(1)
    done = run(create_agent(told, [read], middleware=[WindowMiddleware(small())]), way)
    assert all(sent is kept for sent, kept in zip(told._given[-1], done["messages"], strict=False))


@WAYS
def test_a_refusal_is_survived(way: str) -> None:
    """The call is made again with less."""
    told = model(2, refusals=(3,))
    done = run(create_agent(told, [read], middleware=[WindowMiddleware(small())]), way)
    assert done["messages"][-1].content == "done"
    assert size(told._given[3]) < size(told._given[2])


def test_what_nothing_helps_is_raised() -> None:
    """With the provider's error as its cause."""
    told = model(2, refusals=tuple(range(3, 20)))
    with pytest.raises(ContextOverflowError) as raised:
        run(create_agent(told, [read], middleware=[WindowMiddleware(small())]), "sync")
    assert isinstance(raised.value.__cause__, TooLongError)


def reader(thread: str) -> Any:
    """A tool that says whose it is, and how often it was called."""
    calls = count()

    @tool("read")
    def own(path: str) -> str:
        """Read a file."""
        return f"{thread}-{next(calls)} {path}\n{LINES}"

    return own


def test_two_conversations_do_not_mix() -> None:
    """Though one middleware serves both, and they begin alike."""
    middleware = WindowMiddleware(small())
    for thread in ("a", "b"):
        told = model(9)
        agent = create_agent(told, [reader(thread)], middleware=[middleware], checkpointer=InMemorySaver())
        run(agent, "sync", thread=thread)
        other = "b-" if thread == "a" else "a-"
        said = [message.content for given in told._given for message in given]
        assert any(f"{thread}-0" in text for text in said)
        assert not any(text.startswith(other) or f" {other}" in text for text in said)


def test_texts_calls_and_pictures_come_back_as_they_were() -> None:
    """Whatever is cut beside them; what was said in blocks stays in blocks."""
    asked = {"name": "write", "args": {"path": "a.py", "text": "x" * 6_000}, "id": "w"}
    blocks: list[Any] = [{"type": "text", "text": "Look."}, "And here.", {"type": "image", "url": "https://x.io/a.png"}]
    said: list[Any] = [
        SystemMessage("Be short."),
        HumanMessage(blocks),
        AIMessage([{"type": "text", "text": "I write."}, {"type": "tool_use", "id": "w", "name": "write", "input": {}}],
                  tool_calls=[asked]),
        ToolMessage("written", tool_call_id="w"),
        AIMessage("y" * 4_000),
        HumanMessage("Go on."),
    ]  # fmt: skip
    told = Model(messages=iter([AIMessage("done")]))
    agent = create_agent(told, [], middleware=[WindowMiddleware(small(window_tokens=2_600))])
    agent.invoke({"messages": said})
    (given,) = told._given
    assert given[-1] is said[-1] or given[-1].content == "Go on."
    assert size(given) <= ROOM + 600
    assert all(isinstance(message, (SystemMessage, HumanMessage, AIMessage, ToolMessage)) for message in given)
    asked_again = [call for message in given if isinstance(message, AIMessage) for call in message.tool_calls]
    assert all(call["id"] == "w" and isinstance(call["args"], dict) for call in asked_again)


def test_tools_and_system_are_counted() -> None:
    """They take room as messages do."""
    told = model(2)
    agent = create_agent(told, [read], system_prompt="rule " * 900, middleware=[WindowMiddleware(small())])
    run(agent, "sync")
    assert size(told._given[-1][1:]) <= ROOM - 900
