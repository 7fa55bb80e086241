"""The integration for LangChain agents and for LangGraph graphs that are written by hand."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from importlib.util import find_spec
from inspect import signature
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt
from opentelemetry import trace
from pydantic import BaseModel, ValidationError

import otel_errcompact as errcompact
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.integrations.langchain import CompactionMiddleware, CompactionState, past_gate
from tests.integrations import conversations
from tests.integrations.conversations import CONVERSATIONS, Conversation, Seen, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from otel_errcompact.escalator.actions import FinalText
    from tests.integrations.conftest import World

ROOT = Path(__file__).parents[2]
DONE = AIMessage("done")
STOPPED = "I have stopped: boom was tried 3 times without success."
FRAMES = '  File "app/files.py", line 7, in save\n    stream.write(data)\n'


class Model(GenericFakeChatModel):
    """A model that says what it is told to, and knows all tools."""

    def bind_tools(self, tools: Any, **_: Any) -> Model:
        """Return itself."""
        return self


def calls(*wanted: tuple[str, dict[str, Any]]) -> AIMessage:
    """A message that asks for tool calls, each with an id of its own."""
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c{next(_ids)}"} for name, args in wanted])


_ids = count()


def forever(name: str = "boom") -> Model:
    """A model that makes a failing call again and again, never the same one."""
    return Model(messages=(calls((name, {"x": x})) for x in count()))


def script(*messages: AIMessage) -> Model:
    """A model that says one message after another."""
    return Model(messages=iter(messages))


class Tools:
    """
    Tools that count their executions.
    """

    def __init__(self) -> None:
        self.executed: list[str] = []

    def boom(self, x: int) -> str:
        """Fail, the same way each time."""
        self.executed.append("boom")
        raise ValueError("no such column: amount")

    def works(self, x: int) -> str:
        """Work."""
        self.executed.append("works")
        return f"fine {x}"


def tool_messages(result: dict[str, Any]) -> list[ToolMessage]:
    """What the model was told by tools."""
    return [message for message in result["messages"] if isinstance(message, ToolMessage)]


def go(text: str = "go") -> dict[str, Any]:
    """What an agent is invoked with."""
    return {"messages": [HumanMessage(text)]}


def on(thread: str) -> Any:
    """The configuration of a thread."""
    return {"configurable": {"thread_id": thread}}


def invoked(agent: Any, config: Any = None) -> dict[str, Any]:
    return agent.invoke(go(), config)


def awaited(agent: Any, config: Any = None) -> dict[str, Any]:
    return asyncio.run(agent.ainvoke(go(), config))


def streamed(agent: Any, config: Any = None) -> dict[str, Any]:
    return list(agent.stream(go(), config, stream_mode="values"))[-1]


def streamed_asynchronously(agent: Any, config: Any = None) -> dict[str, Any]:
    async def all_of_it() -> list[dict[str, Any]]:
        return [state async for state in agent.astream(go(), config, stream_mode="values")]

    return asyncio.run(all_of_it())[-1]


WAYS = [
    pytest.param(invoked, id="invoke"),
    pytest.param(awaited, id="ainvoke"),
    pytest.param(streamed, id="stream"),
    pytest.param(streamed_asynchronously, id="astream"),
]


@pytest.mark.duty("render")
@pytest.mark.parametrize("way", WAYS)
def test_a_loop_ends(world: World, way: Callable[..., dict[str, Any]]) -> None:
    """A tool that fails the same way for ever is executed up to the threshold, and the model reads digests only."""
    tools = Tools()
    compaction = CompactionMiddleware(agent="shop")
    agent = create_agent(forever(), [tools.boom], middleware=[compaction])
    result = way(agent, on("t1"))

    first, second, third = tool_messages(result)
    assert tools.executed == ["boom", "boom", "boom"]
    assert first.content.startswith("[ValueError] at boom (")
    assert ": no such column: amount #" in first.content
    assert "again (x2, 2 in a row; escalates at 3" in second.content
    assert "again (x3, 3 in a row; ESCALATED at 3: the run is stopped)" in third.content
    assert {message.status for message in (first, second, third)} == {"error"}
    assert "Traceback" not in str(result["messages"])
    assert result["messages"][-1].content == STOPPED
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert compaction.runs.report("t1").result == "halted"
    assert [text.count("ValueError: no such column: amount") for text in world.raw_errors()] == [1, 1, 1]
    assert all(text.startswith("Traceback (most recent call last)") for text in world.raw_errors())
    assert len(world.classes_on_spans()) == 3
    assert len(set(world.classes_on_spans())) == 1


@pytest.mark.duty("success")
def test_success_resolves(world: World) -> None:
    """A success of the same operation resolves what it failed with; the run counts as recovered."""
    outcomes = iter([ValueError("locked"), ValueError("locked"), None])

    def query(x: int) -> str:
        """Query."""
        if (error := next(outcomes)) is not None:
            raise error
        return "42"

    model = script(*(calls(("query", {"x": x})) for x in range(3)), DONE)
    compaction = CompactionMiddleware()
    result = create_agent(model, [query], middleware=[compaction]).invoke(go(), on("t1"))

    assert [message.status for message in tool_messages(result)] == ["error", "error", "success"]
    assert tool_messages(result)[2].content == "42"
    assert world.errors() == {"new": 1, "repeat": 1}
    assert world.resolutions() == 1
    assert world.runs() == {"recovered": 1}


@pytest.mark.duty("gate")
def test_each_invocation_is_a_run(world: World) -> None:
    """On the same thread, an invocation after a halt starts afresh."""
    compaction = CompactionMiddleware()
    tools = Tools()
    agent = create_agent(forever(), [tools.boom], middleware=[compaction], checkpointer=InMemorySaver())
    agent.invoke(go(), on("t1"))
    agent.invoke(go(), on("t1"))

    assert len(tools.executed) == 6
    assert world.errors() == {"new": 2, "repeat": 4}
    assert world.escalations() == {"halt": 2}
    assert world.runs() == {"halted": 2}


def test_without_a_thread_each_invocation_is_a_run(world: World) -> None:
    """Invocations that have no thread id, as without a checkpointer, do not share a run."""
    tools = Tools()
    model = script(calls(("boom", {"x": 1})), calls(("boom", {"x": 2})), DONE, calls(("boom", {"x": 3})), DONE)
    agent = create_agent(model, [tools.boom], middleware=[CompactionMiddleware()])
    agent.invoke(go())
    agent.invoke(go())
    assert world.errors() == {"new": 2, "repeat": 1}
    assert world.escalations() == {}
    assert world.runs() == {"unresolved": 2}


def ask_and_resume(agent: Any, reply: Any) -> tuple[Any, dict[str, Any]]:
    asked = agent.invoke(go(), on("t1"))["__interrupt__"][0].value
    return asked, agent.invoke(Command(resume=reply), on("t1"))


def aask_and_resume(agent: Any, reply: Any) -> tuple[Any, dict[str, Any]]:
    async def both() -> tuple[Any, dict[str, Any]]:
        asked = (await agent.ainvoke(go(), on("t1")))["__interrupt__"][0].value
        return asked, await agent.ainvoke(Command(resume=reply), on("t1"))

    return asyncio.run(both())


def pauses(_: errcompact.Escalation) -> errcompact.Pause:
    """Wait for a human."""
    return errcompact.Pause("shall it go on?")


async def pauses_later(_: errcompact.Escalation) -> errcompact.Pause:
    """Wait for a human, asynchronously."""
    await asyncio.sleep(0)
    return errcompact.Pause("shall it go on?")


ASKING = [
    pytest.param(ask_and_resume, pauses, id="sync"),
    pytest.param(ask_and_resume, pauses_later, id="asynchronous handler, invoke"),
    pytest.param(aask_and_resume, pauses, id="async"),
    pytest.param(aask_and_resume, pauses_later, id="asynchronous handler, ainvoke"),
]


@pytest.mark.duty("ask")
@pytest.mark.parametrize(("way", "handler"), ASKING)
def test_a_human_lets_it_go_on(world: World, way: Callable[..., Any], handler: Any) -> None:
    """`Pause` interrupts; the reply goes to the model, no tool runs twice, and nothing counts twice."""
    tools = Tools()
    model = script(*(calls(("boom", {"x": x})) for x in range(3)), calls(("works", {"x": 7})), DONE)
    compaction = CompactionMiddleware(agent="shop", on_escalation=handler)
    agent = create_agent(model, [tools.boom, tools.works], middleware=[compaction], checkpointer=InMemorySaver())
    asked, result = way(agent, "use the column amount_cents")

    assert asked["question"] == "shall it go on?"
    assert asked["escalation"]["cause"] == "no such column: amount"
    assert asked["escalation"]["threshold"] == "same"
    assert tools.executed == ["boom", "boom", "boom", "works"]
    kinds = [message.type for message in result["messages"]]
    assert kinds == ["human", "ai", "tool", "ai", "tool", "ai", "tool", "human", "ai", "tool", "ai"]
    assert result["messages"][7].content == "use the column amount_cents"
    assert result["messages"][-1].content == "done"
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1, "continue": 1}
    assert world.runs() == {"unresolved": 1}


@pytest.mark.parametrize("reply", [False, {"action": "halt", "message": "leave it"}], ids=["no", "halt"])
@pytest.mark.parametrize("final_text", ["", "Please call us.", lambda escalation: f"{escalation.tool} is closed"])
def test_a_human_halts_it(world: World, reply: Any, final_text: FinalText) -> None:
    """A human who says no ends the run; what the end user reads is the application's."""
    tools = Tools()
    compaction = CompactionMiddleware(on_escalation=pauses, final_text=final_text)
    agent = create_agent(forever(), [tools.boom], middleware=[compaction], checkpointer=InMemorySaver())
    _, result = ask_and_resume(agent, reply)
    said = "boom is closed" if callable(final_text) else final_text or STOPPED
    assert result["messages"][-1].content == said
    assert len(tools.executed) == 3
    assert world.escalations() == {"pause": 1, "halt": 1}
    assert world.runs() == {"halted": 1}


