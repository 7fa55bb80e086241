"""A FastMCP server whose tool keeps failing. Run: python with_fastmcp.py (pip install 'otel-errcompact[fastmcp]')."""

from __future__ import annotations

import asyncio

from fastmcp import Client, FastMCP

from otel_errcompact.integrations.fastmcp import CompactionMiddleware

server = FastMCP("shop", middleware=[CompactionMiddleware()])


@server.tool
def price(item: str) -> int:
    """Look a price up."""
    return {"coffee": 3}[item]


async def main() -> None:
    """Stand for an agent that tries the same call for ever."""
    async with Client(server) as client:
        for _ in range(4):
            result = await client.call_tool("price", {"item": "tea"}, raise_on_error=False)
            print("model reads:", *(block.text for block in result.content if block.type == "text"))


if __name__ == "__main__":
    asyncio.run(main())
