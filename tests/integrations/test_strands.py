"""Strands: the real agent loop, with a model that follows a script."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.error
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import trace
from strands import Agent, tool
from strands.multiagent import GraphBuilder

import otel_errcompact as errcompact
from examples.fakes.strands_model import PlayedModel, uses
from otel_errcompact.integrations.strands import CompactionHooks
from tests.integrations import conversations
from tests.integrations.conversations import CONVERSATIONS, Conversation, Seen, verify

if TYPE_CHECKING:
    from collections.abc import Iterable

    from examples.fakes.strands_model import Content

    from .conftest import World

STOPPED = "I have stopped: boom was tried 3 times without success."
EXAMPLE = Path(__file__).parents[2] / "examples" / "with_strands.py"


def scripted(turns: Iterable[Content]) -> PlayedModel:
    """A model that says one turn after the other, and the last one again for ever."""
    left = list(turns)
    return PlayedModel(lambda messages: left.pop(0) if len(left) > 1 else left[0])


def failing(numbers: Iterable[int]) -> list[Content]:
    return [[uses("boom", f"call-{x}", x=x)] for x in numbers]


class Tools:
    """
    Tools that note what they were called with.
    """

    def __init__(self) -> None:
        self.calls: list[int] = []

    @tool
    def boom(self, x: int) -> str:
        """Fail for odd numbers."""
        self.calls.append(x)
        if x % 2:
            raise ValueError(f"bad x={x}")
        return "fine"


def agent_of(hooks: CompactionHooks, turns: Iterable[Content], *tools: Any, **options: Any) -> Agent:
    options.setdefault("name", "shop")
    return Agent(scripted(turns), tools=list(tools), hooks=[hooks], callback_handler=None, **options)


def results(agent: Agent) -> list[tuple[str, str]]:
    """What the agent's history says of its tools: status and text."""
    blocks = [
        block["toolResult"] for message in agent.messages for block in message["content"] if "toolResult" in block
    ]
    return [(block["status"], re.sub(r" \(\w+\.py\)", "", block["content"][0]["text"])) for block in blocks]


def key(world: World) -> str:
    (found,) = set(world.classes_on_spans())
    return f"#{found[:4]}"


@pytest.mark.duty("render")
@pytest.mark.duty("gate")
@pytest.mark.duty("span")
def test_a_tool_that_fails_for_ever_stops_at_the_threshold(world: World) -> None:
    """It runs three times, the model reads three digests, and the turn ends with the reason; native spans are on."""
    tools, hooks = Tools(), CompactionHooks()
    agent = agent_of(hooks, failing(range(1, 99, 2)), tools.boom)

    result = agent("go")

    assert tools.calls == [1, 3, 5]
    assert results(agent) == [
        ("error", f"[ValueError] at boom: bad x=1 {key(world)}"),
        ("error", f"[ValueError]: bad x=3 {key(world)} again (x2, 2 in a row; escalates at 3: try something else)"),
        ("error", f"[ValueError]: bad x=5 {key(world)} again (x3, 3 in a row; ESCALATED at 3: the run is stopped)"),
    ]
    assert result.stop_reason == "end_turn"
    assert STOPPED in str(result)
    assert hooks.report(agent).result == "halted"
    assert (hooks.report(agent).agent, hooks.report(agent).occurrences) == ("shop", 3)
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [text.splitlines()[-1] for text in world.raw_errors()] == [f"ValueError: bad x={x}" for x in (1, 3, 5)]
    assert len(world.classes_on_spans()) == 3
    native = [span for span in world.spans() if span.name == "execute_tool boom" and span.instrumentation_scope]
    assert [span.instrumentation_scope.name for span in native].count("strands.telemetry.tracer") == 3


@pytest.mark.duty("success")
async def test_a_success_resolves_and_one_beside_it_does_not(world: World) -> None:
    """Calls side by side, streamed: another tool's success leaves the row, the tool's own ends it."""

    @tool
    async def fine() -> str:
        """Work."""
        return "fine"

    tools, hooks = Tools(), CompactionHooks()
    turns = [
        [uses("boom", "a1", x=1), uses("fine", "a2")],
        [uses("boom", "b1", x=3), uses("fine", "b2")],
        [uses("boom", "c1", x=2)],
        [uses("boom", "d1", x=5)],
        [{"text": "done"}],
    ]
    agent = agent_of(hooks, turns, tools.boom, fine)

    async for _ in agent.stream_async("go"):
        pass

    assert tools.calls == [1, 3, 2, 5]
    assert [text for status, text in results(agent) if status == "error"][1:] == [
        f"[ValueError]: bad x=3 {key(world)} again (x2, 2 in a row; escalates at 3: try something else)",
        f"[ValueError]: bad x=5 {key(world)} again (x3)",
    ]
    assert world.resolutions() == 1
    assert world.escalations() == {}
    assert world.runs() == {"unresolved": 1}


