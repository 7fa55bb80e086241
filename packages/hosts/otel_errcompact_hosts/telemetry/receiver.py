"""RECEIVE: count what a request reports."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from otel_errcompact.errors import SpanRef
from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import read_text
from otel_errcompact.otel.spans.context import context_of
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact_hosts.telemetry import bodies
from otel_errcompact_hosts.telemetry.bodies import PROTOBUF, Reply, RequestError
from otel_errcompact_hosts.telemetry.emitters import read_report
from otel_errcompact_hosts.telemetry.entries import Entries
from otel_errcompact_hosts.telemetry.messages import cut_text
from otel_errcompact_hosts.telemetry.reports import MAX_NAME, MAX_SAID, Memory, hash_name, name_span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from otel_errcompact_hosts.runs import LedgerRuns
    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Report

MAX_CPU_S: Final = 0.5
"""Seconds of CPU for one request; what is left of it then is rejected."""

MAX_CALLS: Final = 65_536
"""Names of calls that are remembered, so that a second record of a call is none: some hundred bytes each."""

STAGE: Final = "receive"

_TOO_MUCH: Final = f"the rest takes more than {MAX_CPU_S:g} s, or has too many fields; send smaller batches"

SIGNALS: Final = {"traces": "trace", "logs": "logs", "metrics": "metrics"}
"""What is taken, and how the services of gRPC call it."""


class Request(NamedTuple):
    """A request as it came."""

    signal: str
    body: bytes
    content_type: str = PROTOBUF
    encoding: str = ""


class Receiver:
    """
    Takes OTLP requests in any thread, one at a time.

    Telemetry comes after the fact, and anybody on the machine may send it: it is counted, in runs of its own, and does
    nothing else.

    Args:
        runs: Counts what is reported; no run of it may be one of those that hooks report.
        is_hooked: Whether hooks report a run, which they count themselves.
        source: What the names of agents end with, where others count in the same process.
        clock: Seconds of CPU of this thread.
    """

    def __init__(
        self,
        runs: LedgerRuns,
        *,
        is_hooked: Callable[[str], bool] = lambda _: False,
        source: str = "",
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self._runs = runs
        self._guard = runs.ledger.guard
        self._is_hooked = is_hooked
        self._source = source
        self._clock = clock
        self._memory = Memory()
        self._names: BoundedTable[bytes, bool] = BoundedTable(MAX_CALLS)
        self._taking = Lock()
        self._reading = self._guard.stage(STAGE)

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
        if request.signal == "metrics":  # of which nothing is read
            return bodies.answer(request.signal, content_type)
        with self._taking:  # memory has a bound so
            until = self._clock() + MAX_CPU_S
            # The body is not held: what is read later of it is copied.
            entries = Entries(request.signal, bodies.unpack(request.body, request.encoding), content_type)
            rejected = len(entries) - self._count_entries(entries, until)
        if rejected:
            self._guard.record_loss(STAGE, rejected)
        return bodies.answer(request.signal, content_type, rejected, _TOO_MUCH)

    def _count_entries(self, entries: Entries, until: float) -> int:
        # How many were read.
        read: list[Entry] = []
        for entry in entries:
            # A trace's conversation is often on its model calls alone.
            if entry.span.trace_id and (named := entry.span.conversation):
                self._memory.conversations.put(entry.span.trace_id, named[:MAX_NAME])
            read.append(entry)
            if self._clock() > until:
                break
        for number, entry in enumerate(read):
            if number and self._clock() > until:
                return number
            with self._reading:
                self._count_entry(entry)
        return len(read)

    def _count_entry(self, entry: Entry) -> None:
        report = None if is_counted(entry) else read_report(entry, self._memory)
        if report is None:
            return
        call = report.call
        run_id = (call.run_id or _find_process(entry) or call.agent)[:MAX_NAME]
        session = run_id.partition("/")[0]
        if any(map(self._is_hooked, (session, run_id))) or not self._claim_names(_name_call(run_id, report, entry)):
            return
        span = entry.span
        place = SpanRef(trace_id=span.trace_id, span_id=span.span_id) if span.trace_id and span.span_id else None
        token = otel_context.attach(context_of(place) or Context())
        try:
            # The span or record holds the failure already, and no agent reads the answer.
            call = replace(
                call,
                run_id=run_id,
                tool=call.tool[:MAX_NAME],
                arguments=cut_text(call.arguments, MAX_SAID),
                call_id=call.call_id[:MAX_NAME],
                agent=f"{call.agent[:MAX_NAME]}{self._source}",
                stoppable=False,
            )
            result = replace(report.result, text=cut_text(report.result.text, MAX_SAID))
            self._runs.conclude(call, result, is_read=False, is_recorded=True)
        finally:
            otel_context.detach(token)

    def _claim_names(self, names: Sequence[str]) -> bool:
        # Whether a call is new; it is known from now on.
        keys = [hash_name(name) for name in names]
        if any(self._names.get(key) for key in keys):
            return False
        for key in keys:
            self._names.put(key, True)
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
        # A sender that has got no answer sends a batch again: the same words, with the same time, are the same record.
        names.append(repr(entry.content))
    return tuple(dict.fromkeys(filter(None, names)))
