"""A loop over the Responses API; without the integration it has its own line for a tool's exception."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
from openai import OpenAI

import otel_errcompact as errcompact
from otel_errcompact.integrations.openai import answered

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene

RESPONSE = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt", "status": "completed"}


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of the loop."""
    items, tool = scene.items(), scene.tool_that_never_raises()

    def api(_: httpx2.Request) -> httpx2.Response:
        item = next(items, None)
        call = {"type": "function_call", "id": "fc", "call_id": f"call-{item}", "name": "price"}
        output = [{**call, "arguments": json.dumps({"item": item})}] if item else []
        return httpx2.Response(200, json={**RESPONSE, "output": output})

    client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(api)))

    def plainly(call: Any) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": call.call_id, "output": tool(**json.loads(call.arguments))}

    def loop(answer: Callable[[Any], dict[str, Any]], check: Callable[[], None]) -> None:
        history: list[Any] = [{"role": "user", "content": "go"}]
        while calls := client.responses.create(model="gpt", input=history).output:
            for call in calls:
                history += [call.model_dump(exclude_none=True), answer(call)]
            check()

    def ours() -> None:
        with errcompact.run(agent="shop") as run:
            loop(lambda call: answered(call, {"price": tool}), run.check)

    return ours if scene.ours else lambda: loop(plainly, lambda: None)
