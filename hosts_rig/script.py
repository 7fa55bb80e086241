"""What the stand-in says instead of a model, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class ToolCall:
    """
    A call of a tool, by the name that the host gives it.
    """

    name: str
    arguments: Mapping[str, Any]
    namespace: str = ""
    """Codex keeps the tools of an MCP server in a namespace of its own."""


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
