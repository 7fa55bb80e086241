"""An MCP server whose tool keeps failing. Run: python with_mcp.py (pip install 'otel-errcompact[mcp]')."""

from __future__ import annotations

import asyncio

from mcp.client.client import Client

import otel_errcompact as errcompact
from otel_errcompact.integrations.mcp import CompactionServer

server = CompactionServer("shop")


@server.tool()
def price(item: str) -> int:
    """Look a price up."""
    return {"coffee": 3}[item]


async def main() -> None:
    """Stand for an agent that tries the same call for ever."""
    errcompact.install()
    async with Client(server) as client:
        for _ in range(4):
            result = await client.call_tool("price", {"item": "tea"})
            print("model reads:", *(block.text for block in result.content if block.type == "text"))


if __name__ == "__main__":
    asyncio.run(main())
