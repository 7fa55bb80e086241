"""Spans as failures: what counts as a boundary, and what a span says of the failure it recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from opentelemetry.trace import INVALID_SPAN_CONTEXT, SpanKind, StatusCode

from otel_errcompact.detector.operation import operation_of
from otel_errcompact.detector.results import CONTROL_FLOW
from otel_errcompact.digest import one_line
from otel_errcompact.errors import UNKNOWN, Operation, RawError, SpanRef
from otel_errcompact.otel import semconv
from otel_errcompact.otel.spans.conventions import AGENTS, understood
from otel_errcompact.otel.spans.conventions import text_of as _text
from otel_errcompact.otel.spans.tracebacks import printed, with_callers
from otel_errcompact.runtime.foreign import NO_STRING, qualified_name_of, qualname_of, string_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.trace import SpanContext

STEERING: Final = CONTROL_FLOW | {"GeneratorExit", "KeyboardInterrupt", "SystemExit", "RunHalted", "RunPaused"}
"""What steers the program instead of reporting a failure, by name: all that is left where the object is gone."""

NO_DETAIL: Final = "the span ended with status ERROR and says nothing more"
NO_CALL_ID: Final = "<not specified>"
"""What Google ADK writes where there is none."""

CUT_BY_LIMITS: Final = "... cut by the span limits ..."
MAX_RECORDS: Final = 64
"""Exception events of one span that are looked at: the newest, since what a span failed with is recorded last."""

_HEAD: Final = 256
_TAIL: Final = 2_048
_TRACEBACK: Final = "Traceback (most recent call last)"
_BEFORE_TYPE: Final = frozenset({"", "\n", ".", " "})
"""What may stand before the bare name of a type: the start, a module, or the frame of an exception group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryCall:
    """
    What a boundary span says of the call it stands for.
    """

    tool: str
    operation: Operation = UNKNOWN
    call_id: str = ""
    arguments: str = ""


_NO_MESSAGES: Final[Mapping[int, str]] = {}


class Recorded(NamedTuple):
    """
    One failure as a span recorded it.
    """

    type: str
    message: str
    text: str
    traced: bool
    """Whether the text is a whole stack trace, and not just what the span's status says."""

    messages: Mapping[int, str] = _NO_MESSAGES
    """The messages of a live exception and of those linked to it, by their `id`."""


class EndedSpan(NamedTuple):
    """
    What is read of a span that has ended, in the words of the official convention.

    It is read once, since the SDK's properties copy what they give at each access.
    """

    name: str
    context: SpanContext
    trace_id: int
    span_id: int
    parent: SpanContext | None
    failed: bool
    """Whether its status is ERROR."""

    description: str | None
    """What its status says."""

    attributes: Mapping[str, object]
    events: Sequence[Event]
    scope: str
    """The name of the instrumentation that made it."""

    start_ns: int
    end_ns: int

    is_server: bool = False
    """Whether its kind is SERVER: it answers a call that another process has made."""


def read(span: ReadableSpan) -> EndedSpan:
    """Read a span that has ended: the SDK's own without its properties, any other by its public attributes."""
    try:
        found = _read_privately(span)
    except Exception:  # noqa: BLE001 - another SDK's span, or one without ids
        found = _read_publicly(span)
    return understood(found)


def _read_privately(span: Any) -> EndedSpan:
    context, status, scope = span._context, span._status, span._instrumentation_scope  # noqa: SLF001 - as said
    return EndedSpan(
        span._name,  # noqa: SLF001 - as above
        context,
        context.trace_id,
        context.span_id,
        span._parent,  # noqa: SLF001 - as above
        status._status_code is StatusCode.ERROR,  # noqa: SLF001 - as above
        status._description,  # noqa: SLF001 - as above
        span._attributes.copy(),  # noqa: SLF001 - as above
        tuple(span._events._dq),  # noqa: SLF001 - as above
        scope.name if scope is not None else "",
        span._start_time or 0,  # noqa: SLF001 - as above
        span._end_time or 0,  # noqa: SLF001 - as above
        span._kind is SpanKind.SERVER,  # noqa: SLF001 - as above
    )


