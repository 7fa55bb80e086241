"""The page's data, in the order of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from otel_errcompact.engine.report import Result
    from otel_errcompact.escalator.escalation import ActionName
    from otel_errcompact.escalator.thresholds import Threshold
    from otel_errcompact_lab.html_report.steps import Argument, TimeLine

Standing = Literal["escalated", "unresolved", "resolved", "unknown"]
"""How a class ended; `unknown` where the record holds nothing of what succeeded."""

MAX_ENTRIES: Final = 50
"""Escalations of one group that have a line on the page."""

RecordKind = Literal["calls", "live", "raw"]
"""Every call of a run; what its ledger recorded from the first failure on; raw errors alone."""

RESULTS: Final[tuple[Result, ...]] = ("halted", "failed", "unresolved", "recovered", "unknown")
"""Ends of runs with failures, in the order of the page."""

STANDINGS: Final[tuple[Standing, ...]] = ("escalated", "unresolved", "resolved", "unknown")
"""The worst first: a class that ended differently in several runs is shown by its worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A run of a file, in which occurrences lie."""

    run_id: str
    source: str
    count: int = 1
    run: int = 0
    """The number of the run on the page, which its time line is named by."""

    step: int = 0
    """The step of its time line; 0 if it has none."""


@dataclass(slots=True, kw_only=True)
class Example:
    """One raw error, and the number of its repetitions."""

    name: str
    """What links on the page lead to."""

    text: str
    """The whole text, without secrets unless they were asked for."""

    tail: str = ""
    """The end of a text too long for the page, whose beginning is `text`."""

    cut: int = 0
    """Characters between beginning and end that are not on the page."""

    count: int = 1
    tool: str
    arguments: tuple[Argument, ...]
    more_arguments: int
    exit_code: int | None
    time_ns: int | None
    """When it first came; None if the record has no times."""

    trace_id: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """A threshold that a class has reached, with its answer."""

    threshold: Threshold
    count: int
    limit: int
    key: str
    type: str
    cause: str
    halts: bool
    live: bool
    """Whether it happened; else a threshold was reached when the record was read."""

    action: ActionName | None
    """What became of it, where it happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationEntry:
    """A breach in one run."""

    tool: str
    call: int
    """The number of the tool call after which it fired."""

    refused: int
    """Calls that had been refused by then; they have no number."""

    message: str
    """The handler's."""

    place: Place


@dataclass(slots=True)
class EscalationGroup:
    """One breach over all runs."""

    breach: Breach
    count: int = 0
    runs: int = 0
    entries: list[EscalationEntry] = field(default_factory=list[EscalationEntry])
    """The first ones."""

    newest_run: int = 0

    def add(self, entry: EscalationEntry) -> None:
        """Add an entry; those of one run come one after the other."""
        self.count += 1
        self.runs += entry.place.run != self.newest_run
        self.newest_run = entry.place.run
        if len(self.entries) < MAX_ENTRIES:
            self.entries.append(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """One run."""

    number: int
    """Its number on the page."""

    run_id: str
    agent: str
    source: str
    outcome: str
    lacks: str
    """What the record of a live run lacks, in words."""

    kind: RecordKind
    result: Result
    tool_calls: int
    refused: int
    """Calls that were not executed; none of them is one of the tool calls."""

    failures: int
    classes: int
    streak: int
    escalations: int
    raw_tokens: int
    digest_tokens: int
    context_tokens: int
    """0 where the whole context is not known."""

    keys: tuple[tuple[str, int], ...]
    """Its classes with their occurrences, in the order in which they were first seen."""

    time_line: TimeLine


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTotals:
    """Tokens, as estimated by the library's counter."""

    raw: int = 0
    """Of the raw errors of all runs."""

    whole_raw: int = 0
    """Of raw errors in the runs whose whole context is known; so are the following."""

    whole_digests: int = 0
    results: int = 0
    context: int = 0
    live_raw: int = 0
    """Of raw errors in live runs; so are the following."""

    live_sent: int = 0
    """What frameworks send without this library."""

    live_digests: int = 0

    @property
    def digests(self) -> int:
        """Of the digests of all runs of which they are known."""
        return self.whole_digests + self.live_digests

    @property
    def alone(self) -> int:
        """Of raw errors in runs of which nothing else is known."""
        return self.raw - self.whole_raw - self.live_raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The headline numbers."""

    files: int = 0
    runs: int = 0
    runs_with_failures: int = 0
    failures_only_runs: int = 0
    """Runs of trajectory files that hold raw errors alone."""

    live_runs: int = 0
    """Runs as their ledgers recorded them."""

    tool_calls: int = 0
    refused: int = 0
    failures: int = 0
    stated: int = 0
    handled: int = 0
    ignored: int = 0
    escalations: int = 0
    after_escalation: int = 0
    """Failures of live runs after an escalation that no `Continue` had lifted."""

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
