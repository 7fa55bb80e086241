"""The printed account: the session step by step as it goes, and what it came to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.lab.cli.demo.agent import TASK
from otel_errcompact.lab.cli.demo.bill import bill
from otel_errcompact.lab.cli.demo.paper import excerpt, rows, untrusted
from otel_errcompact.lab.cli.demo.session import AGENT
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from otel_errcompact.engine.report import ClassReport
    from otel_errcompact.lab.cli.demo.bill import Cost
    from otel_errcompact.lab.cli.demo.paper import Paper
    from otel_errcompact.lab.cli.demo.session import Outcome, Session, Step
    from otel_errcompact.lab.cli.demo.telemetry import Point, Signals

_STYLES: Final[dict[Outcome, str]] = {"ok": "green", "failed": "red", "refused": "yellow"}
_DIGEST: Final = "cyan"
_COUNTER: Final = "green"
_RAW: Final = "magenta"


def write_opening(paper: Paper) -> None:
    """Say what is going to happen."""
    paper.heading("errcompact demo")
    paper.write(
        "A scripted agent does a real piece of work with real tools that really fail. It sees no exception and no "
        "traceback: what stands under a failed call is all it reads, and out of that it takes its next step."
    )
    paper.space()
    paper.write(f"task: {TASK}", "bold")


def write_step(paper: Paper, step: Step) -> None:
    """Write one step of the agent: its thought, its call, and what it read."""
    paper.space()
    paper.write(f"> {step.call.thought}", "italic")
    line = Table.grid(expand=True, padding=(0, 1))
    line.add_column(width=2, justify="right")
    line.add_column(ratio=1, overflow="fold")
    line.add_column(justify="right", no_wrap=True)
    line.add_row(str(step.number), untrusted(_written(step)), untrusted(step.outcome, f"bold {_STYLES[step.outcome]}"))
    paper.put(line)
    paper.write(step.read if step.outcome != "ok" else _last_line(step.read), _style(step), indent=4)
    if step.answered is not None:
        paper.write(f"operator: {step.answered.action}: {step.answered.message}", "bold yellow", indent=4)
    if step.answered is not None and step.answered.action == "continue":
        paper.put(Text(step.recent_errors, _DIGEST), indent=4)


def write_account(paper: Paper, session: Session, signals: Signals, trajectory: Path) -> None:
    """Write what the session came to."""
    if session.halted:
        paper.space()
        paper.write(f"The gate raised RunHalted before step {len(session.steps) + 1}: {session.halted}", "bold red")
    _comparisons(paper, session)
    _tokens(paper, session)
    _counters(paper, session, signals)
    # What says most comes last: it is what a terminal still shows when the demo is over.
    _report(paper, session)
    _ladder(paper, session)
    _artefacts(paper, session, signals.points)
    _trajectory(paper, session, trajectory, exported=signals.exported)


def write_again(paper: Paper, number: int, session: Session) -> None:
    """Say in one line what another session came to."""
    report = session.report
    paper.write(
        f"session {number}: {report.result}, {report.occurrences} failures in {len(report.classes)} classes, "
        f"{len(report.escalations)} escalations"
    )


def _written(step: Step) -> str:
    arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in step.call.arguments.items())
    return f"{step.call.tool}({arguments})"


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def _style(step: Step) -> str:
    return "dim" if step.outcome == "ok" else _DIGEST


def _artefacts(paper: Paper, session: Session, points: Sequence[Point]) -> None:
    """The three artefacts of one failure, the one with the longest raw error."""
    step = max(_failed(session), key=lambda step: len(step.raw))
    counter = next(point for point in points if point.attributes.get(semconv.CLASS) == step.key and _is_errors(point))
    lines = len(step.raw.splitlines())
    paper.heading(f"One failure, three artefacts: step {step.number}, {step.call.tool}")
    paper.put(paper.panel(f"for the agent: the digest, {_sizes(step)}", untrusted(step.read), style=_DIGEST))
    paper.put(paper.panel("for the operator: counters by error class", untrusted(str(counter)), style=_COUNTER))
    raw = excerpt(step.raw, first=4, last=3, width=paper.inside)
    paper.put(paper.panel(f"for whoever debugs it: the raw error, {lines} lines", untrusted(raw), style=_RAW))


def _comparisons(paper: Paper, session: Session) -> None:
    """Raw text and digest of each loop's first failure, and of the first loop's first repeat."""
    paper.heading("What the tool said, and what the agent read")
    for number, answered in enumerate(session.report.escalations):
        loop = [step for step in _failed(session) if step.key == answered.escalation.key]
        for step in loop[:1] if number else loop[:2]:
            _compare(paper, step)


def _compare(paper: Paper, step: Step) -> None:
    raw = excerpt(step.raw, first=7, last=6, width=paper.beside)
    said = paper.panel(f"step {step.number}: raw", untrusted(raw), style=_RAW)
    read = paper.panel(f"step {step.number}: digest, {_sizes(step)}", untrusted(step.read), style=_DIGEST)
    paper.side_by_side(said, read)


def _sizes(step: Step) -> str:
    return f"{estimate_tokens(step.read)} tokens instead of {estimate_tokens(step.raw):,}"


def _ladder(paper: Paper, session: Session) -> None:
    paper.heading("The ladder: tell, refuse, ask, halt")
    table = paper.table("step", "rung", "what happened", right="step")
    paper.put(rows(table, _rungs(session)))


def _rungs(session: Session) -> Iterator[tuple[str, str, str]]:
    for step in session.steps:
        number = str(step.number)
        if step.outcome == "refused":
            yield number, "refuse", "an identical call that had failed twice was not executed"
        elif " again (x" in step.digest and step.answered is None:
            yield number, "notice", "the digest said that the call had failed before, how often, and what to do"
        if step.answered is not None:
            yield number, "escalate", f"{step.answered.escalation}"
            yield number, step.answered.action, f"the operator: {step.answered.message}"
    if session.halted:
        yield str(len(session.steps) + 1), "halted", "RunHalted at the gate; the agent's own loop would have gone on"


def _tokens(paper: Paper, session: Session) -> None:
    costs = bill(session.steps)
    table = paper.table("tokens (characters / 4)", "raw errors", "digests", "saved", right="raw errors digests saved")
    positions = (
        (f"results of the {session.report.occurrences} failures", costs.errors),
        ("the whole conversation at the end", costs.conversation),
        (f"all {len(session.steps)} prompts, as billed without a cache", costs.prompts),
    )
    paper.heading("The bill")
    paper.put(rows(table, ((name, *_cost(cost)) for name, cost in positions)))
    paper.write(
        "The prompts count the block of recent errors each time. This run is little else than failures: in today's "
        "coding agents errors are about 2 % of the context, in looping ones 10 to 35 %, and system prompt and tool "
        "schemas come on top. `errcompact replay` tells the figure for your own runs.",
        "dim",
    )


def _cost(cost: Cost) -> tuple[str, str, str]:
    return f"{cost.raw:,}", f"{cost.digest:,}", f"{cost.saved_percent} %"


def _counters(paper: Paper, session: Session, signals: Signals) -> None:
    paper.heading("What the operator gets: OpenTelemetry metrics and log records")
    points = signals.points
    errors = paper.table("tool", "error.type", "class", "outcome", "errors", right="errors")
    order = [found.key for found in session.report.classes]
    counted = sorted(filter(_is_errors, points), key=lambda point: order.index(point.attributes[semconv.CLASS]))
    paper.put(rows(errors, map(_error_row, counted)))
    others = paper.table("instrument", "attributes", "value", right="value")
    paper.put(rows(others, _others(points)))
    paper.write(f"({semconv.GEN_AI_AGENT_NAME}={AGENT} is left out)", "dim")
    for record in signals.records:
        paper.write(record)


def _is_errors(point: Point) -> bool:
    return point.instrument == semconv.ERRORS


def _error_row(point: Point) -> tuple[str, ...]:
    columns = (semconv.GEN_AI_TOOL_NAME, semconv.ERROR_TYPE, semconv.CLASS, semconv.OUTCOME)
    return (*(point.attributes[name] for name in columns), str(point.value))


def _others(points: Iterable[Point]) -> Iterator[tuple[str, ...]]:
    wanted = {semconv.ESCALATIONS, semconv.RESOLUTIONS, semconv.RUNS, semconv.CONTEXT_TOKENS}
    for point in points:
        if point.instrument in wanted:
            yield point.instrument, point.labels(without=semconv.GEN_AI_AGENT_NAME), str(point.value)


def _report(paper: Paper, session: Session) -> None:
    report = session.report
    paper.heading(f"The run report: {report.result}, {report.occurrences} failures in {len(report.classes)} classes")
    table = paper.table("status", "count", "tool", "error", "class", right="count")
    classes = ((found.status, str(found.count), found.tool, _error(found), found.key) for found in report.classes)
    paper.put(rows(table, classes))


def _error(found: ClassReport) -> str:
    error = f"[{found.type.rpartition('.')[2]}] {found.cause}"
    return f"{error}\nhint: {found.hint}" if found.hint else error


def _trajectory(paper: Paper, session: Session, trajectory: Path, *, exported: bool) -> None:
    lines = [line for line in trajectory.read_text(encoding="ascii").splitlines() if session.report.run_id in line]
    raw_errors = sum("resourceSpans" in line for line in lines)
    paper.heading("The trajectory: every raw error, whole")
    paper.write(
        f"{raw_errors} raw errors, and what became of them, as {len(lines)} OTLP/JSON lines, "
        f"{sum(map(len, lines)):,} bytes:"
    )
    paper.write(f"{trajectory}", "bold")
    paper.write("To read the report of the run back:")
    paper.write(f"errcompact report {trajectory}", "bold")
    if exported:
        paper.write("Spans and metrics of this session also go to the OTLP endpoint in the environment.")


def _failed(session: Session) -> list[Step]:
    return [step for step in session.steps if step.outcome == "failed"]
