"""All runs together, in memory that does not grow with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact.escalator.thresholds import THRESHOLDS
from otel_errcompact_lab.analysis.counts import Counts, Refusals
from otel_errcompact_lab.analysis.intervals import Ratio
from otel_errcompact_lab.analysis.recommendation import ADVICE, recommend_for_runs
from otel_errcompact_lab.analysis.runs import signs_to_json
from otel_errcompact_lab.analysis.stops import NOTHING, After, render_after

if TYPE_CHECKING:
    from otel_errcompact.escalator.thresholds import Threshold, Thresholds
    from otel_errcompact_lab.analysis.recommendation import Advice, Recommendation
    from otel_errcompact_lab.analysis.runs import RunAnalysis

Rule = Literal["same", "rejected", "loop", "consecutive", "total", "any"]
"""A threshold, or whichever of them is reached first."""

RULES: Final[tuple[Rule, ...]] = (*THRESHOLDS, "any")

MAX_MEMBERS: Final = 10_000
"""Names of red tests and other members that are counted."""

MAX_SHOWN: Final = 100
"""Those of them that are written, the most frequent ones."""


@dataclass(slots=True)
class Stopped:
    """What a threshold would have stopped in many runs."""

    runs: int = 0
    after: After = NOTHING

    def add(self, after: After) -> None:
        """Take one run that would have been stopped."""
        self.runs += 1
        self.after = After(*map(sum, zip(self.after, after, strict=True)))

    def to_json(self) -> dict[str, object]:
        """Return it under stable names."""
        return {"runs": self.runs, **render_after(self.after)}


class Total:
    """Sums over all runs, whatever their order."""

    def __init__(self, thresholds: Thresholds) -> None:
        self.thresholds = thresholds
        self.runs = 0
        self.runs_with_failures = 0
        self.runs_with_outcome = 0
        self.counts = Counts()
        self.longest_streak = 0
        self.longest_row = 0
        self.streaks: Counter[int] = Counter()
        """The number of runs by the length of their longest streak."""
        self.silent_signs: Counter[str] = Counter()
        self.unflagged_signs: Counter[str] = Counter()
        self.members: Counter[str] = Counter()
        """In how many runs each red test or other member of an output failed; of the first `MAX_MEMBERS` names."""
        self.refusals = Refusals()
        self.looping = Stopped()
        """The runs that the halt for loops would have stopped."""
        self.stopped: dict[Rule, Stopped] = {rule: Stopped() for rule in RULES}
        self.runs_by_advice: Counter[Advice] = Counter()
        self._ratio = Ratio()

    def add(self, run: RunAnalysis) -> None:
        """Take one run."""
        self.runs += 1
        self.runs_with_failures += run.counts.failures > 0
        self.runs_with_outcome += run.succeeded is not None
        self.counts.add(run.counts)
        self.longest_streak = max(self.longest_streak, run.longest_streak)
        self.longest_row = max(self.longest_row, run.longest_row)
        self.streaks[run.longest_streak] += 1
        self.silent_signs.update(run.silent_signs)
        self.unflagged_signs.update(run.unflagged_signs)
        room = len(self.members) < MAX_MEMBERS
        self.members.update(name for name in run.members if room or name in self.members)
        self.refusals.add(run.refusals)
        loops = run.reached["loop"]
        if len(loops) >= self.thresholds.loop_halt:
            self.looping.add(loops[self.thresholds.loop_halt - 1].after)
        for stop in run.stops:
            self.stopped[stop.threshold].add(stop.after)
        if run.stop is not None:
            self.stopped["any"].add(run.stop.after)
        self.runs_by_advice[run.recommendation.advice] += 1
        self._ratio.add(run.counts.error_tokens, run.counts.context_tokens)

    @property
    def recommendation(self) -> Recommendation:
        """The recommendation for all runs."""
        return recommend_for_runs(self.counts, self.runs, self._ratio.interval(), empty=self.runs_without_results)

    @property
    def runs_without_results(self) -> int:
        """How many runs hold no tool results."""
        return self.runs_by_advice["unknown"]

    def limit(self, threshold: Threshold) -> int:
        """Return the value of a threshold."""
        return int(getattr(self.thresholds, threshold))

    def to_json(self) -> dict[str, object]:
        """Return it under stable names."""
        return {
            "runs": self.runs,
            "runs_with_failures": self.runs_with_failures,
            "runs_with_outcome": self.runs_with_outcome,
            **self.counts.to_json(),
            "longest_streak": self.longest_streak,
            "longest_row": self.longest_row,
            "streaks": {str(length): self.streaks[length] for length in sorted(self.streaks)},
            "silent_signs": signs_to_json(self.silent_signs),
            "unflagged_signs": signs_to_json(self.unflagged_signs),
            "members": dict(self.members.most_common(MAX_SHOWN)),
            "thresholds": {name: self.limit(name) for name in THRESHOLDS},
            "stopped": {rule: stopped.to_json() for rule, stopped in self.stopped.items()},
            "loop_halt": {"limit": self.thresholds.loop_halt, **self.looping.to_json()},
            "refusals": self.refusals.to_json(),
            "runs_by_advice": {advice: self.runs_by_advice[advice] for advice in ADVICE},
            "verdict": self.recommendation.to_json(),
        }
