"""A command, and how it is reported."""

from __future__ import annotations

import os

from otel_errcompact_hosts.bypass import is_left_alone, is_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

DEFAULT_TOOL: Final = "bash"
REPORTED: Final = {"stoppable": False}
"""What each report says: no command is refused here, and no agent stopped."""

MAX_SECONDS: Final = 30 * 24 * 3600.0
"""What stands for longer times, which the system's clocks do not take."""


def read_seconds(environ: Mapping[str, str], variable: str, default: float) -> float:
    """Read a number of seconds; what is none is the default."""
    try:
        seconds = float(environ.get(variable, ""))
    except ValueError:
        return default
    return min(seconds, MAX_SECONDS) if seconds >= 0 else default


class Command:
    """A command, and how it is reported."""

    __slots__ = ("_line", "_run", "directory", "environ", "tool", "words")

    def __init__(
        self, words: Sequence[str], environ: Mapping[str, str], *, run: str = "", tool: str = "", line: str = ""
    ) -> None:
        self.words = words
        self.environ = environ
        self.tool = tool or DEFAULT_TOOL
        self.directory = _find_directory()
        self._run = run
        self._line = line

    @property
    def is_left_alone(self) -> bool:
        """Whether its output stays raw, and is not reported."""
        return is_off(self.environ) or is_left_alone(self._line)

    @property
    def reports_all(self) -> bool:
        """Whether each success is reported; a host's prefix leaves some to hooks."""
        return not self._line

    def describe(self) -> dict[str, str]:
        """Return it as the service has it."""
        from otel_errcompact_hosts.wrapping.identity import find_run
        from otel_errcompact_hosts.wrapping.quoting import find_script, join_words, write_json

        line = self._line or find_script(self.words) or join_words(self.words)
        return {
            "run": self._run or find_run(self.environ),
            "tool": self.tool,
            "arguments": write_json({"command": line}),
            "directory": self.directory,
        }


def _find_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - pathlib costs more than all of this
    except OSError:
        return ""
