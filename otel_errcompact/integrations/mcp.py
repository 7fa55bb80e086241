"""Servers of the MCP Python SDK: a server, and a handler."""

from __future__ import annotations

import functools
import uuid
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from otel_errcompact.boundary import Run, RunRegistry, RunSettings
from otel_errcompact.integrations.requirement import required

with required("mcp", "2.1.0", extra="mcp"):
    from mcp import MCPError
    from mcp.server.auth.middleware.auth_context import get_access_token
    from mcp.server.elicitation import elicit_with_validation
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import UnexpectedToolError
    from mcp.types import CallToolResult, TextContent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Unpack

    from mcp.server.context import ServerRequestContext
    from mcp.server.mcpserver import Context
    from mcp.types import CallToolRequestParams

    Request = ServerRequestContext[Any, Any]
    Handler = Callable[[Request, CallToolRequestParams], Awaitable[Any]]


class Reply(BaseModel):
    """
    What a human at the client is asked for.
    """

    message: str


class CompactionHandler:
    """
    Digests in place of errors, counts, and an end to loops: `Server(on_call_tool=CompactionHandler().wrap(on_call))`.

    A server has no agent to stop, and the library disables no tool. Where `on_escalation` answers `Halt`, the tool that
    kept failing is refused until `runs.of(session).resume()`, and all tools where the threshold was not about one class
    of errors. `Pause` asks by elicitation.

    Args:
        session: Names the run that a call belongs to. By default that is the MCP session; where there is none, the
            authenticated client, or the server itself if it is not on the net; else, as where the name is empty, the
            request alone.
        settings: As for `otel_errcompact.run`.
    """

    def __init__(self, *, session: Callable[[Request], str] | None = None, **settings: Unpack[RunSettings]) -> None:
        self.runs: Final = RunRegistry(stoppable=False, **settings)
        self._session = session or self._session_of
        self._alone = uuid.uuid4().hex

    def wrap(self, on_call_tool: Handler) -> Handler:
        """Wrap the handler of a low-level server; exceptions become error results."""

        @functools.wraps(on_call_tool)
        async def compacted(request: Request, params: CallToolRequestParams) -> Any:
            execute = functools.partial(on_call_tool, request, params)
            return await self.call(request, params.name, params.arguments or {}, execute)

        return compacted

    async def call(
        self, request: Request | None, tool: str, arguments: dict[str, Any], execute: Callable[[], Awaitable[Any]]
    ) -> Any:
        """Execute a call unless refused; return its result or the digest."""
        session = self._session(request) if request is not None else self._alone
        run = self.runs.of(session or uuid.uuid4().hex)
        try:
            return await self._call_tool(run, request, tool, arguments, execute)
        finally:
            if not session:  # nobody comes back to it
                self.runs.end(run.run_id)

    async def _call_tool(
        self,
        run: Run,
        request: Request | None,
        tool: str,
        arguments: dict[str, Any],
        execute: Callable[[], Awaitable[Any]],
    ) -> Any:
        ask, began = functools.partial(_ask_client, request) if request is not None else None, run.port.mark_request()
        if refusal := await run.port.arefuse(tool, arguments=arguments, began=began, ask=ask):
            return _build_error(refusal)
        try:
            result = await execute()
        except Exception as error:
            inner = error.__cause__ if isinstance(error, UnexpectedToolError) else error
            call = run.port.record_call(tool, arguments=arguments, error=inner, began=began)
            if isinstance(error, MCPError) or not call.failed or run.port.only_observes:
                raise  # to the client, not to its model
            await run.port.aask_handler()
            return _build_error(call.text)
        call = run.port.record_call(tool, arguments=arguments, result=result, began=began)
        if not call.compacted:
            return result
        await run.port.aask_handler()
        return _build_error(call.text)

    def _session_of(self, request: Request) -> str:
        headers: Any = getattr(request.request, "headers", None)
        if headers is None:
            return self._alone
        token = get_access_token()
        return headers.get("mcp-session-id") or (f"{token.client_id} {token.subject}" if token else uuid.uuid4().hex)


class CompactionServer(MCPServer[Any]):
    """
    An `MCPServer` with `CompactionHandler`: `CompactionServer("shop", compaction=CompactionHandler(agent="shop"))`.

    Args:
        arguments: As for `MCPServer`, and so are the settings.
        compaction: What counts and answers.
    """

    def __init__(self, *arguments: Any, compaction: CompactionHandler | None = None, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.compaction: Final = compaction or CompactionHandler(agent=self.name)

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None) -> Any:
        """Call a tool by its name; a failure is an error result."""
        request = context.request_context if context is not None else None
        execute = functools.partial(super().call_tool, name, arguments, context)
        return await self.compaction.call(request, name, arguments, execute)


async def _ask_client(request: Request, question: str) -> object:
    text = f"{question}\nWhat shall the agent do? Decline to stop it."
    try:
        reply = await elicit_with_validation(request.session, text, Reply, request.request_id)
    except Exception:  # noqa: BLE001 - whatever it is, nobody has replied: the run waits for `run.resume()`
        return None
    return reply.data.message if reply.action == "accept" else False if reply.action == "decline" else None


def _build_error(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
