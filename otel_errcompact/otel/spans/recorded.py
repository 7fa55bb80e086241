"""Read: return the failures of spans and log records as raw errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.control_flow import CONTROL_FLOW
from otel_errcompact.digest import one_line
from otel_errcompact.errors import Operation, RawError, SpanRef
from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import Recorded, read_text
from otel_errcompact.otel.sdk import copy_attributes
from otel_errcompact.otel.spans.tracebacks import insert_callers, print_exception
from otel_errcompact.runtime.foreign import NO_STRING, qualified_name_of, qualname_of, string_of
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.otel.data import BoundaryCall, EndedSpan, LoggedFailure

STEERING: Final = CONTROL_FLOW | {"GeneratorExit", "KeyboardInterrupt", "SystemExit", "RunHalted", "RunPaused"}
"""Types that steer the program and report no failure, by name: all that is left where the object is gone."""

NO_DETAIL: Final = "the span ended with status ERROR and says nothing more"
CUT_BY_LIMITS: Final = "... cut by the span limits ..."
MAX_RECORDS: Final = 64
"""Exception events of one span that are read: the newest, since the failure that leaves a span is recorded last."""

_HEAD: Final = 256
_TAIL: Final = 2_048
_TRACEBACK: Final = "Traceback (most recent call last)"
_BEFORE_TYPE: Final = frozenset({"", "\n", ".", " "})
"""What may stand before the bare name of a type: the start, a module, or the frame of an exception group."""


def read_failures(span: EndedSpan) -> tuple[list[Recorded], int]:
    """
    Return a span's distinct failures in order, and the repeated records.

    A failure that is recorded and then leaves the span, or is wrapped into another one, is recorded twice and is one.
    The failure that ended the span stands last.
    """
    records = _read_events(span)
    if not records:
        return ([_read_status(span)] if span.failed else []), 0
    if len(records) == 1:
        return records, 0
    distinct = records[:1]
    for recorded in records[1:]:
        distinct = [*(earlier for earlier in distinct if not _contains_failure(recorded, earlier)), recorded]
    return distinct, len(records) - len(distinct)


def is_control_flow_name(kind: str, extra: frozenset[str]) -> bool:
    """Return whether a recorded type steers the program and reports no failure."""
    name = bare_name(kind)
    return name in STEERING or name in extra


def match_live(exception: BaseException, recorded: Recorded, span: EndedSpan) -> Recorded | None:
    """
    Return the record of this exception with its message, or None.

    Type and message decide. The exception's `__str__`, which may be slow, is not run again for what knows the message.
    """
    name = bare_name(qualname_of(type(exception)))
    if recorded.type and bare_name(recorded.type) != name:
        return None
    if recorded.traced and span.is_made_here:
        return recorded  # printed by our boundary: its `__str__` may be slow, and differ the second time
    message = string_of(exception)
    if message == NO_STRING or not _is_message(message, recorded, name, span.description):
        return None
    return recorded._replace(messages={id(exception): message})


def _is_message(message: str, recorded: Recorded, name: str, description: str | None) -> bool:
    if message in (recorded.message, description) or description == f"{name}: {message}":
        return True
    if description and description == one_line(message):  # as our boundaries write it
        return True
    return bool(recorded.type) and not recorded.traced and not description and message.startswith(recorded.message)


def build_raw_error(
    span: EndedSpan, recorded: Recorded, *, exception: BaseException | None, call: BoundaryCall | None
) -> RawError:
    """
    Return the raw error for one failure of a span.

    Args:
        span: The span.
        recorded: The failure.
        exception: The live exception, if it is the recorded one.
        call: The call, if the span is a boundary.
    """
    attributes = span.attributes
    if exception is not None and not recorded.traced:
        recorded = read_exception(exception)
    return RawError(
        text=insert_callers(recorded.text, exception) if exception is not None else recorded.text,
        exception=exception,
        messages=recorded.messages,
        type=recorded.type,
        message=recorded.message,
        exit_code=_exit_code(attributes),
        stated=read_text(attributes, semconv.STATED_BY),
        tool=call.tool if call else read_text(attributes, semconv.GEN_AI_TOOL_NAME),
        operation=call.operation if call else Operation(span.name),
        call_id=call.call_id if call else "",
        arguments=call.arguments if call else "",
        agent=span.agent,
        boundary=call is not None,
        time_ns=span.end_ns,
        span=SpanRef(trace_id=span.trace_id, span_id=span.span_id, sampled=span.context.trace_flags.sampled),
    )


def build_logged_error(logged: LoggedFailure) -> RawError:
    """
    Return the raw error of a log record's failure.

    Outside every trace it has no span.
    """
    raw = build_raw_error(logged.place, logged.recorded, exception=logged.live, call=None)
    raw = replace(raw, type=logged.recorded.type, message=logged.recorded.message)
    return raw if logged.place.trace_id else replace(raw, span=None)


def read_exception(exception: BaseException) -> Recorded:
    """Return the SDK's record of an exception, printable or not."""
    text, messages = print_exception(exception)
    message = messages[id(exception)]
    return Recorded(qualified_name_of(type(exception)), message, text, traced=True, messages=messages)


