"""What exit statuses of known programs mean, where they mean no failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.operation import last_command
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NOTHING_FOUND: Final[Mapping[str, frozenset[int]]] = {
    **dict.fromkeys(
        (
            "rg", "grep", "egrep", "fgrep", "zgrep", "ag", "ack", "fd", "test", "[", "[[", "which", "whereis", "pgrep",
            "pidof", "type", "hash", "expr", "lsof", "let", "((", "diff", "cmp", "comm", "git diff", "git grep",
            "git show-ref", "git check-ignore", "git check-ref-format", "systemctl is-enabled", "systemctl is-failed",
            "ps",
        ),
        frozenset({1}),
    ),
    "getent": frozenset({2}),
    "systemctl is-active": frozenset({3, 4}),
    "gh pr checks": frozenset({1, 8}),
}  # fmt: skip
"""Statuses of programs that answer a question by them: GNU grep, diff and others, `systemctl(1)`, `getent(1)`, `gh`."""

_ASKED_BY_OPTION: Final[Mapping[str, frozenset[str]]] = {
    "command": frozenset({"-v", "-V"}),
    "git cat-file": frozenset({"-e"}),
    "git check-ref-format": frozenset({"--branch"}),
    "git config": frozenset({"--get", "--get-all", "--get-regexp", "--get-urlmatch", "get"}),
    "git merge-base": frozenset({"--is-ancestor"}),
    "git rev-parse": frozenset({"--verify", "-q", "--quiet"}),
    "git symbolic-ref": frozenset({"-q", "--quiet"}),
    "git ls-files": frozenset({"--error-unmatch"}),
    "git ls-remote": frozenset({"--exit-code"}),
    "jq": frozenset({"-e", "--exit-status"}),
}
"""Programs that do so where they have one of these options: by 1, or by any status where they say nothing."""

_NONE: Final = frozenset[str]()

_NOT_YET: Final[Mapping[str, frozenset[int]]] = {
    "curl": frozenset({7, 28, 52, 56}),
    "pg_isready": frozenset({1, 2}),
    "nc": frozenset({1}),
}
"""Statuses that mean that the other side is not there yet: `curl(1)`, `pg_isready(1)`."""

_SILENCED: Final = lazy_pattern(r"(?:&> ?/dev/null|> ?/dev/null 2>&1|2>&1 > ?/dev/null)[\s\"'};]{0,9}\Z")
"""The end of a command that is run for its exit status alone."""

_ASKED_BEFORE: Final = lazy_pattern(r"(?:\[{1,2} |\b(?:test|which|command -v) )[^;\n]{0,300}? && ")
"""A question on which the rest of a command line depends."""


def finds_nothing(tool: str, arguments: str, code: int, *, says_nothing: bool) -> bool:
    """Tell whether a status is the answer to a question."""
    if code == 1 and says_nothing and (_SILENCED.search(arguments) or _ASKED_BEFORE.search(arguments)):
        return True
    command = last_command(tool, arguments)
    names = _names_of(command)
    if any(code in _NOTHING_FOUND.get(name, ()) for name in names) or (says_nothing and "ls" in names):
        return True
    is_look_up = command[:2] == ("git", "config") and sum(word[:1] != "-" for word in command[2:]) == 1
    return (says_nothing or code == 1) and (asks(command) or is_look_up)


def asks(command: Sequence[str]) -> bool:
    """Tell whether an option makes a program's status an answer."""
    return any(not _ASKED_BY_OPTION.get(name, _NONE).isdisjoint(command) for name in _names_of(command))


def is_not_yet(tool: str, arguments: str, code: int | None) -> bool:
    """Tell whether a status means that it is too early."""
    return bool(code) and any(code in _NOT_YET.get(name, ()) for name in _names_of(last_command(tool, arguments)))


def _names_of(command: Sequence[str]) -> tuple[str, ...]:
    if not command:
        return ()
    program = command[0].rpartition("/")[2]
    return program, " ".join((program, *command[1:2])), " ".join((program, *command[1:3]))
