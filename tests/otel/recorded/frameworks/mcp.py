"""MCP servers of both packages, asked in memory: client and server make spans."""

from __future__ import annotations

from frameworks.orders import find_order

PACKAGES = {
    "native": ["mcp==2.3.0", "fastmcp==4.1.2"],
}


async def server():
    """The tool of an MCP server fails, then works."""
    from mcp.client.client import Client
    from mcp.server.mcpserver import MCPServer

    shop = MCPServer("shop")
    shop.tool()(find_order)
    async with Client(shop) as client:
        await client.call_tool("find_order", {"order": "A-1"})
        await client.call_tool("find_order", {"order": "A-2"})


async def fast():
    """The tool of a FastMCP server fails, then works."""
    from fastmcp import Client, FastMCP

    shop = FastMCP("shop")
    shop.tool(find_order)
    async with Client(shop) as client:
        await client.call_tool("find_order", {"order": "A-1"}, raise_on_error=False)
        await client.call_tool("find_order", {"order": "A-2"}, raise_on_error=False)


SCENARIOS = [server, fast]
INSTRUMENTATIONS = {"native": lambda provider: None}
