"""An agent of the OpenAI Agents SDK, which formats a tool's exception itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from otel_errcompact.integrations.openai_agents import CompactionHooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""
    turns = [[function_call("price", {"item": item}, call_id=f"call-{item}")] for item in scene.items()]
    model = ScriptedModel([*turns, [assistant_message("done")]])
    agent = Agent(name="shop", model=model, tools=[function_tool(scene.tool)])
    compaction = CompactionHooks(agent="shop") if scene.ours else None
    config = RunConfig(tool_error_formatter=compaction.format_error) if compaction else RunConfig()
    return lambda: Runner.run(agent, "go", hooks=compaction, run_config=config, max_turns=10_000)
