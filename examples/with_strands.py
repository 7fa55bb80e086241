"""Strands: an agent that repeats one call for ever, and how its turn ends. Run: python with_strands.py."""

from typing import Any

from fakes.strands_model import Content, PlayedModel, uses
from strands import Agent, tool

from otel_errcompact.integrations.strands import CompactionHooks
from otel_errcompact_context import ContextOptions, ContextWindow
from otel_errcompact_context.integrations.strands import WindowManager


@tool
def refund(order: int) -> str:
    """Refund an order."""
    raise LookupError(f"no order {order}")


def play(messages: list[Any]) -> Content:
    """Play a model that never learns: it tries the same order for ever."""
    return [uses("refund", f"call-{len(messages)}", order=41)]


@tool
def read(page: int) -> str:
    """Read a page."""
    return f"page {page}: nothing about refunds\n" * 40


def play_reader(messages: list[Any]) -> Content:
    """Play a model that reads forty pages, whatever of them it still sees."""
    pages.append(len(messages))
    return [{"text": "Nothing."}] if len(pages) > 40 else [uses("read", f"page-{len(pages)}", page=len(pages))]


pages: list[int] = []


def read_all(hooks: CompactionHooks) -> None:
    """Let an agent read more than its model's window holds."""
    model = PlayedModel(play_reader)

    window = ContextWindow(ContextOptions(window_tokens=6_000, folder="cuts"))
    manager = WindowManager(window, runs=hooks.runs)

    agent = Agent(model, tools=[read], hooks=[hooks], conversation_manager=manager, callback_handler=None)
    agent("What does the manual say about refunds?")

    cut = [block for message in agent.messages for block in message["content"] if "[errcompact" in str(block)]
    print(f"\nthe reader keeps {len(agent.messages)} messages, {len(cut)} of them cut")


def main() -> None:
    """Ask the agents once."""
    hooks = CompactionHooks()
    read_all(hooks)
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
