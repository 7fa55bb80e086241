"""The audit sink: every raw error whole, and the life of each run, as lines of two OTLP/JSON files side by side."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.json_format import MessageToDict
from opentelemetry import context as otel_context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, format_span_id, format_trace_id

from otel_errcompact.audit import life
from otel_errcompact.config import runs_path
from otel_errcompact.digest import encodable, one_line
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.errors import SpanRef
from otel_errcompact.otel import semconv
from otel_errcompact.otel.sdk import suppress_instrumentation
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from opentelemetry.sdk.trace.id_generator import IdGenerator

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.config import TrajectoryOptions
    from otel_errcompact.engine.observations import BegunRun, Observation, Refusal, Resumed, Success
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import RawError
    from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
    from otel_errcompact.history.history import ErrorClass

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows, where one process has to write a file alone
    fcntl = None  # type: ignore[assignment]

MAX_PENDING: Final = 64
"""Lines that wait for a disk that refuses them."""

MAX_RECORDS: Final = 4_096
"""Raw errors under way, whose lines are written and of which nothing else is known yet."""

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_INTERNAL: Final = 1
"""The kind of a span that is neither a client's nor a server's."""
_ERROR: Final = 2
_NOT_REMOTE: Final = 0x100
"""The flag that says that it is known whether the parent is in another process: it is not."""
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
_HERE: Final = "\0spans\0"
_IDENTITY: Final = ("service.name", "service.namespace", semconv.SERVICE_INSTANCE_ID)
"""What the lines of a run's life tell of the resource; those of raw errors tell all."""


class LineFile:
    """
    A file of lines that several processes may share, rotated by size.

    Args:
        path: Where it is.
        options: Its size, and the number of rotated files.
    """

    def __init__(self, path: Path, options: TrajectoryOptions) -> None:
        self.dropped = 0
        """Lines that were given up because the disk went on refusing them."""
        self.path: Final = path
        self._options = options
        self._pending: deque[bytes] = deque()
        self._file: int | None = None
        self._torn = False

    def append(self, line: bytes) -> None:
        """
        Write a line, behind those that wait.

        Raises:
            OSError: The disk refuses; the line is kept and tried again with the next one.
        """
        if len(self._pending) >= MAX_PENDING:
            self._pending.popleft()
            self.dropped += 1
        self._pending.append(line)
        self._flush()

    def forget(self) -> None:
        """Start empty in a child process: what waits is its parent's to write."""
        self._pending.clear()
        self.close()

    def _flush(self) -> None:
        token = suppress_instrumentation()
        try:
            while self._pending:
                self.write(self._pending[0])
                self._pending.popleft()
        finally:
            otel_context.detach(token)

    def write(self, line: bytes) -> None:
        """
        Write one line now.

        Raises:
            OSError: The disk refuses, or took a part of it.
        """
        file = self._current()
        size = os.fstat(file).st_size
        if size and size + len(line) > self._options.max_bytes:
            self._rotate(file)
            file = self._current()
        if self._torn:
            line = b"\n" + line
        written = os.write(file, line)
        self._torn = written < len(line)
        if self._torn:
            raise OSError(f"only {written} of {len(line)} bytes went into {self.path}")

    def _current(self) -> int:
        """Return the open file that is at the path: another process may have rotated it away."""
        if self._file is not None and not _is_at(self._file, self.path):
            self.close()
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, _FLAGS, 0o600)
        return self._file

    def _rotate(self, file: int) -> None:
        """
        Move the file to `<path>.1`, and older ones on.

        Of several processes that find the file full, the one that holds its lock moves it; the others, who do not wait,
        write on and find the new file next time.
        """
        if not _locked(file) or not _is_at(file, self.path):
            return
        names = [
            self.path,
            *(self.path.with_name(f"{self.path.name}.{n}") for n in range(1, self._options.backups + 1)),
        ]
        for older, newer in zip(names[:0:-1], names[-2::-1], strict=True):
            if newer.exists():
                newer.replace(older)
        if len(names) == 1:
            self.path.unlink()
        self.close()

    def close(self) -> None:
        """Let go of the file; the next line opens it again."""
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)