def _read_publicly(span: ReadableSpan) -> EndedSpan:
    context, status, scope = span.get_span_context() or INVALID_SPAN_CONTEXT, span.status, span.instrumentation_scope
    return EndedSpan(
        span.name,
        context,
        context.trace_id,
        context.span_id,
        span.parent,
        status.status_code is StatusCode.ERROR,
        status.description,
        plain(span.attributes),
        span.events,
        scope.name if scope is not None else "",
        span.start_time or 0,
        span.end_time or 0,
        getattr(span, "kind", None) is SpanKind.SERVER,
    )


def boundary_call(span: EndedSpan) -> BoundaryCall | None:
    """
    Return the call that an ended span is the boundary of, or None if it is none.

    The name alone made it a candidate when it started; that it is a boundary only its attributes can tell.
    """
    attributes = span.attributes
    operation = _text(attributes, semconv.GEN_AI_OPERATION_NAME)
    if operation in semconv.MODEL_OPERATIONS:
        return BoundaryCall(tool=operation, operation=Operation(operation))
    if operation != semconv.SPAN_TOOL and _text(attributes, semconv.MCP_METHOD_NAME) != semconv.MCP_TOOL_CALL:
        return None
    tool = _text(attributes, semconv.GEN_AI_TOOL_NAME) or span.name.partition(" ")[2]
    arguments = _text(attributes, semconv.GEN_AI_TOOL_CALL_ARGUMENTS)
    return BoundaryCall(
        tool=tool,
        operation=operation_of(tool, arguments),
        call_id=_text(attributes, semconv.GEN_AI_TOOL_CALL_ID).removeprefix(NO_CALL_ID),
        arguments=arguments,
    )


def conversation_of(span: EndedSpan) -> str:
    """Return the conversation or session a span says it belongs to; empty if it says nothing."""
    attributes = span.attributes
    return _text(attributes, semconv.GEN_AI_CONVERSATION_ID) or _text(attributes, semconv.SESSION_ID)


def is_agent(span: EndedSpan) -> bool:
    """Tell whether a span is that of an agent or a workflow, which tells in its own words of what fails inside."""
    return _text(span.attributes, semconv.GEN_AI_OPERATION_NAME) in AGENTS


def is_serving(span: EndedSpan) -> bool:
    """Tell whether a boundary's span is the server's side of a tool call: the run is that of whoever has called."""
    return span.is_server and _text(span.attributes, semconv.MCP_METHOD_NAME) == semconv.MCP_TOOL_CALL


def is_made_here(span: EndedSpan) -> bool:
    """Tell whether one of our own boundaries has made a span."""
    return span.scope == semconv.SCOPE


def is_settled_by_maker(span: EndedSpan) -> bool:
    """
    Tell whether one of our own boundaries has told the ledger of the span's outcome: it made the span, or found it
    open for the call and put its class on it, or that it was refused.
    """
    return is_made_here(span) or semconv.CLASS in span.attributes or is_refused(span)


def is_refused(span: EndedSpan) -> bool:
    """Tell whether a span is that of a call which one of our own boundaries has kept from being executed."""
    return semconv.OUTCOME in span.attributes


def agent_on(span: EndedSpan) -> str:
    """Return the name of the agent that a span belongs to; empty if it does not say."""
    return _text(span.attributes, semconv.GEN_AI_AGENT_NAME)


def class_on(span: EndedSpan) -> str:
    """Return the dedup key that the maker of a span has put on it; empty if there is none."""
    return _text(span.attributes, semconv.CLASS)


def failures_of(span: EndedSpan) -> tuple[list[Recorded], int]:
    """
    Return the distinct failures a span has recorded, in order, and how many records only repeated one of them.

    A failure that is recorded and then leaves the span, or is wrapped into another one, is recorded twice and is one.
    What a span failed with stands last.
    """
    records = _records(span)
    if not records:
        return ([_from_status(span)] if span.failed else []), 0
    if len(records) == 1:
        return records, 0
    distinct = records[:1]
    for recorded in records[1:]:
        distinct = [*(earlier for earlier in distinct if not _contains(recorded, earlier)), recorded]
    return distinct, len(records) - len(distinct)


def is_control_flow_name(kind: str, extra: frozenset[str]) -> bool:
    """Tell whether a recorded type is one that steers the program instead of reporting a failure."""
    name = bare(kind)
    return name in STEERING or name in extra


