"""The OpenAI Agents SDK with its own scripted model: what the model reads, and how a run ends."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from agents import Agent, RunConfig, Runner, RunState, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

import otel_errcompact as errcompact
from otel_errcompact.integrations.openai_agents import Compaction, RunStopped, RunWaits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agents import FunctionTool

    from tests.integrations.conftest import World

EXAMPLE = Path(__file__).parents[2] / "examples" / "with_openai_agents.py"


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")


class Shop:
    """Tools over a table, and what was executed."""

    def __init__(self) -> None:
        self.executed: list[str] = []
        self.prices = {"tea": 2}

    def price(self, item: str) -> int:
        """Look up a price."""
        self.executed.append(item)
        return self.prices[item]

    async def stock(self, item: str) -> int:
        """Count what is there."""
        self.executed.append(f"stock of {item}")
        await asyncio.sleep(0)
        return self.prices[item]

    def tool(self, **options: Any) -> FunctionTool:
        return function_tool(self.price, **options)


def asks_for(*items: str, tool: str = "price") -> list[Any]:
    """The model's turns: a call for each item, numbered, so that no two turns have the same id."""
    return [[function_call(tool, {"item": item}, call_id=f"call-{n}")] for n, item in enumerate(items, start=1)]


def done(text: str = "done") -> list[Any]:
    return [assistant_message(text)]


def read_by(model: ScriptedModel) -> list[str]:
    """The results of tools that the model read in its last call."""
    return results(model.last_call.input)


def results(items: str | Iterable[Any]) -> list[str]:
    return [item["output"] for item in items if isinstance(item, dict) and item.get("type") == "function_call_output"]


def config(compaction: Compaction, **options: Any) -> RunConfig:
    return RunConfig(tool_error_formatter=compaction.format_error, **options)


def kinds(texts: list[str]) -> list[str]:
    """What the model read: the digest of a new failure, a short line for one again, or else the text itself."""
    return [
        "new" if text.startswith("[KeyError] at price (") else "again" if " again (" in text else text for text in texts
    ]


@pytest.mark.duty("render")
@pytest.mark.duty("gate")
@pytest.mark.parametrize("way", ["run", "run_sync", "run_streamed"])
@pytest.mark.parametrize("guarded", [False, True], ids=["hooks alone", "guarded"])
def test_a_tool_that_fails_for_ever_stops_the_run(world: World, way: str, guarded: bool) -> None:
    """It is executed as often as the threshold says, the model reads that many digests, and nothing raw."""
    shop, model = Shop(), ScriptedModel(asks_for(*["coffee"] * 9))
    compaction = Compaction(agent="shop")
    tool = compaction.guard(shop.tool()) if guarded else shop.tool()
    with pytest.raises(RunStopped, match="no escalation handler was given") as stop:
        run(way, Agent(name="clerk", model=model, tools=[tool]), compaction)

    assert shop.executed == ["coffee"] * 3
    told = results(item.to_input_item() for item in stop.value.run_data.new_items)
    assert kinds(told) == ["new", "again", "again"]
    assert "Traceback" not in str(model.calls)
    assert len(model.calls) == 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [raw.splitlines()[-1] for raw in world.raw_errors()] == ["KeyError: 'coffee'"] * 3
    assert len(set(world.classes_on_spans())) == 1
    assert isinstance(stop.value, errcompact.RunHalted)
    assert compaction.runs.report(stop.value.escalation.run_id).result == "halted"


def run(way: str, agent: Agent[Any], compaction: Compaction, **options: Any) -> Any:
    options = {"hooks": compaction, "run_config": config(compaction)} | options

    async def streamed() -> Any:
        result = Runner.run_streamed(agent, "?", **options)
        async for _ in result.stream_events():
            pass
        return result

    if way == "run_sync":
        return Runner.run_sync(agent, "?", **options)
    return asyncio.run(Runner.run(agent, "?", **options) if way == "run" else streamed())


