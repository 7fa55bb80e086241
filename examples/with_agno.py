"""An Agno agent whose tool keeps failing is stopped. Run: python with_agno.py."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from agno.agent import Agent
from agno.exceptions import StopAgentRun
from agno.models.base import Model
from agno.models.response import ModelResponse

import otel_errcompact as errcompact

if TYPE_CHECKING:
    from agno.models.message import Message


def price(item: str) -> int:
    """Look up a price."""
    return {"coffee": 3}[item]


class Stubborn(Model):
    """A model that asks for the same call for ever."""

    def invoke(self, messages: list[Message], **_: Any) -> ModelResponse:
        """Show what it reads of the last call, and repeat itself."""
        print("model reads:", str(messages[-1].content).splitlines()[0])
        function = {"name": "price", "arguments": json.dumps({"item": "tea"})}
        return ModelResponse(role="assistant", tool_calls=[{"id": "c", "type": "function", "function": function}])

    ainvoke = invoke_stream = ainvoke_stream = invoke
    _parse_provider_response = _parse_provider_response_delta = invoke


def main() -> None:
    """Run the agent until it is stopped."""
    logging.getLogger("agno").disabled = True  # it prints the traceback of every tool
    with errcompact.run(agent="shop") as run:

        def error(digest: str) -> Exception:
            """Fail the call, and the run with it once the gate is shut."""
            return StopAgentRun(digest) if run.gate() else RuntimeError(digest)

        compacted = errcompact.compacted(run=run, failure=error)
        answer = Agent(model=Stubborn(id="stubborn"), tools=[compacted(price)], telemetry=False).run("What is tea?")
        print("stopped:", answer.status, "-", run.gate())
    print("result:", run.report().result)


if __name__ == "__main__":
    main()
