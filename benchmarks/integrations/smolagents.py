"""An agent of smolagents, which raises what a tool has raised as an error of its own; ours is the decorator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smolagents import ChatMessage, LogLevel, MessageRole, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

import otel_errcompact as errcompact

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene


class Scripted(Model):
    """Says what it is told to."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self._items = scene.items()

    def generate(self, *_: Any, **__: Any) -> ChatMessage:
        """Say the next."""
        item = next(self._items, None)
        name, arguments = ("price", {"item": item}) if item else ("final_answer", {"answer": "done"})
        call = ChatMessageToolCallFunction(name=name, arguments=arguments)
        calls = [ChatMessageToolCall(id=f"call-{item}", type="function", function=call)]
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""
    run = errcompact.run(agent="shop")
    function = errcompact.compacted(run=run, failure=RuntimeError)(scene.tool) if scene.ours else scene.tool
    agent = ToolCallingAgent(
        tools=[tool(function)], model=Scripted(scene), verbosity_level=LogLevel.OFF, max_steps=10_000,
        step_callbacks=[lambda _: run.check()] if scene.ours else [],
    )  # fmt: skip

    def ours() -> None:
        with run:
            agent.run("go")

    return ours if scene.ours else lambda: agent.run("go")
