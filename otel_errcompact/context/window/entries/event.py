"""Something that was run, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    """
    Something that was run, and how it ended.
    """

    command: str = ""
    """The command line, or the arguments of a tool as JSON."""

    code: str | int | None = None
    """An error's own code: `ENOENT`, `E0382`, 404."""

    exit_code: int | None = None
    reason: str = ""
    """What went wrong, in one line."""

    duration: float | None = None
    """How long it took, in seconds."""

    status: str = ""
    """How it ended by the log: `ok`, `failed`, `cancelled` ...; if empty, the other fields decide."""

    text: str = ""
    """The whole output; what it says goes before what `reason` says."""

    tool: str = ""
    """The tool that ran it; a shell if empty."""

    time: float | None = None
    """When it ended, in seconds since the epoch; without it the order of the list counts."""
