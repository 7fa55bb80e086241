"""What an emitter is, and what it remembers between messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.hosts.telemetry.entries import Entry
    from otel_errcompact.hosts.telemetry.reports import Report

MAX_PENDING: Final = 4_096
"""Halves of calls that wait for the other one, and traces whose conversation is known."""

MAX_PARSED: Final = 1_000_000
"""Characters of an attribute that are read as JSON."""


class Memory:
    """Holds what is known from earlier messages, in bounds."""

    def __init__(self) -> None:
        self.halves: Final[BoundedTable[str, Entry]] = BoundedTable(MAX_PENDING)
        """Spans of calls whose other span is still to come, by call id."""

        self.conversations: Final[BoundedTable[int, str]] = BoundedTable(MAX_PENDING)
        """The conversation of a trace, from the first of its spans that names one."""

        self._numbers: Final[BoundedTable[str, int]] = BoundedTable(MAX_PENDING)

        self.inner: Final[BoundedTable[str, str]] = BoundedTable(MAX_PENDING)
        """Tools that failed inside a span which is still to come, by that span's name."""

    def number(self, name: str) -> int:
        """Return how often a name was asked for before."""
        number = self._numbers.get(name) or 0
        self._numbers.put(name, number + 1)
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitter:
    """
    A program whose telemetry is known.
    """

    name: str
    """The agent's name, as metrics show it."""

    owns: Callable[[Entry], bool]
    """Tells whether an entry is the program's own."""

    hooks_name_calls: bool = True
    """Whether its hooks give calls the ids that its telemetry gives them; if not, nothing joins the two."""

    read: Callable[[Entry, Memory], Report | None]
    """Returns what an entry reports of a call; None if it is about no call, or about one that was not made."""


def parse(text: str) -> dict[str, object]:
    """Return a JSON object; an empty one for all else."""
    if not text.startswith("{") or len(text) > MAX_PARSED:
        return {}
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def text_of(value: object) -> str:
    """Return a value that is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def object_of(value: object) -> dict[str, object]:
    """Return a value that is an object, else an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
