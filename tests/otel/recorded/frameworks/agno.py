"""Agno, whose calls only instrumentations make spans of."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse
from frameworks.orders import find_order

PACKAGES = {
    "openinference": ["agno==3.1.10", "openinference-instrumentation-agno==1.0.15"],
    "openllmetry": ["agno==3.1.10", "opentelemetry-instrumentation-agno==0.62.4"],
    "official": ["agno==3.1.10", "opentelemetry-instrumentation-genai-agno==1.3b0"],
}


@dataclass
class Scripted(Model):
    id: str = "scripted"
    turns: list = field(default_factory=list)

    def invoke(self, *args, **kwargs):
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, str):
            return ModelResponse(role="assistant", content=turn)
        name, call_id, arguments = turn
        function = {"name": name, "arguments": json.dumps(arguments)}
        return ModelResponse(role="assistant", tool_calls=[{"id": call_id, "type": "function", "function": function}])

    async def ainvoke(self, *args, **kwargs):
        return self.invoke()

    def invoke_stream(self, *args, **kwargs):
        yield self.invoke()

    async def ainvoke_stream(self, *args, **kwargs):
        yield self.invoke()

    def _parse_provider_response(self, response, **kwargs):
        return response

    def _parse_provider_response_delta(self, response):
        return response


ONCE = (("find_order", "c1", {"order": "A-1"}),)
TWICE = (*ONCE, ("find_order", "c2", {"order": "A-2"}))


def run(*turns, tools=(find_order,)):
    Agent(name="shop", model=Scripted(turns=[*turns, "done"]), tools=list(tools)).run("find it", session_id="t-1")


def handled():
    """The tool fails, the model reads it and corrects itself."""
    run(*TWICE)


def nested():
    """A tool asks another agent, whose tool fails once."""

    def ask_stock(question: str) -> str:
        """Ask the stock."""
        stock = Agent(name="stock", model=Scripted(turns=[*TWICE, "done"]), tools=[find_order])
        return stock.run(question).content

    run(("ask_stock", "o1", {"question": "how many?"}), tools=(ask_stock,))


def model_failed():
    """The model's call fails."""
    run(TimeoutError("the model did not answer"))


SCENARIOS = [handled, nested, model_failed]


def openinference(provider):
    from openinference.instrumentation.agno import AgnoInstrumentor

    AgnoInstrumentor().instrument(tracer_provider=provider)


def openllmetry(provider):
    from opentelemetry.instrumentation.agno import AgnoInstrumentor

    AgnoInstrumentor().instrument(tracer_provider=provider)


def official(provider):
    from opentelemetry.instrumentation.genai.agno import AgnoInstrumentor

    AgnoInstrumentor().instrument(tracer_provider=provider)


INSTRUMENTATIONS = {"openinference": openinference, "openllmetry": openllmetry, "official": official}
