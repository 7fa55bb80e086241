"""A LlamaIndex agent whose tool keeps failing is stopped. Run: python with_llama_index.py."""

import asyncio
from typing import Any, ClassVar

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata, MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool

import otel_errcompact as errcompact


def price(item: str) -> int:
    """Look up a price."""
    return {"coffee": 3}[item]


class Stubborn(MockLLM, FunctionCallingLLM):
    """A model that asks for the same call for ever."""

    metadata: ClassVar[Any] = LLMMetadata(is_function_calling_model=True)

    async def achat_with_tools(self, tools: Any, chat_history: list[ChatMessage], **_: Any) -> ChatResponse:  # noqa: ARG002
        """Show what it reads of the last call."""
        print("model reads:", str(chat_history[-1].content).splitlines()[0])
        return ChatResponse(message=ChatMessage(role="assistant", content=""))

    _prepare_chat_with_tools = achat_with_tools

    def get_tool_calls_from_response(self, *_: Any, **__: Any) -> list[ToolSelection]:
        """Repeat itself."""
        return [ToolSelection(tool_id="c", tool_name="price", tool_kwargs={"item": "tea"})]


class Gated(FunctionAgent):
    """An agent that passes the gate before each call of its model, with which a turn begins."""

    async def take_step(self, *args: Any, **kwargs: Any) -> Any:
        """Take a step, unless the run was stopped."""
        run = errcompact.current_run()
        await run.acheck()
        run.begin_turn()
        return await super().take_step(*args, **kwargs)


async def main() -> None:
    """Run the agent until it is stopped."""
    tool = FunctionTool.from_defaults(errcompact.compacted(failure=RuntimeError)(price))
    with errcompact.run(agent="shop") as run:
        try:
            await Gated(tools=[tool], llm=Stubborn(), streaming=False).run("What is tea?")
        except errcompact.RunHalted as stop:
            print("stopped:", stop.reason)
    print("result:", run.report().result)


if __name__ == "__main__":
    asyncio.run(main())
