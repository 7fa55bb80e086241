"""Stacks of JavaScript: Node, Deno, Bun and browsers, and the errors of module loaders."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import Command, Format
from otel_errcompact.extract.stacks.javascript import read

FORMAT: Final = Format(
    name="javascript",
    read=read,
    markers=("    at ", "Node.js v", "@http", "heap out of memory", "\nBun v"),
    commands=(
        Command("node", prints="javascript jest mocha", interprets=True, speaks="node"),
        Command("tsx, ts-node", interprets=True),
        Command("deno", prints="javascript mocha", subcommands="*"),
        Command("deno task", subcommands="*"),
    ),
    closings=(r"Node\.js v[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$",),
    stacks=(
        r"\(node:[0-9]{1,9}\) UnhandledPromiseRejection",
        r"(?:error: )?Uncaught (?:\(in promise\) )?[A-Z]\w{1,60}: ",
        r"[A-Z]\w{0,60}Error(?: \[\w{1,60}\])?: [^\n]{1,2000}\n {4}at \S",
        r"Error: [^\n]{1,2000}\n {4}at \S",
        r"- [^\n]{1,300}\n {4}at [\w.]{0,20}\._resolveFilename \(",
        r" {0,200}\^{1,80}\n(?=\n[A-Z]\w{0,60}: [^\n]{1,2000}\n {4}at \S)",
    ),
)
