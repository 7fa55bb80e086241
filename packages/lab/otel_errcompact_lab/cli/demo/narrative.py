"""The printed story of a session, on two screens."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from otel_errcompact.digest import plain_lines
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.otel import semconv
from otel_errcompact_lab.cli.demo.agent import TASK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from otel_errcompact_lab.cli.demo.session import Outcome, Session, Step
    from otel_errcompact_lab.cli.demo.telemetry import Point, Signals


MAX_WIDTH: Final = 110


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoConsole:
    """Writes text, tables and boxes; no text is taken as markup."""

    terminal: Console
    box: box.Box

    @property
    def inside(self) -> int:
        """The columns inside a box as wide as the console."""
        return self.terminal.width - 4

    def write(self, text: str, style: str = "") -> None:
        """Write untrusted text, line by line."""
        self.put(sanitise(text, style))

    def put(self, content: RenderableType = "") -> None:
        """Write anything rich can render."""
        self.terminal.print(content)

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.put()
        line = "-" if self.box is box.ASCII else "\N{BOX DRAWINGS LIGHT HORIZONTAL}"
        self.terminal.rule(Text(text, "bold"), align="left", style="dim", characters=line)

    def put_panel(self, title: str, text: str, *, style: str) -> None:
        """Write untrusted text in a box with a title."""
        heading = Text(title, f"bold {style}")
        self.put(Panel(sanitise(text), title=heading, title_align="left", border_style=style, box=self.box))

    def put_table(self, name: str, numbers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Write a table of names with numbers."""
        table = Table(box=self.box, border_style="dim", header_style="bold", expand=False)
        table.add_column(name, overflow="fold")
        for number in numbers:
            table.add_column(number, justify="right", no_wrap=True, overflow="fold")
        for row in rows:
            table.add_row(*map(sanitise, row))
        self.put(table)


def open_console(*, plain: bool) -> DemoConsole:
    """Return a console on standard output."""
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


STYLES: Final[dict[Outcome, str]] = {"ok": "green", "failed": "red", "refused": "yellow"}
DIGEST: Final = "cyan"
_COUNTER: Final = "green"
_RAW: Final = "magenta"


def write_opening(console: DemoConsole) -> None:
    """Write the introduction."""
    console.heading("errcompact demo")
    console.write(
        "A scripted agent works with real tools that really fail. It sees no traceback: the line below a failed call "
        "is from the digest that it reads instead."
    )
    console.write(f"task: {TASK}", "bold")
    console.put()


def write_step(console: DemoConsole, step: Step) -> None:
    """Write a step on one line, and one of its digest."""
    rows: list[tuple[str, str, str, str]] = [(str(step.number), _format_call(step), step.outcome, STYLES[step.outcome])]
    if step.outcome != "ok":
        rows.append(("", f"  {_pick_line(step)}", "", ""))
    if step.answered is not None:
        rows.append(("", f"  operator: {step.answered.action}: {step.answered.message}", "", ""))
    _put_lines(console, rows)


def write_summary(console: DemoConsole, session: Session, signals: Signals, trajectory: Path) -> None:
    """Write ladder, artefacts, bill and files."""
    console.heading("The ladder: tell, refuse, ask, halt")
    _put_lines(console, ((step, f"{rung:9} {said}", "", "") for step, rung, said in _list_rungs(session)))
    _write_artefacts(console, session, signals.points)
    _write_bill(console, session)
    _write_trajectory(console, session, trajectory, exported=signals.exported)


def write_repeat(console: DemoConsole, number: int, session: Session) -> None:
    """Write one line about a further session."""
    report = session.report
    console.write(
        f"session {number}: {report.result}, {report.occurrences} failures in {len(report.classes)} classes, "
        f"{len(report.escalations)} escalations"
    )


def _format_call(step: Step) -> str:
    arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in step.call.arguments.items())
    return f"{step.call.tool}({arguments})"


def _write_artefacts(console: DemoConsole, session: Session, points: Sequence[Point]) -> None:
    # Of the failure with the longest raw error.
    step = max((step for step in session.steps if step.outcome == "failed"), key=lambda step: len(step.raw))
    of_class = (point for point in points if point.attributes.get(semconv.CLASS) == step.key)
    counter = next(point for point in of_class if point.instrument == semconv.ERRORS)
    lines = len(step.raw.splitlines())
    console.heading(f"One failure, three artefacts: step {step.number}, {step.call.tool}")
    sizes = f"{estimate_tokens(step.read)} tokens (raw {estimate_tokens(step.raw):,}, sent {step.sent:,})"
    console.put_panel(f"for the agent: the digest, {sizes}", step.read, style=DIGEST)
    console.put_panel("for the operator: counters by error class", str(counter), style=_COUNTER)
    raw = excerpt(step.raw, first=4, last=3, width=console.inside)
    console.put_panel(f"for debugging: the raw error, {lines} lines", raw, style=_RAW)


def _list_rungs(session: Session) -> Iterator[tuple[str, str, str]]:
    for step in session.steps:
        number = str(step.number)
        if step.outcome == "refused":
            yield number, "refuse", "an identical call that had failed twice was not executed"
        elif " again (x" in step.digest and step.answered is None:
            yield number, "notice", "the digest said that the call had failed before, how often, and what to do"
        if step.answered is not None:
            yield number, "escalate", step.answered.escalation.reached
            yield number, step.answered.action, f"the operator: {step.answered.message}"
    if session.halted:
        yield str(len(session.steps) + 1), "halted", "RunHalted at the gate; the agent's own loop would have continued"


def _write_bill(console: DemoConsole, session: Session) -> None:
    report = session.report
    raw, sent, digests = report.raw_tokens, report.sent_tokens, report.digest_tokens
    console.heading("The cost of the failures")
    row = (
        f"results of the {report.occurrences} failures",
        *(f"{tokens:,}" for tokens in (raw, sent, digests)),
        *(f"{round(100 * (digests - whole) / whole):+} %" for whole in (raw, sent)),
    )
    console.put_table("tokens (characters / 4)", ("raw", "sent", "digests", "vs-raw", "vs-sent"), [row])
    console.write(
        "Sent: what frameworks send without this library, `str(e)` of an exception, else the text. Errors are about "
        "2 % of a coding agent's context, 10 to 35 % of a looping one's; `errcompact replay` measures yours.",
        "dim",
    )


def _write_trajectory(console: DemoConsole, session: Session, trajectory: Path, *, exported: bool) -> None:
    lines = [line for line in trajectory.read_text(encoding="ascii").splitlines() if session.report.run_id in line]
    raw_errors = sum("resourceSpans" in line for line in lines)
    console.heading("The trajectory: every raw error, whole")
    console.write(
        f"{raw_errors} raw errors, and what became of them, as {len(lines)} OTLP/JSON lines, "
        f"{sum(len(line) + 1 for line in lines):,} bytes:"
    )
    console.write(f"{trajectory}", "bold")
    console.write("To read the report of the run back:")
    console.write(f"{_find_program()} report {shlex.quote(_shorten_path(trajectory))}", "bold")
    if exported:
        console.write("Spans and metrics of this session also go to the OTLP endpoint in the environment.")


def _find_program() -> str:
    if shutil.which("errcompact"):
        return "errcompact"
    started = Path(sys.argv[0]).absolute()
    if started.stem == "errcompact":
        return shlex.quote(_shorten_path(started))
    return f"{shlex.quote(sys.executable)} -m otel_errcompact"


def _shorten_path(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


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
