"""An ADK agent whose tool fails. Run: python with_google_adk.py (pip install 'otel-errcompact[google_adk,context]')."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from otel_errcompact.integrations.google_adk import CompactionPlugin
from otel_errcompact_context import ContextOptions, ContextWindow
from otel_errcompact_context.integrations.google_adk import WindowPlugin

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class Stubborn(BaseLlm):
    """
    Stands for a model that tries the same call for ever.
    """

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002
    ) -> AsyncGenerator[LlmResponse, None]:
        """Show what the model has read last, and call the tool."""
        read = (llm_request.contents[-1].parts or [])[-1]
        print("model reads:", read.function_response.response if read.function_response else read.text)
        call = types.Part.from_function_call(name="price", args={"item": "tea"})
        yield LlmResponse(content=types.Content(role="model", parts=[call]))


def price(item: str) -> int:
    """Look a price up."""
    return {"coffee": 3}[item]


class Reader(BaseLlm):
    """
    Stands for a model that reads forty pages.
    """

    sizes: list[int] = []  # noqa: RUF012 - a field of pydantic's

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002
    ) -> AsyncGenerator[LlmResponse, None]:
        """Read the next page."""
        self.sizes.append(len(llm_request.model_dump_json(include={"contents"}, exclude_none=True)))
        call = types.Part.from_function_call(name="read", args={"page": len(self.sizes)})
        part = types.Part(text="Nothing.") if len(self.sizes) > 40 else call
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def read(page: int) -> str:
    """Read a page."""
    return f"page {page}: nothing about refunds\n" * 40


async def read_all() -> None:
    """Let an agent read more than its model's window holds."""
    model = Reader(model="reader", sizes=[])
    agent = LlmAgent(name="reader", model=model, tools=[read])
    errors = CompactionPlugin(agent="reader")

    window = ContextWindow(ContextOptions(window_tokens=6_000, folder="cuts"))
    plugins = [errors, WindowPlugin(window, runs=errors.runs)]

    app = App(name="reader", root_agent=agent, plugins=plugins)

    async with InMemoryRunner(app=app) as runner:
        await runner.run_debug("What does the manual say about refunds?", quiet=True)
    print(f"longest request: {max(model.sizes):,} characters")


async def main() -> None:
    """Ask the agents once."""
    await read_all()
    plugin = CompactionPlugin(agent="shop")
    agent = LlmAgent(name="shop", model=Stubborn(model="stubborn"), tools=[price])
    app = App(name="shop", root_agent=agent, plugins=[plugin])
    async with InMemoryRunner(app=app) as runner:
        events = await runner.run_debug("What is a cup of tea?", quiet=True)
    last = events[-1]
    print("agent says: ", last.content.parts[0].text if last.content and last.content.parts else "")
    print("it ended:   ", plugin.runs.report(last.invocation_id).result)


if __name__ == "__main__":
    asyncio.run(main())
