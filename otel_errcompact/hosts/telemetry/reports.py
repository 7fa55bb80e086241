"""What an emitter reports of a call that has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.compactor.classify import classify
from otel_errcompact.detector.operation import operation_of
from otel_errcompact.errors import RawError
from otel_errcompact.extract.stacks.roots import open_roots
from otel_errcompact.hosts.calls import HostCall, HostResult
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from otel_errcompact.hosts.telemetry.entries import Entry

UNTYPED: Final = "ToolError"
"""The type of a failure of which telemetry says neither text nor type."""

COMMAND: Final = "CommandError"
"""The type of a command's failure of which telemetry says the exit status alone."""

_TYPE: Final = lazy_pattern(r"[A-Za-z][\w.]{0,100}(?:Error|Exception)\Z")
"""Names that are read as a type where they stand in front of a text."""

_HEAD: Final = 120
_PROSE: Final = "prose"
"""The format of what no reader knows: its first line stands for the cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """
    One ended call, as a span or log record reports it.
    """

    call: HostCall
    result: HostResult
    unknown: bool = False
    """Whether the text is only what is known of the call, since the telemetry holds none of the error."""

    aliases: tuple[str, ...] = ()
    """Other names of the call, by which further records of it are recognised."""


def describe_unknown(tool: str, arguments: str, error_type: str = "", exit_code: int | None = None) -> str:
    """
    Return what stands in place of a text that telemetry lacks.

    It names the type of the error and the head of the command, or the tool: so failures of one command are one class.

    Args:
        tool: The tool's name.
        arguments: The call's arguments as JSON; empty if unknown.
        error_type: What the emitter says of the type.
        exit_code: The exit status, where it is all there is.
    """
    head = (operation_of(tool, arguments).name or tool)[:_HEAD].replace("`", "'")
    status = f", exit code {exit_code}" if exit_code else ""
    if _TYPE.match(error_type):
        return f"{error_type}: unknown text of `{head}`{status}"
    named = f" ({error_type[:_HEAD]})" if error_type else ""
    return f"{COMMAND if exit_code else UNTYPED}: unknown text of `{head}`{named}{status}"


def report_unknown(call: HostCall, error_type: str = "", exit_code: int | None = None) -> Report:
    """Return the report of a failure whose text telemetry lacks."""
    text = describe_unknown(call.tool, call.arguments, error_type, exit_code)
    return Report(call=call, result=HostResult(text=text, failed=True), unknown=True)


def is_telling(text: str) -> bool:
    """Return whether a text without its end names its cause."""
    return classify(RawError(text=text), open_roots(())).facts.format != _PROSE


def name_span(entry: Entry) -> str:
    """Return a name for the call of an entry's span, if any."""
    span = entry.span
    return f"{span.trace_id:032x}/{span.span_id:016x}" if span.trace_id and span.span_id else ""


def run_of(session: str, agent_id: str = "") -> str:
    """Return the run of a session, or of a sub-agent in it."""
    return f"{session}/{agent_id}" if agent_id else session
