"""A LangChain agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from otel_errcompact.integrations.langchain import CompactionMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.integrations.scene import Scene


class Model(GenericFakeChatModel):
    """Says what it is told to."""

    def bind_tools(self, *_: Any, **__: Any) -> Model:
        """Return itself."""
        return self


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""

    def messages() -> Iterator[AIMessage]:
        for item in scene.items():
            yield AIMessage("", tool_calls=[{"name": "price", "args": {"item": item}, "id": f"call-{item}"}])
        yield AIMessage("done")

    middleware = [CompactionMiddleware(agent="shop")] if scene.ours else []
    agent = create_agent(Model(messages=messages()), [scene.tool_that_never_raises()], middleware=middleware)
    return lambda: agent.invoke({"messages": [HumanMessage("go")]}, {"recursion_limit": 10_000})
