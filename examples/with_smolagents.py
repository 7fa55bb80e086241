"""A smolagents agent whose tool keeps failing is stopped. Run: python with_smolagents.py."""

from __future__ import annotations

from typing import Any

from smolagents import ChatMessage, LogLevel, MessageRole, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

import otel_errcompact as errcompact


def price(item: str) -> int:
    """
    Look up a price.

    Args:
        item: The item.
    """
    return {"coffee": 3}[item]


class Stubborn(Model):
    """A model that asks for the same call for ever."""

    def generate(self, messages: list[ChatMessage], **_: Any) -> ChatMessage:
        """Show what it reads of the last call, and repeat itself."""
        read = str(messages[-1].content[0]["text"])
        print("model reads:", next((line for line in read.splitlines() if "KeyError" in line), "the task"))
        function = ChatMessageToolCallFunction(name="price", arguments={"item": "tea"})
        call = ChatMessageToolCall(id="call_1", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def main() -> None:
    """Run the agent until it is stopped."""
    with errcompact.run(agent="shop") as run:
        # An error to smolagents too, and its text is the digest.
        compacted = errcompact.compacted(run=run, failure=RuntimeError)
        agent = ToolCallingAgent(
            tools=[tool(compacted(price))],
            model=Stubborn(),
            step_callbacks=[lambda _: run.check(), lambda _: run.begin_turn()],  # before the next model call
            verbosity_level=LogLevel.OFF,
        )
        try:
            agent.run("What is tea?")
        except errcompact.RunHalted as stop:
            print("stopped:", stop.reason)
    print("result:", run.report().result)


if __name__ == "__main__":
    main()
