"""Hold failures, calls and runs as plain data for callers and listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.detector.kinds import FailureKind
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import Operation, RawError
    from otel_errcompact.escalator.decision import Counts
    from otel_errcompact.escalator.escalation import Escalation
    from otel_errcompact.escalator.thresholds import Mode, Thresholds
    from otel_errcompact.history.history import Outcome

Standing = Literal["carry_on", "pending", "halt", "pause"]
"""Whether a run may continue: it may, its escalation has no answer yet, or the answer has stopped it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One failure, counted."""

    run_id: str
    agent: str
    raw: RawError
    found: Classified
    outcome: Outcome
    count: int
    """Occurrences of the class in the run, this one included."""

    streak: int
    """Turns in which its operation failed with the class since it last succeeded."""

    kind: FailureKind
    counts: Counts
    """What the thresholds were compared with."""

    taken_back: bool
    """Whether a class that was resolved is open again, since what resolved it did not help this call."""

    text: str
    """What the agent reads in place of the raw error."""

    raw_tokens: int
    sent_tokens: int
    """Tokens of what frameworks send without this library: `str(e)` of a live exception, otherwise the text."""

    digest_tokens: int
    duration_ns: int
    """What the compaction cost."""

    tick: int = 0
    """When it was recorded, in the ledger's sequence."""

    call: str = ""
    """The fingerprint of the call that failed; empty where its arguments are not known."""

    hint: str = ""
    """What digests show beside the class."""

    escalation: Escalation | None = None
    """The escalation this occurrence led to."""

    def without_exception(self) -> Observation:
        """Return what may be kept; see `RawError.without_exception`."""
        if self.raw.exception is None:
            return self
        kept = object.__new__(Observation)
        for name in Observation.__slots__:
            object.__setattr__(kept, name, getattr(self, name))
        object.__setattr__(kept, "raw", self.raw.without_exception())
        return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRecord:
    """A failure that is ready to be counted."""

    found: Classified
    kind: FailureKind
    call: str
    """The fingerprint of the call; empty where its arguments are not known."""

    hint: str | None = None
    """What digests show beside the class; found if None."""

    tick: int | None = None
    """When it was recorded, where it was counted before; now if None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a run may continue, and why not."""

    standing: Standing = "carry_on"
    escalation: Escalation | None = None
    reason: str = ""

    @property
    def stopped(self) -> bool:
        """Whether the next gate stops the run."""
        return self.standing in {"pending", "halt", "pause"}


CONTINUES: Final = Verdict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An identical call that was not executed again."""

    run_id: str
    agent: str
    tool: str
    arguments: str
    key: str
    """The dedup key of the class it failed with."""

    failures: int
    """Turns in which the call was executed and failed."""

    count: int
    """The same with the refusals, this one included."""

    directory: str = ""
    """The call's working directory, where it is known."""

    call: str = ""
    """The fingerprint of the call."""

    began: int = 0
    """The tick at which the agent asked for the call; 0 where it is not known."""

    tick: int = 0
    """When it was refused, in the ledger's sequence."""

    time_ns: int = 0
    escalation: Escalation | None = None
    """The escalation this refusal led to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """A call that succeeded in a run in which something has failed."""

    run_id: str
    agent: str
    tool: str
    operation: Operation
    arguments: str = ""
    directory: str = ""
    began: int = 0
    """The tick at which the agent asked for the call; 0 where it is not known."""

    tick: int = 0
    """When it was recorded, in the ledger's sequence."""

    call: str = ""
    """The fingerprint of the call; empty where its arguments are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A run that continues with fresh counters, where no escalation stood."""

    run_id: str
    agent: str
    message: str
    """The human's message."""

    tick: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """A run after its end."""

    report: RunReport
    verdict: Verdict
    digest: str
    raw: Callable[[str], str | None]
    """Returns the newest raw error of the class whose key starts with a text; None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunRun:
    """A run in which something has failed."""

    run_id: str
    agent: str
    thresholds: Thresholds
    mode: Mode
    asks: bool
    """Whether a handler answers its escalations."""

    attended: bool
    """Whether the application has opened it, and passes its gates."""

    stoppable: bool = True
    """Whether it has an agent that can be stopped; a server has none."""

    tick: int = 0
    """When its first failure was met, in the ledger's sequence."""

    time_ns: int = 0
    life: str = ""
    """Which run of its id, the same in all processes that share it; empty where none can."""
