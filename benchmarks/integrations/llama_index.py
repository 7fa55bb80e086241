"""An agent of LlamaIndex, which makes an error result of a tool's exception itself; ours is the decorator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata, MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool
from pydantic import PrivateAttr

import otel_errcompact as errcompact

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene


class Model(MockLLM, FunctionCallingLLM):
    """Says what it is told to."""

    metadata: ClassVar[Any] = LLMMetadata(is_function_calling_model=True)
    _items: list[str] = PrivateAttr()

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self._items = [*scene.items()]

    async def achat_with_tools(self, *_: Any, **__: Any) -> ChatResponse:
        """Say nothing beside the calls."""
        return ChatResponse(message=ChatMessage(role="assistant", content=""))

    _prepare_chat_with_tools = achat_with_tools

    def get_tool_calls_from_response(self, *_: Any, **__: Any) -> list[ToolSelection]:
        """Ask for the next."""
        item = self._items.pop(0) if self._items else ""
        return [ToolSelection(tool_id=f"call-{item}", tool_name="price", tool_kwargs={"item": item})] if item else []


class Gated(FunctionAgent):
    """Passes the gate before each call of its model."""

    async def take_step(self, *args: Any, **kwargs: Any) -> Any:
        """Take a step, unless the run was stopped."""
        await errcompact.current_run().acheck()
        return await super().take_step(*args, **kwargs)


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""
    kind = Gated if scene.ours else FunctionAgent
    function = errcompact.compacted(failure=RuntimeError)(scene.tool) if scene.ours else scene.tool
    model = Model(scene)
    agent = kind(tools=[FunctionTool.from_defaults(function)], llm=model, streaming=False)

    async def plain() -> None:
        await agent.run("go", max_iterations=10_000)

    async def ours() -> None:
        with errcompact.run(agent="shop"):
            await plain()

    return ours if scene.ours else plain
