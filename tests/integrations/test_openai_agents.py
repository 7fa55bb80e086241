"""The OpenAI Agents SDK with its own scripted model: what the model reads, and how a run ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from agents import Agent, RunConfig, RunContextWrapper, Runner, RunState, function_tool, set_tracing_disabled
from agents.run_config import ToolExecutionConfig
from agents.testing import ScriptedModel, assistant_message, function_call
from opentelemetry import trace

import otel_errcompact as errcompact
from otel_errcompact.integrations.openai_agents import CompactionHooks, RunStopped, RunWaits
from tests.integrations.conversations import CONVERSATIONS, Conversation, Seen, Tools, verify

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


def asks_for(*items: str, start: int = 1) -> list[Any]:
    """The model's turns: a call for each item, numbered, so that no two turns have the same id."""
    return [[function_call("price", {"item": item}, call_id=f"call-{n}")] for n, item in enumerate(items, start=start)]


def done(text: str = "done") -> list[Any]:
    return [assistant_message(text)]


def read_by(model: ScriptedModel) -> list[str]:
    """The results of tools that the model read in its last call."""
    return results(model.last_call.input)


def results(items: str | Iterable[Any]) -> list[str]:
    return [item["output"] for item in items if isinstance(item, dict) and item.get("type") == "function_call_output"]


def config(compaction: CompactionHooks, **options: Any) -> RunConfig:
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
    compaction = CompactionHooks(agent="shop")
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
    assert stop.value.final_text == "I have stopped: price was tried 3 times without success."
    assert compaction.runs.report(stop.value.escalation.run_id).result == "halted"


def run(way: str, agent: Agent[Any], compaction: CompactionHooks, **options: Any) -> Any:
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
    """Two failures, a success of the same call and two more do not make three in a row."""
    failing = [True, True, False, True, True]

    def price(item: str) -> int:
        """Look up a price."""
        if failing.pop(0):
            raise KeyError(item)
        return 3

    model = ScriptedModel([*asks_for(*["coffee"] * 5), done()])
    compaction = CompactionHooks(agent="shop")
    result = run("run", Agent(name="clerk", model=model, tools=[function_tool(price)]), compaction)

    assert result.final_output == "done"
    assert world.errors() == {"new": 1, "repeat": 3}
    assert world.resolutions() == 1
    assert world.runs() == {"unresolved": 1}
    assert compaction.runs.report(compaction.run_id(result.context_wrapper)).result == "unresolved"


@pytest.mark.duty("ask")
@pytest.mark.parametrize("as_json", [False, True], ids=["state", "state as JSON"])
def test_an_approval_lets_a_paused_run_go_on(world: World, as_json: bool) -> None:
    """The fourth call waits for a human, then is executed once, with fresh counters."""
    shop = Shop()
    model = ScriptedModel([*asks_for(*["coffee"] * 4), done()])
    compaction = CompactionHooks(approval=True, on_escalation=lambda escalation: errcompact.Pause())
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
    compaction = CompactionHooks(approval=True, on_escalation=lambda escalation: errcompact.Pause())
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


def test_an_approval_of_all_calls_is_not_the_answer_of_another_run(world: World) -> None:
    """Two users' runs wait; what one of them allows for ever lets only their own go on."""
    shop = Shop()
    compaction = CompactionHooks(approval=True, on_escalation=lambda escalation: errcompact.Pause())
    options = {"hooks": compaction, "run_config": config(compaction)}

    async def wait(start: int) -> tuple[Agent, Any]:
        model = ScriptedModel([*asks_for(*["coffee"] * 4, start=start), done()])
        agent = Agent(name="clerk", model=model, tools=[compaction.guard(shop.tool())])
        return agent, await Runner.run(agent, "?", **options)

    async def humans() -> tuple[str, str, str]:
        (_, first), (agent, second) = await wait(1), await wait(5)
        state = await RunState.from_json(agent, second.to_state().to_json())
        state.approve(state.get_interruptions()[0], always_approve=True)
        shop.prices["coffee"] = 3
        resumed = await Runner.run(agent, state, **options)
        one, other = compaction.run_id(first.context_wrapper), compaction.run_id(second.context_wrapper)
        assert compaction.run_id(resumed.context_wrapper) == other
        return compaction.runs.of(one).verdict.standing, compaction.runs.report(other).result, resumed.final_output

    assert asyncio.run(humans()) == ("pause", "recovered", "done")
    assert world.escalations() == {"pause": 2, "continue": 1}


