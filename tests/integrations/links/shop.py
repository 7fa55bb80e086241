"""A shop by the MCP SDK: `python shop.py stdio|sse|streamable-http [PORT]`."""

from __future__ import annotations

import asyncio
import sys

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("shop", instructions="Buy tea.", version="1.2.3", log_level="CRITICAL")


class Price(BaseModel):
    """What something costs."""

    item: str
    euros: float


class Amount(BaseModel):
    """How much of it."""

    number: int


@server.tool(title="The price")
def price(item: str) -> Price:
    """Say what something costs."""
    return Price(item=item, euros=3.5)


@server.tool()
def boom(item: str) -> str:
    """Fail."""
    raise KeyError(f"no {item} " + "and " * 500)


@server.tool()
async def slowly(ctx: Context) -> str:
    """Report progress and log."""
    for at in range(3):
        await ctx.report_progress(at, 3, f"step {at}")
    await ctx.info("all done")
    return "done"


@server.tool()
async def order(ctx: Context) -> str:
    """Ask the user how much."""
    reply = await ctx.elicit("how many?", schema=Amount)
    return f"{reply.action}: {reply.data.number if reply.action == 'accept' else 0}"


@server.tool()
async def wait(ctx: Context) -> str:
    """Take for ever."""
    await asyncio.sleep(600)
    return "never"


@server.tool()
def header(ctx: Context) -> str:
    """Say which team asks."""
    request = ctx.request_context.request
    return str(request.headers.get("x-team")) if request is not None else "nobody"


@server.resource("shop://prices")
def prices() -> str:
    """All prices."""
    return "tea: 3.5"


@server.resource("shop://prices/{item}")
def one_price(item: str) -> str:
    """One price."""
    return f"{item}: 3.5"


@server.prompt()
def advice(item: str) -> str:
    """What to ask a model."""
    return f"Is {item} too dear?"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run()
    else:
        server.run(sys.argv[1], port=int(sys.argv[2]))  # type: ignore[call-overload]