def bare_name(name: str) -> str:
    """
    Return a type's name without its module.

    Instrumentations differ in whether they write it.
    """
    return name.rpartition(".")[2]


def mentions(text: str, kind: str, message: str) -> bool:
    """Return whether a stack text holds another exception's last lines."""
    ending = f"{bare_name(kind)}: {message}" if message else bare_name(kind)
    # An event with a stack text alone gives an empty ending, and the loop would find the empty string for ever.
    start = text.find(ending) if ending else -1
    while start >= 0:
        end = start + len(ending)
        if text[start - 1 : start] in _BEFORE_TYPE and text[end : end + 1] in {"", "\n", "\r"}:
            return True
        start = text.find(ending, end)
    return False


def _read_events(span: EndedSpan) -> list[Recorded]:
    events = [event for event in span.events if event.name == semconv.EXCEPTION_EVENT]
    return [
        recorded
        for event in events[-MAX_RECORDS:]
        if (recorded := read_recorded(span, copy_attributes(event.attributes))) is not None
    ]


def read_recorded(span: EndedSpan, attributes: Mapping[str, object]) -> Recorded | None:
    """Return the failure of an `exception` event or log record, or None."""
    kind = read_text(attributes, semconv.EXCEPTION_TYPE)
    message = read_text(attributes, semconv.EXCEPTION_MESSAGE)
    text = _read_bytes(attributes) or read_text(attributes, semconv.EXCEPTION_STACKTRACE)
    if kind == semconv.TOOL_ERROR and (semconv.CLASS in attributes or semconv.RUN_ID in span.attributes):
        # Our boundaries and the trajectory write it where the source names no type.
        kind = ""
        if not message and not text:
            return Recorded("", "", "", traced=True)
    # A text that has neither type nor message, and is no traceback, is the answer of a tool, kept as it was.
    is_answer = not kind and not message and _TRACEBACK not in text[:_HEAD]
    if text and (is_answer or (kind and _is_whole(text, kind, message))):
        return Recorded(kind, message, text, traced=True)
    return _repair_failure(span, kind, message, text) if kind or message or text else None


def _read_bytes(attributes: Mapping[str, object]) -> str:
    """
    Return the raw error that is recorded as bytes, or nothing.

    Bytes hold it where no string attribute can.
    """
    raw = attributes.get(semconv.RAW)
    try:
        return raw.decode("utf-8", "surrogatepass") if isinstance(raw, bytes) else ""
    except UnicodeDecodeError:
        return ""


def _is_whole(text: str, kind: str, message: str) -> bool:
    """
    Return whether a stack text has its end.

    Span limits keep the head, and the cause is at the end.
    """
    # The usual last line first: it is found ten times as fast.
    if text.endswith(f"{bare_name(kind)}: {message}\n"):
        return True
    if _TRACEBACK not in text[:_HEAD] and not _TRACEBACK.startswith(text):
        return True
    return mentions(text, kind, message) or bare_name(kind) in text[-_TAIL:]


def _repair_failure(span: EndedSpan, kind: str, message: str, text: str) -> Recorded:
    """
    Complete a failure that span limits cut, from the status description.

    The limits leave that alone.
    """
    status_type, status_message = _split_description(span)
    agrees = not (kind and status_type) or bare_name(kind) == bare_name(status_type)
    if agrees and status_message.startswith(message):
        kind, message = kind or status_type, status_message
    last = f"{kind}: {message}" if kind else message
    if not text:
        return Recorded(type=kind, message=message, text=last, traced=False)
    if _is_whole(text, kind, message):
        return Recorded(type=kind, message=message, text=text, traced=True)
    return Recorded(type=kind, message=message, text=f"{text}\n{CUT_BY_LIMITS}\n{last}", traced=False)


def _split_description(span: EndedSpan) -> tuple[str, str]:
    """
    Return the type and the message of a status description.

    The SDK writes `Type: message`, others only the message.
    """
    description = span.description or ""
    kind = _read_type(span)
    head, colon, rest = description.partition(": ")
    if colon and (head == bare_name(kind) or (not kind and head.isidentifier())):
        return kind or head, rest
    return kind, description


def _read_type(span: EndedSpan) -> str:
    kind = span.text(semconv.ERROR_TYPE)
    return "" if kind == semconv.OTHER_TYPE else kind


def _read_status(span: EndedSpan) -> Recorded:
    kind = _read_type(span)
    description = span.description or ""
    _, message = _split_description(span) if kind else ("", description)
    text = description or kind
    attributes = span.attributes
    status_code = span.http_status
    if status_code:
        text = f"HTTP {status_code}: {description}" if description else f"HTTP {status_code}"
    if not text and _exit_code(attributes) is not None:
        # A command that printed nothing: its exit code is all there is.
        return Recorded("", "", "", traced=True)
    return Recorded(type=kind, message=message, text=text or NO_DETAIL, traced=False)


def _exit_code(attributes: Mapping[str, object]) -> int | None:
    status = attributes.get(semconv.PROCESS_EXIT_CODE)
    return status if isinstance(status, int) else None


def _contains_failure(later: Recorded, earlier: Recorded) -> bool:
    same = (later.type, later.message) == (earlier.type, earlier.message)
    return same or (later.traced and mentions(later.text, earlier.type, earlier.message))
