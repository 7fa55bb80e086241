"""A client and a server of the MCP SDK in one process; the server makes an error result of an exception itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.client.client import Client
from mcp.server.mcpserver import MCPServer

from otel_errcompact.integrations.mcp import CompactionServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene


def prepare(scene: Scene) -> Callable[[], object]:
    """Return the calls of one client."""
    server = CompactionServer("shop") if scene.ours else MCPServer("shop")
    server.tool()(scene.tool)

    async def run() -> None:
        async with Client(server) as client:
            for item in scene.items():
                await client.call_tool("price", {"item": item})

    return run
