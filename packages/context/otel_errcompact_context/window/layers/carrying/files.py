"""The files that were read last, from results in the list itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import find_text
from otel_errcompact_context.memory.markers import marker, marker_of
from otel_errcompact_context.providers.costs import FRAME_TOKENS
from otel_errcompact_context.window.pairs import part_at
from otel_errcompact_context.window.shortening import shorten

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping, Sequence

    from otel_errcompact_context.memory.archive import Archive
    from otel_errcompact_context.messages import Message, Part
    from otel_errcompact_context.notes import LayerName
    from otel_errcompact_context.window.layers.carrying.actions import Action
    from otel_errcompact_context.window.layers.workspace import Workspace
    from otel_errcompact_context.window.pairs import Spot

_LEAST_TOKENS: Final = 48
"""A file of which less could be shown stays in the archive."""

_TOLD: Final = lazy_pattern(r"file (?P<path>.{1,250}?)(?P<part>, a part of it)?, as last read, ([0-9,]{1,20}) tokens\Z")
"""What the marker of a file says that a compaction has put back."""


class ReadFile(NamedTuple):
    """A file as a result showed it."""

    path: str
    text: str
    tokens: int
    """What the whole costs; 0 if not counted yet."""
    age: int
    """The place of its message; of a file that was put back before it is negative, since those stand newest first."""
    whole: bool


def find_files(
    messages: Sequence[Message],
    start: int,
    end: int,
    actions: Mapping[Spot, Iterable[Action]],
    failed: frozenset[Spot],
    archive: Archive,
) -> list[ReadFile]:
    """
    Return the files that some messages read, newest first.

    One that was read again or written since is left out. What a command has changed is not known, so that each is told
    to be as last read.
    """
    found: dict[str, ReadFile | None] = {}
    for message in range(start, end):
        if (file := _read_restored(messages[message], -message, archive)) is not None:
            found.pop(file.path, None)
            found[file.path] = file
    for spot, done in actions.items():
        if spot.message < start or spot in failed:
            continue
        part = part_at(messages, spot)
        for action in done:
            _note_action(action, part, spot.message, found, is_seen=spot.message >= end)
    files = [file for file in found.values() if file is not None]
    return sorted(files, key=lambda file: -file.age)


def _note_action(action: Action, part: Part, message: int, found: dict[str, ReadFile | None], *, is_seen: bool) -> None:
    path = action.what
    if action.kind == "files written" and action.written is not None and not is_seen:
        found[path] = ReadFile(path, action.written, 0, message, whole=True)
    elif action.kind == "files written":
        found[path] = None
    elif action.kind != "files read" or marker_of(part.text) is not None:
        return
    elif is_seen:
        found[path] = None
    else:
        known = found.get(path)
        if action.whole or known is None or not known.whole:
            found[path] = ReadFile(path, part.text, part.tokens, message, action.whole)


def restore_files(files: Sequence[ReadFile], layer: LayerName, budget: int, workspace: Workspace) -> list[Message]:
    """Return messages that show the newest files again."""
    options, count_tokens = workspace.options, workspace.count_tokens
    made: list[Message] = []
    for file in files[: options.restore_files]:
        limit = min(budget, options.restore_file_tokens)
        try:
            place = workspace.archive.keep(file.text)
        except OSError:
            break  # it lies among the messages that are kept already, and stays there
        scope = "" if file.whole else ", a part of it"
        line = marker(
            layer, f"file {file.path}{scope}, as last read, {file.tokens or count_tokens(file.text):,} tokens", place
        )
        left = limit - count_tokens(line) - FRAME_TOKENS - 1
        if left < _LEAST_TOKENS:
            continue
        message = providers.from_user(f"{line}\n{shorten(file.text, left, count_tokens)}", count_tokens)
        made.append(message)
        budget -= message.tokens
    return made


def is_restored(message: Message) -> bool:
    """Tell whether a message is a file that was put back."""
    return _read_told(message) is not None


def _read_told(message: Message) -> tuple[re.Match[str], str] | None:
    if message.role != "user" or len(message.parts) != 1 or message.parts[0].kind != "text":
        return None
    found = marker_of(message.parts[0].text)
    told = _TOLD.match(found.what) if found is not None else None
    return (told, found.place) if found is not None and told is not None else None


def _read_restored(message: Message, age: int, archive: Archive) -> ReadFile | None:
    told = _read_told(message)
    if told is None:
        return None
    match, where = told
    text = find_text(archive, where)
    if text is None:
        return None
    return ReadFile(match["path"], text, int(match[3].replace(",", "")), age, whole=match["part"] is None)
