"""A recorded run as plain data, whichever program recorded it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

AttributeValue: TypeAlias = (
    "str | bool | int | float | tuple[str, ...] | tuple[bool, ...] | tuple[int, ...] | tuple[float, ...]"
)
"""What an attribute may hold: a scalar, or scalars of one type."""

SpanKind: TypeAlias = Literal["internal", "server", "client", "producer", "consumer"]
StatusCode: TypeAlias = Literal["unset", "ok", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One tool call and its result; the detector decides whether it failed."""

    tool: str
    """The tool's name; empty where the record has a result without its call."""

    result: str
    """The whole text the agent got."""

    start_ns: int
    """When the agent asked, in nanoseconds since the epoch; made up in records without times (`run_builder`)."""

    end_ns: int
    """When the answer came; never before `start_ns`."""

    line: int
    """
    The line of the file that holds the result, from 1; where a line or the file holds a whole run, the number of the
    result in that run.
    """

    arguments: str = ""
    """The call's arguments as JSON, or as the text the agent wrote."""

    call_id: str = ""
    """The id of the tool call; empty if the format has none."""

    directory: str = ""
    """The call's working directory, where the record has it apart from the arguments."""

    operation: str = ""
    """What must succeed for a failure of this call to count as resolved; empty means the tool."""

    flagged: bool | None = None
    """The record's own flag: True for failed, False for not, None without a flag."""

    exit_code: int | None = None
    """The exit status, where the format gives it apart from the text."""

    context_tokens: int = 0
    """Tokens of everything that was said, asked and answered in the run up to and with this result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One run of an agent: its tool calls and its context's size."""

    run_id: str
    """The record's own name of the run; another file may use it again."""

    agent: str
    """The record's own name of the agent, else the format's."""

    source: str
    """The file."""

    calls: tuple[RecordedCall, ...]

    context_tokens: int
    """Tokens of user, assistant and system text, tool arguments and tool results, as estimated by `estimate_tokens`."""

    result_tokens: int
    """Tokens of the tool results alone, by the same estimate."""

    outcome: str = ""
    """How the run ended in the record's words (a reward, an exit status, an error); empty if it does not say."""

    succeeded: bool | None = None
    """
    Whether the run reached its goal, as far as the record tells: judged (a reward, a check of the result), or only
    brought to its own end (SWE-agent's `submitted`, which is no proof that the patch is right). `None` if nothing is
    said.
    """

    def turns(self) -> tuple[int, ...]:
        """
        Return the number of the turn of each call, from 0.

        Calls are of one turn where one was asked for before the first of it was answered.
        """
        turns: list[int] = []
        answered = 0
        for call in self.calls:
            is_first = not turns or call.start_ns >= answered
            turns.append((turns[-1] + 1 if turns else 0) if is_first else turns[-1])
            if is_first:
                answered = call.end_ns
        return tuple(turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributed:
    """A span, an event or a line; each method reads one attribute."""

    attributes: Mapping[str, AttributeValue] = field(default_factory=dict[str, AttributeValue])

    def text(self, name: str) -> str:
        """Return a text; empty if it is missing or something else."""
        value = self.attributes.get(name)
        return value if isinstance(value, str) else ""

    def integer(self, name: str) -> int:
        """Return a whole number; 0 if it is missing or something else."""
        value = self.attributes.get(name)
        return value if isinstance(value, int) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEvent(Attributed):
    """One event of a recorded span."""

    name: str
    time_ns: int
    dropped_attributes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSpan(Attributed):
    """One recorded span, without its links and trace state."""

    trace_id: int
    span_id: int
    name: str
    start_ns: int
    end_ns: int
    parent_id: int | None = None
    kind: SpanKind = "internal"
    status: StatusCode = "unset"
    status_description: str = ""
    events: tuple[RecordedEvent, ...] = ()
    scope_name: str = ""
    scope_version: str = ""
    resource: Mapping[str, AttributeValue] = field(default_factory=dict[str, AttributeValue])
    dropped_attributes: int = 0
    dropped_events: int = 0
    dropped_links: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTrace:
    """One recorded trace."""

    run_id: str
    """The trace id as 32 hex digits."""

    source: str
    """The file."""

    spans: tuple[RecordedSpan, ...]
    """In the order in which they ended, so that children come before their parents."""

    @property
    def holds_raw_errors_alone(self) -> bool:
        """Whether a trajectory file without its runs recorded it."""
        # Such a file has spans of no duration.
        return all(
            span.scope_name == semconv.SCOPE
            and semconv.RECORD in span.attributes
            and span.status == "error"
            and span.start_ns == span.end_ns
            for span in self.spans
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLine(Attributed):
    """One line of a trajectory file about a run."""

    event: str
    """The kind of event; empty for a raw error without further lines."""

    time_ns: int
    raw: RecordedSpan | None = None
    """The raw error it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLife:
    """One run as its ledger recorded it, from first failure to end."""

    run_id: str
    source: str
    """The file."""

    lines: tuple[RecordedLine, ...]
    """In the order in which the ledger has counted."""

    life: str = ""
    """Which run of its id, where processes may have shared it: the same in the files of all of them."""

    files: int = 1
    """How many trajectory files the lines are from."""

    @property
    def raws(self) -> tuple[RecordedSpan, ...]:
        """The raw errors."""
        return tuple(line.raw for line in self.lines if line.raw is not None)


def in_order_of_end(spans: Iterable[RecordedSpan]) -> tuple[RecordedSpan, ...]:
    """Sort spans by their end; of two the later started is inner."""
    return tuple(sorted(spans, key=lambda span: (span.end_ns, -span.start_ns)))
