"""The real command line behind the Claude Agent SDK; what is measured is the SDK's process alone."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, query, tool

from examples.fakes.messages_api import Blocks, FakeMessagesApi, says, uses
from otel_errcompact.integrations.claude_agent import CompactionHooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene

ROUNDS = 4
"""Each starts the command line six times."""


def prepare(scene: Scene) -> Callable[[], object]:
    """Return one run of an agent."""

    async def price(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": scene.tool(arguments["item"])}]}

    tools = [tool("price", "Look up a price", {"item": str})(price)]
    turns: list[Blocks] = [[uses("mcp__shop__price", f"call-{item}", item=item)] for item in scene.items()]
    compaction = CompactionHooks(agent="shop") if scene.ours else None
    server = create_sdk_mcp_server("shop", tools=compaction.tools(*tools) if compaction else tools)

    async def run() -> None:
        api = FakeMessagesApi(lambda _: turns.pop(0) if turns else [says("done")])
        with api, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            options = ClaudeAgentOptions(
                hooks=compaction.hooks() if compaction else None, mcp_servers={"shop": server},
                allowed_tools=["mcp__shop"], setting_sources=[], cwd=home, model="claude-sonnet-4-5",
                env={
                    "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "x", "HOME": home, "CLAUDE_CONFIG_DIR": home,
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                },
            )  # fmt: skip
            async for _ in query(prompt="go", options=options):
                pass

    return run
