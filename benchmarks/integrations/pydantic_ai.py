"""An agent of Pydantic AI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from otel_errcompact.integrations.pydantic_ai import CompactionCapability

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""
    turns = [ModelResponse([ToolCallPart("price", {"item": item})]) for item in scene.items()]
    model = FunctionModel(lambda *_: turns.pop(0) if turns else ModelResponse([TextPart("done")]))
    capabilities = [CompactionCapability(agent="shop")] if scene.ours else []
    agent = Agent(model, tools=[scene.tool_that_never_raises()], capabilities=capabilities)
    return lambda: agent.run("go", usage_limits=UsageLimits(request_limit=None))
