"""A server that is a program, on its standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from otel_errcompact_hosts.mcp_proxy.messages import LineBuffer

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable, Sequence

CHUNK: Final = 65_536

EXIT_SECONDS: Final = 2.0
"""How long a server may take to end by itself, and again after it was asked to."""

_HAS_GROUPS: Final = sys.platform != "win32"
_KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)


class ServerProcess:
    """
    A server in a process group of its own.

    What it writes to standard error goes to ours.
    """

    def __init__(self, process: Process, name: str) -> None:
        self._process = process
        self._name = name

    async def read(self) -> AsyncIterator[bytes]:
        """Yield its lines until it ends, or closes its output."""
        output, buffer = self._process.stdout, LineBuffer()
        chunk = b"-"
        while chunk and output is not None:
            chunk = await output.read(CHUNK)
            for line in buffer.add(chunk):
                yield line

    async def write(self, line: bytes) -> None:
        """Send it a line."""
        source = self._process.stdin
        if source is None or source.is_closing():
            raise BrokenPipeError("its input is closed")
        source.write(line)
        await source.drain()

    async def finish(self) -> None:
        """Close its input."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def stop(self, *, at_once: bool = False) -> None:
        """End it and all that it has started."""
        await self.finish()
        if not at_once:
            await self._wait_for_end()
        if self._send_signal(signal.SIGTERM):
            await self._wait_for_end()
            self._send_signal(_KILL)
            await self._wait_for_end()
        await _wait_until(lambda: self._process.returncode is not None)  # the loop learns of the end a moment later

    def describe(self) -> str:
        """Return what it is and how it ended."""
        status = self._process.returncode
        if status is None:
            return f"the MCP server '{self._name}' closed its output"
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return f"the MCP server '{self._name}' ended ({how})"

    async def _wait_for_end(self) -> None:
        # `wait` of asyncio waits for the pipes as well, which a process that outlives the server may hold open.
        await _wait_until(lambda: not self._is_alive())

    def _is_alive(self) -> bool:
        if not _HAS_GROUPS:
            return self._process.returncode is None
        return self._send_signal(0)

    def _send_signal(self, number: int) -> bool:
        # Whether anything was left to get it.
        if not _HAS_GROUPS:
            if self._process.returncode is not None:
                return False
            with suppress(OSError):
                self._process.terminate()
            return True
        try:
            os.killpg(self._process.pid, number)
        except OSError:
            return False
        return True


async def _wait_until(is_so: Callable[[], bool]) -> None:
    until = asyncio.get_running_loop().time() + EXIT_SECONDS
    while not is_so() and asyncio.get_running_loop().time() < until:  # noqa: ASYNC110 - of another process
        await asyncio.sleep(0.01)


async def start_process(command: Sequence[str]) -> ServerProcess:
    """Start a server with our environment and working directory."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=_HAS_GROUPS
    )
    return ServerProcess(process, os.path.basename(command[0]))  # noqa: PTH119 - of a name, not of a file
