"""Hold the data of the OpenTelemetry edge: ended spans, failures, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.detector.operation import operation_of
from otel_errcompact.runtime.lazy import lazy
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from opentelemetry.sdk.trace import Event
    from opentelemetry.trace import SpanContext

    from otel_errcompact.errors import Operation

_NO_MESSAGES: Final[Mapping[int, str]] = {}


class EndedSpan(NamedTuple):
    """
    A span that has ended, in the words of the official convention.

    Read once, since the SDK's properties copy what they return at each access.
    """

    name: str
    context: SpanContext
    trace_id: int
    span_id: int
    parent: SpanContext | None
    failed: bool
    """Whether its status is ERROR."""

    description: str | None
    """The text of its status."""

    attributes: Mapping[str, object]
    events: Sequence[Event]
    scope: str
    """The name of the instrumentation that made it."""

    start_ns: int
    end_ns: int

    is_server: bool = False
    """Whether its kind is SERVER: it answers a call that another process has made."""


class Recorded(NamedTuple):
    """
    One failure as a span or a log record holds it.
    """

    type: str
    message: str
    text: str
    traced: bool
    """Whether the text is a whole stack trace, and not just the text of a status."""

    messages: Mapping[int, str] = _NO_MESSAGES
    """The messages of a live exception and of those linked to it, by their `id`."""


@dataclass(frozen=True, kw_only=True)
class BoundaryCall:
    """
    The call that a boundary span stands for.
    """

    tool: str
    call_id: str = ""
    arguments: str = ""

    @lazy
    def operation(self) -> Operation:
        """What it tries to do, found when first read."""
        # Most calls end well, and need none.
        return operation_of(self.tool, self.arguments)


class LoggedFailure(NamedTuple):
    """
    A failure as a log record reports it.
    """

    place: EndedSpan
    """The record's span as far as it is known, with the record's attributes and time."""

    recorded: Recorded
    live: BaseException | None
    """The exception object, if it can be seen."""

    named: bool
    """Whether the record is an event of its own, by its name."""

    severe: bool
    """Whether it is at ERROR or above."""

    in_call: bool
    """Whether a boundary of this library is open around it, which counts the exception that leaves it."""

    @property
    def incidental(self) -> bool:
        """Whether the application only mentions the exception, while it continues."""
        return not (self.named or self.severe)
