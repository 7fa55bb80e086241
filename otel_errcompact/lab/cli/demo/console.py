"""The console of the demo: a terminal or a plain stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from otel_errcompact.digest import plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

MAX_WIDTH: Final = 110
WIDE: Final = 100
"""Columns from which two texts stand side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoConsole:
    """Writes text, tables and boxes; no text is taken as markup."""

    terminal: Console
    box: box.Box

    @property
    def inside(self) -> int:
        """The columns inside a box as wide as the console."""
        return self.terminal.width - 4

    @property
    def beside(self) -> int:
        """The columns inside one of two boxes side by side."""
        return self.inside if self.terminal.width < WIDE else (self.terminal.width - 1) // 2 - 4

    def write(self, text: str, style: str = "", *, indent: int = 0) -> None:
        """Write untrusted text, line by line."""
        self.put(sanitise(text, style), indent=indent)

    def put(self, content: RenderableType, *, indent: int = 0) -> None:
        """Write anything rich can render."""
        self.terminal.print(Padding(content, (0, 0, 0, indent), expand=False) if indent else content)

    def side_by_side(self, left: RenderableType, right: RenderableType) -> None:
        """Write two boxes side by side, or one below the other."""
        if self.terminal.width < WIDE:
            self.put(left)
            self.put(right)
            return
        grid = Table.grid(expand=True, padding=(0, 1, 0, 0), pad_edge=False)
        grid.add_column(ratio=1, overflow="fold")
        grid.add_column(ratio=1, overflow="fold")
        grid.add_row(left, right)
        self.put(grid)

    def space(self) -> None:
        """Write an empty line."""
        self.terminal.print()

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.space()
        line = "-" if self.box is box.ASCII else "\N{BOX DRAWINGS LIGHT HORIZONTAL}"
        self.terminal.rule(Text(text, "bold"), align="left", style="dim", characters=line)

    def panel(self, title: str, *content: RenderableType, style: str) -> Panel:
        """Return a box with a title."""
        heading = Text(title, f"bold {style}".rstrip())
        return Panel(Group(*content), title=heading, title_align="left", border_style=style, box=self.box)

    def table(self, *columns: str, right: str = "") -> Table:
        """
        Return a table without rows.

        Args:
            columns: The columns' names.
            right: Those of them that are numbers, each followed by a space.
        """
        table = Table(box=self.box, border_style="dim", header_style="bold", expand=False)
        for name in columns:
            number = name in right.split()
            table.add_column(name, justify="right" if number else "left", no_wrap=number, overflow="fold")
        return table


def open_console(*, plain: bool) -> DemoConsole:
    """
    Return a console on standard output.

    Args:
        plain: Neither colours nor drawn boxes.
    """
    terminal = Console(markup=False, highlight=False, emoji=False, color_system=None if plain else "auto")
    terminal.width = min(terminal.width, MAX_WIDTH)
    return DemoConsole(terminal=terminal, box=box.ASCII if plain else box.ROUNDED)


def sanitise(text: str, style: str = "") -> Text:
    """Return text that cannot change the terminal's state or be markup."""
    return Text(plain_lines(text), style)


def excerpt(text: str, *, first: int, last: int, width: int) -> str:
    """Return the first and last lines of a text, with visible cuts."""
    lines = [line if len(line) <= width else f"{line[: width - 3]}..." for line in text.rstrip().splitlines()]
    left_out = len(lines) - first - last
    if left_out <= 1:
        return "\n".join(lines)
    return "\n".join([*lines[:first], f"... {left_out} more lines ...", *lines[len(lines) - last :]])


def fill(table: Table, rows: Iterable[tuple[str, ...]]) -> Table:
    """Fill a table with untrusted text."""
    for row in rows:
        table.add_row(*(sanitise(cell) for cell in row))
    return table
