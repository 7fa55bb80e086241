"""The printed story of a session on two screens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.table import Table

from otel_errcompact.lab.cli.demo.agent import TASK
from otel_errcompact.lab.cli.demo.console import excerpt, sanitise
from otel_errcompact.lab.cli.demo.narrative import (
    DIGEST,
    STYLES,
    format_call,
    list_rungs,
    write_artefacts,
    write_bill,
    write_trajectory,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from otel_errcompact.lab.cli.demo.console import DemoConsole
    from otel_errcompact.lab.cli.demo.session import Session, Step
    from otel_errcompact.lab.cli.demo.telemetry import Signals


def open_story(console: DemoConsole) -> None:
    """Write the introduction of the short form."""
    console.heading("errcompact demo")
    console.write(
        "A scripted agent works with real tools that really fail. It sees no traceback: the line below a failed call "
        "is from the digest that it reads instead."
    )
    console.write(f"task: {TASK}", "bold")
    console.space()


def tell_step(console: DemoConsole, step: Step) -> None:
    """Write a step on one line, and one of its digest."""
    rows: list[tuple[str, str, str, str]] = [(str(step.number), format_call(step), step.outcome, STYLES[step.outcome])]
    if step.outcome != "ok":
        rows.append(("", f"  {_pick_line(step)}", "", ""))
    if step.answered is not None:
        rows.append(("", f"  operator: {step.answered.action}: {step.answered.message}", "", ""))
    _put_lines(console, rows)


def tell_summary(console: DemoConsole, session: Session, signals: Signals, trajectory: Path) -> None:
    """Write ladder, artefacts, bill and files of the short form."""
    console.heading("The ladder: tell, refuse, ask, halt")
    _put_lines(console, ((step, f"{rung:9} {said}", "", "") for step, rung, said in list_rungs(session)))
    write_artefacts(console, session, signals.points)
    write_bill(console, session)
    write_trajectory(console, session, trajectory, exported=signals.exported)
    console.write("'errcompact demo --long' prints each step whole, with all metrics and the run report.")


def _pick_line(step: Step) -> str:
    # The mark of a repeat says most; a first failure begins with its type.
    lines = step.read.splitlines()
    again = (line for line in lines if step.key and re.search(rf"#{step.key[:4]}[0-9a-f]* again \(x", line))
    return next(again, lines[0])


def _put_lines(console: DemoConsole, rows: Iterable[tuple[str, str, str, str]]) -> None:
    for number, text, end, style in rows:
        grid = Table.grid(expand=True, padding=(0, 1))
        grid.add_column(width=2, justify="right")
        grid.add_column(ratio=1, no_wrap=True, overflow="crop")
        grid.add_column(justify="right", no_wrap=True)
        # Of an outcome the column next to it, and of the number the one before it, take their part of the width.
        line = excerpt(text, first=1, last=0, width=console.terminal.width - 4 - len(end))
        grid.add_row(number, sanitise(line, "" if number else DIGEST), sanitise(end, f"bold {style}".rstrip()))
        console.put(grid)
