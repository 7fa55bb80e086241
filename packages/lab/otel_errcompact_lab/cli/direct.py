"""
Run MCP servers without the library of the command line.

Clients start one for each session, and that library takes longer to load, and more memory, than they do. Whatever is
not plain is left to it: help, other spellings, mistakes. So there is one description of every option.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from otel_errcompact_lab.cli.output import FINE, PROGRAM

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_directly(arguments: Sequence[str]) -> int | None:
    """Run a plain command and return its status; None for others."""
    if list(arguments) == ["--version"]:
        import otel_errcompact

        sys.stdout.write(f"{PROGRAM} {otel_errcompact.__version__}\n")
        return FINE
    if arguments[:1] == ["mcp"] and (server := _read_server(arguments[1:])) is not None:
        from otel_errcompact_lab.cli.mcp_actions import serve

        command, url, transport, headers = server
        return serve(command, url=url, transport=transport, headers=headers)
    if list(arguments) == ["raw", "--mcp"]:
        from otel_errcompact_lab.cli.raw import serve_raw

        return serve_raw()
    return None


def _read_server(arguments: Sequence[str]) -> tuple[Sequence[str], str, str, Sequence[str]] | None:
    place = arguments.index("--") if "--" in arguments else len(arguments)
    options, command = arguments[:place], arguments[place + 1 :]
    names, values = options[::2], options[1::2]
    single = [name for name in names if name != "--header"]
    is_plain = not set(names) - {"--url", "--transport", "--header"} and len(single) == len(set(single))
    if not is_plain or len(names) != len(values) or not all(values) or not (command or "--url" in names):
        return None
    given = dict(zip(names, values, strict=True))
    headers = [value for name, value in zip(names, values, strict=True) if name == "--header"]
    return (command, given.get("--url", ""), given.get("--transport", ""), headers)
