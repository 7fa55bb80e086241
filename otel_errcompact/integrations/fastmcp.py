"""FastMCP servers: a middleware."""

from __future__ import annotations

import functools
import uuid
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.boundary import Run, RunRegistry, RunSettings
from otel_errcompact.integrations.requirement import required

with required("fastmcp", "4.0.0", extra="fastmcp"):
    from fastmcp.exceptions import ToolError
    from fastmcp.server.dependencies import get_access_token
    from fastmcp.server.elicitation import AcceptedElicitation, DeclinedElicitation
    from fastmcp.server.middleware import Middleware
    from mcp import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from fastmcp.server.context import Context
    from fastmcp.server.middleware import CallNext, MiddlewareContext

    from otel_errcompact.boundary.port import Ask

SESSIONLESS: Final = "2026-07-28"
"""The version of the protocol that has done away with sessions, and with questions from the server."""


class CompactedToolError(ToolError):
    """
    An answer of this middleware that is counted already.

    Other middleware of ours recognises it by its name.
    """


class CompactionMiddleware(Middleware):
    """
    Digests, counts and an end to loops: `FastMCP("shop", middleware=[CompactionMiddleware()])`.

    A server has no agent to stop, and the library disables no tool. Where `on_escalation` answers `Halt`, the tool that
    kept failing is refused until `runs.of(session).resume()`, and all tools where the threshold was not about one class
    of errors. `Pause` asks by elicitation.

    Args:
        session: Names the run that a call belongs to. By default that is the MCP session; where the protocol knows
            none, the authenticated client, or the server itself if it is not on the net; else, as where the name is
            empty, the request alone.
        settings: As for `otel_errcompact.run`; the agent is named after the server by default.
    """

    def __init__(self, *, session: Callable[[Context], str] | None = None, **settings: Unpack[RunSettings]) -> None:
        self.runs: Final = RunRegistry(stoppable=False, **settings)
        self._agent = settings.get("agent", "")
        self._session = session or self._session_of
        self._alone = uuid.uuid4().hex

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Refuse a call, or execute it and count its outcome."""
        ctx = context.fastmcp_context
        if ctx is None or ctx.request_context is None:  # no client: the program calls its own server
            return await call_next(context)
        session = self._session(ctx)
        run = self.runs.of(session or uuid.uuid4().hex, agent=self._agent or ctx.fastmcp.name)
        try:
            return await self._call_tool(run, context, call_next, functools.partial(_ask_client, ctx))
        finally:
            if not session:  # nobody comes back to it
                self.runs.end(run.run_id)

    async def _call_tool(
        self, run: Run, context: MiddlewareContext[Any], call_next: CallNext[Any, Any], ask: Ask
    ) -> Any:
        tool, arguments, began = context.message.name, context.message.arguments, run.port.mark_request()
        if refusal := await run.port.arefuse(tool, arguments=arguments, began=began, ask=ask):
            raise CompactedToolError(refusal)
        try:
            result = await call_next(context)
        except Exception as error:
            wrapped = error.__cause__ if str(error).startswith("Error calling tool") else None
            call = run.port.record_call(tool, arguments=arguments, error=wrapped or error, began=began)
            await run.port.aask_handler()
            if call.compacted and not isinstance(error, MCPError):  # which is for the client, not for its model
                raise CompactedToolError(call.text) from error
            raise
        call = run.port.record_call(tool, arguments=arguments, result=result, began=began)
        if call.compacted:
            await run.port.aask_handler()
            raise CompactedToolError(call.text)
        return result

    def _session_of(self, ctx: Context) -> str:
        request = ctx.request_context
        if request is not None and request.protocol_version < SESSIONLESS:
            return ctx.session_id
        if (token := get_access_token()) is not None:
            return f"{token.client_id} {token.claims.get('sub', '')}".rstrip()
        return "" if ctx.transport in {"sse", "streamable-http"} else self._alone


async def _ask_client(ctx: Context, question: str) -> object:
    try:
        reply = await ctx.elicit(f"{question}\nWhat shall the agent do? Decline to stop it.", response_type=str)
    except Exception:  # noqa: BLE001 - whatever it is, nobody has replied: the run waits for `run.resume()`
        return None
    if isinstance(reply, AcceptedElicitation):
        return reply.data
    return False if isinstance(reply, DeclinedElicitation) else None
