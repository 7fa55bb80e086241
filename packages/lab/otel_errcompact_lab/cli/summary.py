"""The printed summary of replayed runs: a table, tokens, and escalations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from otel_errcompact_lab.cli.column_fit import SHORTEST, console_of, print_table
from otel_errcompact_lab.cli.output import describe_silence, printable
from otel_errcompact_lab.replay import total_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact_lab.replay import ReplayedEscalation, ReplayedRun, ReplayTotal

MAX_ROWS: Final = 20
MAX_ESCALATIONS: Final = 10
PIPE_WIDTH: Final = 160
"""Columns where there is no terminal to ask."""

_NAMES: Final = ("run", "calls", "failures", "classes", "streak", "escalations", "tokens", "digests")
_SPARE: Final = ("classes", "streak", "escalations", "digests", "calls")
"""Columns that a narrow terminal goes without, the first of them first."""


def print_summary(runs: Sequence[ReplayedRun]) -> None:
    """Print the runs with the most failures, the sums, and the escalations."""
    console = console_of(PIPE_WIDTH)
    total = total_of(runs)
    failing = sorted((run for run in runs if run.failures), key=lambda run: -run.failures)
    if failing:
        more = [(f"... {len(failing) - MAX_ROWS:,} more",)] if len(failing) > MAX_ROWS else []
        rows = [_NAMES, *((run.run_id, *_list_numbers(run)) for run in failing[:MAX_ROWS]), *more]
        print_table(
            console, rows, footer=(f"all {total.runs:,}", *_list_numbers(total)), spare=_SPARE, gap=2, shortest=SHORTEST
        )
        console.print()
    empty = sum(bool(run.context_tokens) and not run.tool_calls and not run.failures for run in runs)
    for line in _describe_total(total, empty):
        console.print(line, markup=False, soft_wrap=not console.is_terminal)
    for line in _describe_escalations(runs):
        # Text, since the square brackets of an error are no markup.
        console.print(Text(printable(line)), no_wrap=True, overflow="ellipsis")


def _list_numbers(run: ReplayedRun | ReplayTotal) -> tuple[str, ...]:
    escalations = run.escalations if isinstance(run.escalations, int) else len(run.escalations)
    numbers = (run.tool_calls, run.failures, run.classes, run.longest_streak, escalations)
    return tuple(f"{value:,}" for value in (*numbers, run.raw_error_tokens, run.digest_tokens))


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
