"""The command of a server in a file, wrapped and not."""

from __future__ import annotations

import json
import ntpath
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.hosts.json_text import Edit

PROGRAM: Final = "errcompact"
GROUP: Final = "mcp"
SEPARATOR: Final = "--"
MADE: Final = "[ "
"""Begins a list of arguments that was made, where there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A value in its text."""

    start: int
    end: int
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSpan:
    """A list in its text."""

    start: int
    end: int
    items: tuple[Span, ...]

    @property
    def values(self) -> list[object]:
        """What stands in it."""
        return [item.value for item in self.items]


def is_ours(program: object, arguments: Sequence[object]) -> bool:
    """Return whether a command is the proxy's."""
    name = ntpath.basename(program) if isinstance(program, str) else ""  # splits at both kinds of slashes
    return name.removesuffix(".exe") == PROGRAM and list(arguments[:1]) == [GROUP]


def wrap_command(text: str, command: Span, arguments: ListSpan, program: str) -> list[Edit]:
    """
    Return the edits that put the proxy in front of a program.

    The program moves into the list of its arguments, as it is written.

    Args:
        text: The text of the file.
        command: The program's name.
        arguments: Its arguments.
        program: How the client starts the proxy.
    """
    ours = ", ".join((json.dumps(GROUP), json.dumps(SEPARATOR), text[command.start : command.end]))
    place = arguments.items[0].start if arguments.items else arguments.start + 1
    return [
        (command.start, command.end, json.dumps(program, ensure_ascii=False)),
        (place, place, f"{ours}, " if arguments.items else ours),
    ]


def unwrap_command(text: str, command: Span, arguments: ListSpan) -> list[Edit] | None:
    """
    Return the edits that take the proxy away from a program.

    Args:
        text: The text of the file.
        command: The proxy's name.
        arguments: Its arguments.

    Returns:
        None where no program stands behind it.
    """
    items = arguments.items
    place = arguments.values.index(SEPARATOR) + 1 if SEPARATOR in arguments.values else len(items)
    if place >= len(items):
        return None
    original = items[place]
    rest = items[place + 1 :]
    gone = (items[0].start, rest[0].start, "") if rest else (arguments.start + 1, original.end, "")
    return [(command.start, command.end, text[original.start : original.end]), gone]


def made_arguments(text: str, command: Span) -> str:
    """Return a list of arguments for a program that has none."""
    ours = (json.dumps(GROUP), json.dumps(SEPARATOR), text[command.start : command.end])
    return f"{MADE}{', '.join(ours)} ]"


def are_made(text: str, arguments: ListSpan) -> bool:
    """Return whether there was no list of arguments before."""
    is_bare = arguments.values[:2] == [GROUP, SEPARATOR] and len(arguments.items) == len((GROUP, SEPARATOR, PROGRAM))
    return is_bare and text.startswith(MADE, arguments.start)


def wrap_list(text: str, command: ListSpan, program: str) -> list[Edit]:
    """
    Return the edits for a program and its arguments in one list.

    Args:
        text: The text of the file.
        command: The list, which is not empty.
        program: How the client starts the proxy.
    """
    del text
    ours = ", ".join(json.dumps(word, ensure_ascii=False) for word in (program, GROUP, SEPARATOR))
    start = command.items[0].start
    return [(start, start, f"{ours}, ")]


def unwrap_list(command: ListSpan) -> list[Edit] | None:
    """
    Return the edits that take the proxy out of such a list.

    Args:
        command: The list.

    Returns:
        None where no program stands behind it.
    """
    values = command.values
    place = values.index(SEPARATOR) + 1 if SEPARATOR in values else len(values)
    return [(command.items[0].start, command.items[place].start, "")] if place < len(values) else None