def test_a_human_wants_to_be_asked_again(world: World) -> None:
    """A human may put the answer off."""
    tools = Tools()
    agent = create_agent(
        forever(), [tools.boom], middleware=[CompactionMiddleware(on_escalation=pauses)], checkpointer=InMemorySaver()
    )
    _, later = ask_and_resume(agent, {"action": "pause"})
    assert later["__interrupt__"][0].value["question"] == "shall it go on?"
    result = agent.invoke(Command(resume=False), on("t1"))
    assert result["messages"][-1].content == STOPPED
    assert len(tools.executed) == 3
    assert world.escalations() == {"pause": 1, "halt": 1}


def test_a_reply_that_nobody_understands(world: World) -> None:
    """After a reply of the wrong form the human is asked again, and told what was wrong."""
    tools = Tools()
    agent = create_agent(
        forever(), [tools.boom], middleware=[CompactionMiddleware(on_escalation=pauses)], checkpointer=InMemorySaver()
    )
    _, later = ask_and_resume(agent, 7)
    assert later["__interrupt__"][0].value["problem"].startswith("the answer to an escalation was 7; answer ")
    result = agent.invoke(Command(resume="halt"), on("t1"))
    assert result["messages"][-1].content == STOPPED
    assert world.escalations() == {"pause": 1, "halt": 1}


