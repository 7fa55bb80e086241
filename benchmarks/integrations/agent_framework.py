"""An agent of the Microsoft Agent Framework, which formats a tool's exception itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from benchmarks.integrations.scene import Scene


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Says what it is told to."""

    def __init__(self, turns: list[Content], **settings: Any) -> None:
        super().__init__(**settings)
        self.turns = turns

    def _inner_get_response(self, **_: object) -> Awaitable[ChatResponse]:
        async def response() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [self.turns.pop(0)])])

        return response()


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""
    calls = [Content.from_function_call(f"call-{item}", "price", arguments={"item": item}) for item in scene.items()]
    patient = {"max_iterations": 10_000, "max_consecutive_errors_per_request": 10_000}
    client = Client([*calls, Content.from_text("done")], function_invocation_configuration=patient)
    middleware = [CompactionMiddleware(agent="shop")] if scene.ours else []
    made = tool(scene.tool, approval_mode="never_require")
    agent = Agent(client, tools=[made], middleware=middleware)
    return lambda: agent.run("go")
