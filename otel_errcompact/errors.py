"""Hold raw errors, and the facts that extractors find in them."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - the hints of a field can be read at run time
from dataclasses import field
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRef:
    """
    The span an occurrence was recorded on, as plain numbers.
    """

    trace_id: int
    span_id: int
    sampled: bool = True


@dataclass(frozen=True, slots=True)
class Operation:
    """
    What a call tries to do, and what it is about.
    """

    name: str = ""
    """The tool; for a tool that runs commands with the program and its subcommand: `bash pytest`."""

    targets: tuple[str, ...] = ()
    """Files, tests, tables, URLs, ids, sorted; empty means that none is known, or everything."""

    wide: bool = field(default=False, compare=False)
    """Whether a success without targets, or with a folder as target, is surely one of what lies within."""

    def __str__(self) -> str:
        return " ".join((self.name, *self.targets))


UNKNOWN = Operation()
"""The operation of what is no call."""

UNCLASSIFIED: Final = "unclassified"
"""Stands for a format after a fault of ours."""

SHED: Final = "shed"
"""Stands for a format where there was no time to read the text."""

NOT_READ: Final = "not read: failures came faster than they are read"
"""The template of its class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawError:
    """
    Holds one raw error: an exception, a text or a body.
    """

    text: str
    """The whole text: the traceback of an exception, or the result as the tool returned it."""

    exception: BaseException | None = field(default=None, repr=False, compare=False)
    """The live exception where it is at hand; read while observing, never kept."""

    was_exception: bool = False
    """Whether it was an exception by its record, where the exception itself is no longer at hand."""

    messages: Mapping[int, str] | None = field(default=None, repr=False, compare=False)
    """What that exception and those linked to it have been printed as, by their `id`: their code runs once."""

    type: str = ""
    """What the source itself says of the type (`exception.type`, `error.type`); empty if it says nothing."""

    message: str = ""
    """What the source itself says of the message, apart from the text."""

    exit_code: int | None = None
    """The exit status of a command, where the source reports it apart from the text."""

    stated: str = ""
    """By what a failure is stated that nothing declares: a format, or a kind of error value; empty where declared."""

    tool: str = ""
    """The tool's name (`gen_ai.tool.name`)."""

    operation: Operation = UNKNOWN
    """What must succeed for this failure to count as resolved; unknown means the tool."""

    call_id: str = ""
    """The id of the tool call (`gen_ai.tool.call.id`)."""

    arguments: str = ""
    """The call's arguments as JSON, or as the text the agent wrote."""

    agent: str = ""
    """The agent's name (`gen_ai.agent.name`)."""

    directory: str = ""
    """The call's working directory, where it is known."""

    fingerprint: str = field(default="", repr=False, compare=False)
    """The fingerprint of the call where it is known already; else that of tool, arguments and directory."""

    began: int = 0
    """The tick at which the agent asked for the call; 0 where it is not known, and then it counts as now."""

    boundary: bool = True
    """Whether the agent sees the outcome of what failed: a tool call, an MCP call, a model call."""

    time_ns: int = 0
    """When it was observed, in nanoseconds since the epoch."""

    span: SpanRef | None = None
    """The span it was recorded on."""

    def without_exception(self) -> RawError:
        """
        Return the error as it may be kept.

        A live exception holds the frames and locals of its traceback.
        """
        return self if self.exception is None else replace(self, exception=None)

    @property
    def is_exception(self) -> bool:
        """Whether it is an exception, at hand or recorded."""
        return self.was_exception or self.exception is not None

    @property
    def certainty(self) -> str:
        """Whether the failure is `declared` or only `stated`."""
        return "stated" if self.stated else "declared"

    @property
    def sent(self) -> str:
        """What frameworks send the agent: `str(e)` of an exception, or the text."""
        return self.text if self.exception is None else self.message or self.type

    @property
    def scope(self) -> Operation:
        """The operation whose success resolves this failure."""
        return self.operation if self.operation.name else Operation(self.tool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """
    Names where a failure happened.

    The innermost frame of the user's own code, or the place that a tool names.
    """

    function: str = ""
    file: str = ""
    line: int | None = None
    column: int | None = None
    """For readers alone: no key, metric or attribute holds it."""

    @property
    def file_name(self) -> str:
        """The file's final name, whatever system its folders are of."""
        return self.file.replace("\\", "/").rpartition("/")[2]

    def __bool__(self) -> bool:
        return bool(self.function or self.file)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file and self.line is not None else self.file
        if self.column is not None:
            place = f"{place}:{self.column}"
        if self.function and place:
            return f"{self.function} ({place})"
        return self.function or place


NOWHERE = Location()


class Evidence(NamedTuple):
    """A line of a raw error beyond the other facts."""

    line: str
    weight: int
    """How much the line helps; of two lines the digest drops the lighter one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """
    What the extractor found in a raw error.
    """

    type: str
    """The root cause's type: an exception's qualified name, a tool's own code, or a short noun."""

    cause: str
    """The root cause in one line."""

    location: Location = NOWHERE

    details: tuple[str, ...] = ()
    """Further salient lines, in the order in which they matter."""

    evidence: Sequence[Evidence] = ()
    """Lines of the raw error that type, location, cause and details do not hold, in the order of the text."""

    format: str = "prose"
    """The name of the extractor that recognised the text."""

    wrappers: tuple[str, ...] = ()
    """Types of the exceptions that wrap the root cause, outermost first."""

    output: str = ""
    """The output of another program that an exception repeats, until it was looked into; then empty."""

    key_cause: str = ""
    """The cause as it counts for the dedup key, where that is not the cause that is shown."""

    key_location: Location = NOWHERE
    """The place as it counts for the dedup key, where that is not the place that is shown."""

    key_is_whole: bool = False
    """Whether `key_cause` names types and places itself, as that of several causes does."""

    members: int = 1
    """How many failures the text reports; more than one where a tool lists several, as test runners do."""

    unread: int = 0
    """How many of the members, by the tool's own count, no rule has found in the text."""

    tally: str = ""
    """The members in words, where there are several: `40 tests`, or `3 of 40 tests` if only three share the cause."""

    names: tuple[str, ...] = ()
    """The members that have a name of their own, such as tests; a bounded number of them."""

    @property
    def keyed_location(self) -> Location:
        """The place that enters the dedup key."""
        return self.key_location or self.location

    @property
    def keyed_cause(self) -> str:
        """The text whose template enters the dedup key."""
        return self.key_cause or self.cause


@dataclass(frozen=True, slots=True)
class FailureKind:
    """The certain traits of a failure."""

    transient: bool = False
    """Whether its own words say that waiting helps."""

    rejected: bool = False
    """Whether the call was rejected before anything was executed."""

    unknown: bool = False
    """Whether a transient failure leaves open if the call took effect."""


EXECUTED: Final = FailureKind()
TRANSIENT: Final = FailureKind(transient=True)
UNSURE: Final = FailureKind(transient=True, unknown=True)
REJECTED: Final = FailureKind(rejected=True)