@pytest.mark.parametrize(
    ("reply", "executions", "last"),
    [
        pytest.param("go on", ["boom", "boom", "boom", "works"], "done", id="continue"),
        pytest.param(False, ["boom", "boom", "boom"], STOPPED, id="halt"),
    ],
)
def test_another_process_takes_the_reply(world: World, reply: Any, executions: list[str], last: str) -> None:
    """The question stands in the checkpoint: a process that knows nothing of the run obeys the reply."""
    tools, checkpoints = Tools(), InMemorySaver()

    def agent(model: Model) -> Any:
        middleware = [CompactionMiddleware(on_escalation=pauses)]
        return create_agent(model, [tools.boom, tools.works], middleware=middleware, checkpointer=checkpoints)

    agent(forever()).invoke(go(), on("t1"))
    elsewhere = Ledger()
    ours = CompactionMiddleware(on_escalation=pauses, ledger=elsewhere)
    other = create_agent(
        script(calls(("works", {"x": 7})), DONE), [tools.boom, tools.works], middleware=[ours], checkpointer=checkpoints
    )
    result = other.invoke(Command(resume=reply), on("t1"))
    assert tools.executed == executions
    assert result["messages"][-1].content == last
    assert world.escalations() == {"pause": 1}


def test_a_message_in_place_of_the_reply_begins_a_new_run(world: World) -> None:
    """Who sends a new message to a thread that waits has not answered; the agent begins anew."""
    tools = Tools()
    model = script(*(calls(("boom", {"x": x})) for x in range(4)), DONE)
    compaction = CompactionMiddleware(on_escalation=pauses)
    agent = create_agent(model, [tools.boom], middleware=[compaction], checkpointer=InMemorySaver())
    agent.invoke(go(), on("t1"))
    result = agent.invoke(go("something else"), on("t1"))
    assert result["messages"][-1].content == "done"
    assert world.errors() == {"new": 2, "repeat": 2}
    assert world.runs() == {"halted": 1, "unresolved": 1}


