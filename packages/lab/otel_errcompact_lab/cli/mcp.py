"""`errcompact mcp`: the commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

MCP_EPILOG: Final = """\
\b
Examples:
  errcompact mcp -- npx -y @modelcontextprotocol/server-filesystem .
  errcompact mcp --url https://example.com/mcp --header 'X-Team: shop'
  errcompact mcp wrap .mcp.json
  errcompact mcp unwrap .mcp.json --yes
"""
WRAP_EPILOG: Final = """\
\b
Examples:
  errcompact mcp wrap .mcp.json                    # Claude Code, a project
  errcompact mcp wrap ~/.claude.json --server github
  errcompact mcp wrap .vscode/mcp.json --program ~/.venv/bin/errcompact
"""
UNWRAP_EPILOG: Final = """\
\b
Examples:
  errcompact mcp unwrap .mcp.json
  errcompact mcp unwrap ~/.claude.json --server github --yes
"""

File = Annotated[
    Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="Where the client has its servers.")
]
Servers = Annotated[
    list[str] | None, typer.Option("--server", metavar="NAME", help="Only this one; give it again for another.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


class ServerGroup(TyperGroup):
    """What stands behind `--` is the server's command, none of ours."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the server's command out of the arguments."""
        place = args.index("--") if "--" in args else len(args)
        if not any(name in args[:place] for name in self.commands):
            ctx.obj = tuple(args[place + 1 :])
            args = args[:place] if place else ["--"]
        return super().parse_args(ctx, args)


mcp: Final = typer.Typer(
    cls=ServerGroup,
    invoke_without_command=True,
    rich_markup_mode=None,
    epilog=MCP_EPILOG,
    subcommand_metavar="[-- SERVER COMMAND... | wrap | unwrap]",
)


@mcp.callback()
def mcp_commands(
    context: typer.Context,
    *,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="The server is there, and not a program.")] = "",
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="'NAME: VALUE'", help="With --url, of every request; can be given again."),
    ] = None,
    transport: Annotated[
        str, typer.Option("--transport", metavar="http|sse", help="With --url; by default its path decides.")
    ] = "",
) -> None:
    """
    Stand between any MCP client and a server: errors become digests.

    The client starts it in place of the server. Messages pass as they are, byte for byte; the result of a tool that is
    an error becomes its digest and the path of the raw text, and stays an error. An identical call that cannot work is
    refused; nothing is ever disabled. A server that ends is started again at the next request.

    Headers can also be given as variables, which other users of the machine cannot read: ERRCOMPACT_HEADER_NAME=VALUE.
    """
    if context.invoked_subcommand is not None:
        return
    command: Sequence[str] = context.obj or ()
    if not command and not url:
        typer.echo(context.get_help())
        raise typer.Exit
    from otel_errcompact_lab.cli.mcp_actions import serve

    raise typer.Exit(serve(command, url=url, transport=transport, headers=header or ()))


@mcp.command(short_help="Put it before the servers of a client's file.", epilog=WRAP_EPILOG)
def wrap(
    file: File,
    *,
    server: Servers = None,
    program: Annotated[
        str, typer.Option("--program", metavar="PATH", help="How the client starts errcompact.")
    ] = "errcompact",
    yes: Yes = False,
) -> None:
    """
    Put the proxy before the servers that a client's file names.

    It shows the change first, and asks.

    The files of Claude ('.mcp.json', '~/.claude.json'), Cursor, Gemini CLI, VS Code, OpenCode and Codex are read. All
    else in them stays as it is, and 'errcompact mcp unwrap' brings back what was there, byte for byte. A server that
    cannot be wrapped without loss stays as it is, and is named with the reason. Without a terminal, and without --yes,
    the change is shown and nothing is written: the exit status is 1.
    """
    from otel_errcompact_lab.cli.mcp_wrapping import wrap_file

    raise typer.Exit(wrap_file(file, server or (), program=program, yes=yes))


@mcp.command(short_help="Take it away from them again, byte for byte.", epilog=UNWRAP_EPILOG)
def unwrap(file: File, *, server: Servers = None, yes: Yes = False) -> None:
    """Take the proxy away from them; shows the change first, and asks."""
    from otel_errcompact_lab.cli.mcp_wrapping import unwrap_file

    raise typer.Exit(unwrap_file(file, server or (), yes=yes))
