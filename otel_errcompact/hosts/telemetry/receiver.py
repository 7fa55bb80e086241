"""RECEIVE: count what a request reports, mark it, and pass it on."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from otel_errcompact.errors import SpanRef
from otel_errcompact.hosts.telemetry import bodies
from otel_errcompact.hosts.telemetry.bodies import MAX_BYTES, PROTOBUF, RequestError
from otel_errcompact.hosts.telemetry.emitters import find_emitter
from otel_errcompact.hosts.telemetry.emitters.emitter import Memory
from otel_errcompact.hosts.telemetry.entries import read_entries
from otel_errcompact.hosts.telemetry.forwarding import Message
from otel_errcompact.hosts.telemetry.reports import name_span
from otel_errcompact.hosts.telemetry.wire import Mark, mark_message
from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import read_text
from otel_errcompact.otel.spans.context import context_of
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.guard import Guard
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from otel_errcompact.hosts.calls import Answer
    from otel_errcompact.hosts.telemetry.bodies import Reply
    from otel_errcompact.hosts.telemetry.counting import Concluding
    from otel_errcompact.hosts.telemetry.entries import Entry, Path
    from otel_errcompact.hosts.telemetry.forwarding import Forwarder
    from otel_errcompact.hosts.telemetry.reports import Report

MAX_CALLS: Final = 65_536
"""Names of calls that are remembered, so that a second record of a call is none: some hundred bytes each."""

STAGE: Final = "receive"
UNMARKED: Final = "receive_unmarked"
"""The stage that counts requests which were passed on without their marks."""

_EXCEPTIONS: Final = frozenset({semconv.EXCEPTION_EVENT, semconv.CLIENT_EXCEPTION_EVENT})


class Request(NamedTuple):
    """A request as it came."""

    signal: str
    body: bytes
    content_type: str = PROTOBUF
    encoding: str = ""


class Receiver:
    """
    Takes OTLP requests in any thread.

    Args:
        runs: Judges and counts the calls.
        forwarder: Passes requests on; None where nothing is to be.
        guard: Keeps faults of one entry away from all others.
        max_bytes: Bytes of a request at most, as it comes and unpacked.
        is_hooked: Tells whether hooks report a run. Where those of its host give calls no ids, nothing joins a hook and
            the telemetry, and the hook counts.
    """

    def __init__(
        self,
        runs: Concluding,
        forwarder: Forwarder | None = None,
        *,
        guard: Guard | None = None,
        max_bytes: int = MAX_BYTES,
        is_hooked: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.max_bytes: Final = max_bytes
        """Bytes of a request at most, as it comes and unpacked."""
        self.guard: Final = guard or Guard()
        """Counts what went wrong."""
        self._runs = runs
        self._forwarder = forwarder
        self._is_hooked = is_hooked
        self._memory = Memory()
        self._keys: BoundedTable[str, str] = BoundedTable(MAX_CALLS)
        self._claiming = ReentrantLock()
        self._reading = self.guard.stage(STAGE)
        self._marking = self.guard.stage(UNMARKED)

    def receive(self, request: Request) -> Reply:
        """Take one request, and return what its sender is answered."""
        try:
            return self.take(request)
        except RequestError as error:
            return bodies.answer_error(error, request.content_type)

    def take(self, request: Request) -> Reply:
        """
        Take one request, and return what its sender is answered.

        Raises:
            RequestError: It cannot be taken.
        """
        content_type = bodies.read_content_type(request.content_type)
        if len(request.body) > self.max_bytes:
            raise RequestError(
                bodies.TOO_LARGE, f"the body is longer than {self.max_bytes} bytes; send smaller batches"
            )
        plain = bodies.unpack(request.body, request.encoding, self.max_bytes)
        message = bodies.decode(request.signal, plain, content_type)
        entries = tuple(read_entries(request.signal, message))
        marks = self._count(entries, message)
        forwarder = self._forwarder
        if forwarder is None:
            return bodies.answer(request.signal, content_type)
        body, encoding = request.body, request.encoding
        if marks:
            with self._marking:
                mark = mark_message if content_type == PROTOBUF else bodies.mark_json
                marked = mark(request.signal, plain, marks)
                body, encoding = (marked, "") if plain is request.body else (gzip.compress(marked, 1), "gzip")
        forwarded = Message(request.signal, body, content_type, encoding)
        if problem := forwarder.put(forwarded):
            return bodies.answer(request.signal, content_type, max(len(entries), 1), problem)
        return bodies.answer(request.signal, content_type)

    def _count(self, entries: Sequence[Entry], message: Any) -> dict[Path, Mark]:
        for entry in entries:
            # A trace's conversation is often on its model calls alone.
            if entry.span.trace_id and (named := entry.span.conversation):
                self._memory.conversations.put(entry.span.trace_id, named)
        marks: dict[Path, Mark] = {}
        for entry in entries:
            with self._reading:
                mark = self._count_entry(entry, message)
                if mark is not None:
                    marks[entry.path] = mark
        return marks

    def _count_entry(self, entry: Entry, message: Any) -> Mark | None:
        if is_counted(entry):
            return None
        emitter = find_emitter(entry)
        report = emitter.read(entry, self._memory)
        if report is not None and not report.call.run_id:
            report = replace(report, call=replace(report.call, run_id=_find_process(entry) or report.call.agent))
        if report is None or (not emitter.hooks_name_calls and self._is_hooked(report.call.run_id)):
            return None
        names = _name(report, entry, message)
        key = self._claim(names)
        if key is None:
            answer = self._conclude(report, entry)
            key = answer.key
            for name in names:
                self._keys.put(name, key)
        return _mark(report, entry, key) if key else None

    def _claim(self, names: Sequence[str]) -> str | None:
        # The class of a call that is known; None for a new one, which is known from now on.
        with self._claiming:
            known = [key for name in names if (key := self._keys.get(name)) is not None]
            if known:
                return next(filter(None, known), "")
            for name in names:
                self._keys.put(name, "")
            return None

    def _conclude(self, report: Report, entry: Entry) -> Answer:
        span = entry.span
        place = SpanRef(trace_id=span.trace_id, span_id=span.span_id) if span.trace_id and span.span_id else None
        token = otel_context.attach(_surround(place))
        try:
            # Telemetry arrives when the agent has gone on: nothing is refused and nobody stopped by it.
            return self._runs.conclude(replace(report.call, stoppable=False), report.result)
        finally:
            otel_context.detach(token)


def _surround(place: SpanRef | None) -> Context:
    found = context_of(place)
    return Context() if found is None else found


def is_counted(entry: Entry) -> bool:
    """Return whether its sender, or another receiver, counts an entry."""
    return (
        entry.scope.startswith(semconv.SCOPE)
        or str(entry.resource.get(semconv.COUNTED, "")).lower() == "true"
        or semconv.CLASS in entry.span.attributes
        or semconv.OUTCOME in entry.span.attributes
    )


def _find_process(entry: Entry) -> str:
    names = (semconv.SESSION_ID, semconv.SERVICE_INSTANCE_ID, semconv.SERVICE_NAME)
    return next((found for name in names if (found := read_text(entry.resource, name))), "")


def _name(report: Report, entry: Entry, message: Any) -> tuple[str, ...]:
    call = report.call
    names = [f"{call.run_id}\n{call.call_id}"] if call.call_id else []
    names += report.aliases
    if not entry.is_log:
        names.append(name_span(entry))
    elif not call.call_id:
        # A sender that has got no answer sends a batch again: the same bytes, with the same time, are the same record.
        i, j, k = entry.path
        record = message.resource_logs[i].scope_logs[j].log_records[k].SerializeToString(deterministic=True)
        names.append(hashlib.blake2b(record, digest_size=16).hexdigest())
    return tuple(dict.fromkeys(filter(None, names)))


def _mark(report: Report, entry: Entry, key: str) -> Mark:
    attributes = {semconv.CLASS: key}
    if report.unknown:
        attributes[semconv.TEXT] = semconv.UNKNOWN_TEXT
    result = report.result
    if result.failed is not True:
        attributes[semconv.CERTAINTY] = "declared" if result.exit_code else "stated"
    names = [event.name for event in entry.span.events]
    last = max((n for n, name in enumerate(names) if name in _EXCEPTIONS), default=-1)
    return Mark(attributes, last + entry.events_left_out if last >= 0 else -1)
