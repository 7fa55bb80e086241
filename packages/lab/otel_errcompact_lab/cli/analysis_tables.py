"""Tables and sentences of `errcompact analyze`, as wide as the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from otel_errcompact.escalator.thresholds import THRESHOLDS
from otel_errcompact_lab.analysis.counts import share
from otel_errcompact_lab.analysis.recommendation import ADVICE, LEAVE_BELOW, MEANING, MUST_ABOVE, USE_ABOVE
from otel_errcompact_lab.analysis.total import RULES
from otel_errcompact_lab.cli.column_fit import SHORTEST, console_of, print_table
from otel_errcompact_lab.cli.output import describe_silence, printable

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from otel_errcompact.escalator.thresholds import Threshold
    from otel_errcompact_lab.analysis import Calibration, RunAnalysis, Total
    from otel_errcompact_lab.analysis.calibration import Control, Power, Row, Side
    from otel_errcompact_lab.analysis.counts import Refusals
    from otel_errcompact_lab.analysis.recommendation import Advice
    from otel_errcompact_lab.analysis.total import Rule

PIPE_WIDTH: Final = 120
"""Columns where there is no terminal to ask."""

MAX_STOPS: Final = 5
SHOWN_VALUES: Final = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200})
"""Values of a threshold that get a row; --json has all."""

_LEGEND: Final = (
    "unsaid: errors that only their text gives away; result, context: share of errors in their tokens; again: errors "
    "of a class that failed before; stop: the call after which a threshold stops the run"
)
_CALIBRATION_LEGEND: Final = (
    "< as set. In brackets: 95 % interval. O/E: good runs among the stopped (observed) over those that any runs of the "
    "same agent still going at that call would have held (expected); about 1: the rule knows only a run's age. Lost "
    "and saved: tokens of the context after the stop."
)
_KNOWS: Final[dict[Power, str]] = {"few": "few stops", "none": "age only", "bad": "bad runs", "good": "good runs"}
_POWER: Final[dict[Power, str]] = {
    "bad": "stop bad runs more often than their age explains",
    "none": "no power, since O/E may be 1",
    "good": "stop good runs more often than their age explains",
    "few": "too few stops to tell",
}
_SPARE_OF_RUNS: Final = ("unsaid", "result", "again", "streak", "calls", "stop")
_SPARE_OF_STOPS: Final = ("calls after",)
_SPARE_OF_CALIBRATION: Final = ("calls", "lost", "knows", "O/E", "saved")
"""Columns that a narrow terminal goes without, the first of them first."""

_ROUND_FROM: Final = 9.95
_THOUSANDS_FROM: Final = 10_000
_MILLIONS_FROM: Final = 1_000_000


def print_tables(
    total: Total, heaviest: Sequence[RunAnalysis], calibration: Calibration | None, tolerance: float
) -> None:
    """Print tables and sentences about recorded runs."""
    console = console_of(PIPE_WIDTH)
    if heaviest:
        _print_runs(console, heaviest, total)
        console.print(Text(_LEGEND))
        console.print()
    for sentence in _describe_total(total):
        console.print(Text(sentence))
    if total.counts.failures and not _describe_silence(total):
        console.print()
        print_table(console, [*_list_thresholds(total)], spare=_SPARE_OF_STOPS)
        for line in _describe_stops(heaviest):
            console.print(Text(printable(line)), no_wrap=True, overflow="ellipsis")
    if calibration is not None and total.runs_with_outcome and not _describe_silence(total):
        _print_calibration(console, calibration, total, tolerance)
    console.print()
    for sentence in _describe_verdicts(total):
        console.print(Text(sentence))


def _print_runs(console: Console, heaviest: Sequence[RunAnalysis], total: Total) -> None:
    names = ("run", "calls", "errors", "unsaid", "streak", "result", "context", "again", "stop", "verdict")
    more = total.runs_with_failures - len(heaviest)
    rows = [
        names,
        *(
            (run.run_id, *_format_counts(run), f"@{run.stop.call:,}" if run.stop else "-", run.recommendation.advice)
            for run in heaviest
        ),
        *([(f"... {more:,} more",)] if more else []),
    ]
    stops, advice = f"{total.stopped['any'].runs:,}", total.recommendation.advice
    footer = (f"all {total.runs:,}", *_format_counts(total), stops, advice) if not _describe_silence(total) else ()
    print_table(console, rows, footer=footer, spare=_SPARE_OF_RUNS, left=("verdict",), shortest=SHORTEST)


def _format_counts(found: RunAnalysis | Total) -> tuple[str, ...]:
    counts = found.counts
    return (
        f"{counts.calls:,}",
        f"{counts.failures:,}",
        f"{counts.silent + counts.unflagged:,}",
        f"{found.longest_streak:,}",
        _format_share(counts.error_tokens, counts.result_tokens),
        _format_share(counts.error_tokens, counts.context_tokens),
        _format_share(counts.class_repeats, counts.failures),
    )


def _describe_silence(total: Total) -> str:
    counts = total.counts
    return describe_silence(total.runs_without_results, total.runs, calls=counts.calls, failures=counts.failures)


def _describe_total(total: Total) -> Iterator[str]:
    counts = total.counts
    if silence := _describe_silence(total):
        yield silence
        return
    if not counts.failures:
        yield f"No failures (runs: {total.runs:,}, calls: {counts.calls:,})."
        return
    yield (
        f"Errors: {counts.failures:,} in {total.runs_with_failures:,} of {total.runs:,} runs, "
        f"{counts.failures / counts.calls:.1%} of the results; {counts.ignored:,} more only look like errors "
        f"(declined, nothing found)."
    )
    yield (
        f"Weight: {counts.error_tokens:,} tokens: {share(counts.error_tokens, counts.result_tokens):.1%} of the "
        f"results, {share(counts.error_tokens, counts.context_tokens):.1%} of the context."
    )
    if counts.silent:
        yield (
            f"Silent: the record calls {counts.silent:,} of them successes "
            f"({share(counts.silent_tokens, counts.error_tokens):.0%} of their tokens); a tool states the failure: "
            f"{_list_signs(total.silent_signs)}."
        )
    if counts.unflagged:
        yield (
            f"Unflagged: of {counts.unflagged:,} ({share(counts.unflagged_tokens, counts.error_tokens):.0%} of the "
            f"tokens) the record does not say whether they failed; stated by: {_list_signs(total.unflagged_signs)}."
        )
    yield (
        f"Recurrence: {counts.class_repeats / counts.failures:.0%} are of a class that had failed before in the run."
    )
    if often := [f"{name} {runs:,}" for name, runs in total.members.most_common(5) if runs > 1]:
        yield f"Members: red tests and other parts of outputs that failed in most runs: {', '.join(often)}."
    yield f"Loops: {_describe_loops(total)}; the longest row of any failures is {total.longest_row:,}."
    yield (
        f"Digests: {counts.digest_tokens:,} tokens in place of the {counts.error_tokens:,} that these runs were sent, "
        f"{share(counts.digest_tokens, counts.failures):,.0f} in place of "
        f"{share(counts.error_tokens, counts.failures):,.0f} for an error. That saves "
        f"{share(counts.saved_tokens, counts.context_tokens):.1%} of the context."
    )


def _list_signs(signs: Counter[str]) -> str:
    return ", ".join(f"{sign} {count:,}" for sign, count in signs.most_common())


def _describe_loops(total: Total) -> str:
    erring = total.runs_with_failures
    long = sum(runs for length, runs in total.streaks.items() if length >= total.limit("same"))
    once = total.streaks[1]
    return (
        f"in {once:,} of {erring:,} erring runs no class failed twice without a success between, in {long:,} one did "
        f"{total.limit('same'):,} times or more, at most {total.longest_streak:,}"
    )


def _list_thresholds(total: Total) -> Iterator[tuple[str, ...]]:
    yield "Would have stopped", "runs", "calls after", "context after"
    for rule in RULES:
        after, counts = total.stopped[rule].after, total.counts
        parts = zip(after, (counts.calls, counts.context_tokens), strict=True)
        cells = (f"{_format_amount(part)} {_format_share(part, whole)}" for part, whole in parts)
        name = _name_rule(rule, None if rule == "any" else total.limit(rule))
        yield name, f"{total.stopped[rule].runs:,}", *cells


def _describe_stops(heaviest: Sequence[RunAnalysis]) -> Iterator[str]:
    stopped = [(run, run.stop) for run in heaviest if run.stop is not None]
    for run, stop in stopped[:MAX_STOPS]:
        how = {True: " (a good run)", False: " (a bad run)", None: ""}[run.succeeded]
        yield f"  {_name_rule(stop.threshold, stop.limit)} at call {stop.call:,} of {run.run_id}{how}: {stop.error}"


def _print_calibration(console: Console, calibration: Calibration, total: Total, tolerance: float) -> None:
    console.print()
    rows = [*_list_calibrated(calibration, total)]
    print_table(console, rows, spare=_SPARE_OF_CALIBRATION, left=rows[0][:5])
    console.print(Text(_CALIBRATION_LEGEND))
    console.print()
    console.print(Text(_list_sparing_values(calibration, tolerance)))
    console.print(Text(_describe_powers(calibration, total)))
    console.print(Text(_describe_refusals(calibration.refusals)))


def _list_calibrated(table: Calibration, total: Total) -> Iterator[tuple[str, ...]]:
    sides = f"good ({table.good:,})", f"bad ({table.bad:,})"
    yield "Stops", *sides, "O/E", "knows", "calls", "lost", "calls", "saved"
    for row in _select_rows(table, total):
        good, bad = row.good.stopped.after, row.bad.stopped.after
        yield (
            f"{_name_rule(row.rule, row.limit)}{' <' if _is_set(row, total) else ''}",
            _format_side(row.good),
            _format_side(row.bad),
            _format_ratio(row.control),
            _KNOWS[row.control.power],
            *map(_format_amount, (good.calls, good.context_tokens, bad.calls, bad.context_tokens)),
        )


def _select_rows(table: Calibration, total: Total) -> Iterator[Row]:
    # Round values up to the first that stops nothing, and the values that are set.
    for name in THRESHOLDS:
        rows = list(table.rows(name))
        last = rows[-1].limit
        shown = [row for row in rows if row.limit in SHOWN_VALUES or row.limit == last or _is_set(row, total)]
        yield from shown
        beyond = {total.limit(name), *([total.thresholds.loop_halt] if name == "loop" else [])}
        yield from (table.row(name, limit) for limit in sorted(beyond) if limit > (last or 0))
    yield table.together()


def _is_set(row: Row, total: Total) -> bool:
    halts = row.rule == "loop" and row.limit == total.thresholds.loop_halt
    return row.rule == "any" or halts or row.limit == total.limit(row.rule)


def _format_side(side: Side) -> str:
    low, high = (_format_percent(bound) for bound in side.interval)
    return f"{side.stopped.runs:>3,} {_format_percent(side.share):>4}% ({low}-{high})" if side.of else "  -"


def _format_ratio(control: Control) -> str:
    ratio, interval = control.ratio, control.interval
    if control.power == "few" or ratio is None or interval is None:
        return f"{control.observed:,} of {control.expected:.1f}" if control.stopped else "-"
    return f"{ratio:.2f} ({interval.low:.2f}-{interval.high:.2f})"


def _describe_powers(table: Calibration, total: Total) -> str:
    rows = [row for row in _select_rows(table, total) if _is_set(row, total)]
    told: list[str] = []
    for power, meaning in _POWER.items():
        names = ", ".join(_name_rule(row.rule, row.limit) for row in rows if row.control.power == power)
        told += [f"{meaning}: {names}"] if names else []
    return f"As set: {'; '.join(told)}."


def _describe_refusals(refusals: Refusals) -> str:
    if not refusals.retries:
        return "Refusals: no call was made again after it had failed with nothing succeeding between."
    return (
        f"Refusals: of {refusals.retries:,} calls made again after they had failed, with nothing succeeding between, "
        f"{refusals.refused:,} would have been refused: {refusals.worked:,} of these worked in the record, "
        f"{refusals.differed:,} failed differently, {refusals.failed_again:,} failed as before. Of the others "
        f"{refusals.missed:,} failed as before, too."
    )


def _list_sparing_values(table: Calibration, tolerance: float) -> str:
    if not table.good:
        return "No good run tells which values would leave good runs alone."
    observed = ", ".join(_format_lowest(table, name, tolerance, surely=False) for name in THRESHOLDS)
    surely = ", ".join(_format_lowest(table, name, tolerance, surely=True) for name in THRESHOLDS)
    return (
        f"Values that stop at most {tolerance:.1%} of the {table.good:,} good runs: {observed}; "
        f"with 95 % confidence: {surely}."
    )


def _format_lowest(table: Calibration, name: Threshold, tolerance: float, *, surely: bool) -> str:
    lowest = table.lowest(name, tolerance, surely=surely)
    return f"{name} none" if lowest is None else f"{name} from {lowest}"


def _describe_verdicts(total: Total) -> Iterator[str]:
    found = total.recommendation
    because = f" ({'; '.join(found.reasons)})" if found.reasons else ""
    if found.advice == "unknown":
        yield f"Verdict: {MEANING[found.advice]}{because}."
        return
    yield (
        f"Verdict on digests: {MEANING[found.advice]}. Errors are {found.share:.1%} of the context; "
        f"confidence {found.confidence}{because}."
    )
    shown: list[Advice] = [advice for advice in ADVICE if advice != "unknown" or total.runs_by_advice[advice]]
    spread = ", ".join(f"{total.runs_by_advice[advice]:,} {_name_band(advice)}" for advice in shown)
    yield f"By run: {spread}. Records lack system prompts and tool schemas: true shares are lower."
    yield f"Verdict on loops: {_judge_loops(total)}"


def _judge_loops(total: Total) -> str:
    limit, stopped = total.thresholds.loop_halt, total.looping
    if not stopped.runs:
        return (
            f"a stop would have saved nothing: no run repeated a failing call {limit} times with nothing succeeding "
            "between."
        )
    runs = "1 run" if stopped.runs == 1 else f"{stopped.runs:,} runs"
    after = stopped.after
    return (
        f"worth a stop: {runs} repeated a failing call {limit} times with nothing succeeding between; stopped there, "
        f"{after.calls:,} calls ({_format_share(after.calls, total.counts.calls)}) and "
        f"{_format_amount(after.context_tokens)} tokens of the context would not have come."
    )


def _name_band(advice: Advice) -> str:
    return {
        "must": f"over {MUST_ABOVE:.0%}",
        "use": f"over {USE_ABOVE:.0%}",
        "between": f"from {LEAVE_BELOW:.0%}",
        "leave": "below",
        "unknown": "without tool results",
    }[advice]


def _name_rule(rule: Rule, limit: int | None) -> str:
    return "any of them" if limit is None else f"{rule} {limit:,}"


def _format_share(part: float, whole: float) -> str:
    return f"{_format_percent(share(part, whole))}%"


def _format_percent(value: float) -> str:
    percent = 100 * value
    return f"{percent:.1f}" if 0 < percent < _ROUND_FROM else f"{percent:.0f}"


def _format_amount(number: int) -> str:
    # As few characters as show its size.
    if number < _THOUSANDS_FROM:
        return f"{number:,}"
    return f"{number / 1e3:.0f}k" if number < _MILLIONS_FROM else f"{number / 1e6:,.1f}M"