@pytest.mark.parametrize("way", WAYS)
def test_what_the_handler_says_is_read_by_the_model(world: World, way: Callable[..., dict[str, Any]]) -> None:
    """With the digest that led to it."""
    answers = iter([errcompact.Continue("the column is called total"), errcompact.Halt()])
    compaction = CompactionMiddleware(on_escalation=lambda _: next(answers))
    result = way(create_agent(forever(), [Tools().boom], middleware=[compaction]))

    told = [message.content.endswith("\nOPERATOR: the column is called total") for message in tool_messages(result)]
    assert told == [False, False, True, False, False, False]


def test_a_handler_that_raises(world: World) -> None:
    """The run halts, and the failure of the handler is counted."""

    def broken(_: errcompact.Escalation) -> errcompact.Halt:
        raise LookupError("no channel")

    agent = create_agent(forever(), [Tools().boom], middleware=[CompactionMiddleware(on_escalation=broken)])
    result = agent.invoke(go(), on("t1"))
    assert result["messages"][-1].content == STOPPED
    assert world.internal_failures() == {"escalation_handler": 1}
    assert world.runs() == {"halted": 1}


def test_an_identical_call_is_refused(world: World) -> None:
    """What has failed twice with the same arguments is not executed once more, until anything else has succeeded."""
    tools = Tools()
    model = script(
        *(calls(("boom", {"x": 1})) for _ in range(3)), calls(("works", {"x": 1})), calls(("boom", {"x": 1})), DONE
    )
    compaction = CompactionMiddleware(thresholds=errcompact.Thresholds())
    result = create_agent(model, [tools.boom, tools.works], middleware=[compaction]).invoke(go())
    assert tools.executed == ["boom", "boom", "works", "boom"]
    third = tool_messages(result)[2]
    assert (third.status, third.content.partition(";")[0]) == (
        "error", "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since",
    )  # fmt: skip
    assert world.errors() == {"new": 1, "repeat": 2}


@pytest.mark.parametrize("way", WAYS)
def test_parallel_calls(world: World, way: Callable[..., dict[str, Any]]) -> None:
    """The success of a sibling, of another tool, does not end the failing one's streak."""
    tools = Tools()
    rounds = (calls(("works", {"x": x}), ("boom", {"x": x}), ("works", {"x": -x})) for x in count())
    agent = create_agent(
        Model(messages=rounds), [tools.boom, tools.works], middleware=[CompactionMiddleware(agent="shop")]
    )
    result = way(agent, on("t1"))
    assert sorted(tools.executed) == ["boom"] * 3 + ["works"] * 6
    assert [message.status for message in tool_messages(result)] == ["success", "error", "success"] * 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}


def test_parallel_failures_under_way_are_not_cut(world: World) -> None:
    """Calls that are under way when one reaches the threshold are finished, and make one turn of the streak."""
    barrier = threading.Barrier(4, timeout=60)

    def boom(x: int) -> str:
        """Fail, together with all the others."""
        barrier.wait()
        raise ValueError("locked")

    model = script(calls(*(("boom", {"x": x}) for x in range(4))), DONE)
    agent = create_agent(model, [boom], middleware=[CompactionMiddleware(on_escalation=pauses)])
    result = agent.invoke(go(), {"max_concurrency": 4})
    assert len(tool_messages(result)) == 4
    assert world.errors() == {"new": 1, "repeat": 3}
    assert world.escalations() == {}
    assert result["messages"][-1].content == "done"


def test_messages_that_the_framework_makes(world: World) -> None:
    """Bad arguments and unknown tools count as failures, though the framework answers them itself."""
    tools = Tools()
    model = script(calls(("works", {"x": "many"})), calls(("nowhere", {"x": 1})), DONE)
    result = create_agent(model, [tools.works], middleware=[CompactionMiddleware()]).invoke(go())
    bad, unknown = tool_messages(result)
    assert tools.executed == []
    assert "x: Input should be a valid integer" in bad.content
    assert "nowhere is not a valid tool, try one of [works]" in unknown.content
    assert {bad.status, unknown.status} == {"error"}
    assert world.errors() == {"new": 2}


