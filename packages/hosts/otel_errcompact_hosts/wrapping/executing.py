"""Wrap one command, for `errcompact exec` and the prefix of shells."""

from __future__ import annotations

from otel_errcompact_hosts.client.asking import find_socket, send_request
from otel_errcompact_hosts.wrapping.command import REPORTED, Command, read_seconds
from otel_errcompact_hosts.wrapping.lingering import leave_reader
from otel_errcompact_hosts.wrapping.processes import become_command, leave_as, read_environ, say_lost
from otel_errcompact_hosts.wrapping.raw_files import make_raw_file
from otel_errcompact_hosts.wrapping.running import HOLD_S, Execution
from otel_errcompact_hosts.wrapping.signals import signal
from otel_errcompact_hosts.wrapping.streams import ERROR, OUTPUT, Stream, list_streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final, NoReturn

HOLD_VARIABLE: Final = "OTEL_ERRCOMPACT_EXEC_HOLD_SECONDS"
SUCCESSES: Final = "/v1/successes"


def execute_command(command: Command, *, hold_s: float | None = None, is_started_by_host: bool = False) -> NoReturn:
    """
    Run a command and end as it does.

    Args:
        command: The command.
        hold_s: For how many seconds its output is held back at most; as the environment has it if None.
        is_started_by_host: Whether no line of a shell can have sent the output elsewhere.
    """
    streams = list_streams(is_started_by_host=is_started_by_host)
    if not streams or command.is_left_alone:
        become_command(command.words, command.environ)
    hold_s = read_seconds(command.environ, HOLD_VARIABLE, HOLD_S) if hold_s is None else hold_s
    execution = _make_execution(command, streams, hold_s)
    status = execution.run(command.words, command.environ)
    _report_end(execution, command)
    # An untold loss would pass for a success.
    if status in {0, -signal.SIGPIPE} and (lost := next(filter(None, (stream.failure for stream in streams)), None)):
        status = say_lost(lost)
    leave_reader(streams)
    leave_as(status)


def conclude_command(command: Command, status: int) -> NoReturn:
    """Report a command that has printed into a file; end likewise."""
    if not command.is_left_alone:
        execution = _make_execution(command, (Stream(OUTPUT, (OUTPUT, ERROR), begins=0),), 0)
        execution.take_up(status)
        _report_end(execution, command)
    leave_as(status)


def _make_execution(command: Command, streams: tuple[Stream, ...], hold_s: float) -> Execution:
    return Execution(streams, lambda: make_raw_file(command.environ, command.directory), hold_s=hold_s)


def _report_end(execution: Execution, command: Command) -> None:
    if execution.status:
        from otel_errcompact_hosts.wrapping.reporting import report_end

        report_end(execution, command)
    else:
        execution.release()
        execution.output.drop()
        _report_success(command)


def _report_success(command: Command) -> None:
    # What succeeds now ends a streak of failures, if somebody counts them.
    if path := find_socket(command.environ):
        from otel_errcompact_hosts.wrapping.quoting import write_json

        send_request(path, SUCCESSES, write_json({**command.describe(), **REPORTED}).encode())


def run_command(
    words: Sequence[str], *, run_id: str = "", tool: str = "", hold_s: float | None = None, raw: bool = False
) -> NoReturn:
    """Run what stands behind `errcompact exec`."""
    environ = read_environ()
    if raw:
        become_command(words, environ)
    execute_command(Command(words, environ, run=run_id, tool=tool), hold_s=hold_s)
