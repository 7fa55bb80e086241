"""LangChain: loops end, or ask. Run: python with_langchain.py (pip install 'otel-errcompact[langchain,context]')."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command

import otel_errcompact as errcompact
from otel_errcompact.integrations.langchain import CompactionMiddleware, CompactionState, past_gate
from otel_errcompact_context.integrations.langchain import WindowMiddleware

QUESTION = {"messages": [HumanMessage("What do the orders come to?")]}
THREAD = {"configurable": {"thread_id": "orders"}}


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


def run_alone() -> None:
    """Play an agent that never learns, until it is stopped."""
    model, tools = Stubborn(messages=answers(9)), [total]
    compaction = CompactionMiddleware(agent="shop")
    agent = create_agent(model, tools, middleware=[compaction])
    show(agent.invoke(QUESTION, THREAD), compaction)


def run_with_a_human() -> None:
    """Play the same agent with a person who tells it the right column."""
    model, tools = Stubborn(messages=answers(4)), [total]
    compaction = CompactionMiddleware(
        agent="shop", on_escalation=lambda _: errcompact.Pause("it keeps failing: go on?")
    )
    agent = create_agent(model, tools, middleware=[compaction], checkpointer=InMemorySaver())
    result = agent.invoke(QUESTION, THREAD)
    print("a human is asked:", result["__interrupt__"][0].value["question"])
    show(agent.invoke(Command(resume="use amount_cents"), THREAD), compaction)


def run_within_a_window() -> None:
    """Play the same agent with what keeps its messages within the model's window."""
    model, tools, compaction = Stubborn(messages=answers(9)), [total], CompactionMiddleware(agent="shop")
    window = WindowMiddleware()  # the state keeps the whole history
    agent = create_agent(model, tools, middleware=[compaction, window])
    show(agent.invoke(QUESTION, THREAD), compaction)


def run_a_graph() -> None:
    """Play the agent as a graph that is written by hand."""
    model, tools = Stubborn(messages=answers(9)), [total]
    compaction, graph = CompactionMiddleware(agent="shop"), StateGraph(CompactionState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    node = ToolNode(tools, wrap_tool_call=compaction.wrap_tool_call, awrap_tool_call=compaction.awrap_tool_call)
    graph.add_node("tools", node)  # tools -> gate
    graph.add_node("begin", compaction.before_agent)  # START -> begin -> gate
    graph.add_node("gate", compaction.before_model)  # `abefore_model` where an asynchronous handler needs the loop
    graph.add_node("end", compaction.after_agent)  # where the graph ends by itself
    graph.add_conditional_edges("gate", past_gate("model", "end"))
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", "__end__": "end"})
    for start, end in ((START, "begin"), ("begin", "gate"), ("tools", "gate")):
        graph.add_edge(start, end)
    show(graph.compile().invoke(QUESTION, THREAD), compaction)


def show(result: dict[str, Any], compaction: CompactionMiddleware) -> None:
    """Print the messages and the report of a run."""
    for message in result["messages"]:
        print(f"{message.type:6} {message.content or message.tool_calls[0]['args']}")
    print(compaction.runs.report("orders").to_markdown())


def main() -> None:
    """Play an agent that never learns: without a human, with one, in a window, and as a graph."""
    run_alone()
    run_with_a_human()
    run_within_a_window()
    run_a_graph()


if __name__ == "__main__":
    main()