@pytest.mark.duty("ask", says="before the next tools")
def test_a_human_is_asked_and_lets_the_run_go_on(world: World) -> None:
    """The next batch is an interrupt; the answer reaches the model, and each call is executed and counted once."""
    tools = Tools()
    hooks = CompactionHooks(on_escalation=lambda escalation: errcompact.Pause("a human must look at this"))
    agent = agent_of(
        hooks,
        [*failing((1, 3, 5)), [uses("boom", "last", x=7), uses("boom", "ok", x=2)], [{"text": "done"}]],
        tools.boom,
    )

    waiting = agent("go")
    assert (waiting.stop_reason, [(one.name, one.reason) for one in waiting.interrupts]) == (
        "interrupt", [("errcompact", "a human must look at this")],
    )  # fmt: skip
    assert (tools.calls, hooks.report(agent).result) == ([1, 3, 5], "halted")
    response = {"interruptId": waiting.interrupts[0].id, "response": "even orders work"}
    result = agent([{"interruptResponse": response}])

    assert sorted(tools.calls) == [1, 2, 3, 5, 7]
    assert str(result) == "done\n"
    assert agent.messages[-2]["content"][-1] == {"text": "even orders work"}
    assert world.errors() == {"new": 1, "repeat": 3}
    assert world.escalations() == {"pause": 1, "continue": 1}
    assert sum(world.runs().values()) == 1


def test_a_human_who_says_no_halts_the_run(world: World) -> None:
    """The tools that wait are not executed, and the turn ends."""
    tools, hooks = Tools(), CompactionHooks(on_escalation=lambda escalation: errcompact.Pause())
    agent = agent_of(hooks, failing(range(1, 99, 2)), tools.boom)

    waiting = agent("go")
    result = agent([{"interruptResponse": {"interruptId": waiting.interrupts[0].id, "response": False}}])

    assert tools.calls == [1, 3, 5]
    assert results(agent)[-1] == ("error", "a human said no")
    assert STOPPED in str(result)
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.runs() == {"halted": 1}


async def test_an_asynchronous_handler_decides_and_the_next_invocation_starts_afresh(world: World) -> None:
    """The handler is awaited once for each run."""
    told: list[int] = []

    async def on_escalation(escalation: errcompact.Escalation) -> errcompact.Halt:
        told.append(escalation.count)
        return errcompact.Halt("not today")

    tools, hooks = Tools(), CompactionHooks(on_escalation=on_escalation)
    agent = agent_of(hooks, failing(range(1, 99, 2)), tools.boom)

    assert STOPPED in str(await agent.invoke_async("go"))
    await agent.invoke_async("again")

    assert (told, tools.calls) == ([3, 3], [1, 3, 5, 7, 9, 11])
    assert world.errors() == {"new": 2, "repeat": 4}
    assert world.runs() == {"halted": 2}


def test_a_handler_that_raises_halts_the_run_and_is_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing goes on unseen, and the failure of the handler itself is visible."""
    monkeypatch.setattr(world.ledger.guard, "strict", False)

    def on_escalation(escalation: errcompact.Escalation) -> errcompact.Halt:
        raise OSError("the pager is down")

    tools, hooks = Tools(), CompactionHooks(on_escalation=on_escalation)
    agent_of(hooks, failing(range(1, 99, 2)), tools.boom)("go")

    assert tools.calls == [1, 3, 5]
    assert world.internal_failures() == {"escalation_handler": 1}
    assert world.runs() == {"halted": 1}


def test_an_agent_as_a_tool_has_a_run_of_its_own(world: World) -> None:
    """It halts; the agent around it reads why, goes on, and nothing is counted twice."""
    tools, hooks = Tools(), CompactionHooks()
    inner = agent_of(hooks, failing(range(1, 99, 2)), tools.boom, name="refunder")
    turns = [[uses("refunder", "t1", input="refund all")], [{"text": "done"}]]
    outer = agent_of(hooks, turns, inner.as_tool(), name="shop")

    assert str(outer("go")) == "done\n"

    assert tools.calls == [1, 3, 5]
    assert STOPPED in results(outer)[0][1]
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.runs() == {"halted": 1, "clean": 1}


def test_the_nodes_of_a_graph_are_runs_side_by_side(world: World) -> None:
    """They share an invocation state and still are told apart."""
    tools, hooks = Tools(), CompactionHooks()
    builder = GraphBuilder()
    for name in ("left", "right"):
        builder.add_node(agent_of(hooks, [*failing((1, 3)), [{"text": "done"}]], tools.boom, name=name), name)
        builder.set_entry_point(name)

    builder.build()("go")

    assert sorted(tools.calls) == [1, 1, 3, 3]
    assert world.errors() == {"new": 2, "repeat": 2}
    assert world.runs() == {"unresolved": 2}


def test_what_the_framework_fails_with_itself_counts(world: World) -> None:
    """An unknown tool and wrong arguments are failures, and so is a result that says so; a cancelled call is none."""

    @tool
    def says_no() -> dict[str, Any]:
        """Return a result that is an error."""
        return {"status": "error", "content": [{"text": "no such order: 41"}]}

    tools, hooks = Tools(), CompactionHooks()
    turns = [
        [uses("nope", "c1")], [uses("boom", "c2", x="one")], [uses("says_no", "c3")], [{"text": "done"}],
    ]  # fmt: skip
    agent = agent_of(hooks, turns, tools.boom, says_no)

    agent("go")

    assert tools.calls == []
    assert [status for status, _ in results(agent)] == ["error"] * 3
    assert world.errors() == {"new": 3}


def test_identical_calls_that_have_failed_are_refused(world: World) -> None:
    """Identical calls of one turn count once; what has failed in two turns is not executed, and the model reads why."""
    from strands.tools.executors import SequentialToolExecutor

    tools, hooks = Tools(), CompactionHooks(thresholds=errcompact.Thresholds())
    turns = [[uses("boom", f"call-{turn}-{place}", x=1) for place in range(2)] for turn in range(3)]
    agent = agent_of(hooks, [*turns, [{"text": "done"}]], tools.boom, tool_executor=SequentialToolExecutor())

    agent("go")

    assert tools.calls == [1, 1, 1]
    assert [(status, text.partition(" and ")[0]) for status, text in results(agent)[3:]] == [
        ("error", "NOT EXECUTED: this exact call has failed 2 times"),
    ] * 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.runs() == {"unresolved": 1}


def test_an_inner_span_that_fails_with_it_is_part_of_the_same_occurrence(world: World) -> None:
    """An HTTP client's span inside the tool is no second error; one that the tool got over is handled."""

    @tool
    def fetch(page: int) -> str:
        """Fetch a page."""
        with trace.get_tracer("http").start_as_current_span("GET"):
            raise urllib.error.URLError("connection refused")

    hooks = CompactionHooks()
    agent = agent_of(hooks, [[uses("fetch", "c1", page=1)], [{"text": "done"}]], fetch)

    agent("go")

    assert world.errors() == {"new": 1}
    assert world.runs() == {"unresolved": 1}


