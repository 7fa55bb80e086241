"""LlamaIndex, whose dispatcher the instrumentations listen to."""

from __future__ import annotations

from frameworks.orders import find_order
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool

PACKAGES = {
    "openinference": ["llama-index-core==0.14.25", "openinference-instrumentation-llama-index==4.6.1"],
    "official": ["llama-index-core==0.14.25", "opentelemetry-instrumentation-genai-llama-index==1.3b0"],
}


class Scripted(MockFunctionCallingLLM):
    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        found = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        return [
            ToolSelection(tool_id=block.tool_call_id, tool_name=block.tool_name, tool_kwargs=block.tool_kwargs)
            for block in found
        ]


def scripted(*turns):
    waiting = iter((*turns, TextBlock(text="done")))

    def answer(messages, **kwargs):
        turn = next(waiting)
        if isinstance(turn, Exception):
            raise turn
        return ChatMessage(role="assistant", blocks=[turn])

    return Scripted(response_generator=answer)


def call(name, call_id, **arguments):
    return ToolCallBlock(tool_call_id=call_id, tool_name=name, tool_kwargs=arguments)


ONCE = (call("find_order", "c1", order="A-1"),)
TWICE = (*ONCE, call("find_order", "c2", order="A-2"))


def agent(*turns, tools, name="shop"):
    made = [FunctionTool.from_defaults(fn) for fn in tools]
    return FunctionAgent(name=name, tools=made, llm=scripted(*turns), streaming=False)


async def handled():
    """The tool fails, the model reads it and corrects itself."""
    await agent(*TWICE, tools=[find_order]).run("find it")


async def nested():
    """A tool asks another agent, whose tool fails once."""

    async def ask_stock(question: str) -> str:
        """Ask the stock."""
        return str(await agent(*TWICE, tools=[find_order], name="stock").run(question))

    asking = call("ask_stock", "o1", question="how many?")
    shop = FunctionAgent(
        name="shop", tools=[FunctionTool.from_defaults(async_fn=ask_stock)], llm=scripted(asking), streaming=False
    )
    await shop.run("find it")


async def model_failed():
    """The model's call fails."""
    await agent(TimeoutError("the model did not answer"), tools=[find_order]).run("find it")


SCENARIOS = [handled, nested, model_failed]


def openinference(provider):
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    LlamaIndexInstrumentor().instrument(tracer_provider=provider)


def official(provider):
    from opentelemetry.instrumentation.genai.llama_index import LlamaIndexInstrumentor

    LlamaIndexInstrumentor().instrument(tracer_provider=provider)


INSTRUMENTATIONS = {"openinference": openinference, "official": official}
