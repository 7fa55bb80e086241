"""CrewAI, whose calls only instrumentations make spans of."""

from __future__ import annotations

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "false"}

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool
from frameworks.orders import find_order
from pydantic import Field

PACKAGES = {
    "openinference": ["crewai==1.15.30", "openinference-instrumentation-crewai==1.1.21"],
    "openllmetry": ["crewai==1.15.30", "opentelemetry-instrumentation-crewai==0.62.4"],
}


class Scripted(BaseLLM):
    turns: list = Field(default_factory=list)

    def call(self, *args, **kwargs):
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn

    def supports_function_calling(self):
        return True


def call(name, call_id, arguments):
    return [{"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}]


TWICE = [call("find_order", "c1", '{"order": "A-1"}'), call("find_order", "c2", '{"order": "A-2"}')]


def run(*turns):
    model = Scripted(model="scripted", turns=[*turns, "done"])
    shop = Agent(role="shop", goal="find", backstory="old", llm=model, tools=[tool("find_order")(find_order)])
    Crew(agents=[shop], tasks=[Task(description="find it", expected_output="it", agent=shop)]).kickoff()


def handled():
    """The tool fails, the model reads it and corrects itself."""
    run(*TWICE)


def model_failed():
    """The model's call fails."""
    run(TimeoutError("the model did not answer"))


SCENARIOS = [handled, model_failed]


def openinference(provider):
    from openinference.instrumentation.crewai import CrewAIInstrumentor

    CrewAIInstrumentor().instrument(tracer_provider=provider)


def openllmetry(provider):
    from opentelemetry.instrumentation.crewai import CrewAIInstrumentor

    CrewAIInstrumentor().instrument(tracer_provider=provider)


INSTRUMENTATIONS = {"openinference": openinference, "openllmetry": openllmetry}
