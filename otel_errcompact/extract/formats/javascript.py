"""Stacks of JavaScript: Node, Deno, Bun and browsers, and the errors of module loaders."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.format import Format, Sign
from otel_errcompact.extract.stacks.javascript import read

# --- errors without a stack ------------------------------------------------------------------------------------------

FORMAT: Final = Format(
    name="javascript",
    read=read,
    markers=("    at ", "Node.js v", "@http", "heap out of memory", "\nBun v"),
    signs=(
        Sign("an exception", r"\(node:[0-9]{1,9}\) UnhandledPromiseRejection", ("unhandled",)),
        Sign("an exception", r"(?:error: )?Uncaught (?:\(in promise\) )?[A-Z]\w{1,60}: ", ("uncaught",)),
        Sign("an exception", r"[A-Z]\w{0,60}Error(?: \[\w{1,60}\])?: [^\n]{1,2000}\n {4}at \S", ("error",)),
        Sign("an exception", r"Error: [^\n]{1,2000}\n {4}at \S", ("error",)),
        Sign("an exception", r"Node\.js v[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$", ("\nnode.js v",)),
    ),
)
