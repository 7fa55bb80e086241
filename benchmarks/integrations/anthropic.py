"""The tool runner of the Anthropic SDK, which makes an error result of a tool's exception itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
from anthropic import Anthropic, beta_tool

import otel_errcompact as errcompact
from otel_errcompact.integrations.anthropic import compacted, guarded

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene

MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of the loop."""
    items = scene.items()

    def api(_: httpx2.Request) -> httpx2.Response:
        item = next(items, None)
        call = {"type": "tool_use", "id": f"call-{item}", "name": "price", "input": {"item": item}}
        content, reason = (call, "tool_use") if item else ({"type": "text", "text": "done"}, "end_turn")
        return httpx2.Response(200, json={**MESSAGE, "content": [content], "stop_reason": reason})

    client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(api)))
    tool: Any = beta_tool(scene.tool)

    def runner(tool: Any) -> Any:
        messages: Any = [{"role": "user", "content": "go"}]
        return client.beta.messages.tool_runner(model="claude", max_tokens=100, tools=[tool], messages=messages)

    def ours() -> None:
        with errcompact.run(agent="shop"):
            for _ in guarded(runner(compacted(tool))):
                pass

    return ours if scene.ours else lambda: [*runner(tool)]
