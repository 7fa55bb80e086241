"""The printed summary of replayed runs: failures, tokens, and escalations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from otel_errcompact_lab.cli.column_fit import console_of
from otel_errcompact_lab.cli.output import describe_silence, printable
from otel_errcompact_lab.replay import total_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact_lab.replay import ReplayedEscalation, ReplayedRun, ReplayTotal

MAX_ESCALATIONS: Final = 10
PIPE_WIDTH: Final = 160
"""Columns where there is no terminal to ask."""


def print_summary(runs: Sequence[ReplayedRun]) -> None:
    """Print the sums and the escalations."""
    console = console_of(PIPE_WIDTH)
    total = total_of(runs)
    empty = sum(bool(run.context_tokens) and not run.tool_calls and not run.failures for run in runs)
    for line in _describe_total(total, empty):
        console.print(line, markup=False, soft_wrap=not console.is_terminal)
    for line in _describe_escalations(runs):
        # Text, since the square brackets of an error are no markup.
        console.print(Text(printable(line)), no_wrap=True, overflow="ellipsis")


def _describe_total(total: ReplayTotal, empty: int) -> Iterator[str]:
    if silence := describe_silence(empty, total.runs, calls=total.tool_calls, failures=total.failures):
        yield silence
        return
    if not total.failures:
        yield f"No failures (runs: {total.runs:,}, calls: {total.tool_calls:,})."
        return
    yield (
        f"Runs with failures: {total.runs_with_failures:,} of {total.runs:,}. Failures: {total.failures:,} (calls: "
        f"{total.tool_calls:,}, classes: {total.classes:,}), of which the record does not flag {total.stated:,}. Calls "
        f"that were declined or found nothing: {total.ignored:,}."
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
