"""What the stand-in says instead of a model, turn by turn."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Read:
    """
    An argument that the model takes from what it has read last: the group of a pattern.
    """

    pattern: str

    def find(self, request: str) -> int | str:
        """
        The value; a number where it is one, and empty where nothing was read.
        """
        found = re.findall(self.pattern, request)
        return int(found[-1]) if found and found[-1].isdigit() else next(reversed(found), "")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """
    A call of a tool, by the name that the host gives it.
    """

    name: str
    arguments: Mapping[str, Any]
    namespace: str = ""
    """Codex keeps the tools of an MCP server in a namespace of its own."""

    def fill(self, request: Mapping[str, Any]) -> ToolCall:
        """
        The same with the arguments that are read in a request.
        """
        text = json.dumps(request) if any(isinstance(each, Read) for each in self.arguments.values()) else ""
        filled = {name: each.find(text) if isinstance(each, Read) else each for name, each in self.arguments.items()}
        return replace(self, arguments=filled)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """
    One message of the model: text, calls, or both.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    before: Callable[[], None] | None = field(default=None, compare=False)
    """What happens before the model says it: here a test stops and starts programs."""


def do(*calls: ToolCall, before: Callable[[], None] | None = None) -> Turn:
    """
    A turn of nothing but calls; several are parallel.
    """
    return Turn(calls=calls, before=before)


CLOSING = Turn(text="That is all that I could do.")
"""What a model says whose script is at its end, so that the host ends as well."""
