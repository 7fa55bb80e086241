"""The local service of a place: started, killed in the middle of a session, and asked what it has counted."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hosts_rig.record import FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hosts_rig.place import Place

READY_SECONDS: Final = 60
RECORDED: Final = FOLDER / "claude-code"
WARMING: Final = ("03-PreToolUse", "04-PostToolUseFailure", "05-PostToolBatch")
POLL_SECONDS: Final = 0.05


class ServiceMissingError(Exception):
    """
    The service does not answer, or does not end; the message ends with its log.
    """


class _Connection(HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("errcompact", timeout=READY_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(self._path))


class Service:
    """
    The service of one place.

    Args:
        place: Where it has its socket and its store.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._log = place.base / "service.log"
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return Path(self._place.environ["XDG_RUNTIME_DIR"]) / "errcompact" / "errcompact.sock"

    def health(self) -> dict[str, Any]:
        """
        The answer of its health check; empty if no service answers.
        """
        try:
            return self.ask("GET", "/v1/health")
        except (OSError, HTTPException):
            return {}

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """
        What it answers.

        Raises:
            OSError: It is not there.
        """
        connection = _Connection(self.socket)
        try:
            connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            return dict(json.loads(connection.getresponse().read()))
        finally:
            connection.close()

    @property
    def token(self) -> str:
        """What requests to its port bring."""
        return self.socket.with_name(f"{self.socket.name}.token").read_text(encoding="utf-8").strip()

    def start(self, *options: str) -> None:
        """
        Start it, and wait until it answers.

        Raises:
            ServiceMissingError: It does not.
        """
        with self._log.open("ab") as log:
            command = [sys.executable, "-m", "otel_errcompact", "serve", "--idle", "0", *options]
            self._started.append(
                subprocess.Popen(command, env=self._place.environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            )
        self._wait(there=True)
        # The first failure after a start takes longer than hooks wait on a busy machine.
        for name in WARMING:
            event = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
            self.ask("POST", "/v1/hooks/claude-code", event | {"session_id": str(uuid.uuid4())})

    def kill(self) -> None:
        """
        End it without a warning, and wait until none answers.

        Raises:
            ServiceMissingError: It does not end.
        """
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """
        End it, no matter what has started it.

        Raises:
            ServiceMissingError: It does not end.
        """
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        # One that a hook has started may answer while ours still starts: ours would follow it.
        for process in self._started:
            process.send_signal(number)
        self._wait(there=False, number=number)
        for process in self._started:
            process.wait(READY_SECONDS)
        self._started.clear()

    def _wait(self, *, there: bool, number: signal.Signals = signal.SIGTERM) -> None:
        deadline = time.monotonic() + READY_SECONDS
        ended: set[int] = set()
        while bool(health := self.health()) != there:
            if not there and health["pid"] not in ended:
                ended.add(health["pid"])
                with suppress(ProcessLookupError):
                    os.kill(health["pid"], number)
            if time.monotonic() > deadline:
                log = self._log.read_text(encoding="utf-8", errors="replace")[-2_000:] if self._log.exists() else ""
                raise ServiceMissingError(f"the service still {'does not answer' if there else 'answers'}: {log}")
            time.sleep(POLL_SECONDS)