def is_live(exception: BaseException, recorded: Recorded, span: EndedSpan) -> bool:  # noqa: PLR0911 - a table of cases
    """
    Tell whether `exception` is what the span recorded: of the same type, qualified or bare, with the same message.
    """
    name = bare(qualname_of(type(exception)))
    if recorded.type and bare(recorded.type) != name:
        return False
    if recorded.traced and is_made_here(span):
        return True  # our own boundary has printed it, and its `__str__` is not to run again
    message = string_of(exception)
    if message == NO_STRING:
        return False
    description = span.description
    if message in (recorded.message, description) or description == f"{name}: {message}":
        return True
    if description and description == one_line(message):  # as our own boundaries have it
        return True
    if not recorded.type:
        return False
    return message.startswith(recorded.message) if not recorded.traced and not description else False


def raw_error(
    span: EndedSpan, recorded: Recorded, *, exception: BaseException | None, call: BoundaryCall | None
) -> RawError:
    """
    Return the raw error for one failure of a span.

    Args:
        span: The span.
        recorded: What it recorded.
        exception: The live exception, if it is the one that was recorded.
        call: The call, if the span is a boundary.
    """
    attributes = span.attributes
    if exception is not None and not recorded.traced:
        recorded = recorded_of(exception)
    return RawError(
        text=with_callers(recorded.text, exception) if exception is not None else recorded.text,
        exception=exception,
        messages=recorded.messages,
        type=recorded.type,
        message=recorded.message,
        exit_code=_exit_code(attributes),
        detected=_text(attributes, semconv.DETECTED),
        tool=call.tool if call else _text(attributes, semconv.GEN_AI_TOOL_NAME),
        operation=call.operation if call else Operation(span.name),
        call_id=call.call_id if call else "",
        arguments=call.arguments if call else "",
        agent=agent_on(span),
        boundary=call is not None,
        time_ns=span.end_ns,
        span=SpanRef(trace_id=span.trace_id, span_id=span.span_id, sampled=span.context.trace_flags.sampled),
    )


def recorded_of(exception: BaseException) -> Recorded:
    """Return what the SDK records of an exception; one that cannot even be printed says so."""
    text, messages = printed(exception)
    message = messages[id(exception)]
    return Recorded(qualified_name(exception), message, text, traced=True, messages=messages)


def qualified_name(exception: BaseException) -> str:
    """Return the type's name as the SDK writes it: with its module, unless it is a built-in."""
    return qualified_name_of(type(exception))


def bare(name: str) -> str:
    """Return a type's name without its module: instrumentations differ in whether they write it."""
    return name.rpartition(".")[2]


def mentions(text: str, kind: str, message: str) -> bool:
    """Tell whether a stack text holds the lines that end another exception's traceback."""
    ending = f"{bare(kind)}: {message}" if message else bare(kind)
    # An event that holds a stack text alone names nothing that could be found; the empty string is found for ever.
    start = text.find(ending) if ending else -1
    while start >= 0:
        end = start + len(ending)
        if text[start - 1 : start] in _BEFORE_TYPE and text[end : end + 1] in {"", "\n", "\r"}:
            return True
        start = text.find(ending, end)
    return False


def _records(span: EndedSpan) -> list[Recorded]:
    events = [event for event in span.events if event.name == semconv.EXCEPTION_EVENT]
    return [
        recorded
        for event in events[-MAX_RECORDS:]
        if (recorded := recorded_in(span, plain(event.attributes))) is not None
    ]


def recorded_in(span: EndedSpan, attributes: Mapping[str, object]) -> Recorded | None:
    """Return what an `exception` event, or a log record, says of a failure; None if that is nothing."""
    kind = _text(attributes, semconv.EXCEPTION_TYPE)
    message = _text(attributes, semconv.EXCEPTION_MESSAGE)
    text = _exact(attributes) or _text(attributes, semconv.EXCEPTION_STACKTRACE)
    if kind == semconv.TOOL_ERROR and (semconv.CLASS in attributes or semconv.RUN_ID in span.attributes):
        # Our own boundaries and the trajectory write it where the source has said nothing of the type.
        kind = ""
        if not message and not text:
            return Recorded("", "", "", traced=True)
    # A text that has neither type nor message, and is no traceback, is the answer of a tool, kept as it was.
    is_answer = not kind and not message and _TRACEBACK not in text[:_HEAD]
    if text and (is_answer or (kind and _is_whole(text, kind, message))):
        return Recorded(kind, message, text, traced=True)
    return _repaired(span, kind, message, text) if kind or message or text else None


