"""Services as processes of their own, in private folders with short paths."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact_hosts.client.posting import Reply, ask
from otel_errcompact_hosts.service.lifecycle import find_running
from otel_errcompact_hosts.service.processes import end_process

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact_hosts.service.lifecycle import Running

for needed, why in (
    ("fastapi", "the extra `serve` is not installed"),
    ("uvicorn", "the extra `serve` is not installed"),
    ("fcntl", "the service needs unix sockets"),
):
    pytest.importorskip(needed, reason=why)

ROOT = Path(__file__).parents[4]
HOOK = ROOT / "packages" / "hosts" / "otel_errcompact_hosts" / "client" / "hook.py"
PATIENCE_S = 60
"""How long a busy machine may take for what an idle one does in a second."""

# The standard ports may be taken on this machine.
_RECEIVING = """
from otel_errcompact_hosts.telemetry.serving import TelemetryServer
TelemetryServer.__init__.__kwdefaults__.update(port=0, grpc_port=0)
from otel_errcompact_lab.cli.main import main
main()
"""


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """Return what the condition returns as soon as that is true."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


class Place:
    """A private folder with the socket of a service that may run there."""

    def __init__(self, *, named: bool = True) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ec-"))
        self.socket = self.folder / ("e.sock" if named else "errcompact/errcompact.sock")
        self.processes: list[subprocess.Popen[str]] = []

    @property
    def environ(self) -> dict[str, str]:
        """What programs are started with here."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "XDG_"))}
        named = {"PYTHONPATH": str(ROOT), "HOME": str(self.folder)}
        if self.socket.parent == self.folder:
            return {**kept, **named, "OTEL_ERRCOMPACT_SERVICE": str(self.socket)}
        # Some hosts hand no variable of ours to their hooks.
        return {**kept, **named, "XDG_RUNTIME_DIR": str(self.folder)}

    @property
    def trajectory(self) -> Path:
        """Where the raw errors are, in the user's state folder."""
        return next(self.folder.rglob("errcompact-service.jsonl"))

    def serve(self, *options: str, **variables: str) -> subprocess.Popen[str]:
        """Start `errcompact serve`."""
        process = subprocess.Popen(
            [sys.executable, "-m", "otel_errcompact", "serve", *options],
            cwd=self.folder,
            env={**self.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.processes.append(process)
        return process

    def start(self, *options: str, **variables: str) -> Running:
        """Start it, and wait until it answers."""
        process = self.serve(*options, **variables)
        return self.wait_until_it_answers(lambda: process.poll() is None or process.communicate()[0])

    def start_receiving(self, *options: str, **variables: str) -> tuple[subprocess.Popen[str], str]:
        """Start it with a receiver of telemetry; return it with the line that says where it listens."""
        process = subprocess.Popen(
            [sys.executable, "-c", _RECEIVING, "serve", "--otlp", "--store", "memory", *options],
            cwd=self.folder,
            env={**self.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        while line and "listening on " not in line:
            line = process.stdout.readline()
        return process, line

    def wait_until_it_answers(self, lives: Callable[[], Any] = lambda: True) -> Running:
        """Return the service that answers."""

        def look() -> Running | None:
            said = lives()
            assert said is True, said
            return find_running(self.socket, PATIENCE_S)

        return wait_for(look, "an answer")

    def run_hook(self, host: str = "claude-code", event: str = "{}") -> subprocess.CompletedProcess[str]:
        """Run the client of hooks as a host does."""
        command = [sys.executable, "-I", "-S", str(HOOK), host]
        return subprocess.run(
            command, cwd=self.folder, env=self.environ, input=event, capture_output=True, text=True, check=False
        )

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        """Send a request; return status and answer."""
        given = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        reply = ask(method, path, given, socket_path=self.socket, limit_s=PATIENCE_S)
        assert isinstance(reply, Reply)
        return reply.status, reply.read()

    def close(self) -> None:
        """End what runs here, and remove the folder."""
        for process in self.processes:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        if (running := find_running(self.socket, PATIENCE_S)) is not None:
            end_process(running.pid, running.process)
        shutil.rmtree(self.folder, ignore_errors=True)
