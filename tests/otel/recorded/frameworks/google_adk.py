"""Google's Agent Development Kit, which makes spans of its own."""

from __future__ import annotations

from frameworks.orders import find_order
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from pydantic import Field

PACKAGES = {
    "native": ["google-adk==2.13.0"],
}


class Scripted(BaseLlm):
    turns: list = Field(default_factory=list)

    async def generate_content_async(self, llm_request, stream=False):
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        yield LlmResponse(content=types.Content(role="model", parts=[turn]))


def call(name, call_id, **arguments):
    return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=arguments))


def scripted(*turns):
    return Scripted(model="scripted", turns=[*turns, types.Part(text="done")])


ONCE = (call("find_order", "c1", order="A-1"),)
TWICE = (*ONCE, call("find_order", "c2", order="A-2"))


class AsResult(BasePlugin):
    async def on_tool_error_callback(self, *, tool, tool_args, tool_context, error):
        return {"error": str(error)}


async def run(agent, *plugins):
    runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=list(plugins)))
    await runner.session_service.create_session(app_name="shop", user_id="u-1", session_id="t-1")
    message = types.Content(role="user", parts=[types.Part(text="find it")])
    async for _ in runner.run_async(user_id="u-1", session_id="t-1", new_message=message):
        pass


async def handled():
    """The tool fails, the model reads it and corrects itself."""
    await run(LlmAgent(name="shop", model=scripted(*TWICE), tools=[find_order]), AsResult(name="as_result"))


async def crashed():
    """The tool fails, and nobody handles it."""
    await run(LlmAgent(name="shop", model=scripted(*ONCE), tools=[find_order]))


async def nested():
    """A tool is another agent, whose tool fails once."""
    stock = LlmAgent(name="stock", description="Ask the stock.", model=scripted(*TWICE), tools=[find_order])
    asking = scripted(call("stock", "o1", request="how many?"))
    await run(LlmAgent(name="shop", model=asking, tools=[AgentTool(stock)]), AsResult(name="as_result"))


async def model_failed():
    """The model's call fails."""
    failing = Scripted(model="scripted", turns=[TimeoutError("the model did not answer")])
    await run(LlmAgent(name="shop", model=failing))


SCENARIOS = [handled, crashed, nested, model_failed]
INSTRUMENTATIONS = {"native": lambda provider: None}
