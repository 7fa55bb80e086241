"""The filter and the session that keep the items of the OpenAI Agents SDK within the model's window."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context.integrations.openai_agents import WindowFilter, WindowSession
from tests.integrations.windows.lists import LINES, small


@pytest.fixture(autouse=True)
def _offline() -> None:
    set_tracing_disabled(True)


@function_tool
def read(path: str) -> str:
    """Read a file."""
    return f"{path}\n{LINES}"


def agent_of(calls: int) -> tuple[Agent[Any], ScriptedModel]:
    """An agent that reads so many files, one after another."""
    asked = [[function_call("read", {"path": f"{number}.py"}, call_id=f"c{number}")] for number in range(calls)]
    model = ScriptedModel([*asked, [assistant_message("done")]])
    return Agent(name="reader", model=model, tools=[read]), model


def given_to(model: ScriptedModel) -> list[list[Any]]:
    """What each call of the model was given, as a list of items."""
    return [list(call.input) if not isinstance(call.input, str) else [] for call in model.calls]


def size(items: list[Any]) -> int:
    """About what items cost."""
    return sum(
        estimate_tokens(f"{item.get('content', '')}{item.get('output', '')}{item.get('arguments', '')}")
        for item in items
    )


@pytest.mark.duty("window", says="no retry after a refusal")
def test_a_long_run_stays_within_the_window() -> None:
    """Each call fits and is in order, and the same beginning is sent the same way."""
    agent, model = agent_of(20)
    kept_in = WindowFilter(small(window_tokens=6_000, reserve_tokens=1_000))
    config = RunConfig(call_model_input_filter=kept_in)
    result = Runner.run_sync(agent, "Read all.", run_config=config, max_turns=30)
    assert result.final_output == "done"
    lists = given_to(model)
    assert len(lists) == 21
    kept = 0
    for earlier, given in zip([[], *lists], lists, strict=False):
        assert size(given) <= 5_000
        calls = [item["call_id"] for item in given if item.get("type") == "function_call"]
        assert calls == [item["call_id"] for item in given if item.get("type") == "function_call_output"]
        kept += given[: len(earlier)] == earlier
    assert kept >= 18
    assert kept_in.guard.window.options.window_tokens == 6_000


def test_two_runs_do_not_mix() -> None:
    """Though one filter serves both."""
    config = RunConfig(call_model_input_filter=WindowFilter(small()))
    for text in ("Read all for Ada.", "Read all for Bob."):
        agent, model = agent_of(9)
        Runner.run_sync(agent, text, run_config=config, max_turns=30)
        assert all(given[0]["content"] == text for given in given_to(model) if given)


def test_a_session_keeps_what_fits() -> None:
    """What is stored is the compacted list, with every call beside its output."""

    async def run() -> tuple[list[Any], list[Any]]:
        stored = SQLiteSession("thread-7")
        session = WindowSession(stored, small())
        assert session.session_id == "thread-7"
        for number in range(4):
            agent, _ = agent_of(3)
            await Runner.run(agent, f"Read all, {number}.", session=session)
        items = await session.get_items()
        newest = await session.get_items(limit=1)
        popped = await session.pop_item()
        assert newest == [popped]
        await session.clear_session()
        return items, await stored.get_items()

    items, left = asyncio.run(run())
    assert left == []
    assert size(items) <= 1_500
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    assert calls == [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert any("[errcompact " in str(item.get("content", item.get("output"))) for item in items)
