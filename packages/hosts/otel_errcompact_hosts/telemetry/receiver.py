"""RECEIVE: count what a request reports."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from otel_errcompact.errors import SpanRef
from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import read_text
from otel_errcompact.otel.spans.context import context_of
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.guard import Guard
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact_hosts.telemetry import bodies
from otel_errcompact_hosts.telemetry.bodies import JSON, MAX_BYTES, PROTOBUF, Reply, RequestError
from otel_errcompact_hosts.telemetry.emitters import WITHOUT_IDS, read_report
from otel_errcompact_hosts.telemetry.entries import read_entries
from otel_errcompact_hosts.telemetry.reports import Memory, name_span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact_hosts.runs import LedgerRuns
    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Report

AT_ONCE: Final = 4
"""Requests that are taken at the same time, so that memory has a bound; further ones wait."""

MAX_CALLS: Final = 65_536
"""Names of calls that are remembered, so that a second record of a call is none: some hundred bytes each."""

STAGE: Final = "receive"

SIGNALS: Final = {"traces": "trace", "logs": "logs", "metrics": "metrics"}
"""What is taken, and how the services of gRPC call it."""


class Request(NamedTuple):
    """A request as it came."""

    signal: str
    body: bytes
    content_type: str = PROTOBUF
    encoding: str = ""


class Receiver:
    """Takes OTLP requests in any thread."""

    def __init__(self, runs: LedgerRuns, *, guard: Guard | None = None, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes: Final = max_bytes
        """Bytes of a request at most, as it comes and unpacked."""
        self.guard: Final = guard or Guard()
        """Counts what went wrong."""
        self._runs = runs
        self._memory = Memory()
        self._names: BoundedTable[str, bool] = BoundedTable(MAX_CALLS)
        self._claiming = ReentrantLock()
        self._reading = self.guard.stage(STAGE)

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
        if request.signal != "metrics":  # of which nothing is read
            plain = bodies.unpack(request.body, request.encoding, self.max_bytes)
            encoded = plain if content_type == PROTOBUF else bodies.encode(request.signal, plain)
            self._count_entries(read_entries(request.signal, encoded, partial(self.guard.record_loss, STAGE, 1)))
        return Reply(200, content_type, b"{}" if content_type == JSON else b"")

    def _count_entries(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            # A trace's conversation is often on its model calls alone.
            if entry.span.trace_id and (named := entry.span.conversation):
                self._memory.conversations.put(entry.span.trace_id, named)
        for entry in entries:
            with self._reading:
                self._count_entry(entry)

    def _count_entry(self, entry: Entry) -> None:
        report = None if is_counted(entry) else read_report(entry, self._memory)
        if report is None:
            return
        run_id = report.call.run_id or _find_process(entry) or report.call.agent
        if report.call.agent in WITHOUT_IDS and self._runs.is_hooked(run_id):
            return  # the hook counts
        if not self._claim_names(_name_call(run_id, report, entry)):
            return
        span = entry.span
        place = SpanRef(trace_id=span.trace_id, span_id=span.span_id) if span.trace_id and span.span_id else None
        token = otel_context.attach(context_of(place) or Context())
        try:
            # Telemetry arrives when the agent has gone on: nothing is refused and nobody stopped by it, no agent reads
            # the answer, and the span or record holds the failure already.
            call = replace(report.call, run_id=run_id, stoppable=False)
            self._runs.conclude(call, report.result, is_read=False, is_recorded=True)
        finally:
            otel_context.detach(token)

    def _claim_names(self, names: Sequence[str]) -> bool:
        # Whether a call is new; it is known from now on.
        with self._claiming:
            if any(self._names.get(name) for name in names):
                return False
            for name in names:
                self._names.put(name, True)
            return True


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


def _name_call(run_id: str, report: Report, entry: Entry) -> tuple[str, ...]:
    call_id = report.call.call_id
    names = [f"{run_id}\n{call_id}" if call_id else "", *report.aliases]
    if not entry.is_log:
        names.append(name_span(entry))
    elif not call_id:
        # A sender that has got no answer sends a batch again: the same bytes, with the same time, are the same record.
        names.append(hashlib.blake2b(entry.raw, digest_size=16).hexdigest())
    return tuple(dict.fromkeys(filter(None, names)))
