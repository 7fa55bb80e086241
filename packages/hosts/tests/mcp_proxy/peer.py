"""A client of MCP on lines, which sees every byte."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

ROOT = Path(__file__).parents[4]
SERVER = (sys.executable, str(Path(__file__).parent / "server.py"))
PROXY = (sys.executable, "-m", "otel_errcompact_lab.cli.main", "mcp", "--")
PATIENCE_S = 60.0


class Peer:
    """A program at the other end of pipes."""

    def __init__(self, *command: str, cwd: Path | None = None, **environment: str) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        )
        self.answers: dict[str, dict[str, Any]] = {}
        """What the client answers to requests of the server, by method."""

        self.lines: list[bytes] = []
        """All that has come."""

        self._queue: queue.Queue[bytes | None] = queue.Queue()
        self._error: list[bytes] = []
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._read_error)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, message: object) -> None:
        """Send a message."""
        self.send_line(json.dumps(message).encode() + b"\n")

    def send_line(self, line: bytes) -> None:
        """Send a line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def request(self, method: str, params: object = None, *, identifier: Any = None) -> dict[str, Any]:
        """Send a request, answer what the server asks meanwhile, and return its answer."""
        identifier = len(self.lines) + 1_000 if identifier is None else identifier
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}})
        return self.wait_for(identifier)

    def wait_for(self, identifier: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        for message in self.messages():
            if "method" not in message and message["id"] == identifier:
                return message
        raise EOFError(self.error)

    def messages(self) -> Iterator[dict[str, Any]]:
        """What comes, one after another; requests are answered."""
        while (line := self._queue.get(timeout=PATIENCE_S)) is not None:
            value = json.loads(line)
            for message in value if isinstance(value, list) else [value]:
                if "method" in message and "id" in message:
                    self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.answers[message["method"]]})
                yield message

    def begin(self, version: str = "2025-06-18", name: str = "inspector") -> dict[str, Any]:
        """Shake hands."""
        info = {"name": name, "version": "1"}
        capabilities = {"sampling": {}, "elicitation": {}, "roots": {"listChanged": True}}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}
        begun = self.request("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return begun

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return its result."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]

    def fails(self, tool: str, **arguments: Any) -> str:
        """Call a tool that fails, and return what the model reads."""
        result = self.call(tool, **arguments)
        assert result["isError"] is True
        return str(result["content"][0]["text"])

    def close(self) -> int:
        """Close the input, and return the exit status."""
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        """Return the exit status."""
        try:
            status = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        for thread in self._threads:
            thread.join(PATIENCE_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return status

    @property
    def error(self) -> str:
        """What has come on standard error."""
        return b"".join(self._error).decode()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._queue.put(line)
        self._queue.put(None)

    def _read_error(self) -> None:
        assert self.process.stderr is not None
        self._error.extend(self.process.stderr)


def proxied(tmp_path: Path, server: Sequence[str] = SERVER, **environment: str) -> Peer:
    """The server behind the proxy, whose state is kept in a folder of the test's."""
    return Peer(*PROXY, *server, cwd=tmp_path, XDG_STATE_HOME=str(tmp_path / "state"), **environment)
