"""
Stand before the shell commands of Claude Code, as `CLAUDE_CODE_SHELL_PREFIX`.

The host hands over one argument, a script: it sources a snapshot of the user's shell, evaluates the command, and keeps
the directory that it has ended in. What is no command the launcher runs by itself.
"""

from __future__ import annotations

import sys

from otel_errcompact_hosts.wrapping.command import Command
from otel_errcompact_hosts.wrapping.executing import conclude_command, execute_command
from otel_errcompact_hosts.wrapping.processes import read_environ
from otel_errcompact_hosts.wrapping.quoting import read_word, strip_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, NoReturn

TOOL: Final = "Bash"
_EVALUATES: Final = "eval "


def main() -> NoReturn:
    """Run the host's script, or report how it has ended."""
    ended, shell, script = sys.argv[1:]
    command = Command((shell, "-c", script), read_environ(), tool=TOOL, line=find_line(script))
    if ended:
        conclude_command(command, int(ended))
    execute_command(command, is_started_by_host=True)


def find_line(script: str) -> str:
    """Return the command as the agent has written it."""
    marked = script.find("&& " + _EVALUATES)
    start = script.index(_EVALUATES, max(marked, 0)) + len(_EVALUATES)
    return strip_line(read_word(script, start))