@pytest.mark.parametrize("guarded", [False, True], ids=["hooks alone", "guarded"])
def test_what_the_handler_says_is_read_by_the_model(world: World, guarded: bool) -> None:
    """With the digest that led to it, or, where a failure is only heard of in synchronous code, behind it."""
    shop = Shop()
    model = ScriptedModel([*asks_for(*["coffee"] * 4), done()])
    compaction = CompactionHooks(on_escalation=lambda escalation: errcompact.Continue("we sell tea"))
    tool = compaction.guard(shop.tool()) if guarded else shop.tool()
    run("run", Agent(name="clerk", model=model, tools=[tool]), compaction)

    told = [text.endswith("\nOPERATOR: we sell tea") for text in read_by(model)]
    assert told == [False, False, guarded, False]
    assert ({"role": "user", "content": "OPERATOR: we sell tea"} in model.calls[3].input) is not guarded


def test_a_guarded_tool_is_not_guarded_again(world: World) -> None:
    """The outer guard would take the inner one's digests for successes, and the loop would never end."""
    compaction = CompactionHooks()
    once = compaction.guard(Shop().tool())
    assert compaction.guard(once) is once


def test_a_pause_without_approvals_is_raised_and_can_be_resumed(world: World) -> None:
    """The exception has all that was done, and the context the run goes on with."""
    shop = Shop()
    model = ScriptedModel([*asks_for(*["coffee"] * 3), done()])
    compaction = CompactionHooks(on_escalation=lambda escalation: errcompact.Pause())
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
    assert world.runs() == {"unresolved": 1}


def test_parallel_calls_are_judged_each_for_itself(world: World) -> None:
    """A sibling's success does not end the streak of what fails, and nothing under way is cut."""
    shop = Shop()

    def tally() -> int:
        """Count."""
        shop.executed.append("count")
        return 1

    turns = [
        [function_call("price", {"item": "coffee"}, call_id=f"a{n}"), function_call("tally", {}, call_id=f"b{n}")]
        for n in range(9)
    ]
    compaction = CompactionHooks()
    agent = Agent(name="clerk", model=ScriptedModel(turns), tools=[shop.tool(), function_tool(tally)])
    with pytest.raises(RunStopped):
        run("run", agent, compaction)
    assert sorted(shop.executed) == ["coffee"] * 3 + ["count"] * 3
    assert world.errors() == {"new": 1, "repeat": 2}


def test_an_asynchronous_handler_is_awaited_and_one_that_raises_halts(world: World) -> None:
    """Its failure is visible apart from the tool's."""
    shop = Shop()

    async def handler(escalation: errcompact.Escalation) -> errcompact.Halt:
        await asyncio.sleep(0)
        raise ConnectionError("pager")

    compaction = CompactionHooks(on_escalation=handler)
    agent = Agent(name="clerk", model=ScriptedModel(asks_for(*["coffee"] * 9)), tools=[shop.tool()])
    with pytest.raises(RunStopped, match="the escalation handler failed: ConnectionError"):
        run("run", agent, compaction)
    assert world.internal_failures() == {"escalation_handler": 1}


def test_a_second_invocation_after_a_halt_starts_afresh(world: World) -> None:
    """A run is one invocation, although it is the same agent, and the same context object."""
    shop, compaction = Shop(), CompactionHooks()
    agent = Agent(name="clerk", model=ScriptedModel(asks_for(*["coffee"] * 6)), tools=[shop.tool()])
    for _ in range(2):
        with pytest.raises(RunStopped):
            run("run", agent, compaction, context={"user": 1})
    assert shop.executed == ["coffee"] * 6
    assert world.runs() == {"halted": 2}


def test_bad_arguments_unknown_tools_and_time_outs_are_failures(world: World) -> None:
    """The SDK makes a text of each itself; the first two are digested, a time-out is one line anyway."""

    async def slow() -> str:
        """Take long."""
        await asyncio.sleep(5)
        return ""

    turns = [
        [function_call("price", "{", call_id="1")],
        [function_call("prize", {}, call_id="2")],
        [function_call("slow", {}, call_id="3")],
        done(),
    ]
    model, compaction, shop = ScriptedModel(turns), CompactionHooks(), Shop()
    tools = [shop.tool(), function_tool(slow, timeout=0.01)]
    agent = Agent(name="clerk", model=model, tools=tools)
    run("run", agent, compaction, run_config=config(compaction, tool_not_found_behavior="return_error_to_model"))
    bad, unknown, late = read_by(model)
    assert bad.startswith("[InvalidArguments]")
    assert "Expecting property name enclosed in double quotes: line 1 column 2 (char 1); the arguments end there" in bad
    assert "prize" in unknown
    assert late == "Tool 'slow' timed out after 0.01 seconds."
    assert shop.executed == []
    assert world.errors() == {"new": 3}


