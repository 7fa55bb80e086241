"""Run a command, and hold its output back meanwhile."""

from __future__ import annotations

import errno
import os
import select
import time

from otel_errcompact_hosts.wrapping.output import Output
from otel_errcompact_hosts.wrapping.pipelines import leads_to_line
from otel_errcompact_hosts.wrapping.processes import say_unstartable, send_signal, start_command
from otel_errcompact_hosts.wrapping.signals import signal
from otel_errcompact_hosts.wrapping.streams import open_readers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Final

    from otel_errcompact_hosts.wrapping.raw_files import RawFile
    from otel_errcompact_hosts.wrapping.streams import Stream

HOLD_S: Final = 10.0
GRACE_S: Final = 0.2
"""How long what a command leaves in the background may still write to its output."""

_READ_BYTES: Final = 64 * 1024
_LAST_READS: Final = 64
"""More than a pipe holds; what writes in the background without end is not waited for."""

_PASSED_ON: Final = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")
_LOOKS_EACH_S: Final = 1.0
"""How often we look whether we write to nobody, once a signal came that ends commands."""

_MAX_WAIT_S: Final = 3_600.0
"""What `poll` takes; after it the wait goes on."""

_UNREAD: Final = select.POLLERR | select.POLLHUP | select.POLLNVAL
_OF_TERMINAL: Final = ("SIGINT", "SIGQUIT")


