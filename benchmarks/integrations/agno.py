"""An agent of Agno, which gives its model the text of whatever a tool raises; ours is the decorator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agno.agent import Agent
from agno.exceptions import StopAgentRun
from agno.models.base import Model
from agno.models.response import ModelResponse

import otel_errcompact as errcompact

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene


class Scripted(Model):
    """Says what it is told to."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(id="fake")
        self._items = scene.items()

    def invoke(self, *_: Any, **__: Any) -> ModelResponse:
        """Say the next."""
        item = next(self._items, None)
        if item is None:
            return ModelResponse(role="assistant", content="done")
        function = {"name": "price", "arguments": json.dumps({"item": item})}
        return ModelResponse(
            role="assistant", tool_calls=[{"id": f"call-{item}", "type": "function", "function": function}]
        )

    ainvoke = invoke_stream = ainvoke_stream = invoke
    _parse_provider_response = _parse_provider_response_delta = invoke


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""
    run = errcompact.run(agent="shop")

    def error(digest: str) -> Exception:
        return StopAgentRun(digest) if run.gate() else RuntimeError(digest)

    function = errcompact.compacted(run=run, failure=error)(scene.tool) if scene.ours else scene.tool
    agent = Agent(model=Scripted(scene), tools=[function], telemetry=False)

    def ours() -> None:
        with run:
            agent.run("go")

    return ours if scene.ours else lambda: agent.run("go")
