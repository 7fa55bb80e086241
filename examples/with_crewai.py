"""A CrewAI agent whose tool keeps failing is stopped. Run: python with_crewai.py."""

from typing import Any

from crewai import Agent, BaseLLM, Crew, Task
from crewai.hooks import before_llm_call
from crewai.hooks.dispatch import HookAborted
from crewai.tools import tool
from crewai.tools.tool_failure import ToolFailure

import otel_errcompact as errcompact


def price(item: str) -> int:
    """Look up a price."""
    return {"coffee": 3}[item]


class Stubborn(BaseLLM):
    """A model that asks for the same call for ever."""

    def supports_function_calling(self) -> bool:
        """It asks for tools by name."""
        return True

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        """Show what it reads of the last call, and repeat itself."""
        results = [message["content"] for message in messages if message["role"] == "tool"]
        print("model reads:", results[-1].splitlines()[0] if results else "the task")
        return [{"id": "c", "type": "function", "function": {"name": "price", "arguments": '{"item": "tea"}'}}]


def main() -> None:
    """Run the crew until it is stopped."""
    with errcompact.run(agent="shop") as run:

        @before_llm_call
        def gate(_: Any) -> None:
            """Stop before the next model call, or begin a turn with it."""
            if stop := run.gate():
                raise HookAborted(str(stop)) from stop
            run.begin_turn()

        # CrewAI's own way to say that a tool has failed; the text is the digest.
        compacted = errcompact.compacted(run=run, failure=lambda digest: ToolFailure(message=digest))
        agent = Agent(role="shop", goal="g", backstory="b", llm=Stubborn(model="x"), tools=[tool(compacted(price))])
        task = Task(description="What is tea?", expected_output="a price", agent=agent)
        try:
            Crew(agents=[agent], tasks=[task]).kickoff()
        except HookAborted as stop:
            print("stopped:", stop.reason)
    print("result:", run.report().result)


if __name__ == "__main__":
    main()
