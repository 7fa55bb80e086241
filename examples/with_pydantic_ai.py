"""Pydantic AI: a stubborn model reads digests and is stopped. Run: python with_pydantic_ai.py."""

import sqlite3

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import otel_errcompact as errcompact
from otel_errcompact.integrations.pydantic_ai import CompactionCapability
from otel_errcompact_context.integrations.pydantic_ai import WindowCapability

DATABASE = sqlite3.connect(":memory:", check_same_thread=False)
DATABASE.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount_cents INTEGER)")


def stubborn(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Stand for a model that never learns; with a real one its name stands here."""
    for part in messages[-1].parts:
        if isinstance(part, ToolReturnPart):
            print(f"the model reads: {part.content}")
    return ModelResponse([ToolCallPart("query", {"sql": "SELECT SUM(amount) FROM orders"})])


def query(sql: str) -> list[tuple[int]]:
    """Ask the database."""
    return DATABASE.execute(sql).fetchall()


model = FunctionModel(stubborn)
compaction = CompactionCapability(agent="shop")
agent = Agent(model, tools=[query], capabilities=[compaction])

window = WindowCapability()  # keeps what is sent within the model's window
small = Agent(model, tools=[query], capabilities=[compaction, window])


def main() -> None:
    """Run the agent until it is stopped."""
    for one in (agent, small):
        try:
            print(one.run_sync("What did we sell?").output)
        except errcompact.RunHalted as stop:
            print(f"stopped: {stop}")
            print(compaction.runs.report(stop.escalation.run_id).to_markdown())


if __name__ == "__main__":
    main()
