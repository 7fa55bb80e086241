"""Microsoft's Agent Framework, which makes spans of its own."""

from __future__ import annotations

from agent_framework import Agent, BaseChatClient, ChatResponse, ChatResponseUpdate, Content, Message, tool
from agent_framework._middleware import ChatMiddlewareLayer
from agent_framework._tools import FunctionInvocationLayer
from agent_framework.observability import ChatTelemetryLayer, enable_instrumentation
from frameworks.orders import find_order

PACKAGES = {
    "native": ["agent-framework-core==1.23.0"],
    "sensitive": ["agent-framework-core==1.23.0"],
}


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, ChatTelemetryLayer, BaseChatClient):
    OTEL_PROVIDER_NAME = "scripted"

    def __init__(self, *turns):
        super().__init__()
        self.turns = [*turns, Content.from_text("done")]

    def _inner_get_response(self, *, messages, stream, options, **kwargs):
        return self._build_response_stream(self.updates()) if stream else self.answer()

    async def updates(self):
        yield ChatResponseUpdate(role="assistant", contents=(await self.answer()).messages[0].contents)

    async def answer(self):
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return ChatResponse(messages=[Message(role="assistant", contents=[turn])])


def call(name, call_id, **arguments):
    return Content.from_function_call(call_id=call_id, name=name, arguments=arguments)


ONCE = (call("find_order", "c1", order="A-1"),)
TWICE = (*ONCE, call("find_order", "c2", order="A-2"))


def agent(*turns, tools, name="shop"):
    return Agent(client=Scripted(*turns), tools=tools, name=name)


async def handled():
    """The tool fails, the model reads it and corrects itself."""
    shop = agent(*TWICE, tools=[tool(find_order)])
    await shop.run("find it", session=shop.create_session(session_id="t-1"))


async def nested():
    """A tool is another agent, whose tool fails once."""
    stock = agent(*TWICE, tools=[tool(find_order)], name="stock").as_tool(name="ask_stock")
    shop = agent(call("ask_stock", "o1", task="how many?"), tools=[stock])
    await shop.run("find it", session=shop.create_session(session_id="t-1"))


async def model_failed():
    """The model's call fails."""
    await agent(TimeoutError("the model did not answer"), tools=[tool(find_order)]).run("find it")


SCENARIOS = [handled, nested, model_failed]
INSTRUMENTATIONS = {
    "native": lambda provider: enable_instrumentation(),
    "sensitive": lambda provider: enable_instrumentation(enable_sensitive_data=True),
}
