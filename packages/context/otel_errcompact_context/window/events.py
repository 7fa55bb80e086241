"""A list of events, as a log of commands has them, as the block of recent errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.operation import operation_of
from otel_errcompact.digest import DigestOptions, one_line
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.engine.pipeline import FailureMemory, Pipeline
from otel_errcompact.errors import RawError
from otel_errcompact.history.history import History
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.roots import open_roots
from otel_errcompact_context.window.entries import FAILED, ErrorEvent, read_events

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from otel_errcompact.errors import Facts

MAX_CLASSES: Final = 100
"""Error classes that are kept while events are read; far more than a block can show."""

_MAX_NOTE: Final = 120
"""Characters of a command or a reason that are shown beside a class."""

_SHELL: Final = "shell"
"""What an event without a tool was run by."""


def compact_errors(
    events: Iterable[ErrorEvent | Mapping[str, object]],
    *,
    options: DigestOptions | None = None,
    count_tokens: TokenCounter = estimate_tokens,
    workspace_roots: Iterable[Path] = (),
) -> str:
    """
    Return the `[RECENT ERRORS] ... [/RECENT ERRORS]` block of a list of events; empty if nothing failed.

    Failures of one class (the same keys as everywhere in this library) are one line with their count, the newest class
    first. A later success of the same operation resolves a class, and it is left out. An event has failed if a flag, a
    status or an error says so, or else its exit code, a code or a reason, or plain words of its text.

    Mappings have the fields of `ErrorEvent`, or those of a log: names in any spelling and by what they mean
    (`exitCode`, `returncode`; `ok`, `success`, `isError`; `error` as a text or an object; `cmd`, `stdout` ...), at the
    top or in containers such as `payload`, `data`, `event` and `result`. Events of other kinds, as messages and
    thoughts, are skipped, unless they report a failure.

    Args:
        events: What happened, oldest first unless each has a time.
        options: The budget of the block and the length of its lines.
        count_tokens: How tokens are counted.
        workspace_roots: The folders of the user's own code, as in `Options`.

    Raises:
        ConfigurationError: An event is none, a field of a result is malformed, or no field of a result is known; the
            message names it, what is wrong, and what to do.
    """
    memory = FailureMemory(history=History(max_classes=MAX_CLASSES))
    pipeline = Pipeline(options or DigestOptions(), count_tokens, roots=open_roots(workspace_roots))
    for event in read_events(events):
        _add_event(event, memory, pipeline)
    return pipeline.render_block(memory)


def _add_event(event: ErrorEvent, memory: FailureMemory, pipeline: Pipeline) -> None:
    tool = event.tool or _SHELL
    operation = operation_of(tool, event.command)
    outcome = _decide_outcome(event, tool, pipeline)
    if outcome == "success" and (event.tool or event.command):
        memory.history.succeed(operation)
    if outcome != "failure":
        return
    code = "" if event.code is None else str(event.code)
    text = event.text or event.reason
    raw = RawError(
        text=text if text or code else f"{operation.name.removeprefix(_SHELL).strip()} failed",
        type=code,
        message=event.reason,
        exit_code=event.exit_code,
        tool=event.tool,
        operation=operation,
        arguments=event.command,
        time_ns=int((event.time or 0) * 1e9),
    )
    found = pipeline.classify(raw)
    noted = replace(found, facts=replace(found.facts, tally=_write_notes(event, code, found.facts)))
    pipeline.record(memory, raw, noted, kind=pipeline.kind_of(raw, found))


def _decide_outcome(event: ErrorEvent, tool: str, pipeline: Pipeline) -> str:
    flagged = None
    if event.status:
        flagged = event.status == FAILED
    elif event.code is not None or event.reason:
        flagged = True
    exit_code = None if flagged is False else event.exit_code
    text = event.text or event.reason
    return pipeline.detect(text, tool=tool, arguments=event.command, flagged=flagged, exit_code=exit_code).outcome


def _write_notes(event: ErrorEvent, code: str, facts: Facts) -> str:
    shown = f"{facts.type} {facts.cause}"
    notes = [facts.tally, one_line(redact(event.command), _MAX_NOTE)]
    if code and code not in shown:
        notes.append(f"code {one_line(redact(code), _MAX_NOTE)}")
    if event.exit_code is not None and facts.type != f"exit code {event.exit_code}":
        notes.append(f"exit code {event.exit_code}")
    if event.duration is not None:
        notes.append(_write_seconds(event.duration))
    if event.text and (reason := one_line(redact(event.reason), _MAX_NOTE)) and reason not in shown:
        notes.append(reason)
    return ", ".join(filter(None, notes))


def _write_seconds(duration: float) -> str:
    if duration < 1:
        return f"{duration * 1_000:.0f} ms"
    return f"{duration:.1f} s" if duration < 100 else f"{duration:,.0f} s"  # noqa: PLR2004 - three digits are enough
