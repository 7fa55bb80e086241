"""The file that a failure is about, out of the call's arguments, where its text names none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts

MAX_ARGUMENTS: Final = 100_000
"""Characters of arguments that are looked at."""

_ABOUT_FILE: Final = lazy_pattern(r"(?i)\b(?:file|directory|folder|path)s?\b|\bE(?:NOENT|ISDIR|NOTDIR)\b")
_ABOUT_FOLDER: Final = lazy_pattern(r"(?i)\b(?:directory|folder|path)\b|\bE(?:ISDIR|NOTDIR)\b")
_NAMES_ONE: Final = lazy_pattern(r"[/\\'\"`<>]|\w\.[A-Za-z]\w{0,9}\b")
_PATH: Final = lazy_pattern(r"[^\n\r\t<>|*?\"'$`{}]{1,300}")
_SURE_PATH: Final = lazy_pattern(r"(?:~?/|\.{1,2}/|[A-Za-z]:[\\/])[^\s]{1,300}|[\w.-]{1,100}(?:/[\w.-]{1,100}){1,20}")
_FILES: Final = frozenset(
    {"path", "file", "filepath", "filename", "notebookpath", "targetfile", "abspath", "absolutepath", "relativepath"}
)
_FOLDERS: Final = frozenset({"cwd", "dir", "directory", "folder", "dirpath", "workdir", "workingdirectory"})
_COMMANDS: Final = frozenset({"command", "cmd", "commands", "script", "code", "args", "argv"})


def file_in_call(facts: Facts, arguments: str) -> str:
    """
    Return the only file that a call names, for a failure without a place that is about a file and names none.

    Empty where arguments name several, since which of them is missing is then a guess.
    """
    cause = facts.cause
    if facts.location or not arguments.startswith("{") or len(arguments) > MAX_ARGUMENTS:
        return ""
    if _ABOUT_FILE.search(cause) is None or _NAMES_ONE.search(cause) is not None:
        return ""
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    fields = {_simplify_name(name): value for name, value in cast("dict[str, object]", parsed).items()}
    if not _COMMANDS.isdisjoint(fields):
        return ""
    wanted = _FILES | _FOLDERS if _ABOUT_FOLDER.search(cause) else _FILES
    named = [value for name, value in fields.items() if name in wanted and value]
    found = named or [value for value in fields.values() if isinstance(value, str) and _SURE_PATH.fullmatch(value)]
    only = found[0] if len(found) == 1 else None
    return only if isinstance(only, str) and "://" not in only and _PATH.fullmatch(only) else ""


def _simplify_name(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
