"""A list of events, as a log of commands has them, as the block of recent errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact import digest as rendering
from otel_errcompact.classify import classify
from otel_errcompact.digest import DigestOptions, one_line
from otel_errcompact.errors import RawError
from otel_errcompact.escalation import CARRY_ON
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.hints import hint_for
from otel_errcompact.history import History
from otel_errcompact.operation import operation_of
from otel_errcompact.recognise import judge
from otel_errcompact.redaction import redact
from otel_errcompact.tokens import TokenCounter, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact.errors import Facts

MAX_CLASSES: Final = 100
"""Error classes that are kept while events are read; far more than a block can show."""

_MAX_NOTE: Final = 120
"""Characters of a command or a reason that are shown beside a class."""

_SHELL: Final = "shell"
"""What an event without a tool was run by."""

_SUCCEEDED: Final = frozenset({"ok", "success", "succeeded", "passed", "completed", "done"})
_FAILED: Final = frozenset({"error", "failed", "failure", "timeout", "timed_out", "crashed"})
_NEITHER: Final = frozenset({"pending", "running", "skipped", "cancelled", "canceled", "declined", "rejected"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    """
    Something that was run, and how it ended.
    """

    command: str = ""
    """The command line, or the arguments of a tool as JSON."""

    code: str | int | None = None
    """An error's own code: `ENOENT`, `E0382`, 404."""

    exit_code: int | None = None
    reason: str = ""
    """What went wrong, in one line."""

    duration: float | None = None
    """How long it took, in seconds."""

    status: str = ""
    """What the log says of it: `ok`, `failed`, `cancelled` ...; if empty, the other fields decide."""

    text: str = ""
    """The whole output; what it says goes before what `reason` says."""

    tool: str = ""
    """The tool that ran it; a shell if empty."""

    time: float | None = None
    """When it ended, in seconds since the epoch; without it the order of the list counts."""


def compact_errors(
    events: Iterable[ErrorEvent | Mapping[str, object]],
    *,
    options: DigestOptions | None = None,
    count_tokens: TokenCounter = estimate_tokens,
) -> str:
    """
    Return the `[RECENT ERRORS] ... [/RECENT ERRORS]` block of a list of events; empty if nothing failed.

    Failures of one class (the same keys as everywhere in this library) are one line with their count, the newest class
    first. A later success of the same operation resolves a class, and it is left out. An event has failed if its status
    says so, or else its exit code, a code or a reason, or what its text plainly says.

    Args:
        events: What happened, oldest first unless each has a time; mappings have the fields of `ErrorEvent`.
        options: The budget of the block and the length of its lines.
        count_tokens: How tokens are counted.

    Raises:
        ConfigurationError: An event is none; the message says which, what is wrong, and what to do.
    """
    read = [_event(event, index) for index, event in enumerate(events)]
    if all(event.time is not None for event in read):
        read.sort(key=lambda event: event.time or 0)
    history = History(max_classes=MAX_CLASSES)
    for event in read:
        _add(event, history)
    return rendering.block(
        history, options=options or DigestOptions(), decision=lambda _: CARRY_ON, count_tokens=count_tokens
    )


def _add(event: ErrorEvent, history: History) -> None:
    tool = event.tool or _SHELL
    operation = operation_of(tool, event.command)
    outcome = _outcome(event, tool)
    if outcome == "success":
        history.succeed(operation)
    if outcome != "failure":
        return
    code = "" if event.code is None else str(event.code)
    said = event.text or event.reason
    raw = RawError(
        text=said if said or code else f"{operation.name.removeprefix(_SHELL).strip()} failed",
        type=code,
        message=event.reason,
        exit_code=event.exit_code,
        tool=event.tool,
        operation=operation,
        arguments=event.command,
        time_ns=int((event.time or 0) * 1e9),
    )
    found = classify(raw)
    shown = replace(found, facts=replace(found.facts, tally=_notes(event, code, found.facts)))
    history.record(raw, shown, hint=hint_for(found.facts))