def test_results_that_are_errors(world: World) -> None:
    """An answer that the tool marks as an error counts, inside a command too, whose other updates stay."""

    @tool
    def flagged(x: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> ToolMessage:
        """Fail without raising."""
        return ToolMessage(
            f"Traceback (most recent call last):\n{FRAMES}OSError: quota exceeded",
            tool_call_id=tool_call_id,
            status="error",
            artifact={"x": x},
        )

    @tool
    def commanded(x: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Fail without raising, with more to say."""
        failed = ToolMessage(
            f"Traceback (most recent call last):\n{FRAMES}OSError: disk full", tool_call_id=tool_call_id, status="error"
        )
        return Command(update={"messages": [failed, HumanMessage("and this")]})

    @tool
    def several(x: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Work, by a command."""
        return Command(update={"messages": [ToolMessage("fine", tool_call_id=tool_call_id)]})

    wanted = [calls((name, {"x": 1})) for name in ("flagged", "commanded", "several")]
    agent = create_agent(script(*wanted, DONE), [flagged, commanded, several], middleware=[CompactionMiddleware()])
    result = agent.invoke(go())
    first, second, third = tool_messages(result)
    assert re.search(r"OSError: quota exceeded\n#\w{4}$", first.content)
    assert first.artifact == {"x": 1}
    assert re.search(r"OSError: disk full\n#\w{4}$", second.content)
    assert (third.content, third.status) == ("fine", "success")
    assert "and this" in [message.content for message in result["messages"]]
    assert world.errors() == {"new": 2}


def test_a_hidden_failure_is_marked(world: World) -> None:
    """A result that is plainly a failure, although the tool said success, is error-marked."""

    def run_tests(x: int) -> str:
        """Run the tests."""
        return "collected 3 items\n=== 1 failed, 2 passed in 0.31s ===\nFAILED tests/test_a.py::test_b - ValueError"

    result = create_agent(
        script(calls(("run_tests", {"x": 1})), DONE), [run_tests], middleware=[CompactionMiddleware()]
    ).invoke(go())
    assert tool_messages(result)[0].status == "error"
    assert world.errors() == {"new": 1}


def test_a_declined_call_is_no_failure(world: World) -> None:
    """What a human has declined counts neither as a failure nor as a success, and stays as it is."""

    @tool
    def pay(x: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> ToolMessage:
        """Pay, if a human lets it."""
        return ToolMessage("User rejected the tool call", tool_call_id=tool_call_id, status="error")

    result = create_agent(script(calls(("pay", {"x": 1})), DONE), [pay], middleware=[CompactionMiddleware()]).invoke(
        go()
    )
    assert tool_messages(result)[0].content == "User rejected the tool call"
    assert world.errors() == {}


@pytest.mark.parametrize("on_failure", ["continue", "error"])
def test_retries_inside(world: World, on_failure: Any) -> None:
    """Middleware that retries stands inside: a call with all its attempts counts once."""
    tools = Tools()
    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False, on_failure=on_failure)
    model = script(calls(("boom", {"x": 1})), DONE)
    result = create_agent(model, [tools.boom], middleware=[CompactionMiddleware(), retry]).invoke(go())
    assert tools.executed == ["boom", "boom"]
    assert "no such column: amount" in tool_messages(result)[0].content
    assert tool_messages(result)[0].status == "error"
    assert world.errors() == {"new": 1}


def test_an_interrupt_inside_a_tool_passes(world: World) -> None:
    """A tool may ask a human itself; that is no failure, and its success counts once it is answered."""

    def approve(x: int) -> str:
        """Ask."""
        return f"a human says {interrupt('may I?')}"

    model = script(calls(("approve", {"x": 1})), DONE)
    agent = create_agent(model, [approve], middleware=[CompactionMiddleware()], checkpointer=InMemorySaver())
    asked, result = ask_and_resume(agent, "yes")
    assert asked == "may I?"
    assert tool_messages(result)[0].content == "a human says yes"
    assert world.errors() == {}
    assert world.runs() == {"clean": 1}


@pytest.mark.skipif("response_schema" not in signature(interrupt).parameters, reason="came with LangGraph 1.2")
def test_a_reply_to_a_tool_that_does_not_fit_passes(world: World) -> None:
    """Where a human's reply does not fit what a tool has asked for, the run fails as LangGraph wants it to."""

    class Approval(BaseModel):
        approved: bool

    def approve(x: int) -> str:
        """Ask."""
        return str(interrupt("may I?", response_schema=Approval))

    model = script(calls(("approve", {"x": 1})), DONE)
    agent = create_agent(model, [approve], middleware=[CompactionMiddleware()], checkpointer=InMemorySaver())
    with pytest.raises(ValidationError):
        ask_and_resume(agent, {"approved": "perhaps"})
    result = agent.invoke(Command(resume={"approved": True}), on("t1"))
    assert tool_messages(result)[0].content == "approved=True"
    assert world.errors() == {}


def test_cancellation_passes(world: World) -> None:
    """A cancelled agent leaves no failure behind."""

    async def slow(x: int) -> str:
        """Take long."""
        await asyncio.sleep(60)
        return ""

    agent = create_agent(script(calls(("slow", {"x": 1})), DONE), [slow], middleware=[CompactionMiddleware()])

    async def cut_short() -> None:
        await asyncio.wait_for(agent.ainvoke(go()), 0.2)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(cut_short())
    assert world.errors() == {}


@pytest.mark.parametrize("thread", [pytest.param(None, id="no thread"), pytest.param("t1", id="thread")])
def test_a_sub_agent_has_a_run_of_its_own(world: World, thread: str | None) -> None:
    """A sub-agent that halts inside a tool call has its own run, and the outer call has not failed."""
    tools = Tools()
    compaction = CompactionMiddleware(agent="shop")
    inner = create_agent(forever(), [tools.boom], middleware=[compaction])

    def research(x: int) -> str:
        """Let another agent do it."""
        return str(inner.invoke(go())["messages"][-1].content)

    model = script(calls(("research", {"x": 1})), calls(("boom", {"x": 9})), DONE)
    outer = create_agent(model, [research, tools.boom], middleware=[compaction], checkpointer=InMemorySaver())
    result = outer.invoke(go(), on(thread or "other"))
    said, failed = tool_messages(result)
    assert said.status == "success"
    assert STOPPED in said.content
    assert failed.content.startswith("[ValueError] at boom (")
    assert world.errors() == {"new": 2, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1, "unresolved": 1}


def test_a_sub_agent_asks_through_its_outer_agent(world: World) -> None:
    """The question of a sub-agent interrupts the outer agent; the reply reaches the sub-agent, whose tools run once."""
    tools = Tools()
    inner = create_agent(
        script(*(calls(("boom", {"x": x})) for x in range(3)), AIMessage("found it")),
        [tools.boom],
        middleware=[CompactionMiddleware(agent="inner", on_escalation=pauses)],
    )

    def research(x: int) -> str:
        """Let another agent do it."""
        return str(inner.invoke(go())["messages"][-1].content)

    outer = create_agent(
        script(calls(("research", {"x": 1})), DONE),
        [research],
        middleware=[CompactionMiddleware(agent="outer")],
        checkpointer=InMemorySaver(),
    )
    asked, result = ask_and_resume(outer, "try the archive")
    assert asked["escalation"]["agent"] == "inner"
    assert tool_messages(result)[0].content == "found it"
    assert len(tools.executed) == 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1, "continue": 1}
    assert world.runs() == {"unresolved": 1, "clean": 1}


def test_the_applications_own_run(world: World) -> None:
    """Where the application has opened a run, the agent's calls belong to it, and it goes on after the agent."""
    tools = Tools()
    compaction = CompactionMiddleware()
    agent = create_agent(script(calls(("boom", {"x": 1})), DONE), [tools.boom], middleware=[compaction])
    with errcompact.run("mine", agent="app") as run:
        agent.invoke(go(), on("t1"))
        assert run.report().occurrences == 1
        assert world.runs() == {}
    assert world.runs() == {"unresolved": 1}


# Graphs that are written by hand.


def graph(compaction: CompactionMiddleware, model: Model, tools: list[Any], checkpointer: Any = None) -> Any:
    """A loop of a model and its tools, as the documentation of LangGraph has it, with a gate before the model."""

    def ask(state: CompactionState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    node = ToolNode(tools, wrap_tool_call=compaction.wrap_tool_call, awrap_tool_call=compaction.awrap_tool_call)
    made = StateGraph(CompactionState)
    made.add_node("begin", compaction.before_agent)
    made.add_node("gate", compaction.before_model)
    made.add_node("model", ask)
    made.add_node("tools", node)
    made.add_node("end", compaction.after_agent)
    made.add_edge(START, "begin")
    made.add_edge("begin", "gate")
    made.add_conditional_edges("gate", past_gate("model", "end"))
    made.add_conditional_edges("model", tools_condition, {"tools": "tools", "__end__": "end"})
    made.add_edge("tools", "gate")
    return made.compile(checkpointer=checkpointer)


@pytest.mark.parametrize("way", WAYS)
def test_a_loop_in_a_graph_ends(world: World, way: Callable[..., dict[str, Any]]) -> None:
    """In a graph that is written by hand the same hooks are nodes."""
    tools = Tools()
    result = way(graph(CompactionMiddleware(agent="shop"), forever(), [tools.boom]), on("t1"))
    assert len(tools.executed) == 3
    assert result["messages"][-1].content == STOPPED
    assert "Traceback" not in str(result["messages"])
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}


@pytest.mark.parametrize(("way", "handler"), ASKING)
def test_a_graph_asks_a_human(world: World, way: Callable[..., Any], handler: Any) -> None:
    """A graph is interrupted and resumed as an agent is."""
    tools = Tools()
    model = script(*(calls(("boom", {"x": x})) for x in range(3)), calls(("works", {"x": 7})), DONE)
    made = graph(CompactionMiddleware(on_escalation=handler), model, [tools.boom, tools.works], InMemorySaver())
    asked, result = way(made, "use the column amount_cents")
    assert asked["question"] == "shall it go on?"
    assert tools.executed == ["boom", "boom", "boom", "works"]
    assert result["messages"][7].content == "use the column amount_cents"
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1, "continue": 1}


