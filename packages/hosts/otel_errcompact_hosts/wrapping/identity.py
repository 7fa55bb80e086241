"""Find out which run a command belongs to."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

RUN_VARIABLE: Final = "OTEL_ERRCOMPACT_RUN"
SESSION_VARIABLES: Final = (RUN_VARIABLE, "CLAUDE_CODE_SESSION_ID")
_PASSING: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "timeout", "env", "nice", "nohup", "sudo", "xargs", "make"}
)
"""Programs that agents start anew for each command."""

_MAX_ANCESTORS: Final = 12


def find_run(environ: Mapping[str, str]) -> str:
    """
    Return the id of the run that this process works for.

    It is the host's session, where a variable names it; else the nearest ancestor that is no shell: its process id and
    when it was started.
    """
    for variable in SESSION_VARIABLES:
        if session := environ.get(variable, ""):
            return session
    process = os.getppid()
    for _ in range(_MAX_ANCESTORS):
        name, parent, began = _read_process(process)
        if not began:
            break
        if name not in _PASSING or parent <= 1:
            return f"process-{process}-{began}"
        process = parent
    return f"process-{os.getppid()}"


def _read_process(process: int) -> tuple[str, int, str]:
    # The name, the parent and the start time of a process, on Linux.
    try:
        with open(f"/proc/{process}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - pathlib costs more
            line = file.read().decode(errors="replace")
    except OSError:
        return "", 0, ""
    name, _, rest = line.partition("(")[2].rpartition(")")
    fields = rest.split()
    return name, int(fields[1]), fields[19]
