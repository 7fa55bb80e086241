"""The tool of MCP that answers with raw errors."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact.integrations.requirement import required

with required("mcp", "2.1.0", extra="mcp"):
    from mcp.server.mcpserver import MCPServer
    from mcp.types import CallToolResult, TextContent, ToolAnnotations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIMIT: Final = 9_000
"""Characters of an answer: the hosts that cut most cut at ten thousand bytes."""

Name = Annotated[str, Field(description="The class as a digest names it: #8809")]
Count = Annotated[int, Field(ge=1, description="So many errors of the class, the newest first")]
Offset = Annotated[int, Field(ge=0, description="Begin at this character: what an answer says of its rest")]
Limit = Annotated[int, Field(ge=1, description="Characters of one answer; raise it where long answers reach you whole")]


def make_server(find: Callable[[str], tuple[Sequence[str], str]]) -> MCPServer[None]:
    """
    Return a server with one tool, `errcompact_raw`.

    Args:
        find: Finds the raw errors of a class by its name, the newest first, and what is to be said about them; an
            error of ours says why there are none.
    """
    server = MCPServer[None]("errcompact", log_level="WARNING")

    # Hosts would show structured output, the same text as JSON, in place of the text.
    @server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False), structured_output=False)
    def errcompact_raw(name: Name, count: Count = 1, offset: Offset = 0, limit: Limit = LIMIT) -> CallToolResult:
        """
        Give back the raw error behind a digest, by its class.

        A digest has it as #8809; the command `errcompact raw '#8809'` prints the same.
        """
        try:
            found, said = find(name)
        except ErrcompactError as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
        *newer, last = found[:count]
        whole = "".join(text if text.endswith("\n") else f"{text}\n" for text in newer) + last
        part = whole[offset : offset + limit]
        if offset + limit < len(whole):
            part = part[: part.rfind("\n") + 1] or part
        notes: list[str] = []
        if part != whole:
            notes.append(f"characters {offset:,} to {offset + len(part):,} of {len(whole):,}")
        if offset + len(part) < len(whole):
            notes.append(f"for the rest call again with offset {offset + len(part)}")
        if len(found) > count:
            notes.append(f"of this class {len(found):,} are kept; count {len(found)} gives all")
        notes += [said] if said else []
        texts = (part, f"[errcompact: {'; '.join(notes)}]") if notes else (part,)
        return CallToolResult(content=[TextContent(text=text) for text in texts])

    return server


def serve(find: Callable[[str], tuple[Sequence[str], str]]) -> None:
    """Serve that tool on standard streams until the client closes them."""
    # Python's own handler waits for the next line of the client; a host that interrupts sends none.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    make_server(find).run("stdio")