@pytest.mark.parametrize("own", [pytest.param(True, id="application's run"), pytest.param(False, id="thread's run")])
def test_a_tool_node_alone(world: World, own: bool) -> None:
    """A `ToolNode` whose graph begins no run compacts all the same, in the application's run or the thread's."""
    tools = Tools()
    compaction = CompactionMiddleware()
    made = StateGraph(dict)
    made.add_node("tools", ToolNode([tools.boom], wrap_tool_call=compaction.wrap_tool_call))
    made.add_edge(START, "tools")
    made.set_finish_point("tools")
    compiled = made.compile()
    message = {"messages": [calls(("boom", {"x": 1}))]}
    if own:
        with errcompact.run("mine") as run:
            result = compiled.invoke(message)
            assert run.report().occurrences == 1
    else:
        result = compiled.invoke(message, on("t1"))
        assert compaction.runs.report("t1").occurrences == 1
    assert tool_messages(result)[0].content.startswith("[ValueError] at boom (")
    assert world.errors() == {"new": 1}


# Spans.


def requests_twice(x: int) -> str:
    """Fail once inside, handle that, and then fail for good."""
    tracer = trace.get_tracer("http")
    try:
        with tracer.start_as_current_span("GET /a"):
            raise ConnectionError("refused by a")
    except ConnectionError:
        pass
    with tracer.start_as_current_span("GET /b"):
        raise ConnectionError("refused by b")


