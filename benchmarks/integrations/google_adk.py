"""An agent of Google's ADK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from otel_errcompact.integrations.google_adk import CompactionPlugin

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from benchmarks.integrations.scene import Scene


class Model(BaseLlm):
    """Says what it is told to."""

    parts: list[Any]

    async def generate_content_async(
        self,
        llm_request: LlmRequest,  # noqa: ARG002 - ADK's signature
        stream: bool = False,  # noqa: ARG002 - as above
    ) -> AsyncGenerator[LlmResponse]:
        """Say the next."""
        yield LlmResponse(content=types.Content(role="model", parts=[self.parts.pop(0)]))


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""
    calls = [types.Part.from_function_call(name="price", args={"item": item}) for item in scene.items()]
    model = Model(model="fake", parts=[*calls, types.Part(text="done")])
    agent = LlmAgent(name="shop", model=model, tools=[scene.tool_that_never_raises()])
    plugins = [CompactionPlugin(agent="shop")] if scene.ours else []
    runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=plugins))
    config = RunConfig(max_llm_calls=0)
    return lambda: runner.run_debug("go", run_config=config, quiet=True)
