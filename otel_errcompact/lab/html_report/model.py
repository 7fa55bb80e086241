"""The page's data, in the order of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.escalator.thresholds import Threshold

Standing = Literal["escalated", "active", "recovered", "unknown"]
"""How a class ended; `unknown` where the record holds nothing of what succeeded."""

STANDINGS: Final[tuple[Standing, ...]] = ("escalated", "active", "recovered", "unknown")
"""The worst first: a class that ended differently in several runs is shown by its worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A run of a file, in which occurrences lie."""

    run_id: str
    source: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One raw error, and the number of its repetitions."""

    text: str
    """The whole text, without secrets unless they were asked for."""

    tail: str = ""
    """The end of a text too long for the page, whose beginning is `text`."""

    cut: int = 0
    """Characters between beginning and end that are not on the page."""

    count: int
    tool: str
    arguments: str
    exit_code: int | None
    time_ns: int | None
    """When it first came; None if the record has no times."""

    trace_id: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassEntry:
    """One error class over all runs."""

    key: str
    type: str
    location: str
    cause: str
    template: str
    hint: str
    tools: tuple[str, ...]
    """The most frequent first."""

    digest: str
    """What an agent reads at the first occurrence."""

    count: int
    runs: int
    standings: Mapping[Standing, int]
    """In how many runs it ended how."""

    streak: int | None
    """The longest, over all runs; None if the record holds nothing of what succeeded."""

    escalations: int
    first_ns: int | None
    last_ns: int | None
    bins: tuple[int, ...]
    """Occurrences over the page's axis."""

    examples: tuple[Example, ...]
    unshown: int
    """Occurrences whose text is none of the examples'."""

    places: tuple[Place, ...]
    more_places: int

    @property
    def standing(self) -> Standing:
        """The worst end over all runs."""
        for standing in STANDINGS:
            if self.standings.get(standing):
                return standing
        return "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreakEntry:
    """Occurrences of one class without a success of its operation between."""

    length: int
    key: str
    type: str
    cause: str
    run_id: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationEntry:
    """A threshold that was reached."""

    threshold: Threshold
    count: int
    limit: int
    key: str
    type: str
    cause: str
    tool: str
    call: int
    """The number of the tool call after which it fired."""

    run_id: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """One run."""

    run_id: str
    agent: str
    source: str
    outcome: str
    result: str
    tool_calls: int
    failures: int
    classes: int
    streak: int
    escalations: int
    raw_tokens: int
    digest_tokens: int
    context_tokens: int
    failures_only: bool
    """Whether the record holds failures alone, so that other numbers are not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTotals:
    """Tokens, as estimated by the library's counter."""

    raw: int = 0
    digests: int = 0
    whole_raw: int = 0
    """Of raw errors in the runs whose whole context is known; so are the following."""

    whole_digests: int = 0
    results: int = 0
    context: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The headline numbers."""

    files: int = 0
    runs: int = 0
    runs_with_failures: int = 0
    failures_only_runs: int = 0
    """Runs of trajectory files."""

    tool_calls: int = 0
    failures: int = 0
    detected: int = 0
    handled: int = 0
    ignored: int = 0
    escalations: int = 0
    longest_streak: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The axis of all sparklines."""

    first: int
    last: int
    timed: bool
    """Whether it is time in nanoseconds; else the number of the failure in the order of the records."""

    bins: tuple[int, ...]
    """All occurrences over it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """The whole page."""

    totals: Totals
    tokens: TokenTotals
    axis: Axis | None
    """None where nothing has failed."""

    classes: tuple[ClassEntry, ...]
    """The most frequent first."""

    other_classes: int
    """Classes that have no row; a lower bound where `others_uncounted`."""

    other_failures: int
    others_uncounted: bool
    streaks: tuple[StreakEntry, ...]
    more_streaks: int
    escalations: tuple[EscalationEntry, ...]
    more_escalations: int
    runs: tuple[RunEntry, ...]
    """Those with failures, the most first."""

    more_runs: int
    untimed: int
    """Occurrences without a time in the record."""

    redacted: bool
