"""LangChain's agent, whose graph, nodes, tools and models all are runs with spans of their own."""

from __future__ import annotations

from frameworks.orders import find_order
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp
from langgraph.types import interrupt

PACKAGES = {
    "openinference": ["langchain==1.4.7", "langgraph==1.2.22", "openinference-instrumentation-langchain==0.1.80"],
    "openllmetry": ["langchain==1.4.7", "langgraph==1.2.22", "opentelemetry-instrumentation-langchain==0.62.4"],
    "official": ["langchain==1.4.7", "langgraph==1.2.22", "opentelemetry-instrumentation-genai-langchain==1.3b0"],
}


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


def scripted(*turns):
    return Scripted(messages=iter(turns), model_name="scripted")


def calling(name, call_id, **arguments):
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": call_id}])


@wrap_tool_call
def as_message(request, handler):
    try:
        return handler(request)
    except GraphBubbleUp:
        raise
    except Exception as error:
        call = request.tool_call
        return ToolMessage(str(error), tool_call_id=call["id"], name=call["name"], status="error")


def handled():
    """The tool fails, the model reads it and corrects itself."""
    turns = (calling("find_order", "c1", order="A-1"), calling("find_order", "c2", order="A-2"), AIMessage("done"))
    agent = create_agent(scripted(*turns), [tool(find_order)], middleware=[as_message], name="shop")
    agent.invoke({"messages": [("user", "find it")]}, {"configurable": {"thread_id": "t-1"}})


def crashed():
    """The tool fails, and nobody handles it."""
    agent = create_agent(scripted(calling("find_order", "c1", order="A-1")), [tool(find_order)], name="shop")
    agent.invoke({"messages": [("user", "find it")]}, {"configurable": {"thread_id": "t-1"}})


def nested():
    """A tool asks another agent, whose tool fails once."""

    @tool
    def ask_stock(question: str) -> str:
        """Ask the stock."""
        turns = (calling("find_order", "i1", order="A-1"), calling("find_order", "i2", order="A-2"), AIMessage("two"))
        inner = create_agent(scripted(*turns), [tool(find_order)], middleware=[as_message], name="stock")
        return inner.invoke({"messages": [("user", question)]})["messages"][-1].content

    turns = (calling("ask_stock", "o1", question="how many?"), AIMessage("done"))
    agent = create_agent(scripted(*turns), [ask_stock], middleware=[as_message], name="shop")
    agent.invoke({"messages": [("user", "find it")]}, {"configurable": {"thread_id": "t-1"}})


def interrupted():
    """A tool asks a human, who answers."""

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}: {interrupt('pay?')}"

    turns = (calling("pay", "c1", amount=5), AIMessage("done"))
    agent = create_agent(scripted(*turns), [pay], middleware=[as_message], checkpointer=InMemorySaver(), name="shop")
    agent.invoke({"messages": [("user", "pay it")]}, {"configurable": {"thread_id": "t-1"}})


def model_failed():
    """The model's call fails."""

    class Failing(Scripted):
        def _generate(self, *args, **kwargs):
            raise TimeoutError("the model did not answer")

    agent = create_agent(Failing(messages=iter(()), model_name="scripted"), [tool(find_order)], name="shop")
    agent.invoke({"messages": [("user", "find it")]}, {"configurable": {"thread_id": "t-1"}})


SCENARIOS = [handled, crashed, nested, interrupted, model_failed]


def openinference(provider):
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)


def openllmetry(provider):
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor

    LangchainInstrumentor().instrument(tracer_provider=provider)


def official(provider):
    from opentelemetry.instrumentation.genai.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)


INSTRUMENTATIONS = {"openinference": openinference, "openllmetry": openllmetry, "official": official}
