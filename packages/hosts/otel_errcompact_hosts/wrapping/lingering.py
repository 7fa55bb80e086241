"""Leave a reader behind for processes in the background."""

from __future__ import annotations

import os
import select

from otel_errcompact_hosts.wrapping.signals import signal
from otel_errcompact_hosts.wrapping.streams import open_readers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from otel_errcompact_hosts.wrapping.streams import Stream

_READ_BYTES: Final = 64 * 1024
_OUTLIVED: Final = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")
_MAX_DESCRIPTORS: Final = 64


def leave_reader(streams: tuple[Stream, ...]) -> None:
    """
    Let a child pass on what processes in the background print.

    Without it, the first line that such a process prints would end it: nobody would read its pipe. The child ends when
    the last of them does.
    """
    if not any(open_readers(streams)):
        return
    try:
        child = os.fork()
    except OSError:
        return
    if child == 0:
        try:
            _pass_on_output(streams)
        finally:
            os._exit(0)


def _pass_on_output(streams: tuple[Stream, ...]) -> None:
    for name in _OUTLIVED:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    _close_others(streams)
    poller = select.poll()
    for stream in open_readers(streams):
        poller.register(stream.reader, select.POLLIN)
        poller.register(stream.number, 0)
    while any(open_readers(streams)):
        ready = {descriptor for descriptor, _ in poller.poll()}
        for stream in tuple(open_readers(streams)):
            data = os.read(stream.reader, _READ_BYTES) if stream.reader in ready else b""
            if data:
                stream.write(data)
            # Its processes have ended, or nobody reads us.
            if stream.is_gone or (not data and ready & {stream.reader, stream.number}):
                poller.unregister(stream.reader)
                poller.unregister(stream.number)
                stream.close_reader()


def _close_others(streams: tuple[Stream, ...]) -> None:
    used = {number for stream in open_readers(streams) for number in (stream.reader, stream.number)}
    for number in range(_MAX_DESCRIPTORS):
        if number not in used:
            _close_descriptor(number)
    os.chdir("/")


def _close_descriptor(number: int) -> None:
    try:
        os.close(number)
    except OSError:
        return
