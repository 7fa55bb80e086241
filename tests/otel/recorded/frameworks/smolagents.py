"""smolagents, whose calls only instrumentations make spans of."""

from __future__ import annotations

from smolagents import ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model
from smolagents.monitoring import TokenUsage

PACKAGES = {
    "openinference": ["smolagents==1.26.0", "openinference-instrumentation-smolagents==0.1.43"],
    "official": ["smolagents==1.26.0", "opentelemetry-instrumentation-genai-smolagents==1.2b0"],
}


@tool
def find_order(order: str) -> str:
    """
    Find an order.

    Args:
        order: The order.
    """
    if order == "A-1":
        raise LookupError(f"no such order: {order}")
    return f"order {order}: two apples"


class Scripted(Model):
    def __init__(self, *turns):
        super().__init__(model_id="scripted")
        self.turns = [*turns, call("final_answer", "last", answer="done")]

    def generate(self, messages, **kwargs):
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return ChatMessage(MessageRole.ASSISTANT, "", tool_calls=[turn], token_usage=TokenUsage(1, 1))


def call(name, call_id, **arguments):
    function = ChatMessageToolCallFunction(arguments=arguments, name=name)
    return ChatMessageToolCall(function=function, id=call_id, type="function")


ONCE = (call("find_order", "c1", order="A-1"),)
TWICE = (*ONCE, call("find_order", "c2", order="A-2"))


def agent(*turns, name="shop", managed=()):
    model = Scripted(*turns)
    described = {"name": name, "description": f"The {name}."}
    return ToolCallingAgent([find_order], model, managed_agents=list(managed), verbosity_level=0, **described)


def handled():
    """The tool fails, the model reads it and corrects itself."""
    agent(*TWICE).run("find it")


def nested():
    """A managed agent's tool fails once."""
    asking = call("stock", "o1", task="how many?")
    agent(asking, managed=[agent(*TWICE, name="stock")]).run("find it")


def model_failed():
    """The model's call fails."""
    agent(TimeoutError("the model did not answer")).run("find it")


SCENARIOS = [handled, nested, model_failed]


def openinference(provider):
    from openinference.instrumentation.smolagents import SmolagentsInstrumentor

    SmolagentsInstrumentor().instrument(tracer_provider=provider)


def official(provider):
    from opentelemetry.instrumentation.genai.smolagents import SmolagentsInstrumentor

    SmolagentsInstrumentor().instrument(tracer_provider=provider)


INSTRUMENTATIONS = {"openinference": openinference, "official": official}
