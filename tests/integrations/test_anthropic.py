"""The tool runner of the Anthropic SDK, over a transport that plays the API."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool

import otel_errcompact as errcompact
from otel_errcompact.integrations.anthropic import compacted, guarded

if TYPE_CHECKING:
    from tests.integrations.conftest import World


class Api:
    """Answers with the calls of a script, then with text, and keeps the requests."""

    def __init__(self, *turns: list[tuple[str, dict[str, Any]]]) -> None:
        self.turns = list(turns)
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content))
        turn = self.turns.pop(0) if self.turns else []
        number = len(self.requests)
        content: list[dict[str, Any]] = [
            {"type": "tool_use", "id": f"toolu_{number}_{n}", "name": name, "input": arguments}
            for n, (name, arguments) in enumerate(turn)
        ] or [{"type": "text", "text": "done"}]
        return httpx2.Response(
            200,
            json={
                "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude", "content": content,
                "stop_reason": "tool_use" if turn else "end_turn", "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        )  # fmt: skip

    def runner(self, *tools: Any, **options: Any) -> Any:
        client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(self)))
        return client.beta.messages.tool_runner(**self.params(tools), **options)

    def async_runner(self, *tools: Any, **options: Any) -> Any:
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(self))
        return AsyncAnthropic(api_key="none", http_client=http).beta.messages.tool_runner(
            **self.params(tools), **options
        )

    def params(self, tools: Any) -> dict[str, Any]:
        return {
            "model": "claude", "max_tokens": 100, "tools": list(tools), "messages": [{"role": "user", "content": "?"}],
        }  # fmt: skip

    @property
    def read(self) -> list[tuple[str, bool]]:
        """The results of tools that the model was sent, and whether they were marked as errors."""
        return [
            (
                block["content"] if isinstance(block["content"], str) else block["content"][0]["text"],
                block.get("is_error", False),
            )
            for message in self.requests[-1]["messages"]
            if message["role"] == "user" and isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]


COFFEE, TEA = ("price", {"item": "coffee"}), ("price", {"item": "tea"})
executed: list[str] = []


@compacted
@beta_tool
def price(item: str) -> str:
    """Look up a price."""
    executed.append(item)
    return str({"tea": 2}[item])


@compacted
@beta_async_tool
async def async_price(item: str) -> str:
    """Look up a price."""
    await asyncio.sleep(0)
    executed.append(item)
    return str({"tea": 2}[item])


@pytest.fixture(autouse=True)
def _fresh() -> None:
    executed.clear()


@pytest.mark.duty("render")
@pytest.mark.duty("gate")
def test_a_tool_that_fails_for_ever_stops_before_the_next_request(world: World) -> None:
    """Three requests, three executions, no fourth request."""
    api = Api(*[[COFFEE]] * 9)
    with pytest.raises(errcompact.RunHalted), errcompact.run(agent="shop") as run:
        for _ in guarded(api.runner(price)):
            pass
    print(api.read)
    assert executed == ["coffee"] * 3
    assert len(api.requests) == 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [raw.splitlines()[-1] for raw in world.raw_errors()] == ["KeyError: 'coffee'"] * 3
    print([(s.name, s.status.status_code, dict(s.attributes)) for s in world.spans()])
    assert run.report().result == "halted"
    assert 0
