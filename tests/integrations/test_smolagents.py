"""smolagents by the generic decorator: it has no hook that could change what the model reads of a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from smolagents import ChatMessage, LogLevel, MessageRole, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

import otel_errcompact as errcompact
from otel_errcompact.escalator.actions import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.integrations.conftest import World


class Scripted(Model):
    """Asks for the calls of a script, the last line for ever, and keeps what it was given to read."""

    def __init__(self, *script: dict[str, Any] | str) -> None:
        super().__init__()
        self.script = list(script)
        self.read: list[str] = []

    def generate(self, messages: list[ChatMessage], **_: Any) -> ChatMessage:
        self.read.append("\n".join(block["text"] for message in messages for block in message.content))
        wanted = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        name, arguments = ("final_answer", {"answer": wanted}) if isinstance(wanted, str) else ("price", wanted)
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(id=f"call_{len(self.read)}", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


executed: list[str] = []


def price(item: str) -> int:
    """
    Look up a price.

    Args:
        item: The item.
    """
    executed.append(item)
    return 3 if executed == ["milk", "milk"] else {"coffee": 3}[item]


def agent_of(run: errcompact.Run, model: Model) -> ToolCallingAgent:
    executed.clear()
    compacted = errcompact.compacted(run=run, failure=RuntimeError)
    return ToolCallingAgent(
        tools=[tool(compacted(price))],
        model=model,
        step_callbacks=[lambda _: run.check()],
        verbosity_level=LogLevel.OFF,
    )


@pytest.mark.duty("render", says="inside its own sentence")
@pytest.mark.duty("gate")
def test_a_tool_that_fails_for_ever_stops_at_the_threshold(world: World) -> None:
    """Three calls, three digests, no traceback, and the caller gets the halt itself."""
    model = Scripted({"item": "tea"})
    with errcompact.run("r", agent="shop") as run:
        agent = agent_of(run, model)
        with pytest.raises(errcompact.RunHalted):
            agent.run("What is tea?")
    assert executed == ["tea", "tea", "tea"]
    assert len(model.read) == 3
    assert "Error executing tool 'price'" in model.read[1]
    assert "[KeyError] at price (" in model.read[1]
    assert "again (x2, 2 in a row; " in model.read[2]
    assert "Traceback" not in "".join(model.read)
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert len(world.raw_errors()) == 3
    assert all(text.startswith("Traceback") for text in world.raw_errors())
    assert len(set(world.classes_on_spans())) == 1


@pytest.mark.duty("success")
def test_a_success_resolves(world: World) -> None:
    """The same call works the second time."""
    model = Scripted({"item": "milk"}, {"item": "milk"}, "3")
    with errcompact.run("r", agent="shop") as run:
        assert agent_of(run, model).run("What is coffee?") == "3"
    assert (world.errors(), world.resolutions(), world.runs()) == ({"new": 1}, 1, {"recovered": 1})


@pytest.mark.duty("ask", says="by the handler")
def test_a_pause_leaves_the_agent_and_its_memory_goes_on(world: World) -> None:
    """Smolagents has no dialogue of its own: the caller gets the pause, answers, and runs the agent on."""
    model = Scripted({"item": "tea"}, {"item": "tea"}, {"item": "tea"}, {"item": "coffee"}, "3")
    with errcompact.run("r", on_escalation=lambda escalation: errcompact.Pause("Ann looks at it")) as run:
        agent = agent_of(run, model)
        with pytest.raises(errcompact.RunPaused):
            agent.run("What is tea?")
        run.resume("we sell coffee")
        assert agent.run(run.digest(), reset=False) == "3"
    assert "OPERATOR: we sell coffee" in model.read[3]
    assert executed == ["tea", "tea", "tea", "coffee"]
    assert world.escalations() == {"continue": 1, "pause": 1}
    assert world.errors() == {"new": 1, "repeat": 2}


def test_where_the_library_only_observes_the_model_reads_what_it_would_read_without(world: World) -> None:
    """Failures are counted, nothing is refused, and nobody is asked."""
    plain, observed = (Scripted(*[{"item": "tea"}] * 7, "3") for _ in range(2))
    ToolCallingAgent(tools=[tool(price)], model=plain, verbosity_level=LogLevel.OFF).run("What is tea?")
    with errcompact.run("r", mode="observe", thresholds=errcompact.Thresholds()) as run:
        assert agent_of(run, observed).run("What is tea?") == "3"
    assert observed.read == plain.read
    assert len(executed) == 7
    assert set(world.escalations()) == {"unhandled"}


def test_what_the_handler_says_is_read_by_the_model(world: World) -> None:
    """With the digest of the call that it was asked about."""
    model = Scripted(*[{"item": "tea"}] * 3, "3")
    with errcompact.run("r", on_escalation=lambda _: errcompact.Continue("we sell coffee")) as run:
        agent_of(run, model).run("What is tea?")
    assert ["OPERATOR: we sell coffee" in text for text in model.read] == [False, False, False, True]


def test_in_the_mode_advise_a_loop_is_refused_and_never_halted(world: World) -> None:
    """The model reads why."""
    model = Scripted(*[{"item": "tea"}] * 8, "3")
    with errcompact.run("r", mode="advise", thresholds=errcompact.Thresholds()) as run:
        assert agent_of(run, model).run("What is tea?") == "3"
    assert len(executed) == 2
    assert "NOT EXECUTED: this exact call has failed 2 times" in model.read[-1]


def test_a_handler_that_raises_halts(world: World) -> None:
    """Its own failure is counted and visible."""

    def broken(escalation: errcompact.Escalation) -> Action:
        raise LookupError("nobody on call")

    with errcompact.run("r", on_escalation=broken) as run, pytest.raises(errcompact.RunHalted, match="nobody on call"):
        agent_of(run, Scripted({"item": "tea"})).run("What is tea?")
    assert world.internal_failures() == {"escalation_handler": 1}


@pytest.fixture
def instrumented() -> Iterator[None]:
    """The spans of OpenInference."""
    from openinference.instrumentation.smolagents import SmolagentsInstrumentor

    SmolagentsInstrumentor().instrument()
    yield
    SmolagentsInstrumentor().uninstrument()


@pytest.mark.duty("span", says="OpenInference")
def test_the_spans_of_an_instrumentation_are_not_counted_again(world: World, instrumented: None) -> None:
    """OpenInference writes the exception on the tool's span and on the step's."""
    with errcompact.run("r") as run, pytest.raises(errcompact.RunHalted):
        agent_of(run, Scripted({"item": "tea"})).run("What is tea?")
    assert {"SimpleTool", "execute_tool price"} <= {span.name for span in world.spans()}
    assert (world.errors(), world.runs()) == ({"new": 1, "repeat": 2}, {"halted": 1})


def test_the_example_runs(recipe_says: Callable[[str], list[str]]) -> None:
    """What it prints is what the page shows."""
    lines = recipe_says("with_smolagents.py")
    assert [line.split(":")[0] for line in lines] == [*["model reads"] * 6, "stopped", "result"]
    assert "[KeyError] at price (" in lines[1]
    assert lines[-1] == "result: halted"