def test_a_rejection_of_the_applications_own_is_no_failure(world: World) -> None:
    """A human who declines a call that needs approval anyway: the SDK's text stays."""
    shop, compaction = Shop(), CompactionHooks(approval=True)
    model = ScriptedModel([*asks_for("tea"), done()])
    tool = compaction.guard(shop.tool(needs_approval=True))
    agent = Agent(name="clerk", model=model, tools=[tool])

    async def human() -> Any:
        options = {"hooks": compaction, "run_config": config(compaction)}
        state = (await Runner.run(agent, "?", **options)).to_state()
        state.reject(state.get_interruptions()[0])
        return await Runner.run(agent, state, **options)

    asyncio.run(human())
    assert read_by(model) == ["Tool execution was not approved."]
    assert world.errors() == {}
    assert world.runs() == {"clean": 1}


def test_what_has_a_failure_function_of_its_own_is_given_ours(world: World) -> None:
    """The formatter is not asked for such a tool, and a sub-agent always is one."""
    shop, compaction = Shop(), CompactionHooks()
    tool = shop.tool(failure_error_function=compaction.on_failure)
    model = ScriptedModel([*asks_for("coffee"), done()])
    run("run", Agent(name="clerk", model=model, tools=[tool]), compaction)
    assert kinds(read_by(model)) == ["new"]
    assert world.errors() == {"new": 1}


def test_a_sub_agent_with_its_own_compaction_is_a_run_of_its_own(world: World) -> None:
    """Its halt is the answer of a tool to the agent around it, no failure of that tool, and ends its own run alone."""
    shop, outer, inner = Shop(), CompactionHooks(agent="outer"), CompactionHooks(agent="inner")
    helper = Agent(name="helper", model=ScriptedModel(asks_for(*["coffee"] * 9)), tools=[shop.tool()])
    tool = helper.as_tool(
        "helper", "Help.", hooks=inner, run_config=config(inner), failure_error_function=outer.on_failure
    )
    model = ScriptedModel([[function_call("helper", {"input": "?"}, call_id="help")], done()])
    result = run("run", Agent(name="boss", model=model, tools=[tool]), outer)
    assert result.final_output == "done"
    assert "halted: no escalation handler was given" in read_by(model)[0]
    assert shop.executed == ["coffee"] * 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.runs() == {"halted": 1, "clean": 1}


def test_a_sub_agent_without_one_is_part_of_the_run(world: World) -> None:
    """With the same hooks its end does not end the run around it, and its failures are the run's."""
    shop, compaction = Shop(), CompactionHooks()
    inner = ScriptedModel([*asks_for("coffee"), done(), *asks_for("coffee", "coffee")])
    helper = Agent(name="helper", model=inner, tools=[shop.tool()])
    tool = helper.as_tool("helper", "Help.", hooks=compaction, failure_error_function=compaction.on_failure)
    outer = ScriptedModel([[function_call("helper", {"input": "?"}, call_id=f"help-{n}")] for n in range(4)])
    with pytest.raises(RunStopped):
        run("run", Agent(name="boss", model=outer, tools=[tool]), compaction)
    assert shop.executed == ["coffee"] * 3
    assert world.runs() == {"halted": 1}


def test_a_handoff_is_the_same_run(world: World) -> None:
    """The next agent inherits what has failed."""
    shop, compaction = Shop(), CompactionHooks()
    second = Agent(name="second", model=ScriptedModel(asks_for("coffee", start=3)), tools=[shop.tool()])
    turns = [*asks_for("coffee", "coffee"), [function_call("transfer_to_second", {}, call_id="over")]]
    first = Agent(name="first", model=ScriptedModel(turns), tools=[shop.tool()], handoffs=[second])
    with pytest.raises(RunStopped):
        run("run", first, compaction)
    assert shop.executed == ["coffee"] * 3


@pytest.mark.duty("span")
@pytest.mark.parametrize("handled", [True, False], ids=["handled", "root cause"])
def test_a_span_inside_a_guarded_tool_is_part_of_the_call(world: World, handled: bool) -> None:
    """One occurrence counts once; one that was got over counts as handled."""

    def fetch() -> str:
        """Fetch."""
        try:
            with trace.get_tracer("http").start_as_current_span("GET"):
                raise ConnectionError("refused")
        except ConnectionError:
            if not handled:
                raise
        return "cached"

    compaction = CompactionHooks()
    model = ScriptedModel([[function_call("fetch", {}, call_id="1")], done()])
    run("run", Agent(name="clerk", model=model, tools=[compaction.guard(function_tool(fetch))]), compaction)
    assert world.errors() == ({"handled": 1} if handled else {"new": 1})


