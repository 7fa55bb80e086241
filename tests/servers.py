"""
Real backends for the tests: an SQLite file, and a Redis server of its own on a Unix socket.

`python -m tests.servers` installs what is missing where it may.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import pytest

SERVER: Final = shutil.which("redis-server") or shutil.which("valkey-server")
CURE: Final = "tests of shared runs need redis-server or valkey-server (Debian: apt-get install redis-server)"


class RedisServer:
    """A server that can be killed, stopped for a while and started again; it keeps nothing on the disk."""

    def __init__(self) -> None:
        if SERVER is None:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(CURE)
        # A socket's path has a hundred characters at most, and folders of pytest are deep.
        self.folder = Path(mkdtemp(prefix="errcompact-redis-"))
        self.socket = self.folder / "s"
        self._numbers = itertools.count()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def new_address(self) -> str:
        """The address of an empty database."""
        return f"unix://{self.socket}?db={next(self._numbers)}"

    def start(self) -> None:
        options = ("--port", "0", "--unixsocket", str(self.socket), "--save", "", "--appendonly", "no")
        self._process = subprocess.Popen(
            (SERVER or "", *options, "--databases", "1000"), cwd=self.folder, stdout=subprocess.DEVNULL
        )
        for _ in range(3_000):
            if self._answers():
                return
            time.sleep(0.01)
        raise AssertionError("redis-server does not answer")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self.socket.unlink(missing_ok=True)

    def freeze(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        from redis import Redis
        from redis.exceptions import RedisError

        try:
            return bool(Redis(unix_socket_path=str(self.socket), socket_timeout=1).ping())
        except (RedisError, OSError):
            return False


def main() -> int:
    """Install the server if it is missing and we may, and return the exit code."""
    from e2e.debian import install

    return 0 if SERVER else install("redis-server", cure=CURE)


if __name__ == "__main__":
    sys.exit(main())
