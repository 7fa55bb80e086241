"""Strands Agents, which makes spans of its own."""

from __future__ import annotations

import json

from frameworks.orders import find_order
from strands import Agent, tool
from strands.models import Model

PACKAGES = {
    "native": ["strands-agents==1.62.0"],
}


class Scripted(Model):
    def __init__(self, *turns):
        self.turns = [*turns, "done"]

    def update_config(self, **config):
        pass

    def get_config(self):
        return {"model_id": "scripted"}

    async def structured_output(self, *args, **kwargs):
        raise NotImplementedError
        yield

    async def stream(self, *args, **kwargs):
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
        else:
            name, call_id, arguments = turn
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": call_id}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(turn, str) else "tool_use"}}


ONCE = (("find_order", "c1", {"order": "A-1"}),)
TWICE = (*ONCE, ("find_order", "c2", {"order": "A-2"}))


def agent(*turns, tools, name="shop"):
    traced = {"session.id": "t-1"}
    return Agent(Scripted(*turns), tools=tools, name=name, callback_handler=None, trace_attributes=traced)


def handled():
    """The tool fails, the model reads it and corrects itself."""
    agent(*TWICE, tools=[tool(find_order)])("find it")


def nested():
    """A tool asks another agent, whose tool fails once."""

    @tool
    def ask_stock(question: str) -> str:
        """Ask the stock."""
        return str(agent(*TWICE, tools=[tool(find_order)], name="stock")(question))

    agent(("ask_stock", "o1", {"question": "how many?"}), tools=[ask_stock])("find it")


def model_failed():
    """The model's call fails."""
    agent(TimeoutError("the model did not answer"), tools=[tool(find_order)])("find it")


SCENARIOS = [handled, nested, model_failed]
INSTRUMENTATIONS = {"native": lambda provider: None}
