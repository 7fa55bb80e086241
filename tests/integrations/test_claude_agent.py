"""Claude Agent SDK: the real command line that the package brings, and a model played on this machine."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    ToolAnnotations,
    create_sdk_mcp_server,
    tool,
)

import otel_errcompact as errcompact
from examples.fakes.messages_api import FakeMessagesApi, says, uses
from otel_errcompact.integrations.claude_agent import Compaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from examples.fakes.messages_api import Blocks

    from .conftest import World

BOOM = "mcp__shop__boom"


class Agent:
    """
    A Claude agent in a folder of its own, whose model follows a script.

    Args:
        folder: Its home and working directory.
        compaction: What is tested.
        turns: What the model says, turn by turn; the last one again for ever.
        tools: Tools of this process.
    """

    def __init__(self, folder: Path, compaction: Compaction, turns: Iterable[Blocks], *tools: Any, **options: Any):
        self.turns = list(turns)
        self.api = FakeMessagesApi(self._model)
        self.results: list[ResultMessage] = []
        options.setdefault("hooks", compaction.hooks())
        self.options = ClaudeAgentOptions(
            mcp_servers={"shop": create_sdk_mcp_server("shop", tools=list(tools))},
            setting_sources=[],
            cwd=folder,
            model="claude-sonnet-4-5",
            allowed_tools=["mcp__shop", "Bash", "Edit", "Task"],
            env={
                "ANTHROPIC_BASE_URL": self.api.url, "ANTHROPIC_API_KEY": "x", "HOME": str(folder),
                "CLAUDE_CONFIG_DIR": str(folder), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            },
            **options,
        )  # fmt: skip

    def _model(self, messages: Blocks) -> Blocks:
        return self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]

    async def ask(self, *prompts: str) -> None:
        """Ask the agent, in one session."""
        with self.api:
            async with ClaudeSDKClient(self.options) as client:
                for prompt in prompts:
                    await client.query(prompt)
                    async for message in client.receive_response():
                        if isinstance(message, ResultMessage):
                            self.results.append(message)

    @property
    def session(self) -> str:
        return self.results[-1].session_id

    def read(self) -> list[tuple[str, bool]]:
        """What the model has read of its tools, and whether it was flagged as an error."""
        blocks = [block for message in self.api.requests[-1]["messages"] for block in _blocks(message)]
        return [
            (_text(block["content"]), bool(block.get("is_error"))) for block in blocks if block["type"] == "tool_result"
        ]

    def history(self) -> str:
        return json.dumps(self.api.requests[-1]["messages"])


def _blocks(message: dict[str, Any]) -> Blocks:
    return message["content"] if isinstance(message["content"], list) else []


def _text(content: Any) -> str:
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
    return text.partition("\n\n<system-reminder>")[0]


class Tools:
    """
    Tools that note what they were called with.
    """

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def boom(self) -> Any:
        @tool("boom", "fails for odd numbers", {"x": int}, annotations=ToolAnnotations(readOnlyHint=True))
        async def boom(arguments: dict[str, Any]) -> dict[str, Any]:
            self.calls.append(arguments["x"])
            await asyncio.sleep(0.02)
            if arguments["x"] % 2:
                raise ValueError(f"bad x={arguments['x']}")
            return {"content": [{"type": "text", "text": "fine"}]}

        return boom


def failing(numbers: Iterable[int]) -> list[Blocks]:
    return [[uses(BOOM, f"call-{x}", x=x)] for x in numbers]


@pytest.mark.duty("render", says="own tools; appended for others")
async def test_a_tool_that_fails_for_ever_stops_at_the_threshold(world: World, tmp_path: Path) -> None:
    """Three executions, two digests read before the halt and a third that is kept, and the turn ends by our hook."""
    tools, compaction = Tools(), Compaction(agent="shop")
    agent = Agent(tmp_path, compaction, failing(range(1, 99, 2)), *compaction.tools(tools.boom()))

    await agent.ask("go")

    print(agent.history()[-3000:])
    print(agent.results, world.errors(), world.escalations(), world.runs(), world.raw_errors(), world.classes_on_spans())
    print([ (s.name, dict(s.attributes)) for s in world.spans()])
    assert tools.calls == [1, 3, 5]
