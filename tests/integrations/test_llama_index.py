"""LlamaIndex by the generic decorator, and a gate in the agent's own step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool

import otel_errcompact as errcompact
from otel_errcompact.escalator.actions import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.integrations.conftest import World

read: list[list[str]] = []
executed: list[str] = []
script: list[list[str] | str] = []


class Scripted(MockLLM, FunctionCallingLLM):
    """Asks for the items of a script, the last line for ever; a text is the end."""

    metadata: ClassVar[Any] = LLMMetadata(is_function_calling_model=True)

    async def achat_with_tools(self, tools: Any, chat_history: list[ChatMessage], **_: Any) -> ChatResponse:
        read.append([str(message.content) for message in chat_history])
        wanted = script.pop(0) if len(script) > 1 else script[0]
        text = wanted if isinstance(wanted, str) else ""
        items = [] if isinstance(wanted, str) else wanted
        return ChatResponse(message=ChatMessage(role="assistant", content=text), raw={"items": items})

    _prepare_chat_with_tools = achat_with_tools

    def get_tool_calls_from_response(self, response: ChatResponse, **_: Any) -> list[ToolSelection]:
        items = response.raw["items"]
        return [
            ToolSelection(tool_id=f"c{len(read)}{index}", tool_name="price", tool_kwargs={"item": item})
            for index, item in enumerate(items)
        ]


class Gated(FunctionAgent):
    """An agent that passes the gate before each call of its model."""

    async def take_step(self, *args: Any, **kwargs: Any) -> Any:
        run = errcompact.current_run()
        assert run is not None
        await run.acheck()
        return await super().take_step(*args, **kwargs)


def price(item: str) -> int:
    """Look up a price."""
    executed.append(item)
    return 3 if executed == ["milk", "milk"] else {"coffee": 3}[item]


async def aprice(item: str) -> int:
    """Look up a price."""
    return price(item)


def agent_of(*lines: list[str] | str, function: Any = price) -> FunctionAgent:
    read.clear()
    executed.clear()
    script[:] = lines
    tool = FunctionTool.from_defaults(errcompact.compacted(tool="price", failure=RuntimeError)(function), name="price")
    return Gated(tools=[tool], llm=Scripted(), streaming=False)


@pytest.mark.duty("render")
@pytest.mark.duty("gate")
@pytest.mark.parametrize("function", [price, aprice])
async def test_a_tool_that_fails_for_ever_stops_at_the_threshold(world: World, function: Any) -> None:
    """Three calls, three digests marked as errors, no traceback, and the caller gets the halt itself."""
    with errcompact.run("r", agent="shop"):
        handler = agent_of(["tea"], function=function).run("What is tea?")
        results = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
        with pytest.raises(errcompact.RunHalted):
            await handler
    assert executed == ["tea", "tea", "tea"]
    assert [result.tool_output.is_error for result in results] == [True, True, True]
    texts = [result.tool_output.content.splitlines()[0] for result in results]
    assert texts[0].startswith("[KeyError] at price (")
    assert "again (x2, 2 in a row; " in texts[1]
    assert "again (x3, 3 in a row; ESCALATED at 3" in texts[2]
    assert len(read) == 3
    assert "Traceback" not in str(read)
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [text.startswith("Traceback") for text in world.raw_errors()] == [True, True, True]


@pytest.mark.duty("success")
async def test_a_success_resolves(world: World) -> None:
    """The same call works the second time."""
    with errcompact.run("r", agent="shop"):
        assert str(await agent_of(["milk"], ["milk"], "3").run("What is coffee?")) == "3"
    assert (world.errors(), world.resolutions(), world.runs()) == ({"new": 1}, 1, {"recovered": 1})


async def test_calls_side_by_side_are_counted_each(world: World) -> None:
    """Two failures of one turn are two occurrences."""
    with errcompact.run("r", agent="shop"):
        await agent_of(["tea", "tea"], "no").run("What is tea?")
    assert executed == ["tea", "tea"]
    assert world.errors() == {"new": 1, "repeat": 1}


@pytest.mark.duty("ask", says="by the handler")
async def test_a_pause_leaves_the_agent_and_it_goes_on_after_the_answer(world: World) -> None:
    """The caller gets the pause, answers, and runs the agent on with what the human said."""

    async def ask(escalation: errcompact.Escalation) -> errcompact.Pause:
        return errcompact.Pause("Ann looks at it")

    with errcompact.run("r", on_escalation=ask) as run:
        agent = agent_of(["tea"], ["tea"], ["tea"], ["coffee"], "3")
        with pytest.raises(errcompact.RunPaused):
            await agent.run("What is tea?")
        run.resume("we sell coffee")
        assert str(await agent.run(run.digest())) == "3"
    assert "OPERATOR: we sell coffee" in str(read[3])
    assert executed == ["tea", "tea", "tea", "coffee"]
    assert world.escalations() == {"continue": 1, "pause": 1}
    assert world.errors() == {"new": 1, "repeat": 2}


async def test_where_the_library_only_observes_the_model_reads_what_it_would_read_without(world: World) -> None:
    """Failures are counted, nothing is refused, and nobody is asked."""
    turns = [*[["tea"]] * 7, "3"]
    with errcompact.run("r", mode="observe", thresholds=errcompact.Thresholds()):
        assert str(await agent_of(*turns).run("What is tea?")) == "3"
        observed, known = list(read), len(executed)
        agent = agent_of(*turns)
        agent.tools = [FunctionTool.from_defaults(price, name="price")]
        await agent.run("What is tea?")
    assert observed == read
    assert known == 7
    assert set(world.escalations()) == {"unhandled"}


async def test_what_the_handler_says_is_read_by_the_model(world: World) -> None:
    """With the digest of the call that it was asked about."""
    with errcompact.run("r", on_escalation=lambda _: errcompact.Continue("we sell coffee")):
        await agent_of(["tea"], ["tea"], ["tea"], "3").run("What is tea?")
    assert ["OPERATOR: we sell coffee" in str(text) for text in read] == [False, False, False, True]


async def test_in_the_mode_advise_a_loop_is_refused_and_never_halted(world: World) -> None:
    """The model reads why."""
    with errcompact.run("r", mode="advise", thresholds=errcompact.Thresholds()):
        assert str(await agent_of(*[["tea"]] * 8, "3").run("What is tea?")) == "3"
    assert len(executed) == 2
    assert "NOT EXECUTED: this exact call has failed 2 times" in str(read[-1])


async def test_a_handler_that_raises_halts(world: World) -> None:
    """Its own failure is counted and visible."""

    def broken(escalation: errcompact.Escalation) -> Action:
        raise LookupError("nobody on call")

    with errcompact.run("r", on_escalation=broken), pytest.raises(errcompact.RunHalted, match="nobody on call"):
        await agent_of(["tea"]).run("What is tea?")
    assert world.internal_failures() == {"escalation_handler": 1}


@pytest.fixture
def instrumented() -> Iterator[None]:
    """The spans of OpenInference."""
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    LlamaIndexInstrumentor().instrument()
    yield
    LlamaIndexInstrumentor().uninstrument()


@pytest.mark.duty("span", says="OpenInference")
async def test_the_spans_of_an_instrumentation_are_not_counted_again(world: World, instrumented: None) -> None:
    """OpenInference writes the exception on the tool's span too."""
    with errcompact.run("r"), pytest.raises(errcompact.RunHalted):
        await agent_of(["tea"]).run("What is tea?")
    assert {"FunctionTool.acall", "execute_tool price"} <= {span.name for span in world.spans()}
    assert (world.errors(), world.runs()) == ({"new": 1, "repeat": 2}, {"halted": 1})


def test_the_example_runs(recipe_says: Callable[[str], list[str]]) -> None:
    """What it prints is what the page shows."""
    lines = recipe_says("with_llama_index.py")
    assert [line.split(":")[0] for line in lines] == [*["model reads"] * 6, "stopped", "result"]
    assert "[KeyError] at price (" in lines[1]
    assert lines[-1] == "result: halted"
