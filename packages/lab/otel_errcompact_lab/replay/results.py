"""Replayed calls, and what came of replayed runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from otel_errcompact.engine.report import Result, RunReport  # noqa: TC001 - pydantic reads the annotations
from otel_errcompact.escalator.thresholds import THRESHOLDS, Threshold

if TYPE_CHECKING:
    from collections.abc import Sequence


CallOutcome: TypeAlias = Literal["success", "failure", "ignored", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedCall:
    """One tool call of a record, before the ledger counts it."""

    run_id: str
    tool: str
    arguments: str
    """Empty where the record has none: a live run keeps those of failures alone."""

    outcome: CallOutcome
    """Of a trace the status of the span: a failure inside it may be counted with another span."""

    time_ns: int
    operation: str = ""
    """What it tried to do, where the record has it instead of arguments."""

    reason: str = ""
    """Why it is ignored, in a few words; empty otherwise."""

    line: int = 0
    """The place of its result in the record, as in `RecordedCall`; 0 in a trace or a live run."""

    span_id: int = 0
    fingerprint: str = ""
    """The fingerprint of the call, where the record has it."""


OnCall: TypeAlias = Callable[[PlayedCall], None]
"""Takes each call of a record, before the ledger counts it."""


class ReplayedEscalation(BaseModel):
    """An escalation that would have fired."""

    model_config = ConfigDict(frozen=True)

    threshold: Threshold
    limit: int
    """The count at which it fired."""

    halts: bool
    """Whether it would have halted a run without a handler."""

    key: str
    """The dedup key of the class whose occurrence reached the threshold."""

    call: int
    """The number of the tool call after which it fired, from 1; of a trace, the tool calls that had ended by then."""

    refused: int = 0
    """Calls of the run that had been refused by then; they have no number."""


class ReplayedRun(BaseModel):
    """What came of one run."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    agent: str
    source: str
    """The file."""

    outcome: str
    """How the run ended in the record's words; empty if it does not say."""

    lacks: str = Field(default="", exclude=True)
    """What the record of a live run lacks, in words: `no end was recorded`; empty if it is whole."""

    raw_errors_alone: bool = Field(default=False, exclude=True)
    """Whether the record holds no successes and no end."""

    result: Result
    """How it ended for the ledger; never `halted` where calls are replayed, since no escalation stops these."""

    tool_calls: int
    failures: int
    """Occurrences: failures that the agent would see."""

    stated: int
    """Those of the failures that the record itself did not flag."""

    ignored: int
    """Calls that look like failures and are none: declined ones, empty searches, cancellations."""

    handled: int
    """Failures inside a call that in the end succeeded."""

    refused: int = 0
    """Identical calls that were not executed again; none of them is one of the tool calls."""

    classes: int
    class_keys: tuple[str, ...]
    """The dedup keys of the classes, in the order in which they were first seen."""

    longest_streak: int
    """The most occurrences of one class without a success of its operation between, whatever escalated on the way."""

    escalations: tuple[ReplayedEscalation, ...]
    raw_error_tokens: int
    digest_tokens: int
    """Tokens of the texts that would have taken the place of the raw errors."""

    result_tokens: int
    """Tokens of all tool results; of a trace, of all text on the spans of its tool calls."""

    context_tokens: int
    """Tokens of the whole record: messages, arguments, results; of a trace, of all text on its spans."""

    streaks: dict[str, int] = Field(exclude=True, repr=False)
    """The longest streak of each class, by its key."""

    report: RunReport = Field(exclude=True, repr=False)
    """The whole account."""


_SUMMED: Final = (
    *("tool_calls", "failures", "stated", "ignored", "handled", "refused"),
    *("raw_error_tokens", "digest_tokens", "result_tokens", "context_tokens"),
)


class ReplayTotal(BaseModel):
    """What came of all runs together."""

    model_config = ConfigDict(frozen=True)

    runs: int
    runs_with_failures: int
    tool_calls: int
    failures: int
    stated: int
    ignored: int
    handled: int
    refused: int
    classes: int
    """Distinct over all runs."""

    longest_streak: int
    escalations: int
    escalations_by_threshold: dict[Threshold, int]
    raw_error_tokens: int
    digest_tokens: int
    result_tokens: int
    context_tokens: int


def total_of(runs: Sequence[ReplayedRun]) -> ReplayTotal:
    """Return the numbers of all runs together."""
    fired = Counter(escalation.threshold for run in runs for escalation in run.escalations)
    return ReplayTotal(
        runs=len(runs),
        runs_with_failures=sum(run.failures > 0 for run in runs),
        **{name: sum(getattr(run, name) for run in runs) for name in _SUMMED},
        classes=len({key for run in runs for key in run.class_keys}),
        longest_streak=max((run.longest_streak for run in runs), default=0),
        escalations=fired.total(),
        escalations_by_threshold={threshold: fired[threshold] for threshold in THRESHOLDS},
    )
