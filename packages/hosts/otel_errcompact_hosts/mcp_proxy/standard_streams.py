"""The client at the other end of standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import threading
from typing import TYPE_CHECKING, Final

from otel_errcompact_hosts.mcp_proxy.messages import LineBuffer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_logger: Final = logging.getLogger("otel_errcompact")

CHUNK: Final = 65_536

_Written = tuple[bytes, asyncio.Future[None]]


class StandardStreams:
    """
    Reads lines from standard input, and writes lines to standard output.

    Files and terminals do as well as pipes, on every system. The threads for it are left behind at the end: one that
    waits for input cannot be ended.
    """

    def __init__(self, gone: asyncio.Event, *, source: int = 0, sink: int = 1) -> None:
        self._gone = gone
        self._source, self._sink = source, sink
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=64)
        self._jobs: queue.SimpleQueue[_Written] = queue.SimpleQueue()
        for name, work in (("read", self._read_lines), ("write", self._write_lines)):
            threading.Thread(target=work, name=f"errcompact-mcp-{name}", daemon=True).start()

    async def read(self) -> AsyncIterator[bytes]:
        """Yield the client's lines until it closes."""
        while (line := await self._lines.get()) is not None:
            yield line

    async def write(self, line: bytes) -> None:
        """Send the client a line."""
        written = self._loop.create_future()
        self._jobs.put((line, written))
        await written

    def _read_lines(self) -> None:
        buffer = LineBuffer()
        chunk = b"-"
        try:
            while chunk:
                try:
                    chunk = os.read(self._source, CHUNK)
                except OSError as error:
                    _logger.debug("standard input cannot be read: %s", error)
                    chunk = b""
                for line in buffer.add(chunk):
                    asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()
            asyncio.run_coroutine_threadsafe(self._lines.put(None), self._loop).result()
        except (RuntimeError, asyncio.CancelledError):
            return  # the loop has ended

    def _write_lines(self) -> None:
        while True:
            line, written = self._jobs.get()
            left = memoryview(line)
            is_gone = False
            while left and not is_gone:
                try:
                    left = left[os.write(self._sink, left) :]
                except BlockingIOError:
                    threading.Event().wait(0.01)  # somebody else has set the descriptor so
                except OSError:
                    is_gone = True
            try:
                self._loop.call_soon_threadsafe(self._settle_write, written, is_gone)
            except RuntimeError:
                return  # the loop has ended

    def _settle_write(self, written: asyncio.Future[None], is_gone: bool) -> None:
        if is_gone:
            self._gone.set()
        if not written.done():
            written.set_result(None)
