"""The printed narrative: the session step by step, and its summary."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.lab.cli.demo.agent import TASK
from otel_errcompact.lab.cli.demo.console import excerpt, fill, sanitise
from otel_errcompact.lab.cli.demo.session import AGENT
from otel_errcompact.lab.cli.demo.token_costs import cost_session
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.engine.report import ClassReport
    from otel_errcompact.lab.cli.demo.console import DemoConsole
    from otel_errcompact.lab.cli.demo.session import Outcome, Session, Step
    from otel_errcompact.lab.cli.demo.telemetry import Point, Signals
    from otel_errcompact.lab.cli.demo.token_costs import Cost

STYLES: Final[dict[Outcome, str]] = {"ok": "green", "failed": "red", "refused": "yellow"}
DIGEST: Final = "cyan"
_COUNTER: Final = "green"
_RAW: Final = "magenta"


def write_opening(console: DemoConsole) -> None:
    """Write an introduction."""
    console.heading("errcompact demo")
    console.write(
        "A scripted agent does a real piece of work with real tools that really fail. It sees no exception and no "
        "traceback: what stands under a failed call is all it reads, and out of that it takes its next step."
    )
    console.space()
    console.write(f"task: {TASK}", "bold")


def write_step(console: DemoConsole, step: Step) -> None:
    """Write one step: the agent's thought, its call, and its result."""
    console.space()
    console.write(f"> {step.call.thought}", "italic")
    line = Table.grid(expand=True, padding=(0, 1))
    line.add_column(width=2, justify="right")
    line.add_column(ratio=1, overflow="fold")
    line.add_column(justify="right", no_wrap=True)
    line.add_row(str(step.number), sanitise(format_call(step)), sanitise(step.outcome, f"bold {STYLES[step.outcome]}"))
    console.put(line)
    console.write(step.read if step.outcome != "ok" else _last_line(step.read), _choose_style(step), indent=4)
    if step.answered is not None:
        console.write(f"operator: {step.answered.action}: {step.answered.message}", "bold yellow", indent=4)
    if step.answered is not None and step.answered.action == "continue":
        console.put(Text(step.recent_errors, DIGEST), indent=4)


def write_summary(console: DemoConsole, session: Session, signals: Signals, trajectory: Path) -> None:
    """Write the summary of the session."""
    if session.halted:
        console.space()
        console.write(f"The gate raised RunHalted before step {len(session.steps) + 1}: {session.halted}", "bold red")
    _write_comparisons(console, session)
    write_bill(console, session)
    _write_counters(console, session, signals)
    # The most telling parts come last: a terminal still shows them when the demo is over.
    _write_report(console, session)
    _write_ladder(console, session)
    write_artefacts(console, session, signals.points)
    write_trajectory(console, session, trajectory, exported=signals.exported)


def write_repeat(console: DemoConsole, number: int, session: Session) -> None:
    """Write one line about a further session."""
    report = session.report
    console.write(
        f"session {number}: {report.result}, {report.occurrences} failures in {len(report.classes)} classes, "
        f"{len(report.escalations)} escalations"
    )


def format_call(step: Step) -> str:
    """Return a call as Python writes it."""
    arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in step.call.arguments.items())
    return f"{step.call.tool}({arguments})"


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def _choose_style(step: Step) -> str:
    return "dim" if step.outcome == "ok" else DIGEST


def write_artefacts(console: DemoConsole, session: Session, points: Sequence[Point]) -> None:
    """Write one failure as digest, counter and raw error."""
    # Of the failure with the longest raw error.
    step = max(_select_failed(session), key=lambda step: len(step.raw))
    counter = next(point for point in points if point.attributes.get(semconv.CLASS) == step.key and _is_errors(point))
    lines = len(step.raw.splitlines())
    console.heading(f"One failure, three artefacts: step {step.number}, {step.call.tool}")
    console.put(console.panel(f"for the agent: the digest, {_format_sizes(step)}", sanitise(step.read), style=DIGEST))
    console.put(console.panel("for the operator: counters by error class", sanitise(str(counter)), style=_COUNTER))
    raw = excerpt(step.raw, first=4, last=3, width=console.inside)
    console.put(console.panel(f"for debugging: the raw error, {lines} lines", sanitise(raw), style=_RAW))


def _write_comparisons(console: DemoConsole, session: Session) -> None:
    # Each loop's first failure, and the first loop's first repeat.
    console.heading("What the tool said, and what the agent read")
    for number, answered in enumerate(session.report.escalations):
        loop = [step for step in _select_failed(session) if step.key == answered.escalation.key]
        for step in loop[:1] if number else loop[:2]:
            _write_comparison(console, step)


