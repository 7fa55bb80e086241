"""What shells and the programs they start say when a command fails."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Facts
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.forms import GENERIC_TYPES, Statement, is_exception_name
from otel_errcompact.extract.message import read_message

if TYPE_CHECKING:
    from otel_errcompact.extract.text import Text

FORMAT: Final = "shell"

COMMAND_NOT_FOUND: Final = "CommandNotFound"

REASONS: Final = {
    "No such file or directory": "ENOENT",
    "Permission denied": "EACCES",
    "permission denied": "EACCES",
    "Operation not permitted": "EPERM",
    "Is a directory": "EISDIR",
    "Not a directory": "ENOTDIR",
    "Directory not empty": "ENOTEMPTY",
    "File exists": "EEXIST",
    "No space left on device": "ENOSPC",
    "Disk quota exceeded": "EDQUOT",
    "Read-only file system": "EROFS",
    "Text file busy": "ETXTBSY",
    "Exec format error": "ENOEXEC",
    "Argument list too long": "E2BIG",
    "Too many open files": "EMFILE",
    "Cannot allocate memory": "ENOMEM",
    "Input/output error": "EIO",
    "Broken pipe": "EPIPE",
    "Connection refused": "ECONNREFUSED",
    "Connection reset by peer": "ECONNRESET",
    "Connection timed out": "ETIMEDOUT",
    "Network is unreachable": "ENETUNREACH",
    "No route to host": "EHOSTUNREACH",
    "Address already in use": "EADDRINUSE",
    "Name or service not known": "EAI_NONAME",
    "Temporary failure in name resolution": "EAI_AGAIN",
    "Invalid argument": "EINVAL",
    "Too many levels of symbolic links": "ELOOP",
    "File name too long": "ENAMETOOLONG",
    "Invalid cross-device link": "EXDEV",
}
"""What programs print for an error number, and the number's POSIX name."""

_ENDINGS: Final = tuple(REASONS)
_SHELL: Final = r"(?:-?(?:/(?:usr/)?bin/)?(?:ba|z|da|k|c|tc|fi)?sh|\(eval\))"
_LINE: Final = r"(?::? line [0-9]{1,6}|:[0-9]{1,6}|: [0-9]{1,6})"
_COMMAND: Final = r"(?P<command>[^:\s][^:]{0,200})"
_NOT_FOUND: Final = (
    re.compile(rf"(?:{_SHELL}{_LINE}{{0,2}}|[\w./-]{{1,200}}{_LINE}{{1,2}}): {_COMMAND}: (?:command )?not found$"),
    re.compile(rf"[\w./-]{{1,200}}: {_COMMAND}: (?i:command) not found$"),
    re.compile(rf"{_SHELL}{_LINE}{{0,2}}: command not found: (?P<command>\S.{{0,200}})$"),
    re.compile(r"fish: Unknown command:? '?(?P<command>[^'\s]{1,200})"),
    re.compile(r"'(?P<command>[^']{1,200})' is not recognized as an internal or external command"),
    re.compile(r"(?:[\w.-]{1,100} ?: )?The term '(?P<command>[^']{1,200})' is not recognized as"),
)
_OF_SHELL: Final = re.compile(rf"{_SHELL}{_LINE}{{0,2}}: (?P<message>\S.*)")
_BY_PROGRAM: Final = re.compile(r"(?P<program>[\w./+-]{1,100}): (?P<what>\S.*)")
_FAILED_COMMAND: Final = re.compile(
    r"(?i)(?:command|process|script)\b.{0,400}?\b(?:exit(?:ed)?|returned|failed|completed)\b.{0,40}?"
    r"(?:exit |status |code |with )(?:code |status )?(?P<code>-?[0-9]{1,6})(?!\w|\.\w)"
)


def extract(text: Text) -> Facts | None:
    """
    Return the facts of the first line in the form in which shells and system programs report a failure.
    """
    lines = text.lines
    for number, line in enumerate(lines):
        statement = shell_statement(line)
        if statement is not None:
            others = (*lines[number + 1 :], *lines[:number])
            return Facts(
                type=statement.type,
                cause=clip(statement.message),
                details=details((exit_line(text), *(other for other in others if shell_statement(other)))),
                format=FORMAT,
            )
    return _failed_command(text, lines[0])


def shell_statement(line: str) -> Statement | None:
    """
    Return what a line states if a shell or a system program wrote it to report a failure.
    """
    if ": " not in line and "'" not in line:
        return None
    if "not found" in line or "not recognized" in line or "Unknown command" in line:
        for form in _NOT_FOUND:
            found = form.match(line)
            if found is not None:
                return Statement(COMMAND_NOT_FOUND, f"{found['command']}: command not found")
    return _by_reason(line) or _by_shell(line)


def exit_line(text: Text) -> str:
    """
    Return the exit status as a line, or nothing where it is not known.
    """
    return "" if text.exit_code is None else f"exit code {text.exit_code}"


def _by_reason(line: str) -> Statement | None:
    """
    Read `cat: notes.txt: No such file or directory`.
    """
    line = line.rstrip(". ")
    found = _BY_PROGRAM.match(line) if line.endswith(_ENDINGS) else None
    if found is None or found["program"].lower() in GENERIC_TYPES or is_exception_name(found["program"]):
        return None
    reason = next(ending for ending in _ENDINGS if line.endswith(ending))
    own = _OF_SHELL.match(line)
    return Statement(REASONS[reason], own["message"] if own else line)


def _by_shell(line: str) -> Statement | None:
    found = _OF_SHELL.match(line)
    return Statement("ShellError", found["message"]) if found else None


def _failed_command(text: Text, first: str) -> Facts | None:
    """
    Read a text that says no more than which command failed, and with what status.
    """
    if "\n" in text.body:
        return None
    found = _FAILED_COMMAND.match(first)
    if found is None:
        return None
    reading = read_message(first)
    return Facts(type=f"exit code {found['code']}", cause=reading.cause, format=FORMAT, key_cause=reading.key)
