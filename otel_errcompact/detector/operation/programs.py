"""What the words of command lines mean."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from otel_errcompact.extract.command import Command
from otel_errcompact.extract.table import commands

SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})
KEYWORDS: Final = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "fi", "done"})
CHANGING_FOLDER: Final = frozenset({"cd", "pushd"})

PREPARING: Final = CHANGING_FOLDER | {
    "popd", "export", "unset", "umask", "ulimit", "exit", "trap", "shopt",
    "source", ".", "set", "echo", "printf", "true", "sleep", "for", "[", "[[",
}  # fmt: skip
"""Commands that prepare another one, or only announce it."""

LAUNCHER_OPTIONS: Final = frozenset(
    {"--with", "--extra", "--group", "--python", "-p", "-e", "-n", "--directory", "--project", "--env-file"}
)
COMMON_SUBCOMMANDS: Final = frozenset(
    {
        "add", "apply", "audit", "bench", "build", "bundle", "check", "checkout", "ci", "clean", "clippy", "clone",
        "commit", "compile", "config", "coverage", "create", "delete", "deploy", "describe", "dev", "diff", "doc",
        "docs", "down", "e2e", "exec", "fetch", "fix", "fmt", "format", "generate", "get", "info", "init", "install",
        "lint", "list", "log", "logs", "ls", "merge", "migrate", "outdated", "package", "plan", "ps", "publish", "pull",
        "push", "rebase", "release", "remove", "reset", "restart", "run", "run-script", "serve", "show", "start",
        "stash", "status", "stop", "sync", "test", "tests", "typecheck", "unit", "up", "update", "upgrade", "validate",
        "verify", "watch",
    }
)  # fmt: skip
"""Words that are subcommands wherever they stand: an option before them has no value."""

FLAGS: Final = frozenset(
    {
        "--all", "--color", "--debug", "--dry-run", "--force", "--frozen", "--help", "--if-present", "--json",
        "--locked", "--offline", "--parallel", "--quiet", "--recursive", "--release", "--silent", "--verbose",
        "--version", "--watch", "--workspaces", "--yes",
    }
)  # fmt: skip
"""Long options that take no value, whatever the program."""

_OPTIONS_WITH_VALUE: Final = frozenset(
    {
        "-C", "-c", "-f", "-n", "-H", "-j", "--prefix", "--directory", "--project", "--namespace", "--context",
        "--work-tree", "--manifest-path", "--file", "--cwd", "--profile", "--region", "--dir", "--chdir",
    }
)  # fmt: skip

FOLDER_OPTIONS: Final = frozenset({"-C", "--prefix", "--directory", "--cwd", "--work-tree", "--chdir", "--dir"})
"""Options that name the folder of a program."""

SCOPING_OPTIONS: Final = frozenset(
    {
        "--context", "--exclude-task", "--file", "--filter", "--grep", "--manifest-path", "--namespace",
        "--only", "--package", "--profile", "--project", "--projects", "--region", "--scope", "--selector", "--spec",
        "--suite", "--target", "--test-name-pattern", "--testNamePattern", "--testPathPattern", "--tests",
        "--workspace",
    }
)  # fmt: skip
"""Long options that name or narrow a target, whatever the program."""

TEXT_OPTIONS: Final = frozenset(
    {
        "-H", "--header", "--message", "--title", "--body", "--description", "--notes", "--data", "--data-raw",
        "--data-binary", "--user-agent", "--format", "--output", "--template", "--jsonpath", "--query", "--sort",
        "--limit", "--tail", "--since", "--jobs", "--author", "--date", "--color", "--reporter", "--log-level",
        "--token", "--password", "--request", "--method",
    }
)  # fmt: skip
"""Options whose value is text, a form or a number, not a target."""

WITH_VALUE: Final = _OPTIONS_WITH_VALUE | SCOPING_OPTIONS | TEXT_OPTIONS
"""Options with a value, whatever the program."""

ANY_WORD: Final = "*"
"""Subcommands of programs whose first word is one, whichever it is."""

_MAX_WORDS_OF_NAME: Final = 3
UNKNOWN: Final = Command("")


def row_of(program: str) -> Command:
    """Return what is known of a program by this very name."""
    return commands().get(program, UNKNOWN)


@lru_cache(maxsize=1_024)
def rows_of(program: str) -> tuple[Command, ...]:
    """Return what is known of a program, of the shorter name first."""
    words = program.split(" ", _MAX_WORDS_OF_NAME)[:_MAX_WORDS_OF_NAME]
    names = [" ".join(words[:number]) for number in range(1, len(words) + 1)]
    known = commands()
    # On some systems a name may be written in any case.
    return tuple(known.get(name) or known[name.lower()] for name in names if name in known or name.lower() in known)


@lru_cache(maxsize=512)
def words_of(text: str) -> frozenset[str]:
    """Return the words of a list that spaces part."""
    return frozenset(text.split())
