"""
Tables as wide as the terminal.

A column without room is left out whole and named, since half a number is a wrong one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from otel_errcompact_lab.cli.output import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    Row = Sequence[str]

SHORTEST: Final = 12
"""Characters of the name of a run that is cut for want of room."""


def console_of(pipe_width: int) -> Console:
    """Return a console as wide as the terminal, or `pipe_width` without one."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=pipe_width)


def print_table(
    console: Console,
    rows: Sequence[Row],
    *,
    footer: Row = (),
    spare: Sequence[str] = (),
    left: Collection[str] = (),
    shortest: int | None = None,
) -> None:
    """
    Print a table, and name the columns without room.

    Args:
        console: Where to.
        rows: The headers, then names with their cells; a row may end early.
        footer: The sums.
        spare: Headers of columns that may be left out, the first of them first.
        left: Headers of columns that begin at their left, as the first one does.
        shortest: What is left of a name at least that is cut for want of room; None to cut none.
    """
    header, lines = rows[0], [*rows, *filter(None, (footer,))]
    widths = [max(cell_len(line[at]) for line in lines if at < len(line)) for at in range(len(header))]
    kept, left_out = list(range(len(header))), list[str]()
    least = min(widths[0], shortest or widths[0])

    def leave() -> int:
        return console.width - sum(1 + widths[at] for at in kept[1:])

    for name in spare:
        if least <= leave():
            break
        kept = [at for at in kept if header[at] != name]
        left_out.append(name)
    widths[0] = min(widths[0], max(leave(), least))
    for line in lines:
        cells = [(printable(line[at]), widths[at], not at or header[at] in left) for at in kept if at < len(line)]
        text = " ".join(_fill_cell(*cell) for cell in cells).rstrip()
        console.print(Text(text, "bold" if line in (header, footer) else ""), no_wrap=True, crop=False)
    if left_out:
        console.print(Text(f"No room here for: {', '.join(left_out)}. A wider terminal or --json has all."))


def _fill_cell(cell: str, width: int, to_left: bool) -> str:
    blanks = " " * (width - cell_len(cell))
    if cell_len(cell) > width:
        return f"{set_cell_size(cell, width - 1)}\N{HORIZONTAL ELLIPSIS}"
    return f"{cell}{blanks}" if to_left else f"{blanks}{cell}"
