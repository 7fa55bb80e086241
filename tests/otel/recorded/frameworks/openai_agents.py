"""The OpenAI Agents SDK, whose own tracing the instrumentations translate."""

from __future__ import annotations

import os

os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "0"}

from agents import Agent, RunConfig, Runner, function_tool, set_trace_processors
from agents.testing import ScriptedModel, assistant_message, function_call
from frameworks.orders import find_order

PACKAGES = {
    "openinference": ["openai-agents==0.24.0", "openinference-instrumentation-openai-agents==2.6.0"],
    "openllmetry": ["openai-agents==0.24.0", "opentelemetry-instrumentation-openai-agents==0.62.4"],
    "official": ["openai-agents==0.24.0", "opentelemetry-instrumentation-genai-openai-agents==1.3b0"],
    "logfire": ["openai-agents==0.24.0", "logfire==5.2.0"],
}


def calls(name, call_id, arguments):
    return [function_call(name, arguments, call_id=call_id)]


def shop(*tools, turns, name="shop"):
    return Agent(name=name, model=ScriptedModel([*turns, [assistant_message("done")]]), tools=list(tools))


ONCE = [calls("find_order", "c1", {"order": "A-1"})]
TWICE = [*ONCE, calls("find_order", "c2", {"order": "A-2"})]
CONFIG = RunConfig(group_id="t-1")


async def handled():
    """The tool fails, the model reads it and corrects itself."""
    await Runner.run(shop(function_tool(find_order), turns=TWICE), "find it", run_config=CONFIG)


async def crashed():
    """The tool fails, and nobody handles it."""
    tool = function_tool(find_order, failure_error_function=None)
    await Runner.run(shop(tool, turns=ONCE), "find it", run_config=CONFIG)


async def nested():
    """A tool is another agent, whose tool fails once."""
    stock = shop(function_tool(find_order), turns=TWICE, name="stock").as_tool("ask_stock", "Ask the stock.")
    agent = shop(stock, turns=[calls("ask_stock", "o1", {"input": "how many?"})])
    await Runner.run(agent, "find it", run_config=CONFIG)


async def model_failed():
    """The model's call fails."""

    class Failing(ScriptedModel):
        async def get_response(self, *args, **kwargs):
            raise TimeoutError("the model did not answer")

    await Runner.run(Agent(name="shop", model=Failing([])), "find it", run_config=CONFIG)


SCENARIOS = [handled, crashed, nested, model_failed]


def openinference(provider):
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)


def openllmetry(provider):
    from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    set_trace_processors([])
    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)


def official(provider):
    from opentelemetry.instrumentation.genai.openai_agents import OpenAIAgentsInstrumentor

    set_trace_processors([])
    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)


def logfire(recorder):
    import logfire

    logfire.configure(send_to_logfire=False, console=False, additional_span_processors=[recorder])
    set_trace_processors([])
    logfire.instrument_openai_agents()


INSTRUMENTATIONS = {
    "openinference": openinference,
    "openllmetry": openllmetry,
    "official": official,
    "logfire": logfire,
}
