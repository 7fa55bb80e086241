"""An agent of CrewAI, by the decorator."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai import Agent, BaseLLM, Crew, Task
from crewai.hooks import clear_before_llm_call_hooks, register_before_llm_call_hook
from crewai.tools import tool
from crewai.tools.tool_failure import ToolFailure

import otel_errcompact as errcompact

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene


class Model(BaseLLM):
    """Says what it is told to."""

    items: list[str]

    def supports_function_calling(self) -> bool:
        """Say that it asks for tools by name."""
        return True

    def call(self, *_: Any, **__: Any) -> Any:
        """Say the next."""
        if not self.items:
            return "done"
        arguments = json.dumps({"item": self.items.pop(0)})
        return [{"id": "c", "type": "function", "function": {"name": "price", "arguments": arguments}}]


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of a crew."""

    def crew(function: Callable[[str], str]) -> Crew:
        model = Model(model="fake", items=[*scene.items()])
        agent = Agent(role="shop", goal="g", backstory="b", llm=model, tools=[tool(function)], max_iter=10_000)
        return Crew(agents=[agent], tasks=[Task(description="go", expected_output="a price", agent=agent)])

    clear_before_llm_call_hooks()
    if not scene.ours:
        return crew(scene.tool_that_never_raises()).kickoff
    run = errcompact.run(agent="shop")
    register_before_llm_call_hook(lambda _: run.check())
    made = crew(errcompact.compacted(run=run, failure=lambda digest: ToolFailure(message=digest))(scene.tool))

    def ours() -> None:
        with run:
            made.kickoff()

    return ours
