"""The advice on a set of runs by the pattern's criteria."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact_lab.analysis.counts import share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact_lab.analysis.counts import Counts
    from otel_errcompact_lab.analysis.intervals import Interval

Advice = Literal["leave", "between", "use", "must", "unknown"]
Confidence = Literal["high", "medium", "low"]

LEAVE_BELOW: Final = 0.05
USE_ABOVE: Final = 0.10
MUST_ABOVE: Final = 0.25
"""The pattern's rule of thumb: shares of errors in all tokens of the context."""

FEW_CALLS: Final = 10
FEW_RUNS: Final = 30
MARGIN: Final = 0.1
"""The error of a share by the estimate of tokens: numbers and paths cost more than prose."""

ADVICE: Final[tuple[Advice, ...]] = ("must", "use", "between", "leave", "unknown")
MEANING: Final[dict[Advice, str]] = {
    "leave": "leave them: they would save next to nothing",
    "between": "in between: they pay only where failures recur, from the third repeat on",
    "use": "use them",
    "must": "use them: a must",
    "unknown": "none",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The advice on compacting the errors of runs."""

    advice: Advice
    share: float
    """Tokens of errors, of all tokens of the context."""

    confidence: Confidence
    reasons: tuple[str, ...]
    """The doubts that keep the confidence from being high."""

    interval: Interval | None = None
    """The 95 % interval of the share; None for a single run."""

    def to_json(self) -> dict[str, object]:
        """Return the recommendation under stable names."""
        return {
            "advice": self.advice,
            "share": round(self.share, 6),
            "interval": None if self.interval is None else [round(bound, 6) for bound in self.interval],
            "confidence": self.confidence,
            "reasons": list(self.reasons),
        }


UNKNOWN: Final = Recommendation(advice="unknown", share=0.0, confidence="low", reasons=("no tool results",))
"""No call has a result, so that nothing is known of errors."""


def advice_for(errors: float) -> Advice:
    """Return the advice for a share of errors in the context."""
    if errors > MUST_ABOVE:
        return "must"
    if errors > USE_ABOVE:
        return "use"
    return "leave" if errors < LEAVE_BELOW else "between"


def recommend_for_run(counts: Counts) -> Recommendation:
    """Return the recommendation for one run."""
    if not counts.calls:
        return UNKNOWN
    doubts = list(_list_doubts(counts))
    if counts.calls < FEW_CALLS:
        doubts.append(f"only {counts.calls} results")
    return _weigh_doubts(counts, doubts)


def recommend_for_runs(counts: Counts, runs: int, interval: Interval | None, *, empty: int = 0) -> Recommendation:
    """
    Return the recommendation for many runs together.

    Args:
        counts: The sums over the runs.
        runs: The number of runs.
        interval: The 95 % interval of the share of errors.
        empty: How many of the runs hold no tool results; the others are no sample of all where these are most.
    """
    if not counts.calls or 2 * empty > runs:
        of = f"{empty} of " if counts.calls else ""
        in_runs = f"no tool results in {of}{runs} {'run' if runs == 1 else 'runs'}: nothing to judge"
        return replace(UNKNOWN, reasons=(in_runs,))
    doubts = list(_list_doubts(counts))
    if runs < FEW_RUNS:
        doubts.append(f"only {runs} {'run' if runs == 1 else 'runs'}")
    if interval is not None and advice_for(interval.low) != advice_for(interval.high):
        doubts.append(f"95 % interval {interval.low:.1%} to {interval.high:.1%}")
    return _weigh_doubts(counts, doubts, interval)


def _weigh_doubts(counts: Counts, doubts: list[str], interval: Interval | None = None) -> Recommendation:
    errors = share(counts.error_tokens, counts.context_tokens)
    confidence: Confidence = "high" if not doubts else "medium" if len(doubts) == 1 else "low"
    return Recommendation(
        advice=advice_for(errors), share=errors, confidence=confidence, reasons=tuple(doubts), interval=interval
    )


def _list_doubts(counts: Counts) -> Iterator[str]:
    errors = share(counts.error_tokens, counts.context_tokens)
    flagged = share(counts.error_tokens - counts.stated_tokens, counts.context_tokens)
    if advice_for(flagged) != advice_for(errors):
        yield f"{flagged:.1%} without failures that are only stated"
    if advice_for(errors * (1 - MARGIN)) != advice_for(errors * (1 + MARGIN)):
        yield "close to a limit, and tokens are estimated"