@pytest.mark.duty("success")
def test_a_success_ends_the_streak_and_the_run_ends_with_its_agent(world: World) -> None:
    """Two failures, a success and two more do not make three in a row."""
    shop = Shop()
    model = ScriptedModel([*asks_for("coffee", "coffee", "tea", "coffee", "coffee"), done()])
    compaction = Compaction(agent="shop")
    result = run("run", Agent(name="clerk", model=model, tools=[shop.tool()]), compaction)

    assert result.final_output == "done"
    assert world.errors() == {"new": 1, "repeat": 3}
    assert world.resolutions() == 1
    assert world.runs() == {"failed": 1}
    assert compaction.runs.report(compaction.run_id(result.context_wrapper)).result == "failed"


@pytest.mark.duty("ask")
@pytest.mark.parametrize("as_json", [False, True], ids=["state", "state as JSON"])
def test_an_approval_lets_a_paused_run_go_on(world: World, as_json: bool) -> None:
    """The fourth call waits for a human, then is executed once, with fresh counters."""
    shop = Shop()
    model = ScriptedModel([*asks_for(*["coffee"] * 4), done()])
    compaction = Compaction(approval=True, on_escalation=lambda escalation: errcompact.Pause())
    agent = Agent(name="clerk", model=model, tools=[compaction.guard(shop.tool())])
    options = {"hooks": compaction, "run_config": config(compaction)}

    async def human() -> Any:
        asked = await Runner.run(agent, "?", **options)
        assert [item.call_id for item in asked.interruptions] == ["call-4"]
        assert len(shop.executed) == 3
        shop.prices["coffee"] = 3
        state = asked.to_state()
        if as_json:
            state = await RunState.from_json(agent, state.to_json())
            asked = None
        state.approve(state.get_interruptions()[0])
        return await Runner.run(agent, state, **options)

    result = asyncio.run(human())
    assert shop.executed == ["coffee"] * 4
    assert read_by(model)[-1] == "3"
    assert result.final_output == "done"
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1, "continue": 1}
    assert world.resolutions() == 1
    assert world.runs() == {"recovered": 1}


@pytest.mark.duty("ask")
@pytest.mark.parametrize(
    ("said", "executed", "action"),
    [
        pytest.param(None, 3, "halt", id="no more"),
        pytest.param("try tea", 4, "continue", id="with a message to the agent"),
    ],
)
def test_a_rejection(world: World, said: str | None, executed: int, action: str) -> None:
    """Without a message it halts the run; with one, the agent reads it and goes on."""
    shop = Shop()
    model = ScriptedModel([*asks_for(*["coffee"] * 4, "tea"), done()])
    compaction = Compaction(approval=True, on_escalation=lambda escalation: errcompact.Pause())
    agent = Agent(name="clerk", model=model, tools=[compaction.guard(shop.tool())])
    options = {"hooks": compaction, "run_config": config(compaction)}

    async def human() -> Any:
        state = (await Runner.run(agent, "?", **options)).to_state()
        state.reject(state.get_interruptions()[0], rejection_message=said)
        return await Runner.run(agent, state, **options)

    if said is None:
        with pytest.raises(RunStopped, match="a human said no"):
            asyncio.run(human())
    else:
        asyncio.run(human())
        assert read_by(model)[-2:] == ["try tea", "2"]
    assert len(shop.executed) == executed
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1, action: 1}


def test_a_pause_without_approvals_is_raised_and_can_be_resumed(world: World) -> None:
    """The exception has all that was done, and the context the run goes on with."""
    shop = Shop()
    model = ScriptedModel([*asks_for(*["coffee"] * 3), done()])
    compaction = Compaction(on_escalation=lambda escalation: errcompact.Pause())
    agent = Agent(name="clerk", model=model, tools=[shop.tool()])
    with pytest.raises(RunWaits) as wait:
        run("run", agent, compaction)

    data = wait.value.run_data
    compaction.runs.of(wait.value.escalation.run_id).answer("the till is closed")
    history = [{"role": "user", "content": data.input}, *(item.to_input_item() for item in data.new_items)]
    options = {"hooks": compaction, "run_config": config(compaction), "context": data.context_wrapper}
    result = asyncio.run(Runner.run(agent, history, **options))
    assert result.final_output == "done"
    assert len(shop.executed) == 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.runs() == {"failed": 1}
