"""An agent of Strands, which makes an error result of a tool's exception itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands import Agent, tool

from examples.fakes.strands_model import PlayedModel, uses
from otel_errcompact.integrations.strands import CompactionHooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""
    turns = [[uses("price", f"call-{item}", item=item)] for item in scene.items()]
    model = PlayedModel(lambda _: turns.pop(0) if turns else [{"text": "done"}])
    hooks = [CompactionHooks()] if scene.ours else []
    agent = Agent(model, tools=[tool(scene.tool)], hooks=hooks, name="shop", callback_handler=None)
    return lambda: agent.invoke_async("go")
