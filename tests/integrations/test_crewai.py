"""CrewAI by the generic decorator: its own type for a failed call, and its hook before each model call."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false")

import pytest
from crewai import Agent, BaseLLM, Crew, Task
from crewai.hooks import clear_before_llm_call_hooks, register_before_llm_call_hook
from crewai.hooks.dispatch import HookAborted
from crewai.tools import tool
from crewai.tools.tool_failure import ToolFailure

import otel_errcompact as errcompact
from otel_errcompact.escalator.actions import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.integrations.conftest import World

read: list[list[str]] = []
executed: list[str] = []


class Scripted(BaseLLM):
    """Asks for the items of a script, the last line for ever; a text is the end."""

    script: list[list[str] | str]

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        read.append([str(message["content"]) for message in messages])
        wanted = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(wanted, str):
            return wanted
        return [
            {"id": f"c{len(read)}{index}", "type": "function", "function": {"name": "price", "arguments": arguments}}
            for index, arguments in enumerate(json.dumps({"item": item}) for item in wanted)
        ]


def price(item: str) -> int:
    """Look up a price."""
    executed.append(item)
    return 3 if executed == ["milk", "milk"] else {"coffee": 3}[item]


@pytest.fixture(autouse=True)
def _no_hooks_stay() -> Iterator[None]:
    read.clear()
    executed.clear()
    yield
    clear_before_llm_call_hooks()


def crew_of(run: errcompact.Run, *script: list[str] | str, asked: str = "What is tea?") -> Crew:
    clear_before_llm_call_hooks()

    def gate(context: Any) -> None:
        if stop := run.gate():
            raise HookAborted(str(stop)) from stop
        run.begin_turn()

    register_before_llm_call_hook(gate)
    compacted = errcompact.compacted(run=run, failure=lambda digest: ToolFailure(message=digest))
    llm = Scripted(model="x", script=list(script))
    agent = Agent(role="shop", goal="g", backstory="b", llm=llm, tools=[tool(compacted(price))])
    return Crew(agents=[agent], tasks=[Task(description=asked, expected_output="a price", agent=agent)])


@pytest.mark.duty("render")
@pytest.mark.duty("gate")
def test_a_tool_that_fails_for_ever_stops_at_the_threshold(world: World) -> None:
    """Three calls, two digests read and a third kept, no traceback, and the caller gets the framework's own abort."""
    with errcompact.run("r", agent="shop") as run, pytest.raises(HookAborted, match="run 'r' halted"):
        crew_of(run, ["tea"]).kickoff()
    assert executed == ["tea", "tea", "tea"]
    assert len(read) == 3
    assert read[1][-1].startswith(("[KeyError] at price (", "Analyze the tool result."))
    assert "[KeyError] at price (" in str(read[1])
    assert "again (x2, 2 in a row; " in str(read[2])
    assert "Traceback" not in str(read)
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [text.startswith("Traceback") for text in world.raw_errors()] == [True, True, True]


def test_crewai_knows_that_the_call_has_failed(world: World) -> None:
    """What the decorator returns is counted by the framework as well."""
    with errcompact.run("r", agent="shop") as run:
        output = crew_of(run, ["tea"], "no").kickoff()
    (failure,) = output.tasks_output[0].tool_failures
    assert failure.tool_name == "price"
    assert failure.message.startswith("[KeyError] at price (")


@pytest.mark.duty("success")
def test_a_success_resolves(world: World) -> None:
    """The same call works the second time."""
    with errcompact.run("r", agent="shop") as run:
        assert crew_of(run, ["milk"], ["milk"], "3").kickoff().raw == "3"
    assert (world.errors(), world.resolutions(), world.runs()) == ({"new": 1}, 1, {"recovered": 1})


