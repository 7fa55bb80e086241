"""What a call did: a file read or written, or a command."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

from otel_errcompact.detector.operation import invocations_of, runs_commands
from otel_errcompact.detector.operation.fingerprint import parse_arguments
from otel_errcompact.digest import one_line
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from otel_errcompact_context.messages import Part

ActionKind = Literal["files read", "files written", "commands", "calls"]
"""As the sections of the index are called."""

_MAX_SHOWN: Final = 120
"""Characters of a command or of a call's arguments."""

_MAX_FIELDS: Final = 16
_MAX_PATH: Final = 300
_MAX_FILES: Final = 8
_MAX_ARGUMENTS: Final = 1_000_000

_PATH_WORDS: Final = frozenset({"path", "file", "filename", "filepath", "notebook"})
_CONTENT_WORDS: Final = frozenset(
    {"content", "contents", "diff", "edits", "insert", "new", "old", "patch", "replace", "replacement", "source",
     "str", "string", "text"}
)  # fmt: skip
"""Words of an argument's name that holds what is to stand in a file."""

_WRITING_WORDS: Final = frozenset(
    {"add", "append", "apply", "create", "delete", "edit", "insert", "modify", "move", "overwrite", "patch", "put",
     "remove", "rename", "replace", "save", "undo", "update", "upload", "write"}
)  # fmt: skip
"""Verbs in the name of a tool, or as its action, that change what they name."""

_LISTING_WORDS: Final = frozenset({"find", "glob", "grep", "list", "ls", "search", "tree"})
"""Verbs of tools that look for files and show none."""

_READERS: Final = frozenset({"cat", "head", "tail", "nl", "less", "more", "bat", "sed", "type", "get-content"})
"""Programs that print a file, where nothing is written or piped."""

_ACTIONS: Final = ("action", "operation", "command", "method", "subcommand")
_WORD: Final = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ACTION: Final = lazy_pattern(r"[A-Za-z][\w-]{0,30}\Z")
_PATCHED: Final = lazy_pattern(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)([^\s].{0,290})$", re.MULTILINE)
_LINES: Final = lazy_pattern(r"(?:-n|--quiet|[0-9,$]+p)\Z")


class Action(NamedTuple):
    """What a call did, in a few words."""

    kind: ActionKind
    what: str
    """A path, a command, or the call with its arguments."""

    whole: bool = False
    """Whether its result is the file from beginning to end, as far as the arguments tell."""

    written: str | None = None
    """What stands in the file now; None unless the call says all of it."""


def find_actions(call: Part) -> tuple[Action, ...]:
    """
    Say what a call did, or tried to.

    By the names of its arguments and the verb of its tool, never by one host's own tools.
    """
    arguments = _read_arguments(call.text)
    if arguments is None:
        return tuple(_in_command(call.tool, call.text, call.text)) or (_plain_call(call),)
    holder, path = _find_path(arguments)
    if path:
        return (_on_file(call.tool, holder, path, arguments),)
    texts = (value for value in islice(arguments.values(), _MAX_FIELDS) if isinstance(value, str))
    patch = next(filter(None, map(_PATCHED.findall, texts)), None)
    if patch:
        return tuple(Action("files written", name.strip()) for name in islice(patch, _MAX_FILES) if name != "/dev/null")
    if runs_commands(call.tool, call.text):
        command = next((value for name in ("command", "cmd", "commands") if (value := arguments.get(name))), None)
        shown = command if isinstance(command, str) else " ".join(map(str, cast("list[object]", command or [])))
        return tuple(_in_command(call.tool, arguments, shown)) or (_plain_call(call),)
    return (_plain_call(call),)


def _read_arguments(text: str) -> Mapping[str, object] | None:
    if text.lstrip()[:1] != "{" or len(text) > _MAX_ARGUMENTS:
        return None
    parsed = parse_arguments(text)
    return cast("Mapping[str, object]", parsed) if isinstance(parsed, dict) else None


def _split_words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name[:_MAX_SHOWN])]


def _find_path(arguments: Mapping[str, object]) -> tuple[str, str]:
    # Return the argument that holds a path, and the path.
    for name, value in islice(arguments.items(), _MAX_FIELDS):
        words = _split_words(name)
        if words and words[-1] in _PATH_WORDS and isinstance(value, str):
            path = value.strip()
            if path and len(path) <= _MAX_PATH and "\n" not in path:
                return name, path
    return "", ""


def _on_file(tool: str, holder: str, path: str, arguments: Mapping[str, object]) -> Action:
    action = next((value for name in _ACTIONS if isinstance(value := arguments.get(name), str)), "")
    # Of an editor that does many things the action says which.
    verbs = set(_split_words(action if _ACTION.match(action) else tool))
    held = {name: value for name, value in arguments.items() if isinstance(value, str) and name != holder}
    contents = [name for name in held if not _CONTENT_WORDS.isdisjoint(_split_words(name)) and name not in _ACTIONS]
    if not _WRITING_WORDS.isdisjoint(verbs) or (contents and _LISTING_WORDS.isdisjoint(verbs)):
        replaces_all = len(contents) == 1 and not verbs.isdisjoint({"write", "create", "save", "overwrite"})
        written = held[contents[0]] if replaces_all and _split_words(contents[0])[0] != "old" else None
        return Action("files written", path, written=written)
    if not _LISTING_WORDS.isdisjoint(verbs) or path.endswith("/"):
        return Action("calls", f"{tool} {path}" if not action else f"{tool} {action} {path}")
    # A range, a page or a pattern beside the path: what comes back is a part of the file.
    return Action("files read", path, whole=set(arguments) <= {*_ACTIONS, holder})


def _in_command(tool: str, arguments: str | Mapping[str, object], command: str) -> Iterator[Action]:
    runs = list(islice(invocations_of(tool, arguments), 2))
    if not runs:
        return
    line = one_line(command.strip(), _MAX_SHOWN)
    name = runs[0].program.partition(" ")[0].lower()
    files = [word for word in runs[0].words if not word.startswith("-") and not _LINES.match(word)]
    plain = len(runs) == 1 and not runs[0].folders and not any(sign in command for sign in "|&;<>\n")
    if plain and name in _READERS and len(files) == 1 and "-i" not in runs[0].words:
        whole = name in ("cat", "nl", "bat", "type", "get-content") and len(runs[0].words) == 1
        yield Action("files read", files[0], whole=whole)
    else:
        yield Action("commands", line)


def _plain_call(call: Part) -> Action:
    return Action("calls", one_line(f"{call.tool} {call.text}", _MAX_SHOWN))
