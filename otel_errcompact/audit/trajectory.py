"""Write raw errors and the life of runs as OTLP/JSON lines."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import format_span_id

from otel_errcompact import audit
from otel_errcompact.audit.files import name_file
from otel_errcompact.audit.line_file import LineFile
from otel_errcompact.config import runs_path
from otel_errcompact.digest import cut_middle
from otel_errcompact.engine.events import (
    Arrived,
    Began,
    Changed,
    Ended,
    Handled,
    Observation,
    Refused,
    Resolved,
    Resumed,
    Succeeded,
)
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.errors import SpanRef
from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.guard import Guard
from otel_errcompact.runtime.lazy import lazy
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from opentelemetry.sdk.trace.id_generator import IdGenerator

    from otel_errcompact.audit.life import Attributes
    from otel_errcompact.config import TrajectoryOptions
    from otel_errcompact.engine.listeners import Receivers
    from otel_errcompact.errors import RawError

_REFUSED: Final = (
    "raw errors are kept in no file until it can be written; name another one with OTEL_ERRCOMPACT_TRAJECTORY_PATH, "
    "or switch it off with OTEL_ERRCOMPACT_TRAJECTORY_ENABLED=false"
)
_REMAINS: Final = ": the trajectory's files are smaller"

MAX_RECORDS: Final = 4_096
"""Raw errors under way, whose lines are written and of which nothing else is known yet."""

_WHOLE: Final = (Changed, Succeeded, Resolved, Refused, Escalation, AnsweredEscalation, Resumed)
"""Events that are written as they are."""

MAX_LIVES: Final = 10_000
"""Runs in a shared store whose lines name which run of their id they are about."""


class TrajectoryFile(Listener):
    """
    Appends raw errors to one file and lives of runs to another.

    A raw error is written before anything else is done with it.

    A raw error is a span, and the only line that a failure adds to its file. The life of a run with failures is a list
    of log records in the file of runs: what was counted, what succeeded since, what was refused, escalated and
    answered, and how the run ended. A run without failures has no line. `docs/trajectory.md` shows each.

    Each line is one write to a file opened for appending, so that several processes can share it. The disk's errors
    are left to the ledger's guard; what could not be written is tried again with the next failure.

    Args:
        options: Path, size, number of rotated files, redaction.
        resource: What produced the errors; the SDK's default resource if None.
        ids: Makes ids for failures that no span recorded.
        clock_ns: Nanoseconds since the epoch, for failures that carry no time.
        guard: Counts lines that are lost, as `trajectory_dropped` and `trajectory_rotated`: `ledger.guard`; one of its
            own if None.
    """

    stage = "trajectory"

    def __init__(
        self,
        options: TrajectoryOptions,
        *,
        resource: Resource | None = None,
        ids: IdGenerator | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
        guard: Guard | None = None,
    ) -> None:
        resource = resource or Resource.create()
        named = options.path or name_file(str(resource.attributes.get(semconv.SERVICE_NAME, "")))
        self.path: Final[Path] = named.absolute()
        """Where the file of raw errors is."""
        self.runs_path: Final[Path] = runs_path(self.path)
        """Where the file of runs is."""
        self._options = options
        self._ids = ids or RandomIdGenerator()
        self._clock_ns = clock_ns
        self._resource = resource
        self._ledger_id = format_span_id(self._ids.generate_span_id())
        self._numbers = itertools.count(1)
        self._records: BoundedTable[int, str] = BoundedTable(MAX_RECORDS)
        self._lives: BoundedTable[str, str] = BoundedTable(MAX_LIVES)
        self._lock = ReentrantLock()
        guard = guard or Guard()
        self._raws = LineFile(self.path, options, guard)
        self._runs = LineFile(self.runs_path, options, guard)
        reset_in_child(self._forget_parent)

    @lazy
    def _span_envelope(self) -> tuple[str, str]:
        return audit.build_span_envelope(self._resource)

    @lazy
    def _log_envelope(self) -> tuple[str, str]:
        return audit.build_log_envelope(self._resource)

    @property
    def dropped(self) -> int:
        """Lines that were given up, since the disk kept refusing them."""
        return self._raws.dropped + self._runs.dropped

    @property
    def unwritten(self) -> int:
        """Lines that are not in the files: given up, or waiting."""
        return self._raws.unwritten + self._runs.unwritten

    def receivers(self) -> Receivers:
        """Return what writes each kind of event."""
        return {
            **dict.fromkeys(_WHOLE, self._write_event),
            Arrived: self.write_raw,
            Began: self._write_begin,
            Observation: self._write_observation,
            Handled: self._write_about_raw,
            Ended: self._write_end,
        }

    def write_raw(self, arrived: Arrived) -> None:
        """
        Write one raw error.

        Raises:
            OSError: The disk refuses; the line is kept and tried again with the next one.
        """
        record = f"{self._ledger_id}-{next(self._numbers)}"
        self._records.put(id(arrived.raw), record)
        self._append_line(self._raws, self.encode(arrived.run_id, arrived.raw, record))

    def _write_begin(self, begun: Began) -> None:
        if begun.life:
            self._lives.put(begun.run_id, begun.life)
        self._write_event(begun)

    def _write_observation(self, observation: Observation) -> None:
        self._write_about_raw(observation)
        if observation.taken_back:
            attributes: Attributes = {
                semconv.RUN_ID: observation.run_id,
                semconv.GEN_AI_AGENT_NAME: observation.agent,
                semconv.GEN_AI_TOOL_NAME: observation.raw.tool,
                semconv.CLASSES: (observation.found.key,),
            }
            self._write_line(semconv.RUN_TAKEN_BACK, attributes)

    def _write_about_raw(self, event: Observation | Handled) -> None:
        name, attributes = audit.describe_event(event)
        self._write_line(name, attributes, record=self._records.pop(id(event.raw)) or f"{self._ledger_id}-0")

    def _write_end(self, ended: Ended) -> None:
        if ended.report.occurrences or ended.report.handled:
            self._write_event(ended)
        self._lives.pop(ended.report.run_id)

    def _write_event(self, event: object) -> None:
        self._write_line(*audit.describe_event(event), event if isinstance(event, Escalation) else None)

    def _write_line(
        self, name: str, attributes: Attributes, escalation: Escalation | None = None, *, record: str = ""
    ) -> None:
        if self._options.redact:
            attributes = {name: audit.redact_value(value) for name, value in attributes.items()}
        attributes |= {semconv.RECORD: record} if record else {semconv.LEDGER_ID: self._ledger_id}
        if (shared := self._lives.get(str(attributes[semconv.RUN_ID]))) is not None:
            attributes[semconv.LIFE_ID] = shared
        written = audit.write_log_record(
            name,
            attributes,
            time_ns=(escalation.time_ns if escalation is not None else 0) or self._clock_ns(),
            severity=audit.INFO if escalation is None else audit.ERROR,
            span=escalation.span if escalation is not None else None,
        )
        head, tail = self._log_envelope
        self._append_line(self._runs, f"{head}{written}{tail}\n".encode("ascii"))

    def _append_line(self, file: LineFile, line: bytes) -> None:
        is_within = self._lock.is_mine()
        with self._lock:
            try:
                # Within: in a signal handler or a finaliser, in the middle of a line, and the process may end.
                file.write(line) if is_within else file.append(line)
            except OSError as error:
                error.add_note(_REFUSED)
                raise

    def close(self) -> None:
        """
        Write what waits, or give it up, and close the files.

        The next failure opens them again.
        """
        with self._lock:
            self._raws.end()
            self._runs.end()

    def encode(self, run_id: str, raw: RawError, record: str = "") -> bytes:
        """
        Return the line for one raw error.

        An error larger than a whole file loses its middle, visibly.

        Args:
            run_id: The run's id.
            raw: The raw error.
            record: What later lines name it by; empty if none does.
        """
        # Redaction may shorten a text by any length.
        if self._options.redact or not audit.is_longer(raw.text, self._options.max_bytes):
            line = self._encode_line(run_id, raw, raw.text, record)
            if len(line) <= self._options.max_bytes:
                return line
        # Escaped as JSON, a character takes up to twelve bytes.
        return self._encode_line(run_id, raw, cut_middle(raw.text, self._options.max_bytes // 16, _REMAINS), record)

    def _encode_line(self, run_id: str, raw: RawError, text: str, record: str) -> bytes:
        span = raw.span or SpanRef(trace_id=self._ids.generate_trace_id(), span_id=self._ids.generate_span_id())
        redacted = self._options.redact
        named = audit.describe_raw(raw)
        if redacted:
            named = {name: audit.redact_value(value) for name, value in named.items()}
        named[semconv.RECORD] = record
        time_ns = raw.time_ns or self._clock_ns()
        written = audit.write_span(run_id, raw, text, span, time_ns, redacted=redacted, named=named)
        head, tail = self._span_envelope
        return f"{head}{written}{tail}\n".encode("ascii")

    def _forget_parent(self) -> None:
        """Start empty in a child process; the parent writes its own lines."""
        self._lock = ReentrantLock()
        self._records.clear()
        self._ledger_id = format_span_id(self._ids.generate_span_id())
        self._raws.forget()
        self._runs.forget()
