"""The OpenAI Agents SDK with its own scripted model. Run: python with_openai_agents.py."""

import asyncio
import os

os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, function_call

import otel_errcompact as errcompact
from otel_errcompact.integrations.openai_agents import CompactionHooks
from otel_errcompact_context.integrations.openai_agents import WindowFilter

PRICES = {"tea": 2}


@function_tool
def price(item: str) -> int:
    """Look up a price."""
    return PRICES[item]


async def main() -> None:
    """Play an agent that never learns."""
    model = ScriptedModel([[function_call("price", {"item": "coffee"}, call_id=f"call-{n}")] for n in range(10)])
    agent = Agent(name="clerk", model=model, tools=[price])
    compaction = CompactionHooks(agent="shop")
    config = RunConfig(tool_error_formatter=compaction.format_error)
    config.call_model_input_filter = WindowFilter()  # keeps what is sent within the model's window
    try:
        await Runner.run(agent, "How much is coffee?", hooks=compaction, run_config=config)
    except errcompact.RunHalted as stop:
        for item in stop.run_data.new_items:
            if item.type == "tool_call_output_item":
                print(item.output)
        print(f"stopped: {stop}")
        print(compaction.runs.report(stop.escalation.run_id).to_markdown())


if __name__ == "__main__":
    asyncio.run(main())
