"""A client and a server of FastMCP in one process; the server makes an error result of a tool's exception itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastmcp import Client, FastMCP

from otel_errcompact.integrations.fastmcp import CompactionMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.integrations.scene import Scene


def prepare(scene: Scene) -> Callable[[], object]:
    """Return the calls of one client."""
    server: FastMCP[None] = FastMCP("shop", middleware=[CompactionMiddleware()] if scene.ours else [])
    server.tool(scene.tool)

    async def run() -> None:
        async with Client(server) as client:
            for item in scene.items():
                await client.call_tool("price", {"item": item}, raise_on_error=False)

    return run
