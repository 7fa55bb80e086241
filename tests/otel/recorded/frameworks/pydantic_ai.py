"""Pydantic AI, which makes spans of its own."""

from __future__ import annotations

from frameworks.orders import find_order
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.capabilities.abstract import AbstractCapability
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

PACKAGES = {
    "native": ["pydantic-ai-slim==2.68.0"],
    "logfire": ["pydantic-ai-slim==2.68.0", "logfire==5.2.0"],
}


def scripted(*turns):
    waiting = iter((*turns, TextPart("done")))
    return FunctionModel(lambda messages, info: ModelResponse([next(waiting)]))


def call(name, call_id, **arguments):
    return ToolCallPart(name, arguments, tool_call_id=call_id)


ONCE = (call("find_order", "c1", order="A-1"),)
TWICE = (*ONCE, call("find_order", "c2", order="A-2"))


class AsFailed(AbstractCapability):
    async def on_tool_execute_error(self, ctx, *, call, tool_def, args, error):
        raise ToolFailed(str(error)) from error


class AsText(AbstractCapability):
    async def on_tool_execute_error(self, ctx, *, call, tool_def, args, error):
        return f"it failed: {error}"


def run(*turns, tools=(find_order,), capabilities=(), name="shop"):
    agent = Agent(scripted(*turns), tools=list(tools), capabilities=list(capabilities), name=name)
    return agent.run_sync("find it", conversation_id="t-1")


def handled():
    """The tool fails, the model reads it and corrects itself."""
    run(*TWICE, capabilities=(AsFailed(),))


def retried():
    """The tool asks the model to try again: control flow, and no failure."""

    def pick_order(order: str) -> str:
        """Pick an order."""
        if order == "A-1":
            raise ModelRetry("take another one")
        return order

    run(call("pick_order", "c1", order="A-1"), call("pick_order", "c2", order="A-2"), tools=(pick_order,))


def crashed():
    """The tool fails, and nobody handles it."""
    run(*ONCE)


def nested():
    """A tool asks another agent, whose tool fails once."""

    async def ask_stock(question: str) -> str:
        """Ask the stock."""
        stock = Agent(scripted(*TWICE), tools=[find_order], capabilities=[AsFailed()], name="stock")
        return (await stock.run(question, conversation_id="t-1")).output

    run(call("ask_stock", "o1", question="how many?"), tools=(ask_stock,))


def model_failed():
    """The model's call fails."""

    def fail(messages, info):
        raise TimeoutError("the model did not answer")

    Agent(FunctionModel(fail), name="shop").run_sync("find it", conversation_id="t-1")


SCENARIOS = [handled, retried, crashed, nested, model_failed]


def native(provider):
    Agent.instrument_all(True)


def logfire(recorder):
    import logfire

    logfire.configure(send_to_logfire=False, console=False, additional_span_processors=[recorder])
    logfire.instrument_pydantic_ai()


INSTRUMENTATIONS = {"native": native, "logfire": logfire}
