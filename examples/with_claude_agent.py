"""Claude Agent SDK: a tool that fails for ever ends the turn at its third failure. Run: python with_claude_agent.py."""

import asyncio
import tempfile
from dataclasses import replace
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, UserMessage, create_sdk_mcp_server, query, tool
from fakes.messages_api import Blocks, FakeMessagesApi, uses

from otel_errcompact.integrations.claude_agent import CompactionHooks
from otel_errcompact_context import ContextOptions, ContextWindow
from otel_errcompact_context.integrations.claude_agent import WindowHooks


@tool("refund", "Refund an order", {"order": int})
async def refund(arguments: dict[str, Any]) -> dict[str, Any]:
    """Fail the same way for each order."""
    raise LookupError(f"no order {arguments['order']}")


def model(request: dict[str, Any]) -> Blocks:
    """Play a model that never learns: it tries the same order for ever."""
    return [uses("mcp__shop__refund", f"call-{len(request['messages'])}", order=41)]


async def main() -> None:
    """Run the real command line of Claude against a model that is played on this machine."""
    compaction = CompactionHooks(agent="shop")
    server = create_sdk_mcp_server("shop", tools=compaction.tools(refund))
    options = ClaudeAgentOptions(hooks=compaction.hooks(), mcp_servers={"shop": server})

    window = WindowHooks(ContextWindow(ContextOptions(result_budget_tokens=5_000)), runs=compaction.runs)
    options = replace(options, hooks=window.hooks(compaction.hooks()))

    with FakeMessagesApi(model) as api, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        options = replace(
            options,
            allowed_tools=["mcp__shop"],
            setting_sources=[],
            cwd=home,
            env={"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "x", "HOME": home, "CLAUDE_CONFIG_DIR": home},
        )
        async for message in query(prompt="Refund my order.", options=options):
            if isinstance(message, UserMessage) and isinstance(message.content, list):
                print("the model reads:", str(getattr(message.content[0], "content", "")).splitlines()[0])
            if isinstance(message, ResultMessage):
                print("the SDK says:", message.subtype)
                print(compaction.runs.report(message.session_id).to_markdown())


if __name__ == "__main__":
    asyncio.run(main())
