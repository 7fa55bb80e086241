"""Strands: the real agent loop keeps within a small window, with a model that follows a script."""

from __future__ import annotations

import gc
import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from strands import Agent, tool
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import ContextWindowOverflowException

from examples.fakes.strands_model import PlayedModel, uses
from otel_errcompact.digest.tokens import estimate_mixed_tokens
from otel_errcompact.integrations.strands import CompactionHooks
from otel_errcompact_context import ContextOptions, ContextWindow, MemoryArchive, OverflowGuard
from otel_errcompact_context.exceptions import ContextOverflowError
from otel_errcompact_context.guard.converse import ConverseList
from otel_errcompact_context.integrations.strands import WindowManager

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integrations.conftest import World

ROUNDS = 30
OPTIONS = ContextOptions(window_tokens=3_000, reserve_tokens=500, keep_results=2)
"""A room of 2,500 tokens for 30 results of about 150 each."""


def window_of(options: ContextOptions = OPTIONS, **more: Any) -> ContextWindow:
    return ContextWindow(options, archive=MemoryArchive(), count_tokens=estimate_mixed_tokens, observers=(), **more)


def tokens(messages: list[Any]) -> int:
    window = window_of(ContextOptions(window_tokens=1_000_000))
    return window.compact(ConverseList(messages).messages, format="anthropic").tokens_after if messages else 0


@tool
def profile(number: int) -> str:
    """Profile a module."""
    if number < 0:
        raise LookupError(f"no module {number}")
    return f"module {number}: 12 ms\n" * 30


def looking(rounds: int = ROUNDS) -> Callable[[list[Any]], list[dict[str, Any]]]:
    """A model that calls the tool so often, counting its own turns, and is done then."""
    asked = [0]

    def play(_: list[Any]) -> list[dict[str, Any]]:
        asked[0] += 1
        return [{"text": "done"}] if asked[0] > rounds else [uses("profile", f"c{asked[0]}", number=asked[0])]

    return play


class RefusingModel(PlayedModel):
    """
    Refuses lists of more than so many tokens.

    Args:
        limit: The most tokens that it takes.
        play: What it says.
        refusal: What it raises.
    """

    def __init__(self, limit: int, play: Any, refusal: Exception) -> None:
        super().__init__(play)
        self.limit = limit
        self.refusals = 0
        self._refusal = refusal

    async def stream(self, messages: list[Any], *more: Any, **others: Any) -> Any:
        if tokens(messages) > self.limit:
            self.refusals += 1
            raise self._refusal
        async for event in super().stream(messages, *more, **others):
            yield event


def assert_valid(messages: list[Any]) -> None:
    """Users and model alternate, and each call has its result in the next message."""
    roles = [message["role"] for message in messages]
    assert roles == [("user", "assistant")[place % 2] for place in range(len(roles))]
    for place, message in enumerate(messages):
        asked = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
        behind = messages[place + 1]["content"] if asked else []
        assert [block["toolResult"]["toolUseId"] for block in behind if "toolResult" in block] == asked


@pytest.mark.duty("window")
def test_a_long_run_stays_within_a_small_window() -> None:
    """At every call of the model; the task is in each, and the list that the agent keeps is the short one."""
    model = PlayedModel(looking())
    agent = Agent(model, tools=[profile], conversation_manager=WindowManager(window_of()), callback_handler=None)

    result = agent("Find the slowest module.")

    assert str(result) == "done\n"
    assert len(model.seen) == ROUNDS + 1
    beside = window_of().count_beside([agent.system_prompt, agent.tool_registry.get_all_tool_specs()])
    assert all(tokens(seen) + beside <= 2_500 for seen in model.seen)
    for seen in model.seen:
        assert_valid(seen)
        assert seen[0]["content"][0] == {"text": "Find the slowest module."}
    assert tokens(agent.messages) < 2_500
    # Without it all 30 results would be there.
    assert "[errcompact " in json.dumps(agent.messages)


