"""What was measured, as Markdown."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.secrets.measure import Cell

SHOWN_CHARACTERS = 1_500
"""Characters of a text that are printed."""


def totals(by_half: dict[str, list[Cell]]) -> str:
    """Return how many secrets are gone, and how many texts are whole, of each half."""
    lines = [
        "| half | secrets in texts | gone | readable | texts that lose | strings lost |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for half, cells in by_half.items():
        readable, damaged = sum(cell.leaked for cell in cells), sum(bool(cell.lost) for cell in cells)
        strings, lost = sum(len(cell.context.keeps) for cell in cells), sum(len(cell.lost) for cell in cells)
        gone = len(cells) - readable
        lines.append(
            f"| {half} | {len(cells):,} | {gone:,} ({_share(gone, len(cells))}) | {readable:,} "
            f"| {damaged:,} ({_share(damaged, len(cells))}) | {lost:,} of {strings:,} |"
        )
    return "\n".join(lines)


def worst(title: str, cells: Sequence[Cell], name: Callable[[Cell], str], rows: int) -> str:
    """Return the names with the most readable secrets, and then with the most damage."""
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[name(cell)].append(cell)
    counted = [
        (sum(cell.leaked for cell in group), sum(bool(cell.lost) for cell in group), len(group), each)
        for each, group in groups.items()
    ]
    counted.sort(key=lambda row: (-row[0] / row[2], -row[1] / row[2], row[3]))
    bad = [row for row in counted if row[0] or row[1]]
    lines = [f"| {title} | of | readable | | texts that lose |", "|---|---:|---:|---:|---:|"]
    lines += [f"| {each} | {of} | {leaked} | {_share(leaked, of)} | {lost} |" for leaked, lost, of, each in bad[:rows]]
    return "\n".join([*lines, f"\n{len(counted) - len(bad)} of {len(counted)} have neither."])


def samples(cells: Sequence[Cell], number: int) -> str:
    """Return the first texts in which a secret is readable or something is lost, raw and redacted."""
    bad = [cell for cell in cells if cell.leaked or cell.lost][:number]
    return "\n\n".join(
        f"### {cell.context.name}: {cell.kind.name}{' (readable)' if cell.leaked else ''}"
        f"{f' (lost: {cell.lost})' if cell.lost else ''}\n\n{_fenced(cell.raw)}\n\n{_fenced(cell.redacted)}"
        for cell in bad
    )


def _share(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.1%}"


def _fenced(text: str) -> str:
    return f"```\n{text[:SHOWN_CHARACTERS]}\n```"
