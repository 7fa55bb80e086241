"""
Stand before the shell commands of Claude Code, as `CLAUDE_CODE_SHELL_PREFIX`.

The host hands over one argument, a script: it sources a snapshot of the user's shell, evaluates the command, and keeps
the directory that it has ended in. The prefix also stands before hooks and servers, which are none of our business.
"""

from __future__ import annotations

import os
import sys

from otel_errcompact_hosts.wrapping.command import Command
from otel_errcompact_hosts.wrapping.executing import conclude_command, execute_command
from otel_errcompact_hosts.wrapping.processes import become_command, read_environ
from otel_errcompact_hosts.wrapping.quoting import read_word, strip_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final, NoReturn

NEXT_VARIABLE: Final = "OTEL_ERRCOMPACT_SHELL_PREFIX_NEXT"
"""The prefix that was set before ours, which then stands before each script."""

TOOL: Final = "Bash"
_EVALUATES: Final = "eval "
_KEEPS_DIRECTORY: Final = "pwd -P >|"
_SHELLS: Final = ("zsh", "bash")


def main() -> NoReturn:
    """Run the host's script, or report how it has ended."""
    ended, script = sys.argv[1:]
    environ = read_environ()
    words = find_shell(script, environ)
    if not is_tool_call(script):
        become_command(words, environ)
    command = Command(words, environ, tool=TOOL, line=find_line(script))
    if ended:
        conclude_command(command, int(ended))
    execute_command(command, is_started_by_host=True)


def is_tool_call(script: str) -> bool:
    """Return whether a script is the agent's; others are hooks and servers."""
    return _EVALUATES in script and _KEEPS_DIRECTORY in script[script.index(_EVALUATES) :]


def find_line(script: str) -> str:
    """Return the command as the agent has written it."""
    marked = script.find("&& " + _EVALUATES)
    start = script.index(_EVALUATES, max(marked, 0)) + len(_EVALUATES)
    return strip_line(read_word(script, start))


def find_shell(script: str, environ: Mapping[str, str]) -> Sequence[str]:
    """
    Return the words that run a script.

    They name the next prefix, or the host's shell.
    """
    following = environ.get(NEXT_VARIABLE, "").strip()
    if following and following != environ.get("CLAUDE_CODE_SHELL_PREFIX", ""):
        # The host takes what begins with a dash for the prefix's own arguments.
        program, dash, options = following.partition(" -")
        return [program, *f"-{options}".split(), script] if dash and program else [following, script]
    for shell in _SHELLS:
        if f"/snapshot-{shell}-" in script:
            return [_locate_shell(shell, environ), "-c", script]
    return [_locate_shell("bash", environ), "-c", script]


def _locate_shell(shell: str, environ: Mapping[str, str]) -> str:
    for variable in ("CLAUDE_CODE_SHELL", "SHELL"):
        path = environ.get(variable, "")
        if path.rpartition("/")[2] == shell and os.access(path, os.X_OK):
            return path
    return shell
