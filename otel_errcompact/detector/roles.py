"""Roles of calls: reading, searching, running, or another."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact.detector.operation import invocations_of, runs_commands
from otel_errcompact.detector.operation.command_line import invocations_in
from otel_errcompact.runtime.lazy import lazy, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
READING_PROGRAMS: Final = frozenset(
    {
        "cat", "bat", "less", "more", "head", "tail", "sed", "awk", "gawk", "mawk", "grep", "egrep", "fgrep", "zgrep",
        "rg", "ag", "ack", "ls", "tree", "find", "fd", "diff", "cmp", "comm", "wc", "sort", "uniq", "cut", "jq", "yq",
        "stat", "file", "strings", "xxd", "hexdump", "od", "nl", "tac", "zcat", "type", "man", "history", "journalctl",
        "dmesg", "view", "open", "submit", "git diff", "git log", "git show", "git blame", "git grep", "git ls-files",
        "git cat-file", "git reflog", "kubectl logs", "kubectl get", "kubectl describe", "docker logs",
        "docker compose logs", "docker-compose logs",
        "podman logs", "systemctl status", "Get-Content", "Get-ChildItem", "Select-String", "dir", "findstr",
        "git stash show", "git stash list", "gh search", "ps", "tr", "column", "fold", "rev", "paste", "base64",
        "env", "printenv",
    }
)  # fmt: skip
"""Programs that print the content of something, in which anything may stand."""

_READING_SUBCOMMANDS: Final = frozenset({"view", "list", "diff", "status", "checks"})
"""What programs of forges call reading: `gh pr view`."""

_LOGS: Final = frozenset({"log", "logs", "history"})

_QUIET_PROGRAMS: Final = frozenset(
    {
        "mkdir", "cp", "mv", "rm", "rmdir", "touch", "chmod", "chown", "ln", "pwd", "date", "whoami", "uname",
        "hostname", "id", "tee", "kill", "clear", "git add", "git status", "git branch", "git rev-parse",
        "git remote", "nproc", "du", "df", "basename", "dirname", "realpath", "readlink", "seq", "sleep", "test",
        "which", "hash", "pgrep", "pidof", "command", "expr", "getent", "export", "read", "local", "git config",
    }
)  # fmt: skip
"""Programs that say little but their own complaints."""

_TESTING_PROGRAM: Final = lazy_pattern(
    r"(?:pytest|py\.test|tox|nox|jest|vitest|mocha|ava|karma|cypress|playwright|rspec|phpunit|ctest|tsc|eslint|ruff|mypy"
    r"|pyright|flake8|pylint|cmake|ninja|bazel|gcc|g\+\+|cc|clang|clang\+\+|rustc|javac|gradlew?|mvnw?|sbt|msbuild"
    r"|xcodebuild|make|gmake|mix|swift|dotnet|rake|cargo|go (?:test|build|vet|run|install)|npm|pnpm|yarn|bun|python -m"
    r"|pre-commit|golangci-lint|rubocop|webpack|vite|esbuild|rollup|just|task)(?!\S)"
)
_FED_PROGRAM: Final = lazy_pattern(
    r"(?:python|node|ruby|perl|php|bash|sh|zsh|psql|mysql|sqlite3|duckdb|kubectl|docker|git|patch|mongosh?|redis-cli)\b"
)
"""Programs that work on what a pipe brings, where others only filter it."""

_CARRIERS: Final = frozenset({"ssh", "docker exec", "docker compose exec", "docker-compose exec", "kubectl exec"})
"""Programs that run another one elsewhere, named behind the host or the container."""

_NAMES_OF_CARRIERS: Final = ("ssh", "docker", "kubectl")
_FILE_ARGUMENT: Final = lazy_pattern(r'"(?:path|file_path|filename|file|absolute_path)"')
_FETCHING: Final = lazy_pattern(r"(?i)fetch|browse|web")
_PRINTING: Final = lazy_pattern(r"\b(?:echo|printf)\b")
_MAX_COMMANDS: Final = 32


class Call:
    """
    Hold what a call does, and with which programs.

    Args:
        tool: The tool's name.
        arguments: The call's arguments: as JSON, or the command line itself.
    """

    def __init__(self, tool: str, arguments: str) -> None:
        self.tool: Final = tool
        self.arguments: Final = arguments
        self._runs: Final = runs_commands(tool, arguments)

    @lazy
    def verb(self) -> str:
        """The action of an editor whose argument is called `command`."""
        if not self._runs or not _FILE_ARGUMENT.search(self.arguments):
            return ""
        found = self._found
        return found[0].program if len(found) == 1 and _is_verb(found[0]) else ""

    @property
    def may_run(self) -> bool:
        """Whether the call may run programs; no command line is read."""
        return self._runs or kind_by_name(self.tool[:100]) == "running"

    @property
    def is_command(self) -> bool:
        """Whether a shell or a system runs it."""
        return self._runs and not self.verb

    @property
    def fetches(self) -> bool:
        """Return whether a tool brings web pages, which may discuss errors."""
        return not (self._runs and self._found) and _FETCHING.search(self.tool) is not None

    @lazy
    def programs(self) -> tuple[str, ...]:
        """The programs that it runs, with their subcommands."""
        return tuple(run.program for run in self._invocations)

    @lazy
    def kind(self) -> Kind:
        """What a call gives back: content, matches, or a program's own words."""
        if not self._runs:
            return kind_by_name(self.tool[:100])
        if self._invocations:
            return "reading" if _only_reads(self._invocations) else "running"
        # A command without a program only prepares, or prints what the agent has written.
        if self.verb:
            return "reading" if self.verb in READING_PROGRAMS else "other"
        return "reading" if self.is_command and _PRINTING.search(self.arguments) else kind_by_name(self.tool[:100])

    @lazy
    def _found(self) -> tuple[Invocation, ...]:
        # Command lines are read only where an output may be one of a failure: that costs more than looking at it.
        return tuple(_invocations(self.tool, self.arguments)) if self._runs else ()

    @property
    def _invocations(self) -> tuple[Invocation, ...]:
        return () if self.verb else self._found

    @lazy
    def names(self) -> frozenset[str]:
        """The names in which its programs complain."""
        carriers = (name for name in _NAMES_OF_CARRIERS if name in self.arguments)
        own = (part for program in self.programs for part in (program, *program.split(" ")))
        return frozenset((*own, *carriers))

    def is_quiet(self, line: str) -> bool:
        """Tell whether a program that prepares the work of others complains."""
        return line.partition(":")[0] in _QUIET_PROGRAMS