@pytest.mark.parametrize("way", WAYS)
def test_spans_inside_a_tool(world: World, way: Callable[..., dict[str, Any]]) -> None:
    """What spans inside a tool record is handled, or what the call has failed with: it counts once."""
    agent = create_agent(
        script(calls(("requests_twice", {"x": 1})), DONE), [requests_twice], middleware=[CompactionMiddleware()]
    )
    way(agent)
    assert world.errors() == {"new": 1, "handled": 1}


@pytest.fixture(params=["openinference", "traceloop"])
def instrumented(request: pytest.FixtureRequest, world: World) -> Iterator[World]:
    """The world with the spans of an instrumentation of LangChain in it."""
    name = {
        "openinference": "openinference.instrumentation.langchain",
        "traceloop": "opentelemetry.instrumentation.langchain",
    }
    try:
        missing = find_spec(name[request.param]) is None
    except ModuleNotFoundError:
        missing = True
    if missing:
        pytest.skip(f"{name[request.param]} is not installed")
    module = __import__(name[request.param], fromlist=["LangChainInstrumentor", "LangchainInstrumentor"])
    instrumentor = getattr(module, "LangChainInstrumentor", None) or module.LangchainInstrumentor
    instrumentation = instrumentor()
    instrumentation.instrument(tracer_provider=trace.get_tracer_provider())
    yield world
    instrumentation.uninstrument()