def test_a_tool_of_ones_own_that_interrupts_is_left_alone(world: World) -> None:
    """Control flow is no failure, and the run that resumes is the same."""
    asked: list[int] = []

    @tool(context=True)
    def confirm(tool_context: Any) -> str:
        """Ask."""
        asked.append(1)
        return f"answer {tool_context.interrupt('sure', reason='?')}"

    tools, hooks = Tools(), CompactionHooks()
    turns = [*failing((1,)), [uses("confirm", "c1")], *failing((3,)), [{"text": "done"}]]
    agent = agent_of(hooks, turns, tools.boom, confirm)

    waiting = agent("go")
    agent([{"interruptResponse": {"interruptId": waiting.interrupts[0].id, "response": "yes"}}])

    assert results(agent)[1] == ("success", "answer yes")
    assert world.errors() == {"new": 1, "repeat": 1}
    assert world.runs() == {"unresolved": 1}


def test_a_run_of_the_application_s_own_is_used(world: World) -> None:
    """Where the application has opened one, the invocations inside it are part of it; a direct call counts as well."""
    tools, hooks = Tools(), CompactionHooks()
    agent = agent_of(hooks, [*failing((1,)), [{"text": "done"}]], tools.boom)

    with errcompact.run("mine") as run:
        agent("go")
        agent.tool.boom(x=3)

    assert run.report().occurrences == 2
    assert world.errors() == {"new": 1, "repeat": 1}
    assert world.runs() == {"unresolved": 1}


def test_what_an_operator_says_in_between_is_read_by_the_model(world: World) -> None:
    """Also where no call has failed since: beside the results."""
    hooks = CompactionHooks()

    @tool
    def works() -> str:
        """Work, while a human says something."""
        hooks._find_run(agent).resume("it is open now")
        return "fine"

    agent = agent_of(hooks, [[uses("works", "a")], [{"text": "done"}]], works)
    agent("go")
    assert agent.messages[2]["content"][1:] == [{"text": "OPERATOR: it is open now"}]


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_a_conversation_comes_to_what_is_written(world: World, conversation: Conversation) -> None:
    """The same decisions as in every framework."""
    tools, hooks = conversations.Tools(conversation.turns), CompactionHooks(**conversation.settings)
    turns = [
        [uses(ask.tool, f"call-{at}-{place}", **ask.arguments) for place, ask in enumerate(turn)]
        for at, turn in enumerate(conversation.turns)
    ]
    agent = agent_of(hooks, [*turns, [{"text": "done"}]], tool(tools.check), tool(tools.edit))
    agent("go")
    blocks = [block for message in agent.messages for block in message["content"]]
    texts = [
        block["toolResult"]["content"][0]["text"] if "toolResult" in block else block.get("text", "")
        for block in blocks
    ]
    read = "\n".join(texts)
    verify(conversation, Seen(hooks.report(agent), tools.executed, read))


def test_the_example_runs(tmp_path: Path) -> None:
    """What it prints is what the page shows."""
    done = subprocess.run([sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    read = [line for line in lines if line.startswith("the model reads: ")]
    assert [line.startswith("the model reads: NOT EXECUTED: ") for line in read] == [False] * 2 + [True] * 4
    assert lines[-1] == "result: halted"