def _invocations(tool: str, arguments: str) -> Iterator[Invocation]:
    for number, run in enumerate(invocations_of(tool, arguments)):
        if number >= _MAX_COMMANDS:
            return
        yield from _list_carried(run) if run.program in _CARRIERS else (run,)


def _is_verb(run: Invocation) -> bool:
    return not run.words and run.program.isidentifier()


def _list_carried(run: Invocation) -> Iterator[Invocation]:
    words = run.words
    behind = words[words.index("--") + 1 :] if "--" in words else [word for word in words if word[:1] != "-"][1:]
    carried = tuple(invocations_in(" ".join(behind)))
    yield from carried or (run,)


def _only_reads(invocations: Iterable[Invocation]) -> bool:
    return all(
        _reads(run.program)
        or run.words[:1] == ["logs"]
        or (run.piped and not _FED_PROGRAM.match(run.program) and not _TESTING_PROGRAM.match(run.program))
        for run in invocations
    )


def _reads(program: str) -> bool:
    if program in READING_PROGRAMS or program in _QUIET_PROGRAMS:
        return True
    subcommand = program.rpartition(" ")[2]
    return subcommand in _LOGS or (program.startswith(("gh ", "glab ")) and subcommand in _READING_SUBCOMMANDS)


@lru_cache(maxsize=1_024)
def kind_by_name(tool: str) -> Kind:
    """Return the kind of a tool that runs no command line."""
    words = {word.lower() for word in _WORD_OF_NAME.findall(tool)}
    if words & _READING_WORDS:
        return "reading"
    if words & _SEARCHING_WORDS:
        return "searching"
    return "running" if words & _RUNNING_WORDS or not tool else "other"
