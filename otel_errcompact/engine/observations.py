"""What becomes of failures, calls and runs, as plain data: what the ledger returns, and what it tells its listeners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.detector.kinds import FailureKind
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import Operation, RawError
    from otel_errcompact.escalator.escalation import Counts, Escalation, Mode, Thresholds
    from otel_errcompact.history.history import History, Outcome

Standing = Literal["carry_on", "pending", "halt", "pause", "unhandled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """
    What became of one failure.
    """

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
    """The breach this occurrence led to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """
    What a record tells of a failure that was counted before, and is to be counted again as it was then.
    """

    tick: int
    """When it was recorded."""

    found: Classified
    kind: FailureKind
    call: str
    """The fingerprint of the call; empty where its arguments were not known."""

    hint: str | None = None
    """What digests showed beside the class; worked out again if None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    Whether the run may go on.
    """

    standing: Standing = "carry_on"
    escalation: Escalation | None = None
    reason: str = ""

    @property
    def stopped(self) -> bool:
        """Whether the next gate refuses to let the run go on."""
        return self.standing in {"pending", "halt", "pause"}


GOES_ON: Final = Verdict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """
    An identical call that was not executed again.
    """

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
    """The breach this refusal led to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """
    A call that succeeded in a run in which something has failed.
    """

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
    """
    A run that was allowed to go on with fresh counters, without an escalation that stood.
    """

    run_id: str
    agent: str
    message: str
    """What the human said."""

    tick: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """
    What a run answers after its end.
    """

    report: RunReport
    verdict: Verdict
    digest: str
    _raw_texts: Mapping[str, str]
    _history: History

    def raw(self, key: str) -> str | None:
        """Return the newest raw error of the class whose key starts with `key`; None if there is none."""
        found = self._history.find(key)
        return self._raw_texts.get(found.key) if found is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunRun:
    """
    A run in which something has failed.
    """

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
