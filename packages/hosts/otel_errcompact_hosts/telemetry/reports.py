"""What emitters report of calls, and remember between messages."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from otel_errcompact.compactor.classify import classify
from otel_errcompact.detector.operation import operation_of
from otel_errcompact.errors import RawError
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass
from otel_errcompact.runtime.roots import open_roots
from otel_errcompact_hosts.calls import HostCall, HostResult

if TYPE_CHECKING:
    from otel_errcompact_hosts.telemetry.entries import Entry

MAX_PENDING: Final = 4_096
"""Halves of calls that wait for the other one, and traces whose conversation is known."""

MAX_NAME: Final = 1_000
"""Characters of a name: of a run, a tool, a call."""

MAX_SAID: Final = 32_768
"""Characters of a failure's text or a call's arguments."""

UNTYPED: Final = "ToolError"
"""The type of a failure of which telemetry says neither text nor type."""

COMMAND: Final = "CommandError"
"""The type of a command's failure of which telemetry says the exit status alone."""

_TYPE: Final = lazy_pattern(r"\S{1,100}\Z")
"""A type is a name; some senders put a sentence in its place."""

_NO_TYPES: Final = frozenset({"", semconv.OTHER_TYPE, semconv.TOOL_ERROR})
"""What the conventions have for an error whose type is unknown."""

_HEAD: Final = 120
_PROSE: Final = "prose"
"""The format of what no reader knows: its first line stands for the cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One ended call, as a span or log record reports it."""

    call: HostCall
    result: HostResult
    aliases: tuple[str, ...] = ()
    """Other names of the call, by which further records of it are recognised."""


class Memory:
    """Holds what is known from earlier messages, in bounds."""

    def __init__(self) -> None:
        self.halves: Final[BoundedTable[bytes, HostResult]] = BoundedTable(MAX_PENDING)
        """How calls have ended whose other span is still to come, by the hash of their id."""

        self.conversations: Final[BoundedTable[int, str]] = BoundedTable(MAX_PENDING)
        """The conversation of a trace, from the first of its spans that names one."""

        self._numbers: Final[BoundedTable[bytes, int]] = BoundedTable(MAX_PENDING)

        self.inner: Final[BoundedTable[str, str]] = BoundedTable(MAX_PENDING)
        """Tools that failed inside a span which is still to come, by that span's name."""

    def number(self, name: str) -> int:
        """Return how often a name was asked for before."""
        key = hash_name(name)
        number = self._numbers.get(key) or 0
        self._numbers.put(key, number + 1)
        return number


def hash_name(name: str) -> bytes:
    """Return what stands for a name of any length."""
    return hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=16).digest()


def report_unknown(call: HostCall, error_type: str = "", exit_code: int | None = None) -> Report:
    """
    Return the report of a failure whose text telemetry lacks.

    In its place stands the head of the command, or the tool: so failures of one command are one class.
    """
    head = (operation_of(call.tool, call.arguments).name or call.tool)[:_HEAD].replace("`", "'")
    status = f", exit code {exit_code}" if exit_code else ""
    kind = read_type(error_type)
    named = "" if kind or error_type in _NO_TYPES else f" ({error_type[:_HEAD]})"
    result = HostResult(
        text=f"unknown text of `{head}`{named}{status}",
        failed=True,
        type=kind or (COMMAND if exit_code else UNTYPED),
    )
    return Report(call=call, result=result)


def read_type(text: str) -> str:
    """Return a type as an emitter names it; empty if unknown."""
    return text if _TYPE.match(text) and text not in _NO_TYPES else ""


def is_telling(text: str) -> bool:
    """Return whether a text without its end names its cause."""
    return classify(RawError(text=text), open_roots(())).facts.format != _PROSE


def name_span(entry: Entry) -> str:
    """Return a name for the call of an entry's span, if any."""
    span = entry.span
    return f"{span.trace_id:032x}/{span.span_id:016x}" if span.trace_id and span.span_id else ""
