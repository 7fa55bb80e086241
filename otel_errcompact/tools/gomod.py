"""Errors of the Go command itself: packages and modules that it cannot find or may not use."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import Facts, Format, Text, facts_of_members
from otel_errcompact.extract.stacks.go import members_of


def read(text: Text) -> Facts | None:
    """Return the facts of what the Go command could not load."""
    return facts_of_members(members_of(text.lines), unit="error", first_is_root=True)


FORMAT: Final = Format(
    name="gomod",
    read=read,
    markers=("go: ", ".go:", "import cycle not", " Go files", "main module"),
    closings=(
        r"\t\S{1,200}: (?:module |cannot find|reading |invalid version|unrecognized import)",
        (
            r"go: (?:cannot |no |module (?:lookup|cache|.{1,200}: )|errors |error |unknown |go\.mod file not"
            r"|[^\n :]{1,200}: (?:unknown revision"
            r"|invalid version|not found|no matching|reading |module ))"
        ),
        (
            r"(?:package \S{1,200} is not in |no required module provides |no Go files in "
            r"|build constraints exclude |can't load package"
            r"|\S{1,200}\.go:[0-9]{1,7}:[0-9]{1,7}: (?:no required module|package \S))"
        ),
    ),
)