async def test_between_two_cuts_the_messages_are_the_same_objects() -> None:
    """So that a provider's cache holds: most calls begin with just what the one before was."""
    lists: list[list[Any]] = []

    def play(messages: list[Any]) -> list[dict[str, Any]]:
        lists.append(list(agent.messages))  # Strands hands a copy of each to the model
        return asked(messages)

    asked = looking()
    agent = Agent(
        PlayedModel(play), tools=[profile], conversation_manager=WindowManager(window_of()), callback_handler=None
    )

    await agent.invoke_async("Find the slowest module.")

    grown = [
        len(before) < len(after) and all(one is other for one, other in zip(before, after, strict=False))
        for before, after in pairwise(lists)
    ]
    assert grown.count(False) <= 6
    assert not all(grown)


def test_two_agents_do_not_mix() -> None:
    """Though they share one manager: each has a session of its own, and only its own words."""
    manager = WindowManager(window_of())
    agents = [
        Agent(PlayedModel(looking()), tools=[profile], conversation_manager=manager, callback_handler=None)
        for _ in range(2)
    ]
    for agent, task in zip(agents, ("the first task", "the second task"), strict=True):
        agent(task)
    texts = [json.dumps(agent.messages) for agent in agents]
    assert ["the first task" in text for text in texts] == [True, False]
    assert ["the second task" in text for text in texts] == [False, True]
    assert manager.session(agents[0]) != manager.session(agents[1])
    # What is known of an agent ends with it.
    del agent, agents
    gc.collect()
    assert len(manager._talks) == 0


REFUSALS = [
    ContextWindowOverflowException("prompt is too long: 1800 tokens > 1200 maximum"),
    # One that Strands does not know.
    RuntimeError("the request exceeds the available context size. try increasing the context size"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: type(refusal).__name__)
def test_a_refusal_is_survived(refusal: Exception) -> None:
    """The window is smaller than the options say: the list is compacted harder, and the run ends as if nothing were."""
    model = RefusingModel(1_200, looking(), refusal)
    manager = WindowManager(window_of())
    agent = Agent(model, tools=[profile], conversation_manager=manager, callback_handler=None)

    result = agent("Find the slowest module.")

    assert str(result) == "done\n"
    assert 1 <= model.refusals <= 4
    assert len(model.seen) == ROUNDS + 1
    assert_valid(agent.messages)
    # It has learned of it.
    assert manager.guard.lowered_window(manager.session(agent)) < 3_000


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: type(refusal).__name__)
def test_what_compacting_does_not_help_is_told(refusal: Exception) -> None:
    """After as many attempts as the options say, with the model's own error as the cause."""
    model = RefusingModel(0, looking(), refusal)
    agent = Agent(
        model, tools=[profile], conversation_manager=WindowManager(window_of()), callback_handler=None,
        retry_strategy=None,
    )  # fmt: skip
    with pytest.raises(ContextOverflowError) as caught:
        agent("Find the slowest module.")
    assert caught.value.__cause__ is refusal
    assert model.refusals <= 3
    # The next invocation is a call of its own, with attempts of its own.
    model.limit = 10_000
    assert str(agent("And now?")) == "done\n"


def test_another_error_passes_through() -> None:
    """And the next invocation is a call of its own."""

    def broken(_: list[Any]) -> list[dict[str, Any]]:
        raise ValueError("no such model")

    agent = Agent(PlayedModel(broken), conversation_manager=WindowManager(window_of()), callback_handler=None)
    with pytest.raises(ValueError, match="no such model"):
        agent("go")
    agent.model = PlayedModel(lambda _: [{"text": "done"}])
    assert str(agent("on")) == "done\n"