@pytest.mark.duty("ask", says="by the handler")
def test_a_pause_aborts_the_crew_and_the_next_one_goes_on(world: World) -> None:
    """CrewAI asks humans about results of tasks, not about calls: the caller answers, and starts the crew again."""
    with errcompact.run("r", on_escalation=lambda escalation: errcompact.Pause("Ann looks at it")) as run:
        with pytest.raises(HookAborted, match="Ann looks at it"):
            crew_of(run, ["tea"]).kickoff()
        run.resume("we sell coffee")
        assert crew_of(run, ["coffee"], "3", asked=run.digest()).kickoff().raw == "3"
    assert "OPERATOR: we sell coffee" in str(read[3])
    assert executed == ["tea", "tea", "tea", "coffee"]
    assert world.escalations() == {"continue": 1, "pause": 1}
    assert world.errors() == {"new": 1, "repeat": 2}


def test_where_the_library_only_observes_crewai_reads_the_raw_text(world: World) -> None:
    """The recipe makes a value of the failure, so that it holds the raw error; nothing is refused, nobody is asked."""
    with errcompact.run("r", mode="observe", thresholds=errcompact.Thresholds()) as run:
        assert crew_of(run, *[["tea"]] * 4, "3").kickoff().raw == "3"
    assert len(executed) == 4
    assert "KeyError: 'tea'" in "".join(read[-1])
    assert "[KeyError]" not in str(read)
    assert set(world.escalations()) == {"unhandled"}


def test_what_the_handler_says_is_read_by_the_model(world: World) -> None:
    """With the digest of the call that it was asked about."""
    with errcompact.run("r", on_escalation=lambda _: errcompact.Continue("we sell coffee")) as run:
        crew_of(run, ["tea"], ["tea"], ["tea"], "3").kickoff()
    assert ["OPERATOR: we sell coffee" in str(text) for text in read] == [False, False, False, True]


def test_in_the_mode_advise_a_loop_is_refused_and_never_halted(world: World) -> None:
    """The model reads why."""
    with errcompact.run("r", mode="advise", thresholds=errcompact.Thresholds()) as run:
        assert crew_of(run, *[["tea"]] * 4, "3").kickoff().raw == "3"
    assert len(executed) == 2
    assert "NOT EXECUTED: this exact call has failed 2 times" in str(read[-1])


def test_a_handler_that_raises_halts(world: World) -> None:
    """Its own failure is counted and visible."""

    def broken(escalation: errcompact.Escalation) -> Action:
        raise LookupError("nobody on call")

    with errcompact.run("r", on_escalation=broken) as run, pytest.raises(HookAborted, match="nobody on call"):
        crew_of(run, ["tea"]).kickoff()
    assert world.internal_failures() == {"escalation_handler": 1}


@pytest.fixture
def instrumented() -> Iterator[None]:
    """The spans of OpenInference."""
    from openinference.instrumentation.crewai import CrewAIInstrumentor

    CrewAIInstrumentor().instrument()
    yield
    CrewAIInstrumentor().uninstrument()


@pytest.mark.duty("span", says="OpenInference")
def test_the_spans_of_an_instrumentation_are_not_counted_again(world: World, instrumented: None) -> None:
    """OpenInference writes spans of the crew, the agent and the tool."""
    with errcompact.run("r") as run, pytest.raises(HookAborted):
        crew_of(run, ["tea"]).kickoff()
    assert "execute_tool price" in {span.name for span in world.spans()}
    assert len({span.instrumentation_scope.name for span in world.spans() if span.instrumentation_scope}) >= 2
    assert (world.errors(), world.runs()) == ({"new": 1, "repeat": 2}, {"halted": 1})


def test_the_example_runs(recipe_says: Callable[[str], list[str]]) -> None:
    """What it prints is what the page shows."""
    lines = recipe_says("with_crewai.py")
    assert [line.split(":")[0] for line in lines] == [*["model reads"] * 6, "stopped", "result"]
    assert "[KeyError] at price (" in lines[1]
    assert lines[-1] == "result: halted"
