"""What all frameworks play: one run of an agent that calls its only tool again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEPTH = 10
"""Frames inside the tool; the framework's own make them about fifteen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """
    One run of an agent.
    """

    tool: Callable[[str], str]
    calls: int
    ours: bool
    """Whether the integration is used."""

    def items(self) -> Iterator[str]:
        """Yield what the tool is called with; then the model is done."""
        return (f"tea-{number}" for number in range(self.calls))

    def tool_that_never_raises(self) -> Callable[[str], str]:
        """Return the tool for frameworks that one which raises would end: without the integration it catches."""
        return self.tool if self.ours else _caught(self.tool)


def healthy(item: str) -> str:
    """
    Look up a price.

    Args:
        item: What it is of.
    """
    return f"{item}: 2.40 EUR a cup, 12 left on the shelf; ask for more at the counter."


def failing(item: str) -> str:
    """
    Look up a price.

    Args:
        item: What it is of.
    """
    return look_up(item, DEPTH - 2)


def look_up(item: str, depth: int) -> str:
    """Fail so many frames down."""
    if depth:
        return look_up(item, depth - 1)
    raise LookupError(f"no price of {item!r} in the table 'prices' of 2026-11-21")


healthy.__name__ = failing.__name__ = "price"


def _caught(tool: Callable[[str], str]) -> Callable[[str], str]:
    def price(item: str) -> str:
        """
        Look up a price.

        Args:
            item: What it is of.
        """
        try:
            return tool(item)
        except LookupError as error:
            return str(error)

    return price
