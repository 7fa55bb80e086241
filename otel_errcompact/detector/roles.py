"""What a call is: a command line, or a function."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, cast

from otel_errcompact.detector.closing import prints_what_others_say
from otel_errcompact.detector.operation import invocations_of, runs_commands
from otel_errcompact.detector.operation.command_line import carried_by, command_of, invocations_in
from otel_errcompact.runtime.lazy import lazy, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.detector.operation import Invocation

Kind = Literal["reading", "searching", "running", "other"]

_WORD_OF_NAME: Final = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+")
_READING_WORDS: Final = frozenset(
    {"read", "view", "cat", "open", "logs", "tail", "show", "diff", "history", "inspect", "dump"}
)
_SEARCHING_WORDS: Final = frozenset(
    {"grep", "glob", "search", "find", "ls", "list", "fetch", "browse", "lookup", "get"}
)
_RUNNING_WORDS: Final = frozenset(
    {"bash", "shell", "sh", "exec", "execute", "executor", "run", "terminal", "command", "python", "ipython", "jupyter"}
    | {"code", "test", "tests", "build", "lint", "compile", "script", "console", "sandbox", "repl", "powershell"}
    | {"pwsh", "cmd", "zsh"}
)
_FILE_ARGUMENT: Final = lazy_pattern(r'"(?:path|file_path|filename|file|absolute_path)"')
_FILE_WORD: Final = lazy_pattern(r"(?i)(?:^|[^a-z])(?:edit|write|patch|file)|(?-i:Edit|Write|Patch|File)")
_FETCHING: Final = lazy_pattern(r"(?i)fetch|browse|web")
_MAX_COMMANDS: Final = 32
_MAX_REMEMBERED: Final = 8_192
"""Characters of arguments whose programs are remembered."""

_MAX_VALUES: Final = 64
_MIN_VALUE: Final = 2
_MAX_VALUE: Final = 600


class Call:
    """
    Hold what a call does, and with which programs.

    Its arguments are JSON, or the command line itself.
    """

    def __init__(self, tool: str, arguments: str) -> None:
        self.tool: Final = tool
        self.arguments: Final = arguments
        self._runs: Final = runs_commands(tool, arguments)

    @property
    def may_run(self) -> bool:
        """Whether the call may run programs; no command line is read."""
        return self._runs or self.kind == "running"

    @lazy
    def is_command(self) -> bool:
        """Whether a shell runs it: an editor may call its verb `command`."""
        if not self._runs or not _FILE_ARGUMENT.search(self.arguments):
            return self._runs
        found = list_invocations(self.tool, self.arguments)
        return not (len(found) == 1 and not found[0].words and found[0].program.isidentifier())

    @property
    def kind(self) -> Kind:
        """What a function gives back, by its name."""
        return kind_by_name(self.tool[:100])

    @property
    def fetches(self) -> bool:
        """Whether a function brings pages of the web."""
        return _FETCHING.search(self.tool) is not None

    @property
    def filters(self) -> bool:
        """Whether a pipe ends in a filter, whose status counts."""
        return any(
            run.piped and prints_what_others_say(run.program) for run in list_invocations(self.tool, self.arguments)
        )

    @property
    def command_line(self) -> str:
        """The command line, or the script at the end of its words."""
        command = command_of(self.tool, self.arguments)
        return command if isinstance(command, str) else str(command[-1] if command else "")

    def list_runs(self, *, hidden: bool) -> tuple[Invocation, ...]:
        """Return its programs; `hidden`: those whose status the command line hides."""
        return tuple(run for run in list_invocations(self.tool, self.arguments) if run.hidden or not hidden)

    def names_argument(self, text: str) -> bool:
        """Tell whether a first line names a value of the arguments."""
        first = text.split("\n", 1)[0]
        return any(value in first for value in _list_values(self.arguments))


@lru_cache(maxsize=1_024)
def edits_code(tool: str, arguments: str = "") -> bool:
    """Tell whether a call works on code; unknown tools do."""
    call = Call(tool, arguments)
    return call.may_run or bool(_FILE_ARGUMENT.search(arguments) or _FILE_WORD.search(tool))


def list_invocations(tool: str, arguments: str) -> tuple[Invocation, ...]:
    """Return the programs that a call runs, here and elsewhere."""
    if not runs_commands(tool, arguments):
        return ()
    list_all = _remember_invocations if len(arguments) <= _MAX_REMEMBERED else _remember_invocations.__wrapped__
    return list_all(tool, arguments)


@lru_cache(maxsize=256)
def _remember_invocations(tool: str, arguments: str) -> tuple[Invocation, ...]:
    return tuple(_find_invocations(tool, arguments))


def _find_invocations(tool: str, arguments: str) -> Iterator[Invocation]:
    for number, run in enumerate(invocations_of(tool, arguments)):
        if number >= _MAX_COMMANDS:
            return
        carried = tuple(invocations_in(carried_by(run.program, run.words)))
        yield from (each._replace(hidden=each.hidden or run.hidden) for each in carried or (run,))


@lru_cache(maxsize=1_024)
def kind_by_name(tool: str) -> Kind:
    """Return the kind of a tool that runs no command line."""
    words = {word.lower() for word in _WORD_OF_NAME.findall(tool)}
    if words & _READING_WORDS:
        return "reading"
    if words & _SEARCHING_WORDS:
        return "searching"
    return "running" if words & _RUNNING_WORDS or not tool else "other"


def _list_values(arguments: str) -> Iterator[str]:
    # Yield the short texts among a call's arguments, paths also by their last part.
    try:
        parsed = json.loads(arguments) if arguments[:1] == "{" else arguments.split()
    except (ValueError, RecursionError):
        return
    values = (
        list(cast("dict[str, object]", parsed).values()) if isinstance(parsed, dict) else cast("list[object]", parsed)
    )
    for value in values[:_MAX_VALUES]:
        text = str(value).strip("\"'") if isinstance(value, (str, int)) else ""
        if _MIN_VALUE <= len(text) <= _MAX_VALUE:
            yield text
            name = text.rstrip("/").rpartition("/")[2]
            if len(name) > _MIN_VALUE:
                yield name
