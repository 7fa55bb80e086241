"""The printed summary of replayed runs: a table, tokens, and escalations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from otel_errcompact.lab.cli.column_fit import console_of, print_fitting
from otel_errcompact.lab.cli.output import describe_silence, printable
from otel_errcompact.lab.replay import total_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.lab.replay import ReplayedEscalation, ReplayedRun, ReplayTotal

MAX_ROWS: Final = 20
MAX_ESCALATIONS: Final = 10
PIPE_WIDTH: Final = 160
"""Columns where there is no terminal to ask."""

_SPARE: Final = ("classes", "streak", "escalations", "digests", "calls")
"""Columns that a narrow terminal goes without, the first of them first."""

_NUMBERS_WIDTH: Final = 68
_MIN_NAME_WIDTH: Final = 12


def print_summary(runs: Sequence[ReplayedRun]) -> None:
    """Print the runs with the most failures, the sums, and the escalations."""
    console = console_of(PIPE_WIDTH)
    total = total_of(runs)
    failing = sorted((run for run in runs if run.failures), key=lambda run: -run.failures)
    if failing:
        print_fitting(console, _build_table(failing, total, console.width), _SPARE)
        console.print()
    empty = sum(bool(run.context_tokens) and not run.tool_calls and not run.failures for run in runs)
    for line in _describe_total(total, empty):
        console.print(line, markup=False, soft_wrap=not console.is_terminal)
    for line in _describe_escalations(runs):
        # Text, since the square brackets of an error are no markup.
        console.print(Text(printable(line)), no_wrap=True, overflow="ellipsis")


def _build_table(failing: Sequence[ReplayedRun], total: ReplayTotal, width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_footer=True, footer_style="bold")
    longest = max(len(run.run_id) for run in failing[:MAX_ROWS])
    room = max(width - _NUMBERS_WIDTH, _MIN_NAME_WIDTH)
    table.add_column("run", f"all {total.runs:,}", no_wrap=True, width=max(min(longest, room), _MIN_NAME_WIDTH))
    sums = (
        ("calls", total.tool_calls),
        ("failures", total.failures),
        ("classes", total.classes),
        ("streak", total.longest_streak),
        ("escalations", total.escalations),
        ("tokens", total.raw_error_tokens),
        ("digests", total.digest_tokens),
    )
    for name, value in sums:
        table.add_column(name, f"{value:,}", justify="right", no_wrap=True)
    for run in failing[:MAX_ROWS]:
        table.add_row(Text(printable(run.run_id)), *(f"{value:,}" for value in _list_numbers(run)))
    if len(failing) > MAX_ROWS:
        table.add_row(Text(f"... {len(failing) - MAX_ROWS:,} more"))
    return table


def _list_numbers(run: ReplayedRun) -> tuple[int, ...]:
    return (
        run.tool_calls,
        run.failures,
        run.classes,
        run.longest_streak,
        len(run.escalations),
        run.raw_error_tokens,
        run.digest_tokens,
    )


def _describe_total(total: ReplayTotal, empty: int) -> Iterator[str]:
    if silence := describe_silence(empty, total.runs, calls=total.tool_calls, failures=total.failures):
        yield silence
        return
    if not total.failures:
        yield f"No failures (runs: {total.runs:,}, calls: {total.tool_calls:,})."
        return
    yield (
        f"Runs with failures: {total.runs_with_failures:,} of {total.runs:,}. Failures: {total.failures:,}, of which "
        f"the record does not flag {total.stated:,}. Calls that were declined or found nothing: {total.ignored:,}."
    )
    if total.handled:
        yield f"Failures inside a call that succeeded in the end: {total.handled:,}."
    if total.context_tokens:
        yield (
            f"Raw errors are {total.raw_error_tokens:,} tokens: {total.raw_error_tokens / total.context_tokens:.1%} of "
            f"all {total.context_tokens:,}. Their digests are {total.digest_tokens:,}."
        )


def _describe_escalations(runs: Sequence[ReplayedRun]) -> Iterator[str]:
    fired = [(run, escalation) for run in runs for escalation in run.escalations]
    if fired:
        yield f"Escalations that would have fired: {len(fired):,}"
    for run, escalation in fired[:MAX_ESCALATIONS]:
        yield f"  {escalation.threshold} at call {escalation.call} of {run.run_id}: {_describe_error(run, escalation)}"
    if len(fired) > MAX_ESCALATIONS:
        yield f"  ... {len(fired) - MAX_ESCALATIONS:,} more; --json has all"


def _describe_error(run: ReplayedRun, escalation: ReplayedEscalation) -> str:
    found = next((found for found in run.report.classes if found.key == escalation.key), None)
    return f"[{found.type}] {found.cause}" if found is not None else escalation.key