def test_a_summary_is_written_without_blocking_the_loop() -> None:
    """By an asynchronous summariser, before the call of the model; after a refusal, too."""
    prompts: list[str] = []

    async def summarise(request: Any) -> str:
        prompts.append(request.prompt)
        return "Find the slowest module: all so far took 12 ms."

    model = RefusingModel(3_400, looking(), REFUSALS[0])
    options = ContextOptions(window_tokens=4_000, reserve_tokens=400)
    agent = Agent(
        model, tools=[profile], callback_handler=None,
        conversation_manager=WindowManager(window_of(options, summarize=summarise)),
    )  # fmt: skip
    agent("Find the slowest module.")
    assert prompts
    assert any("all so far took 12 ms" in json.dumps(seen) for seen in model.seen)
    for seen in model.seen:
        assert_valid(seen)


def test_outside_a_run_the_agent_s_list_is_compacted_at_once() -> None:
    """By the methods of every conversation manager."""
    manager = WindowManager(OverflowGuard(window_of()))
    agent = Agent(PlayedModel(looking()), tools=[profile], conversation_manager=manager, callback_handler=None)
    text = "module: 12 ms\n" * 60
    agent.messages[:] = [{"role": "user", "content": [{"text": "Find the slowest module."}]}]
    for number in range(12):
        result = {"toolUseId": f"c{number}", "status": "success", "content": [{"text": text}]}
        agent.messages.append({"role": "assistant", "content": [uses("profile", f"c{number}", number=number)]})
        agent.messages.append({"role": "user", "content": [{"toolResult": result}]})
    small = agent.messages[:3]

    manager.reduce_context(agent)
    asked = tokens(agent.messages)
    assert asked <= 1_500  # the target: six tenths of the room

    manager.reduce_context(agent, REFUSALS[0])
    assert tokens(agent.messages) < asked

    agent.messages[:] = small
    manager.apply_management(agent)
    assert all(one is other for one, other in zip(agent.messages, small, strict=True))

    with pytest.raises(ValueError, match="no overflow"):
        manager.reduce_context(agent, ValueError("no overflow"))


def test_a_session_that_is_restored_has_all_messages_and_is_compacted_anew(tmp_path: Path) -> None:
    """Nothing of the history is lost to the store, and the first call after it fits."""

    def agent_with(model: PlayedModel) -> Agent:
        return Agent(
            model, tools=[profile], conversation_manager=WindowManager(window_of()), callback_handler=None,
            session_manager=FileSessionManager("s1", storage_dir=str(tmp_path)), agent_id="a",
        )  # fmt: skip

    agent_with(PlayedModel(looking()))("Find the slowest module.")
    model = PlayedModel(lambda _: [{"text": "done"}])
    restored = agent_with(model)
    assert len(restored.messages) == 2 * ROUNDS + 2
    restored("And now?")
    assert tokens(model.seen[0]) <= 2_500
    assert_valid(model.seen[0])


def test_after_a_cut_digests_say_all_again(world: World) -> None:
    """A digest says its class at length once; what that was is gone from the list."""

    def play(messages: list[Any]) -> list[dict[str, Any]]:
        turn = turns.append(1) or len(turns)
        if turn in {1, 25}:
            return [uses("profile", f"c{turn}", number=-turn)]
        return [{"text": "done"}] if turn > 25 else [uses("profile", f"c{turn}", number=turn)]

    turns: list[int] = []
    seen: dict[bool, str] = {}
    for forgets in (True, False):
        turns.clear()
        hooks = CompactionHooks()
        manager = WindowManager(window_of(), runs=hooks.runs if forgets else None)
        agent = Agent(
            PlayedModel(play), tools=[profile], hooks=[hooks], conversation_manager=manager, callback_handler=None
        )
        agent("Find the slowest module.")
        results = [
            block["toolResult"] for message in agent.messages for block in message["content"] if "toolResult" in block
        ]
        text = next(result["content"][0]["text"] for result in results if result["toolUseId"] == "c25")
        seen[forgets] = re.sub(r" \(\w+\.py\)", "", text)
    assert "[LookupError] at profile: no module -25" in seen[True]
    assert "[LookupError]: no module -25" in seen[False]
