"""MCP servers whose tools keep failing. Run: python with_mcp.py (pip install 'otel-errcompact[mcp]')."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.client.client import Client
from mcp.server import Server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, Tool

from otel_errcompact.integrations.mcp import CompactionHandler, CompactionServer

server = CompactionServer("shop")  # in place of MCPServer("shop")


@server.tool()
def price(item: str) -> int:
    """Look a price up."""
    return {"coffee": 3}[item]


async def on_list_tools(_: Any, __: Any) -> ListToolsResult:
    """List the one tool of the low-level server."""
    return ListToolsResult(tools=[Tool(name="price", input_schema={"type": "object"})])


async def on_call_tool(_: Any, params: CallToolRequestParams) -> CallToolResult:
    """Fail for what is not sold."""
    raise LookupError(f"no price of {(params.arguments or {})['item']}")


compaction = CompactionHandler()
low_level = Server("stock", on_list_tools=on_list_tools, on_call_tool=compaction.wrap(on_call_tool))


async def main() -> None:
    """Stand for agents that try the same call for ever."""
    for each in (server, low_level):
        async with Client(each) as client:
            for _ in range(4):
                result = await client.call_tool("price", {"item": "tea"})
                print("model reads:", *(block.text for block in result.content if block.type == "text"))


if __name__ == "__main__":
    asyncio.run(main())