def _write_comparison(console: DemoConsole, step: Step) -> None:
    raw = excerpt(step.raw, first=7, last=6, width=console.beside)
    said = console.panel(f"step {step.number}: raw", sanitise(raw), style=_RAW)
    read = console.panel(f"step {step.number}: digest, {_format_sizes(step)}", sanitise(step.read), style=DIGEST)
    console.side_by_side(said, read)


def _format_sizes(step: Step) -> str:
    return f"{estimate_tokens(step.read)} tokens (raw {estimate_tokens(step.raw):,}, sent {step.sent:,})"


def _write_ladder(console: DemoConsole, session: Session) -> None:
    console.heading("The ladder: tell, refuse, ask, halt")
    table = console.table("step", "rung", "what happened", right="step")
    console.put(fill(table, list_rungs(session)))


def list_rungs(session: Session) -> Iterator[tuple[str, str, str]]:
    """Yield each step of the ladder with its number and event."""
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


def write_bill(console: DemoConsole, session: Session) -> None:
    """Write what the session costs, raw, sent and with digests."""
    costs = cost_session(session.steps)
    columns = ("raw", "sent", "digests", "vs-raw", "vs-sent")
    table = console.table("tokens (characters / 4)", *columns, right=" ".join(columns))
    positions = (
        (f"results of the {session.report.occurrences} failures", costs.errors),
        ("the whole conversation at the end", costs.conversation),
        (f"all {len(session.steps)} prompts, as billed without a cache", costs.prompts),
    )
    console.heading("The cost of the session")
    console.put(fill(table, ((name, *_format_cost(cost)) for name, cost in positions)))
    console.write(
        "Sent: what frameworks send without this library, `str(e)` of an exception, else the text. Errors are about "
        "2 % of a coding agent's context, 10 to 35 % of a looping one's; `errcompact replay` measures yours.",
        "dim",
    )


def _format_cost(cost: Cost) -> tuple[str, str, str, str, str]:
    return (
        f"{cost.raw:,}",
        f"{cost.sent:,}",
        f"{cost.digest:,}",
        f"{-cost.saved_percent:+} %",
        f"{-cost.saved_of_sent_percent:+} %",
    )


def _write_counters(console: DemoConsole, session: Session, signals: Signals) -> None:
    console.heading("What the operator gets: OpenTelemetry metrics and log records")
    points = signals.points
    errors = console.table("tool", "error.type", "class", "outcome", "errors", right="errors")
    order = [found.key for found in session.report.classes]
    counted = sorted(filter(_is_errors, points), key=lambda point: order.index(point.attributes[semconv.CLASS]))
    console.put(fill(errors, map(_build_error_row, counted)))
    others = console.table("instrument", "attributes", "value", right="value")
    console.put(fill(others, _list_others(points)))
    console.write(f"({semconv.GEN_AI_AGENT_NAME}={AGENT} is left out)", "dim")
    for record in signals.records:
        console.write(record)


def _is_errors(point: Point) -> bool:
    return point.instrument == semconv.ERRORS


def _build_error_row(point: Point) -> tuple[str, ...]:
    columns = (semconv.GEN_AI_TOOL_NAME, semconv.ERROR_TYPE, semconv.CLASS, semconv.OUTCOME)
    return (*(point.attributes[name] for name in columns), str(point.value))


def _list_others(points: Iterable[Point]) -> Iterator[tuple[str, ...]]:
    wanted = {semconv.ESCALATIONS, semconv.RESOLUTIONS, semconv.RUNS, semconv.CONTEXT_TOKENS}
    for point in points:
        if point.instrument in wanted:
            yield point.instrument, point.labels(without=semconv.GEN_AI_AGENT_NAME), str(point.value)


def _write_report(console: DemoConsole, session: Session) -> None:
    report = session.report
    console.heading(f"The run report: {report.result}, {report.occurrences} failures in {len(report.classes)} classes")
    table = console.table("status", "count", "tool", "error", "class", right="count")
    for found in report.classes:
        fill(table, [(found.status, str(found.count), found.tool, _format_error(found), found.key)])
    console.put(table)


def _format_error(found: ClassReport) -> str:
    error = f"[{found.type.rpartition('.')[2]}] {found.cause}"
    return f"{error}\nhint: {found.hint}" if found.hint else error


def write_trajectory(console: DemoConsole, session: Session, trajectory: Path, *, exported: bool) -> None:
    """Write where the raw errors are, and how to read them."""
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


def _select_failed(session: Session) -> list[Step]:
    return [step for step in session.steps if step.outcome == "failed"]
