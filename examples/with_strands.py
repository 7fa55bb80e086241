"""Strands: an agent that repeats one call for ever, and how its turn ends. Run: python with_strands.py."""

from typing import Any

from fakes.strands_model import Content, PlayedModel, uses
from strands import Agent, tool

import otel_errcompact as errcompact
from otel_errcompact.integrations.strands import CompactionHooks


@tool
def refund(order: int) -> str:
    """Refund an order."""
    raise LookupError(f"no order {order}")


def play(messages: list[Any]) -> Content:
    """Play a model that never learns: it tries the same order for ever."""
    return [uses("refund", f"call-{len(messages)}", order=41)]


def main() -> None:
    """Ask the agent once."""
    errcompact.install()
    hooks = CompactionHooks()
    model = PlayedModel(play)
    agent = Agent(model, tools=[refund], hooks=[hooks], name="shop", callback_handler=None)

    result = agent("Refund my order.")

    for message in agent.messages:
        for block in message["content"]:
            if "toolResult" in block:
                print("the model reads:", block["toolResult"]["content"][0]["text"])
    print("the agent says:", str(result).strip())
    print("result:", hooks.report(agent).result)


if __name__ == "__main__":
    main()