@pytest.mark.duty("span")
@pytest.mark.skipif(find_spec("openinference") is None, reason="the newest environment has the instrumentation")
@pytest.mark.parametrize("guarded", [False, True], ids=["hooks alone", "guarded"])
def test_the_span_of_an_instrumentation_is_the_same_occurrence(
    world: World, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """OpenInference's span fails, too, and has no event; it gets ours, or is told that there is one inside."""
    instrumentation = import_module("openinference.instrumentation.openai_agents")
    set_tracing_disabled(False)
    instrumentor = instrumentation.OpenAIAgentsInstrumentor()
    instrumentor.instrument(tracer_provider=trace.get_tracer_provider(), exclusive_processor=True)
    shop, compaction = Shop(), CompactionHooks()
    model = ScriptedModel([*asks_for("coffee"), done()])
    tool = compaction.guard(shop.tool()) if guarded else shop.tool()
    try:
        run("run", Agent(name="clerk", model=model, tools=[tool]), compaction)
    finally:
        instrumentor.uninstrument()
        set_tracing_disabled(True)
    (native,) = (span for span in world.spans() if span.name == "price")
    assert native.status.is_ok is False
    assert [event.name for event in native.events] == ([] if guarded else ["exception"])
    assert len(world.classes_on_spans()) == 1
    assert world.errors() == {"new": 1}


def test_a_guarded_tool_refuses_what_has_failed_too_often(world: World) -> None:
    """Identical calls of one turn count once; what has failed in two turns is not executed, and the model reads why."""
    shop, compaction = Shop(), CompactionHooks(thresholds=errcompact.Thresholds())
    turns = [[function_call("price", {"item": "coffee"}, call_id=f"{turn}-{n}") for n in range(2)] for turn in range(3)]
    one_by_one = ToolExecutionConfig(max_function_tool_concurrency=1)
    model = ScriptedModel([*turns, done()])
    agent = Agent(name="clerk", model=model, tools=[compaction.guard(shop.tool())])
    run("run", agent, compaction, run_config=config(compaction, tool_execution=one_by_one))
    assert shop.executed == ["coffee"] * 3
    told = read_by(model)
    assert kinds(told)[:2] == ["new", "again"]
    refused = "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since"
    assert [text.startswith(refused) for text in told] == [False] * 3 + [True] * 3
    assert world.errors() == {"new": 1, "repeat": 2}


def test_cancellation_passes_untouched(world: World) -> None:
    """It steers the program: no failure, no digest."""

    async def cancelled() -> str:
        """Be cancelled."""
        raise asyncio.CancelledError

    compaction = CompactionHooks()
    model = ScriptedModel([[function_call("cancelled", {}, call_id="1")], done()])
    tool = compaction.guard(function_tool(cancelled, failure_error_function=None))
    with pytest.raises(asyncio.CancelledError):
        run("run", Agent(name="clerk", model=model, tools=[tool]), compaction)
    assert world.errors() == {}


def test_what_an_operator_says_in_between_is_read_by_the_model(world: World) -> None:
    """Also where no call has failed since: at the end of the next model call's input."""
    compaction = CompactionHooks()

    def works(context: RunContextWrapper[Any]) -> str:
        """Work, while a human says something."""
        compaction.runs.of(compaction.run_id(context)).resume("it is open now")
        return "fine"

    model = ScriptedModel([[function_call("works", {}, call_id="1")], done()])
    run("run", Agent(name="clerk", model=model, tools=[function_tool(works)]), compaction)
    assert model.last_call.input[-1] == {"role": "user", "content": "OPERATOR: it is open now"}


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_a_conversation_comes_to_what_is_written(world: World, conversation: Conversation) -> None:
    """The same decisions as in every framework; only a guarded tool is refused."""
    tools, compaction = Tools(conversation.turns), CompactionHooks(**conversation.settings)
    ids = count()
    turns = [
        [function_call(ask.tool, ask.arguments, call_id=f"c{next(ids)}") for ask in turn] for turn in conversation.turns
    ]
    guarded = [compaction.guard(function_tool(tool)) for tool in (tools.check, tools.edit)]
    agent = Agent(name="clerk", model=ScriptedModel([*turns, done()]), tools=guarded)
    told: Any
    try:
        result = run("run", agent, compaction)
        told, run_id = result.to_input_list(), compaction.run_id(result.context_wrapper)
    except RunStopped as stop:
        told, run_id = [item.to_input_item() for item in stop.run_data.new_items], stop.escalation.run_id
    calls = [str(content) for call in agent.model.calls for content in call.input if "OPERATOR" in str(content)]
    read = "\n".join([*results(told), *calls[:1]])
    verify(conversation, Seen(compaction.runs.report(run_id), tools.executed, read))


def test_the_example_runs() -> None:
    """It shows the digests and the halt."""
    shown = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("[KeyError] at price (")
    assert "stopped: run " in shown
