"""Commands of PowerShell, whose names are written in any case."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.command import Command
from otel_errcompact.extract.format import Tool

TOOL: Final = Tool(
    name="powershell",
    commands=(
        Command("select-object, select-string, where-object, foreach-object, group-object", reads=True),
        Command("sort-object, measure-object", reads=True),
        Command("get-content, tee-object, compare-object, format-table, format-list, format-wide", reads=True),
        Command("out-string, out-host, out-file, out-null", reads=True),
    ),
)