@pytest.mark.duty("span")
@pytest.mark.parametrize("way", WAYS)
def test_instrumented(instrumented: World, way: Callable[..., dict[str, Any]]) -> None:
    """With the spans of an instrumentation beside ours, the same occurrence still counts once."""
    tools = Tools()
    rounds = (calls(("works", {"x": x}), ("boom", {"x": x})) for x in count())
    agent = create_agent(
        Model(messages=rounds), [tools.boom, tools.works], middleware=[CompactionMiddleware(agent="shop")]
    )
    way(agent, on("t1"))
    names = [span.name for span in instrumented.spans()]
    assert names.count("execute_tool boom") >= 3
    assert len(names) > 12
    assert instrumented.errors() == {"new": 1, "repeat": 2}
    assert instrumented.escalations() == {"halt": 1}
    assert instrumented.runs() == {"halted": 1}


def test_instrumented_interrupts(instrumented: World) -> None:
    """An interrupt that passes through the spans of an instrumentation is no failure."""
    tools = Tools()
    model = script(*(calls(("boom", {"x": x})) for x in range(3)), DONE)
    agent = create_agent(
        model, [tools.boom], middleware=[CompactionMiddleware(on_escalation=pauses)], checkpointer=InMemorySaver()
    )
    ask_and_resume(agent, True)
    assert instrumented.errors() == {"new": 1, "repeat": 2}
    assert instrumented.escalations() == {"pause": 1, "continue": 1}


def test_what_an_operator_says_in_between_is_read_by_the_model(world: World) -> None:
    """Also where no call has failed since: in a message before the next model call."""
    compaction = CompactionMiddleware()

    def works(x: int) -> str:
        """Work, while a human says something."""
        compaction.runs.of("t1").resume("it is open now")
        return "fine"

    model = script(calls(("works", {"x": 1})), DONE)
    result = create_agent(model, [works], middleware=[compaction]).invoke(go(), on("t1"))
    assert [message.text for message in result["messages"][2:]] == ["fine", "OPERATOR: it is open now", "done"]


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_a_conversation_comes_to_what_is_written(world: World, conversation: Conversation) -> None:
    """The same decisions as in every framework."""
    tools, compaction = conversations.Tools(conversation.turns), CompactionMiddleware(**conversation.settings)
    turns = [calls(*((ask.tool, ask.arguments) for ask in turn)) for turn in conversation.turns]
    around = ToolRetryMiddleware(max_retries=0, on_failure="continue")  # as it is, a failure ends the agent
    middleware = [around, compaction] if conversation.mode == "observe" else [compaction]
    agent = create_agent(script(*turns, DONE), [tools.check, tools.edit], middleware=middleware)
    result = agent.invoke(go(), on("t1"))
    read = "\n".join(str(message.content) for message in result["messages"])
    verify(conversation, Seen(compaction.runs.report("t1"), tools.executed, read))


def test_the_example(tmp_path: Path) -> None:
    """The example shows what the model read and how it ended: alone, with a human, in a window, and as a graph."""
    example = ROOT / "examples" / "with_langchain.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True, cwd=tmp_path)
    lines = done.stdout.splitlines()
    told = [line.partition("tool   ")[2] for line in lines if line.startswith("tool ")]
    failed, refused = ["[LookupError]", "[LookupError]:"], ["NOT"]
    ends = [text.split()[0] for text in told]
    stopped = [*failed, *refused * 4]
    assert ends == [*stopped, *failed, *refused * 2, "42", *stopped, *stopped]
    assert any(line.startswith("ai     I have stopped: ") for line in lines)
    assert "a human is asked: it keeps failing: go on?" in lines
    assert "human  use amount_cents" in lines
    assert [line for line in lines if line.startswith("# Run")] == [
        f"# Run orders: {result}" for result in ("halted", "recovered", "halted", "halted")
    ]
