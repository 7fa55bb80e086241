"""
Tables as wide as the terminal.

A column without room is left out whole and named, since half a number is a wrong one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence


def console_of(pipe_width: int) -> Console:
    """Return a console as wide as the terminal, or `pipe_width` without one."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=pipe_width)


def print_fitting(console: Console, table: Table, spare: Sequence[str]) -> None:
    """
    Print a table, and name the columns without room.

    Args:
        console: Where to.
        table: The table.
        spare: Headers of columns that may be left out, the first of them first.
    """
    left_out: list[str] = []
    columns = list(table.columns)
    for header in spare:
        # Behind the last column there is no padding.
        if sum(_width(column, table) for column in columns) - table.padding[1] <= console.width:
            break
        columns = [column for column in columns if column.header != header]
        left_out.append(header)
    console.print(_with(columns, table) if left_out else table)
    if left_out:
        console.print(Text(f"No room here for: {', '.join(left_out)}. A wider terminal or --json has all."))


def _width(column: Column, table: Table) -> int:
    cells = (column.header, column.footer, *column.cells)
    return table.padding[1] + (column.width or max(cell_len(str(cell)) for cell in cells))


def _with(columns: Sequence[Column], table: Table) -> Table:
    fitting = Table(
        box=table.box,
        pad_edge=table.pad_edge,
        padding=table.padding,
        show_footer=table.show_footer,
        footer_style=table.footer_style,
    )
    for column in columns:
        fitting.add_column(
            column.header,
            column.footer,
            justify=column.justify,
            no_wrap=column.no_wrap,
            overflow=column.overflow,
            width=column.width,
            max_width=column.max_width,
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        fitting.add_row(*cast("tuple[str | Text, ...]", row))
    return fitting