def _outcome(event: ErrorEvent, tool: str) -> str:
    if event.status in _NEITHER:
        return "ignored"
    flagged = None
    if event.status:
        flagged = event.status in _FAILED
    elif event.code is not None or event.reason:
        flagged = True
    exit_code = None if flagged is False else event.exit_code
    said = event.text or event.reason
    return judge(said, tool=tool, arguments=event.command, flagged=flagged, exit_code=exit_code).outcome


def _notes(event: ErrorEvent, code: str, facts: Facts) -> str:
    """Return what an event says beside what its class does: the command, how it ended, how long it took."""
    told = f"{facts.type} {facts.cause}"
    notes = [facts.tally, one_line(redact(event.command), _MAX_NOTE)]
    if code and code not in told:
        notes.append(f"code {one_line(redact(code), _MAX_NOTE)}")
    if event.exit_code is not None and facts.type != f"exit code {event.exit_code}":
        notes.append(f"exit code {event.exit_code}")
    if event.duration is not None:
        notes.append(_seconds(event.duration))
    if event.text and (reason := one_line(redact(event.reason), _MAX_NOTE)) and reason not in told:
        notes.append(reason)
    return ", ".join(filter(None, notes))


def _seconds(duration: float) -> str:
    if duration < 1:
        return f"{duration * 1_000:.0f} ms"
    return f"{duration:.1f} s" if duration < 100 else f"{duration:,.0f} s"  # noqa: PLR2004 - three digits are enough


# Reading what the application hands over.

_FIELDS: Final = tuple(field.name for field in fields(ErrorEvent))
_MEANT: Final = {name.replace("_", ""): name for name in _FIELDS}
_TEXTS: Final = frozenset({"command", "reason", "text", "tool"})


def _event(event: object, index: int) -> ErrorEvent:
    if isinstance(event, Mapping):
        given = cast("Mapping[object, object]", event)
        values = {name: given[name] for name in _FIELDS if given.get(name) is not None}
        _refuse_misspelt(given, index)
    elif isinstance(event, ErrorEvent):
        values = {name: value for name in _FIELDS if (value := getattr(event, name)) is not None}
    else:
        raise _bad(index, "", event, f"an ErrorEvent or a mapping with some of {', '.join(_FIELDS)}")
    checked = {name: _checked(name, value, index) for name, value in values.items()}
    return ErrorEvent(**checked)  # type: ignore[arg-type] # each was checked by its name


def _refuse_misspelt(given: Mapping[object, object], index: int) -> None:
    """Other fields are the application's own; one that is nearly ours would be a failure that nobody sees."""
    for name in given:
        plain = name.replace("_", "").replace("-", "").lower() if isinstance(name, str) else ""
        meant = _MEANT.get(plain)
        if meant is not None and meant != name:
            raise ConfigurationError(f"events[{index}] has a field {name!r}; it is called {meant!r}")


def _checked(name: str, value: object, index: int) -> object:
    if name in _TEXTS:
        if not isinstance(value, str):
            raise _bad(index, name, value, "a text")
        return value
    if name == "status":
        status = value.strip().lower() if isinstance(value, str) else None
        if status is None or (status and status not in _SUCCEEDED | _FAILED | _NEITHER):
            known = ", ".join(sorted(_SUCCEEDED | _FAILED | _NEITHER))
            raise _bad(index, name, value, f"one of {known}, or nothing where the other fields decide")
        return status
    if name == "code":
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise _bad(index, name, value, "a text or a whole number")
        return value if value not in {"", 0} else None
    if name == "exit_code":
        if isinstance(value, bool) or not isinstance(value, int):
            raise _bad(index, name, value, "a whole number")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        what = "seconds since the epoch (of a datetime its .timestamp())" if name == "time" else "seconds"
        raise _bad(index, name, value, f"a number of {what}, not below zero")
    return value


def _bad(index: int, name: str, value: object, wanted: str) -> ConfigurationError:
    field = f".{name}" if name else ""
    return ConfigurationError(f"events[{index}]{field} must be {wanted}, and is {one_line(repr(value), 80)}")
