"""Agno by the generic decorator: the text of whatever a tool raises is what its model reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from agno.agent import Agent
from agno.exceptions import StopAgentRun
from agno.models.base import Model
from agno.models.response import ModelResponse

import otel_errcompact as errcompact
from otel_errcompact.escalator.actions import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agno.models.message import Message

    from tests.integrations.conftest import World

TEA, COFFEE, MILK = {"item": "tea"}, {"item": "coffee"}, {"item": "milk"}


class Scripted(Model):
    """Asks for the calls of a script, the last line for ever, and keeps what it was given to read."""

    def __init__(self, *script: dict[str, Any] | str) -> None:
        super().__init__(id="scripted")
        self.script = list(script)
        self.read: list[list[tuple[str, bool | None]]] = []

    def invoke(self, messages: list[Message], **_: Any) -> ModelResponse:
        self.read.append([(str(message.content), message.tool_call_error) for message in messages])
        wanted = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(wanted, str):
            return ModelResponse(role="assistant", content=wanted)
        function = {"name": "price", "arguments": json.dumps(wanted)}
        call = {"id": f"c{len(self.read)}", "type": "function", "function": function}
        return ModelResponse(role="assistant", tool_calls=[call])

    async def ainvoke(self, messages: list[Message], **_: Any) -> ModelResponse:
        return self.invoke(messages)

    invoke_stream = ainvoke_stream = invoke
    _parse_provider_response = _parse_provider_response_delta = invoke


executed: list[str] = []


def price(item: str) -> int:
    """Look up a price."""
    executed.append(item)
    return 3 if executed == ["milk", "milk"] else {"coffee": 3}[item]


async def aprice(item: str) -> int:
    """Look up a price."""
    return price(item)


def agent_of(run: errcompact.Run, model: Model, function: Any = price) -> Agent:
    executed.clear()

    def error(digest: str) -> Exception:
        return StopAgentRun(digest) if run.gate() else RuntimeError(digest)

    compacted = errcompact.compacted(run=run, tool="price", failure=error)
    tool = compacted(function)
    tool.__name__ = "price"
    return Agent(model=model, tools=[tool], telemetry=False)


@pytest.mark.duty("render")
@pytest.mark.duty("gate")
def test_a_tool_that_fails_for_ever_stops_at_the_threshold(world: World) -> None:
    """Three calls, three digests marked as errors, no traceback; the run looks complete, and ours is halted."""
    model = Scripted(TEA)
    with errcompact.run("r", agent="shop") as run:
        answer = agent_of(run, model).run("What is tea?")
    results = [message for message in answer.messages or () if message.role == "tool"]
    assert executed == ["tea", "tea", "tea"]
    assert [message.tool_call_error for message in results] == [True, True, True]
    texts = [str(message.content).splitlines()[0] for message in results]
    assert texts[0].startswith("[KeyError] at price (")
    assert "again (x2, 2 in a row; " in texts[1]
    assert "again (x3, 3 in a row; ESCALATED at 3" in texts[2]
    assert "Traceback" not in str(answer.messages)
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [text.startswith("Traceback") for text in world.raw_errors()] == [True, True, True]
    assert len(set(world.classes_on_spans())) == 1


async def test_asynchronous_tools_stop_as_well(world: World) -> None:
    """The same where the agent awaits its tools."""
    with errcompact.run("r", agent="shop") as run:
        await agent_of(run, Scripted(TEA), aprice).arun("What is tea?")
    assert executed == ["tea", "tea", "tea"]
    assert (world.errors(), world.runs()) == ({"new": 1, "repeat": 2}, {"halted": 1})


@pytest.mark.duty("success")
def test_a_success_resolves(world: World) -> None:
    """The same call works the second time."""
    with errcompact.run("r", agent="shop") as run:
        assert agent_of(run, Scripted(MILK, MILK, "3")).run("What is milk?").content == "3"
    assert (world.errors(), world.resolutions(), world.runs()) == ({"new": 1}, 1, {"recovered": 1})


@pytest.mark.duty("ask", says="by the handler")
def test_a_pause_stops_the_agent_and_it_goes_on_after_the_answer(world: World) -> None:
    """Agno asks for confirmation only of tools that say so beforehand: the caller answers, and runs the agent on."""
    model = Scripted(TEA, TEA, TEA, COFFEE, "3")
    with errcompact.run("r", on_escalation=lambda escalation: errcompact.Pause("Ann looks at it")) as run:
        agent = agent_of(run, model)
        agent.run("What is tea?")
        assert run.verdict.standing == "pause"
        run.resume("we sell coffee")
        assert agent.run(run.digest()).content == "3"
    assert "OPERATOR: we sell coffee" in str(model.read[3])
    assert executed == ["tea", "tea", "tea", "coffee"]
    assert world.escalations() == {"continue": 1, "pause": 1}
    assert world.errors() == {"new": 1, "repeat": 2}


def test_where_the_library_only_observes_the_model_reads_what_it_would_read_without(world: World) -> None:
    """Failures are counted, nothing is refused, and nobody is asked."""
    plain, observed = Scripted(*[TEA] * 7, "3"), Scripted(*[TEA] * 7, "3")
    without = Agent(model=plain, tools=[price], telemetry=False).run("What is tea?")
    with errcompact.run("r", mode="observe", thresholds=errcompact.Thresholds()) as run:
        answer = agent_of(run, observed).run("What is tea?")
    assert results(answer) == results(without)
    assert len(executed) == 7
    assert set(world.escalations()) == {"unhandled"}


def results(answer: Any) -> list[tuple[str, bool]]:
    """What the model read of its calls."""
    return [(str(one.content), bool(one.tool_call_error)) for one in answer.messages or () if one.role == "tool"]


def test_what_the_handler_says_is_read_by_the_model(world: World) -> None:
    """With the digest of the call that it was asked about."""
    with errcompact.run("r", on_escalation=lambda _: errcompact.Continue("we sell coffee")) as run:
        answer = agent_of(run, Scripted(TEA, TEA, TEA, "3")).run("What is tea?")
    assert ["OPERATOR: we sell coffee" in text for text, _ in results(answer)] == [False, False, True]


def test_in_the_mode_advise_a_loop_is_refused_and_never_halted(world: World) -> None:
    """The model reads why."""
    with errcompact.run("r", mode="advise", thresholds=errcompact.Thresholds()) as run:
        answer = agent_of(run, Scripted(*[TEA] * 8, "3")).run("What is tea?")
    assert (answer.content, len(executed)) == ("3", 2)
    assert [text.startswith("NOT EXECUTED: ") for text, _ in results(answer)] == [False] * 2 + [True] * 6


def test_a_handler_that_raises_halts(world: World) -> None:
    """Its own failure is counted and visible."""

    def broken(escalation: errcompact.Escalation) -> Action:
        raise LookupError("nobody on call")

    with errcompact.run("r", on_escalation=broken) as run:
        agent_of(run, Scripted(TEA)).run("What is tea?")
        assert "nobody on call" in str(run.gate())
    assert world.internal_failures() == {"escalation_handler": 1}
    assert len(executed) == 3


@pytest.fixture
def instrumented() -> Iterator[None]:
    """The spans of OpenInference."""
    from openinference.instrumentation.agno import AgnoInstrumentor

    AgnoInstrumentor().instrument()
    yield
    AgnoInstrumentor().uninstrument()


@pytest.mark.duty("span", says="OpenInference")
def test_the_spans_of_an_instrumentation_are_not_counted_again(world: World, instrumented: None) -> None:
    """OpenInference's span of a tool says that it failed, and no more."""
    with errcompact.run("r") as run:
        agent_of(run, Scripted(TEA)).run("What is tea?")
    assert {"price", "execute_tool price"} <= {span.name for span in world.spans()}
    assert (world.errors(), world.runs()) == ({"new": 1, "repeat": 2}, {"halted": 1})


def test_the_example_runs(recipe_says: Callable[[str], list[str]]) -> None:
    """What it prints is what the page shows."""
    lines = recipe_says("with_agno.py")
    assert [line.split(":")[0] for line in lines] == [*["model reads"] * 6, "stopped", "result"]
    assert "[KeyError] at price (" in lines[1]
    assert lines[-1] == "result: halted"
