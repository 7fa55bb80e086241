"""Find the user's trajectory files, one for each service or program."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import Options, runs_path, trajectories_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNNAMED: Final = "unknown_service"
"""How the SDK begins the name of a service that has none."""

_MAX_NAME: Final = 100


def name_file(service: str) -> Path:
    """
    Name the file of a service or this program.

    Many programs are called `main`, so that one without a service's name has that of the working directory before it.
    """
    name = service if service and not service.startswith(_UNNAMED) else f"{Path.cwd().name}-{_name_program()}"
    name = re.sub(r"[^\w.-]+", "-", name).strip("-.")[-_MAX_NAME:]
    return trajectories_folder() / f"{name}.jsonl"


def _name_program() -> str:
    path = Path(sys.argv[0] if sys.argv and sys.argv[0] not in {"", "-", "-c", "-m"} else "python")
    return path.parent.name if path.stem == "__main__" else path.stem


def list_trajectories(environ: Mapping[str, str] | None = None) -> list[Path]:
    """
    Return the files there are, those that were written last first.

    Args:
        environ: May name another file; that of the process if None.
    """
    named = Options.from_environ(environ).trajectory.path
    found = [named.absolute()] if named else [*trajectories_folder(environ).glob("*.jsonl")]
    written = {path: _read_time(path) for path in found if not path.stem.endswith(".runs")}
    return sorted((path for path in written if written[path]), key=lambda path: -written[path])


def _read_time(path: Path) -> float:
    # Of a file that was just rotated, and of a process without a failure, there is that of runs alone.
    return max((each.stat().st_mtime for each in (path, runs_path(path)) if each.is_file()), default=0)
