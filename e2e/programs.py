"""Programs of the chain: started on addresses of their own, waited for, stopped, killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

READY_SECONDS: Final = 60
STOP_SECONDS: Final = 30
POLL_SECONDS: Final = 0.05
LINES_SHOWN: Final = 25

QUICK: Final = {"GOGC": "400"}
"""The environment of a collector that need not be small: a third of its start is the collection of garbage."""


class ProgramError(Exception):
    """
    A program did not do what it was asked; the message ends with the end of its log.
    """


@dataclass(slots=True, kw_only=True, eq=False)
class Program:
    """
    One program, with the same addresses and folders each time it is started.
    """

    name: str
    command: Sequence[str]
    ready: str
    """The address that answers 200 once the program can be used."""

    directory: Path
    """Where it keeps what it keeps; its log lies beside."""

    environ: Mapping[str, str]
    started: float = 0.0
    process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        """The log of all its runs."""
        return self.directory.with_suffix(".log")

    def start(self) -> None:
        """
        Start it, without waiting.

        Raises:
            ProgramError: It runs already.
        """
        if self.process is not None:
            raise ProgramError(f"{self.name} runs already")
        self.directory.mkdir(parents=True, exist_ok=True)
        self.started = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(part) for part in self.command],
                cwd=self.directory,
                # Nothing of ours: the collector and Jaeger read OTEL_* variables themselves.
                env={"PATH": os.defpath, "HOME": str(self.directory), **self.environ},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait_ready(self, seconds: float = READY_SECONDS) -> float:
        """
        Wait until it can be used, and return how long that took since its start.

        Raises:
            ProgramError: It has ended, or is not ready in time.
        """
        with httpx.Client(timeout=2, trust_env=False) as client:
            while time.monotonic() - self.started < seconds:
                self._check_alive()
                try:
                    if client.get(self.ready).status_code == httpx.codes.OK:
                        return time.monotonic() - self.started
                except httpx.TransportError:
                    pass
                time.sleep(POLL_SECONDS)
        raise ProgramError(f"{self.name} is not ready after {seconds} s\n{self._end_of_log()}")

    def stop(self) -> None:
        """
        Ask it to end, as a container's stop does, and wait for that.

        Raises:
            ProgramError: It did not end in time; it is killed then.
        """
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise ProgramError(f"{self.name} did not end within {STOP_SECONDS} s\n{self._end_of_log()}") from error
        self.process = None

    def kill(self) -> None:
        """End it at once, without a chance to write anything down."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def restart(self) -> None:
        """Start it again and wait until it can be used."""
        self.start()
        self.wait_ready()

    def _check_alive(self) -> None:
        code = self.process.poll() if self.process is not None else None
        if self.process is None or code is not None:
            raise ProgramError(f"{self.name} has ended with {code}\n{self._end_of_log()}")

    def _end_of_log(self) -> str:
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES_SHOWN:])


def free_ports(number: int) -> list[int]:
    """Return ports of the loopback interface that nobody listens on, all different."""
    # All are held until all are known, or one could be given out twice.
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports
