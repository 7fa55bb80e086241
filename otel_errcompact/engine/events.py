"""
What happens in a run: one value for each thing.

An `Event` changes a run (`engine/rules.py`), and is kept for a shared store that has missed it. What comes of it is
passed to listeners: the event itself, completed, an `Observation`, what was resolved, an escalation and its answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from otel_errcompact.runtime.records import dataclass, replace

if TYPE_CHECKING:
    from typing import Self

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import FailureKind, Operation, RawError
    from otel_errcompact.escalator.decision import Counts
    from otel_errcompact.escalator.escalation import ActionName, Escalation
    from otel_errcompact.escalator.thresholds import Mode, Thresholds
    from otel_errcompact.history.history import ErrorClass, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happens in a run, and changes it."""

    run_id: str
    agent: str = ""
    """Whose it is; the run's agent if empty."""

    tick: int = 0
    """When it was recorded, in the ledger's sequence; 0 until then."""

    makes_run: ClassVar[bool] = False
    """Whether it makes a run known, rather than to happen in none."""

    @property
    def characters(self) -> int:
        """How many characters of text it holds."""
        return 0

    def keep(self, newest: int) -> Self:  # noqa: ARG002 - of most nothing depends on it
        """
        Return what gives the same later, after changes of others.

        `newest` is the tick of the newest failure before it.
        """
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(Event):
    """The application opens a run; see `Ledger.open`."""

    thresholds: Thresholds | None = None
    mode: Mode | None = None
    asks: bool = False
    stoppable: bool = True
    makes_run: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Began(Event):
    """
    A run has its first failure, with these settings.

    A run without failures is only ended. Of a run that other processes have too, each process hears of it at its own
    first failure, or when it joins or changes a run that has failed elsewhere.
    """

    thresholds: Thresholds
    mode: Mode
    asks: bool
    """Whether a handler answers its escalations."""

    attended: bool
    """Whether the application has opened it, and passes its gates."""

    stoppable: bool = True
    """Whether it has an agent that can be stopped; a server has none."""

    time_ns: int = 0
    life: str = ""
    """Which run of its id, the same in all processes that share it; empty where none can."""

    makes_run: ClassVar[bool] = True


class Changed(Began):
    """A run that has begun has other settings from now on."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A failure, before anything else is done with it."""

    run_id: str
    raw: RawError


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRaw(Event):
    """An event that is about a raw error."""

    raw: RawError
    found: Classified

    @property
    def characters(self) -> int:
        """How many characters of text it holds."""
        return len(self.raw.text)

    def keep(self, newest: int) -> Self:  # noqa: ARG002 - as above
        """Return it without a live exception, which may hold anything."""
        return replace(self, raw=self.raw.without_exception())


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(OfRaw):
    """A failure that is ready to be counted as an `Observation`."""

    kind: FailureKind
    call: str
    """The fingerprint of the call; empty where its arguments are not known."""

    hint: str | None = None
    """What digests show beside the class; found if None."""

    whole: bool = False
    """Whether its text is for an agent that may have been shown nothing else of the run."""

    started: int = 0
    """When its compaction began, by the ledger's timer."""

    makes_run: ClassVar[bool] = True


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
        return self if self.raw.exception is None else replace(self, raw=self.raw.without_exception())


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled(OfRaw):
    """A failure inside a call that in the end succeeded."""

    outcome: ClassVar[Outcome] = "handled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded(Event):
    """A call succeeded in a run in which something has failed."""

    tool: str
    operation: Operation
    arguments: str = ""
    directory: str = ""
    began: int = 0
    """The tick at which the agent asked for the call; 0 where it is not known."""

    call: str = ""
    """The fingerprint of the call; empty where its operation has not failed, or its arguments are not known."""

    def keep(self, newest: int) -> Self:
        """Return it with the failures that it comes after."""
        return replace(self, began=self.began or newest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The operation of classes has succeeded again."""

    run_id: str
    agent: str
    tool: str
    classes: tuple[ErrorClass, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated(Event):
    """An identical call succeeded again with the same result."""

    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Event):
    """An identical call is not executed again."""

    tool: str
    arguments: str
    directory: str = ""
    """The call's working directory; empty if unknown."""

    call: str = ""
    """The fingerprint of the call; that of tool, arguments and directory if empty."""

    began: int = 0
    """The tick at which the agent asked for the call; 0 where it is not known."""

    time_ns: int = 0
    key: str = ""
    """The dedup key of the class it failed with; this and what follows once it is counted."""

    failures: int = 0
    """Turns in which the call was executed and failed."""

    count: int = 0
    """The same with the refusals, this one included."""

    text: str = ""
    """What the agent reads in place of a result."""

    escalation: Escalation | None = None
    """The escalation this refusal led to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled(Event):
    """The open escalation gets its answer: an `AnsweredEscalation` comes of it."""

    action: ActionName | None
    """What was done; as without a handler if None: the run continues, or halts if the threshold halts."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed(Event):
    """A human lets a run continue with fresh counters."""

    message: str
    """The human's message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run has ended, and is forgotten."""

    report: RunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Evicted:
    """A run that was never opened is forgotten, to bound memory."""

    report: RunReport
