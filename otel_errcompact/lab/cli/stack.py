"""`errcompact stack export`: the operator's side, written to a folder and explained."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from otel_errcompact.lab.cli.output import printable
from otel_errcompact.lab.stack import export

if TYPE_CHECKING:
    from pathlib import Path

NEXT: Final = """
Start it, and open http://localhost:3000:
  cd {folder}
  docker compose up -d

Send your agents' telemetry there:
  OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317 python agent.py

Or let a demo agent fail for you:
  docker compose --profile demo up -d

.env holds ports, versions and whom to alert; dashboards/RUNBOOK.md says what to do about each alert.
"""


def print_export(folder: Path, *, force: bool) -> int:
    """
    Write the stack, name each file, and say what to do next.

    Returns:
        The exit code.

    Raises:
        ConfigurationError: Files differ, or the folder cannot be written.
    """
    done = export(folder, force=force)
    place = printable(str(folder))
    for name in done.written:
        sys.stdout.write(f"{place}/{name}\n")
    for name in done.kept:
        sys.stdout.write(f"{place}/{name}: what was there before\n")
    files = "file" if len(done.written) == 1 else "files"
    unchanged = f", {len(done.unchanged)} are as they should be" if done.unchanged else ""
    sys.stdout.write(f"{len(done.written)} {files} written{unchanged}\n{NEXT.format(folder=place)}")
    return 0
