"""Programs whose output no format reads."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.command import Command
from otel_errcompact.extract.format import Tool

TOOL: Final = Tool(
    name="unread",
    commands=(
        Command("asdf, buf, dagger, jj, lage, lein, opam, prisma, supabase, vagrant, zig", subcommands="*"),
        Command("hg", subcommands="*", texts="-m"),
        Command("perl", interprets=True, speaks="perl"),
        Command("ffmpeg", speaks="ffmpeg"),
    ),
)