class Execution:
    """One command, from its start to its end."""

    __slots__ = (
        "_child",
        "_ends_holding",
        "_is_writing",
        "_pending",
        "_poller",
        "_taken",
        "_wake",
        "is_held",
        "output",
        "status",
        "streams",
    )

    def __init__(self, streams: tuple[Stream, ...], make_file: Callable[[], RawFile], *, hold_s: float) -> None:
        self.streams = streams
        self.output = Output(make_file)
        # A host that reads a file sees it grow, and reads it again at the end.
        self.is_held = not (len(streams) == 1 and streams[0].find_begin()) and hold_s > 0
        """Whether nothing has been printed yet."""

        self.status: int | None = None
        """The exit status, once it has ended; a negative number is that of the signal that has ended it."""

        self._ends_holding = time.monotonic() + hold_s
        self._child = 0
        self._is_writing = False
        self._pending: list[int] = []
        self._taken: list[int] = []
        self._poller = select.poll()
        self._wake = -1

    @property
    def is_unread(self) -> bool:
        """Whether the reader of a stream has ended, as `head` does."""
        return any(stream.is_gone for stream in self.streams)

    @property
    def can_replace(self) -> bool:
        """Whether a digest can stand in place of the output."""
        return self.is_held or (len(self.streams) == 1 and self.streams[0].can_take_back(self.output.total))

    def replace(self) -> None:
        """Forget what is held, and take back what is in a file."""
        if not self.is_held:
            self.streams[0].take_back(self.output.total)
        self.is_held = False

    def run(self, command: Sequence[str], environ: Mapping[str, str]) -> int:
        """Run a command to its end; return its exit status."""
        for stream in self.streams:
            stream.open()
        self._watch_signals()
        try:
            self._child = start_command(command, self.streams, environ)
        except OSError as error:
            self._close_writers()
            self.status = say_unstartable(command, error)
            # Nobody writes to the pipes, so nobody is left behind to read them.
            for stream in self.streams:
                stream.close_reader()
            self._unwatch_signals()
            return self.status
        self._close_writers()
        for number in self._pending:
            self._pass_on_signal(number)
        status = self._follow_command()
        self._unwatch_signals()
        return status

    def take_up(self, status: int) -> None:
        """Take up a command that has ended, from its file."""
        self.status = status
        stream = self.streams[0]
        try:
            with open(f"/dev/fd/{stream.number}", "rb", buffering=0) as file:  # noqa: PTH123 - pathlib costs more
                while (data := file.read(_READ_BYTES)) and self.output.add(0, data):
                    pass
        except OSError:
            stream.is_gone = True

    def release(self) -> None:
        """Print what has been held back, and hold nothing from now on."""
        if not self.is_held:
            return
        self.is_held = False
        for index, data in self.output.replay():
            if not self.streams[index].is_redirected:
                self.write(self.streams[index], data)

    def write(self, stream: Stream, data: bytes) -> None:
        """Print to one of our streams, as long as it is read."""
        self._is_writing = True
        try:
            stream.write(data)
        except TimeoutError:
            stream.is_gone = True
        finally:
            self._is_writing = False
        if stream.is_gone:
            self._abandon_stream(stream)

    def find_pipelines(self) -> None:
        """Leave streams that another command of the line reads, or its shell."""
        for index, stream in enumerate(self.streams):
            if stream.is_redirected or stream.is_gone:
                continue
            # What stands behind `2>&1 |` is given the digest, as the agent would read the errors there.
            if leads_to_line(stream.number, shells_alone=stream.is_for_both):
                stream.is_redirected = True
                held = self.output.replay() if self.is_held else ()
                for source, data in held:
                    if source == index:
                        self.write(stream, data)

    def _watch_signals(self) -> None:
        self._wake, wake_writer = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_writer, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _do_nothing)
        for name in _PASSED_ON:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._take_signal)
                self._taken.append(number)
        self._poller.register(self._wake, select.POLLIN)
        for stream in self.streams:
            self._poller.register(stream.reader, select.POLLIN)
            self._poller.register(stream.number, 0)

    def _unwatch_signals(self) -> None:
        signal.set_wakeup_fd(-1)
        for number in self._taken:
            signal.signal(number, signal.SIG_DFL)

    def _take_signal(self, number: int, _: object) -> None:
        if not self._child:
            self._pending.append(number)
        elif self.status is None:
            self._pass_on_signal(number)

    def _pass_on_signal(self, number: int) -> None:
        # What a terminal sends has gone to the whole group, and so to the command too.
        if number in {getattr(signal, name) for name in _OF_TERMINAL} and _is_before_terminal():
            return
        send_signal(self._child, number)
        # A host that ends a command does not always read on.
        signal.signal(signal.SIGALRM, self._give_up)
        signal.setitimer(signal.ITIMER_REAL, GRACE_S, _LOOKS_EACH_S)

    def _give_up(self, _: int, __: object) -> None:
        if not self._is_writing:
            return
        if self.status is None:
            self._reap_command()
        if self.status is not None:
            raise TimeoutError(errno.EPIPE, "the host does not read what the command has left")

    def _close_writers(self) -> None:
        for stream in self.streams:
            stream.close_writer()

    def _follow_command(self) -> int:
        deadline = 0.0
        while True:
            now = time.monotonic()
            if self.status is None:
                self._reap_command()
                deadline = now + GRACE_S
            if self.status is not None and (now >= deadline or not any(open_readers(self.streams))):
                break
            if self.is_held and now >= self._ends_holding:
                self.release()
            self._wait_for_output(deadline - now if self.status is not None else self._ends_holding - now)
        # What it has printed itself is in the pipes by now.
        for _ in range(_LAST_READS):
            if not self._wait_for_output(0):
                break
        return self.status

    def _reap_command(self) -> None:
        found, status = os.waitpid(self._child, os.WNOHANG)
        if found:
            self.status = os.waitstatus_to_exitcode(status)

    def _wait_for_output(self, seconds: float) -> bool:
        # Wait for a signal or output; tell whether there was some output.
        limit = int(min(seconds, _MAX_WAIT_S) * 1000) + 1 if seconds > 0 else 0
        waits = self.status is not None or self.is_held or seconds == 0
        came = False
        for descriptor, events in self._poller.poll(limit if waits else None):
            if descriptor == self._wake:
                os.read(self._wake, _READ_BYTES)
                continue
            for index, stream in enumerate(self.streams):
                if descriptor == stream.reader:
                    came = self._read_stream(index, stream) or came
                elif descriptor == stream.number and stream.reader >= 0 and events & _UNREAD:
                    self._abandon_stream(stream)
        return came

    def _read_stream(self, index: int, stream: Stream) -> bool:
        data = os.read(stream.reader, _READ_BYTES)
        if not data:
            self._poller.unregister(stream.reader)
            self._poller.unregister(stream.number)
            stream.close_reader()
            return False
        if not self.output.total:
            self.find_pipelines()
        if stream.is_redirected:
            self.write(stream, data)
        if self.is_held and not self.output.can_hold:
            self.release()
        if not self.output.add(index, data) and self.is_held:
            self.release()
        if not self.is_held and not stream.is_redirected:
            self.write(stream, data)
        return True

    def _abandon_stream(self, stream: Stream) -> None:
        # Nobody reads it any more: neither do we, so that the command notices.
        stream.is_gone = True
        if stream.reader >= 0:
            self._poller.unregister(stream.reader)
            self._poller.unregister(stream.number)
            stream.close_reader()


def _do_nothing(_: int, __: object) -> None:
    # A handler there must be, or no byte comes to the wake-up pipe.
    return


def _is_before_terminal() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
