"""LangChain: a loop ends, or a human helps. Run: python with_langchain.py (pip install otel-errcompact[langchain])."""

from collections.abc import Iterator
from itertools import count

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import otel_errcompact as errcompact
from otel_errcompact.integrations.langchain import CompactionMiddleware


class Stubborn(GenericFakeChatModel):
    """A model that asks for the wrong column, the same each time, until a human tells it the right one."""

    def bind_tools(self, *_: object, **__: object) -> "Stubborn":
        """Return itself."""
        return self


def answers(wrong: int) -> Iterator[AIMessage]:
    """Say what the model says, which is wrong so many times."""
    for number in count(1):
        column = "amount" if number <= wrong else "amount_cents"
        yield AIMessage("", tool_calls=[{"name": "total", "args": {"column": column}, "id": f"call-{number}"}])
        if number > wrong:
            yield AIMessage("The orders come to 42.")


def total(column: str) -> int:
    """Add up a column of the orders."""
    if column != "amount_cents":
        raise LookupError(f"no such column: {column}")
    return 42


def main() -> None:
    """Play an agent that never learns, twice: without a human, and with one."""
    errcompact.install()  # counters, and the raw errors in a file; it says where
    for wrong, handler in ((9, None), (4, lambda _: errcompact.Pause("it keeps failing: go on?"))):
        compaction = CompactionMiddleware(agent="shop", on_escalation=handler)
        model, memory = Stubborn(messages=answers(wrong)), InMemorySaver()
        agent = create_agent(model, [total], middleware=[compaction], checkpointer=memory)
        thread = {"configurable": {"thread_id": "orders"}}
        result = agent.invoke({"messages": [HumanMessage("What do the orders come to?")]}, thread)
        if asked := result.get("__interrupt__"):
            print("a human is asked:", asked[0].value["question"])
            result = agent.invoke(Command(resume="use amount_cents"), thread)
        for message in result["messages"]:
            print(f"{message.type:6} {message.content or message.tool_calls[0]['args']}")
        print(compaction.runs.report("orders").to_markdown())


if __name__ == "__main__":
    main()