def _exact(attributes: Mapping[str, object]) -> str:
    """Return the raw error where it stands as bytes, since no string attribute could hold it; else nothing."""
    raw = attributes.get(semconv.RAW)
    try:
        return raw.decode("utf-8", "surrogatepass") if isinstance(raw, bytes) else ""
    except UnicodeDecodeError:
        return ""


def _is_whole(text: str, kind: str, message: str) -> bool:
    """Tell whether a stack text has its end: the span limits keep the head, and the cause stands at the end."""
    # The last line as it nearly always is comes first, since it is found ten times as fast.
    if text.endswith(f"{bare(kind)}: {message}\n"):
        return True
    if _TRACEBACK not in text[:_HEAD] and not _TRACEBACK.startswith(text):
        return True
    return mentions(text, kind, message) or bare(kind) in text[-_TAIL:]


def _repaired(span: EndedSpan, kind: str, message: str, text: str) -> Recorded:
    """Complete what the span limits have cut from the status description, which they leave alone."""
    told_kind, told_message = _described(span)
    agrees = not (kind and told_kind) or bare(kind) == bare(told_kind)
    if agrees and told_message.startswith(message):
        kind, message = kind or told_kind, told_message
    last = f"{kind}: {message}" if kind else message
    if not text:
        return Recorded(type=kind, message=message, text=last, traced=False)
    if _is_whole(text, kind, message):
        return Recorded(type=kind, message=message, text=text, traced=True)
    return Recorded(type=kind, message=message, text=f"{text}\n{CUT_BY_LIMITS}\n{last}", traced=False)


def _described(span: EndedSpan) -> tuple[str, str]:
    """The type and message that a status tells: the SDK writes `Type: message`, others only the message."""
    description = span.description or ""
    kind = _told_type(span)
    head, colon, rest = description.partition(": ")
    if colon and (head == bare(kind) or (not kind and head.isidentifier())):
        return kind or head, rest
    return kind, description


def _told_type(span: EndedSpan) -> str:
    kind = _text(span.attributes, semconv.ERROR_TYPE)
    return "" if kind == semconv.OTHER_TYPE else kind


def _from_status(span: EndedSpan) -> Recorded:
    kind = _told_type(span)
    description = span.description or ""
    _, message = _described(span) if kind else ("", description)
    text = description or kind
    attributes = span.attributes
    status_code = http_status(attributes)
    if status_code:
        text = f"HTTP {status_code}: {description}" if description else f"HTTP {status_code}"
    if not text and _exit_code(attributes) is not None:
        # A command that printed nothing: its exit status is all there is.
        return Recorded("", "", "", traced=True)
    return Recorded(type=kind, message=message, text=text or NO_DETAIL, traced=False)


def http_status(attributes: Mapping[str, object]) -> str:
    """Return the HTTP status that a span tells; empty if it tells none."""
    return _text(attributes, semconv.HTTP_RESPONSE_STATUS_CODE) or _text(attributes, semconv.HTTP_STATUS_CODE)


def http_url(attributes: Mapping[str, object]) -> str:
    """Return the address that a span of an HTTP client tells; empty if it tells none."""
    return _text(attributes, semconv.URL_FULL) or _text(attributes, semconv.HTTP_URL)


def _exit_code(attributes: Mapping[str, object]) -> int | None:
    status = attributes.get(semconv.PROCESS_EXIT_CODE)
    return status if isinstance(status, int) else None


def _contains(later: Recorded, earlier: Recorded) -> bool:
    same = (later.type, later.message) == (earlier.type, earlier.message)
    return same or (later.traced and mentions(later.text, earlier.type, earlier.message))


def plain(attributes: Mapping[str, object] | None) -> dict[str, object]:
    """Attributes as a plain dictionary: to copy it costs less than to look up one name in the SDK's own mapping."""
    return cast("Any", attributes).copy() if attributes else {}
