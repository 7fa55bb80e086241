"""Find out which run a command belongs to."""

from __future__ import annotations

import os

from otel_errcompact_hosts.wrapping.pipelines import START_TIME, read_stat

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
        name, fields = read_stat(process)
        if not fields:
            break
        parent = int(fields[1])
        if name not in _PASSING or parent <= 1:
            return f"process-{process}-{fields[START_TIME]}"
        process = parent
    return f"process-{os.getppid()}"