class TrajectoryFile(Listener):
    """
    Append every raw error to an OTLP/JSON-lines file before anything else is done with it, and to a second one beside
    it what became of it.

    A raw error is a span, and the only line that a failure adds to its file. The life of a run that has failed is told
    by log records in the file of runs: what was counted, what succeeded since, what was refused, escalated and
    answered, and how the run ended. Of a run in which nothing fails there is no line. `docs/trajectory.md` shows each.

    Each line is one write to a file opened for appending, so that several processes can share it. The disk's errors
    are left to the ledger's guard; what could not be written is tried again with the next failure.

    Args:
        options: Path, size, number of rotated files, redaction.
        resource: What produced the errors; the SDK's default resource if None.
        ids: Makes ids for failures that no span recorded.
        clock_ns: Nanoseconds since the epoch, for failures that carry no time.
    """

    stage = "trajectory"

    def __init__(
        self,
        options: TrajectoryOptions,
        *,
        resource: Resource | None = None,
        ids: IdGenerator | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self.path: Final[Path] = options.path.absolute()
        """Where the file of raw errors is."""
        self.runs_path: Final[Path] = runs_path(self.path)
        """Where the file of runs is."""
        self._options = options
        self._ids = ids or RandomIdGenerator()
        self._clock_ns = clock_ns
        resource = resource or Resource.create()
        self._head, self._tail = _envelope(resource)
        self._life_head, self._life_tail = _life_envelope(resource)
        self._ledger_id = format_span_id(self._ids.generate_span_id())
        self._numbers = itertools.count(1)
        self._records: BoundedTable[int, int] = BoundedTable(MAX_RECORDS)
        self._lock = ReentrantLock()
        self._raws = LineFile(self.path, options)
        self._runs = LineFile(self.runs_path, options)
        reset_in_child(self._forget)

    @property
    def dropped(self) -> int:
        """Lines that were given up because the disk went on refusing them."""
        return self._raws.dropped + self._runs.dropped

    def on_raw(self, run_id: str, raw: RawError) -> None:
        """
        Write one raw error.

        Raises:
            OSError: The disk refuses; the line is kept and tried again with the next one.
        """
        number = next(self._numbers)
        self._records.put(id(raw), number)
        self._append(self._raws, self.encode(run_id, raw, number))

    def on_begin(self, begun: BegunRun) -> None:
        """Write the settings of a run."""
        self._tell(semconv.RUN_BEGIN, life.of_begin(begun))

    def on_changed(self, begun: BegunRun) -> None:
        """Write the settings that a run has from now on."""
        self._tell(semconv.RUN_CHANGED, life.of_begin(begun))

    def on_observed(self, observation: Observation) -> None:
        """Write what became of a failure."""
        self._tell(semconv.RUN_ERROR, life.of_observation(observation, self._record_of(observation.raw)))

    def on_handled(self, run_id: str, agent: str, raw: RawError, found: Classified) -> None:
        """Write that a failure was inside a call that in the end succeeded."""
        self._tell(semconv.RUN_HANDLED, life.of_handled(run_id, agent, self._record_of(raw), found.key))

    def on_succeeded(self, success: Success) -> None:
        """Write a success."""
        self._tell(semconv.RUN_SUCCESS, life.of_success(success))

    def on_resolved(self, run_id: str, agent: str, tool: str, resolved: tuple[ErrorClass, ...]) -> None:
        """Write which classes were resolved."""
        self._tell(semconv.RUN_RESOLVED, life.of_classes(run_id, agent, tool, resolved))

    def on_taken_back(self, run_id: str, agent: str, tool: str, error_class: ErrorClass) -> None:
        """Write which class is open again."""
        self._tell(semconv.RUN_TAKEN_BACK, life.of_classes(run_id, agent, tool, (error_class,)))

    def on_refused(self, refusal: Refusal) -> None:
        """Write a refusal."""
        self._tell(semconv.RUN_REFUSED, life.of_refusal(refusal))

    def on_escalated(self, escalation: Escalation) -> None:
        """Write a breach."""
        self._tell(semconv.RUN_ESCALATED, life.of_escalation(escalation), escalation)

    def on_answered(self, answered: AnsweredEscalation) -> None:
        """Write what was done about a breach."""
        self._tell(semconv.RUN_ANSWERED, life.of_answer(answered))

    def on_resumed(self, resumed: Resumed) -> None:
        """Write that a human lets a run go on."""
        self._tell(semconv.RUN_RESUMED, life.of_resume(resumed))

    def on_run_end(self, report: RunReport) -> None:
        """Write how a run ended in which something has failed."""
        if report.occurrences or report.handled:
            self._tell(semconv.RUN_END, life.of_end(report))

    def _record_of(self, raw: RawError) -> int:
        return self._records.pop(id(raw)) or 0

    def _tell(
        self,
        event: str,
        attributes: dict[str, life.Value],
        escalation: Escalation | None = None,
    ) -> None:
        if self._options.redact:
            attributes = {name: _redacted(value) for name, value in attributes.items()}
        attributes[semconv.LEDGER_ID] = self._ledger_id
        fields = life.log_record(
            event,
            attributes,
            time_ns=(escalation.time_ns if escalation is not None else 0) or self._clock_ns(),
            severity=life.INFO if escalation is None else life.ERROR,
            span=escalation.span if escalation is not None else None,
        )
        self._append(self._runs, f"{self._life_head}{_json(fields)}{self._life_tail}\n".encode("ascii"))

    def _append(self, file: LineFile, line: bytes) -> None:
        is_within = self._lock.is_mine()
        with self._lock:
            if is_within:  # a signal handler or a finaliser in the middle of another line, which may end the process
                file.write(line)
            else:
                file.append(line)

    def close(self) -> None:
        """Let go of the files; the next failure opens them again."""
        with self._lock:
            self._raws.close()
            self._runs.close()

    def encode(self, run_id: str, raw: RawError, number: int = 0) -> bytes:
        """
        Return the line for one raw error; one that is larger than a whole file loses its middle, visibly.

        Args:
            run_id: The run's id.
            raw: The raw error.
            number: By which later lines name it; 0 if none does.
        """
        line = self._line(run_id, raw, raw.text, number)
        if len(line) > self._options.max_bytes:
            # Escaped as JSON, a character takes up to twelve bytes.
            line = self._line(run_id, raw, _clipped(raw.text, self._options.max_bytes // 16), number)
        return line

    def _line(self, run_id: str, raw: RawError, text: str, number: int) -> bytes:
        span = raw.span or SpanRef(trace_id=self._ids.generate_trace_id(), span_id=self._ids.generate_span_id())
        fields = _span(run_id, raw, text, span, raw.time_ns or self._clock_ns(), redacted=self._options.redact)
        if number:
            named = {semconv.LEDGER_ID: self._ledger_id, semconv.RECORD: number, **life.of_raw(raw)}
            if self._options.redact:
                named = {name: _redacted(value) for name, value in named.items()}
            fields["attributes"] += life.key_values(named)
        return f"{self._head}{_json(fields)}{self._tail}\n".encode("ascii")

    def _forget(self) -> None:
        """Start anew in a child process: what waits is its parent's to write."""
        self._lock = ReentrantLock()
        self._records.clear()
        self._ledger_id = format_span_id(self._ids.generate_span_id())
        self._raws.forget()
        self._runs.forget()


def _envelope(resource: Resource) -> tuple[str, str]:
    """Everything around the span of a line, which is the same in all of them."""
    scope = InstrumentationScope(semconv.SCOPE)
    context = SpanContext(1, 1, is_remote=False)
    span = ReadableSpan("", context=context, resource=resource, instrumentation_scope=scope, start_time=0, end_time=0)
    fields = MessageToDict(encode_spans((span,)), use_integers_for_enums=True)
    fields["resourceSpans"][0]["scopeSpans"][0]["spans"] = [_HERE]
    head, tail = _json(fields).split(_json(_HERE))
    return head, tail


def _life_envelope(resource: Resource) -> tuple[str, str]:
    """Everything around the log record of a line; of the resource no more than who it is, since most are small."""
    attributes = {name: str(resource.attributes[name]) for name in _IDENTITY if resource.attributes.get(name)}
    fields = {
        "resourceLogs": [
            {
                "resource": {"attributes": life.key_values(attributes)},
                "scopeLogs": [{"scope": {"name": semconv.SCOPE}, "logRecords": [_HERE]}],
            }
        ]
    }
    head, tail = _json(fields).split(_json(_HERE))
    return head, tail


def _redacted(value: life.Value) -> life.Value:
    if isinstance(value, str):
        return redact(value)
    return tuple(map(redact, value)) if isinstance(value, tuple) else value


def _span(run_id: str, raw: RawError, text: str, span: SpanRef, time_ns: int, *, redacted: bool) -> dict[str, Any]:
    """
    Return the span as OTLP/JSON has it.

    By hand, since the official encoder takes longer than all else that is done about a failure; a test compares.
    """
    exact = redact(text) if redacted else text
    message = redact(raw.message) if redacted else raw.message
    details: dict[str, Any] = {
        semconv.EXCEPTION_TYPE: raw.type,
        semconv.EXCEPTION_MESSAGE: message,
        semconv.EXCEPTION_STACKTRACE: exact,
    }
    if not raw.type and not message:
        details[semconv.EXCEPTION_TYPE] = semconv.TOOL_ERROR
    details = _visible(details)
    if details.get(semconv.EXCEPTION_STACKTRACE, "") != exact:
        details[semconv.RAW] = exact.encode("utf-8", "surrogatepass")
    at = str(time_ns)
    return {
        "traceId": format_trace_id(span.trace_id),
        "spanId": format_span_id(span.span_id),
        "name": encodable(_name(raw)),
        "kind": _INTERNAL,
        "startTimeUnixNano": at,
        "endTimeUnixNano": at,
        "attributes": life.key_values(_attributes(run_id, raw, redacted=redacted)),
        "events": [{"timeUnixNano": at, "name": semconv.EXCEPTION_EVENT, "attributes": life.key_values(details)}],
        "status": {"message": one_line(encodable(message or raw.type or exact[:400])), "code": _ERROR},
        "flags": _NOT_REMOTE,
    }


def _name(raw: RawError) -> str:
    if not raw.boundary or _is_model_call(raw):
        return str(raw.scope)
    return f"{semconv.SPAN_TOOL} {raw.tool}".rstrip()


def _is_model_call(raw: RawError) -> bool:
    return raw.tool == raw.operation.name and raw.tool in semconv.MODEL_OPERATIONS


def _attributes(run_id: str, raw: RawError, *, redacted: bool) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        semconv.GEN_AI_CONVERSATION_ID: run_id,
        semconv.RUN_ID: run_id,
        semconv.GEN_AI_AGENT_NAME: raw.agent,
        semconv.ERROR_TYPE: raw.type or semconv.TOOL_ERROR,
    }
    if raw.boundary and _is_model_call(raw):
        attributes[semconv.GEN_AI_OPERATION_NAME] = raw.operation.name
    elif raw.boundary:
        attributes[semconv.GEN_AI_OPERATION_NAME] = semconv.SPAN_TOOL
        attributes[semconv.GEN_AI_TOOL_NAME] = raw.tool
        attributes[semconv.GEN_AI_TOOL_CALL_ID] = raw.call_id
        attributes[semconv.GEN_AI_TOOL_CALL_ARGUMENTS] = life.clipped(
            redact(raw.arguments) if redacted else raw.arguments
        )
    attributes = _visible(attributes)
    if raw.exit_code is not None:
        attributes[semconv.PROCESS_EXIT_CODE] = raw.exit_code
    return attributes


def _visible(attributes: Mapping[str, str]) -> dict[str, Any]:
    """Leave out what is empty, and write what UTF-8 cannot hold, lone surrogates, as backslash escapes."""
    return {name: encodable(value) for name, value in attributes.items() if value}


def _clipped(text: str, limit: int) -> str:
    half = limit // 2
    gone = len(text) - 2 * half
    return f"{text[:half]}\n... {gone} characters cut: the trajectory's files are smaller ...\n{text[-half:]}"


def _json(fields: object) -> str:
    """Encode as ASCII: some readers take U+2028 and its like for the end of a line."""
    return _ENCODER.encode(fields)


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _locked(file: int) -> bool:
    """Lock an open file against other processes, until it is closed; False if another one holds it."""
    if fcntl is None:  # pragma: no cover
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
