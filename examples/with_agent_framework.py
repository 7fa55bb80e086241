"""Microsoft Agent Framework: a stubborn model reads digests and is stopped. Run: python with_agent_framework.py."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from otel_errcompact.integrations.agent_framework import CompactionMiddleware
from otel_errcompact_context import ContextOptions, ContextWindow
from otel_errcompact_context.integrations.agent_framework import WindowMiddleware

DATABASE = sqlite3.connect(":memory:", check_same_thread=False)
DATABASE.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount_cents INTEGER)")


class StubbornClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Stand for a model that never learns; with a real one its client stands here."""

    def _inner_get_response(self, *, messages: Sequence[Message], **_: object) -> Awaitable[ChatResponse]:
        for content in messages[-1].contents:
            print(f"the model reads: {content.result or content.text}")
        arguments = {"sql": "SELECT SUM(amount) FROM orders"}
        call = Content.from_function_call(f"call-{len(messages)}", "query", arguments=arguments)

        async def respond() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [call])])

        return respond()


@tool(approval_mode="never_require")
def query(sql: str) -> str:
    """Ask the database."""
    return str(DATABASE.execute(sql).fetchall())


class ReadingClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Stand for a model that reads forty pages."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.sizes: list[int] = []

    def _inner_get_response(self, *, messages: Sequence[Message], **_: object) -> Awaitable[ChatResponse]:
        self.sizes.append(sum(len(str(one.result or "")) for message in messages for one in message.contents))
        number = len(self.sizes)
        call = Content.from_function_call(f"page-{number}", "read", arguments={"page": number})

        async def respond() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", ["Nothing." if number > 40 else call])])

        return respond()


@tool(approval_mode="never_require")
def read(page: int) -> str:
    """Read a page."""
    return f"page {page}: nothing about refunds\n" * 40


async def main() -> None:
    """Run the agent until it is stopped, and another that reads more than its model's window holds."""
    compaction = CompactionMiddleware(agent="shop")
    limits = {"max_consecutive_errors_per_request": 10}  # by default the framework ends its loop at the third
    client = StubbornClient(function_invocation_configuration=limits)
    agent = Agent(client, tools=[query], middleware=[compaction])
    session = agent.create_session()
    print((await agent.run("What did we sell?", session=session)).text)
    print(compaction.runs.report(session.session_id).to_markdown())

    window = ContextWindow(ContextOptions(window_tokens=6_000, folder="cuts"))
    middleware = [compaction, WindowMiddleware(window, runs=compaction.runs)]

    reader = ReadingClient(function_invocation_configuration={"max_iterations": 50})
    agent = Agent(reader, tools=[read], middleware=middleware)

    print((await agent.run("What does the manual say about refunds?")).text)
    print(f"the longest request had {max(reader.sizes):,} characters of results")


if __name__ == "__main__":
    asyncio.run(main())
