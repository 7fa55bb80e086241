"""The rows of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.quality.score import Score
from otel_errcompact.digest.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one row measures."""

    name: str
    leaves_out: str
    scores: Sequence[Score] = ()

    @property
    def measured(self) -> list[Score]:
        """The scores that found something to count."""
        return [score for score in self.scores if score.all]


class Scores(dict[str, Score]):
    """Scores by name, in the order in which they were first asked for."""

    def __missing__(self, name: str) -> Score:
        return self.setdefault(name, Score(name=name))


def add_saved(score: Score, raw: str, shown: str) -> None:
    """Add the tokens that are saved where an agent reads one text for another."""
    score.all += estimate_tokens(raw)
    score.right += estimate_tokens(raw) - estimate_tokens(shown)
