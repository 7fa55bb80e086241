"""Hold the data of the OpenTelemetry edge: ended spans, failures, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otel_errcompact import late
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.lazy import lazy
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from opentelemetry.sdk.trace import Event
    from opentelemetry.trace import SpanContext

    from otel_errcompact.errors import Operation

NO_CALL_ID: Final = "<not specified>"
"""The call id that Google ADK writes where there is none."""

_NOTHING: Final[Mapping[Any, Any]] = {}


def read_text(attributes: Mapping[str, object], name: str) -> str:
    """Return an attribute as text; empty if there is none."""
    value = attributes.get(name, "")
    return value if isinstance(value, str) else "" if value is None else str(value)


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
        return late.operation_of(self.tool, self.arguments)


class EndedSpan(NamedTuple):
    """
    A span that has ended, in the words of the official convention.

    Read once, since the SDK's properties copy what they return at each access. What its attributes say of calls, runs
    and agents is read here alone.
    """

    name: str
    context: SpanContext
    trace_id: int
    span_id: int
    parent: SpanContext | None = None
    failed: bool = False
    """Whether its status is ERROR."""

    description: str | None = None
    """The text of its status."""

    attributes: Mapping[str, object] = _NOTHING
    events: Sequence[Event] = ()
    scope: str = ""
    """The name of the instrumentation that made it."""

    start_ns: int = 0
    end_ns: int = 0

    is_server: bool = False
    """Whether its kind is SERVER: it answers a call that another process has made."""

    def text(self, name: str) -> str:
        """Return an attribute as text; empty if there is none."""
        return read_text(self.attributes, name)

    def read_call(self) -> BoundaryCall | None:
        """
        Return the call that the span bounds, or None.

        At its start the name alone makes a span a candidate; whether it is a boundary only its attributes tell.
        """
        operation = self.text(semconv.GEN_AI_OPERATION_NAME)
        if operation in semconv.MODEL_OPERATIONS:
            return BoundaryCall(tool=operation)
        if operation != semconv.SPAN_TOOL and self.text(semconv.MCP_METHOD_NAME) != semconv.MCP_TOOL_CALL:
            return None
        return BoundaryCall(
            tool=self.text(semconv.GEN_AI_TOOL_NAME) or self.name.partition(" ")[2],
            call_id=self.text(semconv.GEN_AI_TOOL_CALL_ID).removeprefix(NO_CALL_ID),
            arguments=self.text(semconv.GEN_AI_TOOL_CALL_ARGUMENTS),
        )

    @property
    def conversation(self) -> str:
        """The conversation or session that it names, or nothing."""
        return self.text(semconv.GEN_AI_CONVERSATION_ID) or self.text(semconv.SESSION_ID)

    @property
    def agent(self) -> str:
        """The agent that it names, or nothing."""
        return self.text(semconv.GEN_AI_AGENT_NAME)

    @property
    def dedup_key(self) -> str:
        """The dedup key that its maker set, or nothing."""
        return self.text(semconv.CLASS)

    @property
    def http_status(self) -> str:
        """Its HTTP status; empty if there is none."""
        return self.text(semconv.HTTP_RESPONSE_STATUS_CODE) or self.text(semconv.HTTP_STATUS_CODE)

    @property
    def http_url(self) -> str:
        """The address of an HTTP client's span, or nothing."""
        return self.text(semconv.URL_FULL) or self.text(semconv.HTTP_URL)

    @property
    def is_agent(self) -> bool:
        """Whether it is an agent's or a workflow's: they retell inner failures."""
        return self.text(semconv.GEN_AI_OPERATION_NAME) in semconv.AGENTS

    @property
    def is_serving(self) -> bool:
        """Whether it serves a tool call; the run is the caller's."""
        return self.is_server and self.text(semconv.MCP_METHOD_NAME) == semconv.MCP_TOOL_CALL

    @property
    def is_made_here(self) -> bool:
        """Whether a boundary of this library has made it."""
        return self.scope == semconv.SCOPE

    @property
    def is_settled_by_maker(self) -> bool:
        """
        Whether a boundary of this library counts its call.

        It has made the span; or it found the span open for the call, and put the class on it or refused the call.
        """
        return self.is_made_here or semconv.CLASS in self.attributes or self.is_refused

    @property
    def is_refused(self) -> bool:
        """Whether our boundary refused its call."""
        return semconv.OUTCOME in self.attributes


class Recorded(NamedTuple):
    """
    One failure as a span or a log record holds it.
    """

    type: str
    message: str
    text: str
    traced: bool
    """Whether the text is a whole stack trace, and not just the text of a status."""

    messages: Mapping[int, str] = _NOTHING
    """The messages of a live exception and of those linked to it, by their `id`."""


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
