"""
What an event costs its host by the local service: `python -m benchmarks.service [--requests N]`.

A service of its own runs in a temporary folder, with the store that it has by default and then in memory. Requests are
made one after the other: by HTTP to the port over a connection that stays open, as hosts' HTTP hooks make them, and to
the unix socket over a new one each. The client of hooks is started as a host starts it, beside Python that does
nothing. Wall time is what the host waits; the service's processor time is that of all its threads. Both are in
milliseconds. On a busy machine compare rows.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from otel_errcompact_hosts.client import hook
from otel_errcompact_hosts.client.posting import ask
from otel_errcompact_hosts.service.lifecycle import Running, find_running

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

START_S = 60
TICK_MS = 1_000 / os.sysconf("SC_CLK_TCK")
TRACEBACK = "\n".join(
    (
        "Traceback (most recent call last):",
        *(f'  File "/srv/shop/step{number}.py", line {number}, in step\n    run()' for number in range(1, 30)),
        "KeyError: 'sku'",
    )
)
LARGE = "\n".join(f"{number}: copied /srv/shop/image-{number}.png" for number in range(3_000)) + f"\n{TRACEBACK}"


def call(number: int, **more: object) -> dict[str, object]:
    """One of many calls of one command."""
    return {"run": "r", "tool": "Bash", "arguments": {"command": "make"}, "call_id": f"c{number}", **more}


def event(name: str, number: int, **more: object) -> dict[str, object]:
    """An event of Claude Code's hooks."""
    common = {"session_id": "s", "cwd": "/srv/shop", "permission_mode": "default", "hook_event_name": name}
    called = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": f"c{number}"}
    return {**common, **called, **more}


KINDS: dict[str, tuple[str, Callable[[int], dict[str, object]]]] = {
    "refusal asked": ("/v1/refusals", lambda number: call(-number)),
    "success": ("/v1/successes", lambda number: call(number, text="built")),
    "result judged, 2 kB": ("/v1/results", lambda number: call(number, text=TRACEBACK, exit_status=1)),
    "failure, 2 kB": ("/v1/failures", lambda number: call(number, text=TRACEBACK, turn=number)),
    "failure, 130 kB": ("/v1/failures", lambda number: call(number, text=LARGE, turn=number)),
    "turn": ("/v1/runs/r/turns", lambda _: {}),
}
"""What is posted, by the words of the table."""

HOOK = "/v1/hooks/claude-code"
if find_spec("otel_errcompact_hosts.hooks") is not None:
    KINDS |= {
        "hook, before a call": (HOOK, lambda number: event("PreToolUse", number)),
        "hook, after a success": (
            HOOK,
            lambda number: event("PostToolUse", number, tool_response={"stdout": "built", "stderr": ""}),
        ),
        "hook, after a failure, 2 kB": (
            HOOK,
            lambda number: event("PostToolUseFailure", number, error=f"Exit code 1\n{TRACEBACK}"),
        ),
        "hook, after a failure, 10 kB": (
            HOOK,
            lambda number: event("PostToolUseFailure", number, error=f"Exit code 1\n{LARGE[-10_000:]}"),
        ),
    }


@contextmanager
def serving(store: str) -> Generator[tuple[Path, Running], None, None]:
    """Run a service of its own."""
    folder = Path(tempfile.mkdtemp(prefix="ec-"))
    path = folder / "e.sock"
    command = [sys.executable, "-m", "otel_errcompact", "serve", "--socket", str(path), "--port", "0"]
    options = ("--store", store) if store else ()
    process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)
    try:
        ends = time.monotonic() + START_S
        while (running := find_running(path)) is None and time.monotonic() < ends:
            time.sleep(0.05)
        if running is None:
            sys.exit("the service does not answer")
        yield path, running
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def processor_ms(pid: int) -> float:
    """The processor time of a process so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) * TICK_MS


def measure(pid: int, requests: int, make: Callable[[int], object]) -> tuple[float, float, float]:
    """The median and the 95th percentile of the wall time, and the processor time of the service."""
    took: list[float] = []
    before = processor_ms(pid)
    for number in range(requests):
        start = time.perf_counter()
        make(number)
        took.append((time.perf_counter() - start) * 1_000)
    used = (processor_ms(pid) - before) / requests
    return statistics.median(took), sorted(took)[int(0.95 * len(took))], used


def by_port(path: Path, port: int) -> Callable[[str, bytes], None]:
    """How HTTP hooks of hosts ask."""
    token = Path(f"{path}.token").read_text(encoding="ascii").strip()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_S)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(where: str, body: bytes) -> None:
        connection.request("POST", where, body, {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        answer.read()
        if answer.status >= 300:
            sys.exit(f"{where}: {answer.status}")

    return post


def by_socket(path: Path) -> Callable[[str, bytes], None]:
    """How programs of ours ask."""

    def post(where: str, body: bytes) -> None:
        reply = ask("POST", where, body, socket_path=path, limit_s=START_S)
        if reply is None or reply.status >= 300:
            sys.exit(f"{where}: {reply}")

    return post


def name_run(body: dict[str, object], run: str) -> dict[str, object]:
    """Give each row of the table a run of its own."""
    return {**body, **{field: run for field in ("run", "session_id") if field in body}}


def print_requests(path: Path, running: Running, store: str, requests: int) -> None:
    """A row for each kind of request and each way to ask."""
    ways = {"port": by_port(path, running.port or 0), "socket": by_socket(path)}
    for kind, (where, make) in KINDS.items():
        for way, post in ways.items():
            bodies = [json.dumps(name_run(make(number), f"{kind} {way}")).encode() for number in range(requests + 5)]
            for body in bodies[requests:]:
                post(where, body)
            median, late, used = measure(running.pid, requests, lambda number: post(where, bodies[number]))  # noqa: B023
            print(f"| {kind} | {way} | {store} | {median:.2f} | {late:.2f} | {used:.2f} |")


def run_client(environ: dict[str, str], *command: str) -> tuple[float, float]:
    """The wall time and the processor time of one start of Python."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", *command], env=environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(b'{"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash"}')
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    return (time.perf_counter() - start) * 1_000, (used.ru_utime + used.ru_stime) * 1_000


def print_clients(path: Path, requests: int) -> None:
    """The client beside Python that does nothing, in turns, so that a busy moment meets all of them."""
    here = {**os.environ, "OTEL_ERRCOMPACT_SERVICE": str(path)}
    away = {**os.environ, "OTEL_ERRCOMPACT_SERVICE": str(path.with_name("away.sock"))}
    path.with_name("away.sock.starting").touch()
    commands = {
        "`python -I -S -c pass`": (here, "-c", "pass"),
        "the client, answered": (here, hook.__file__, "claude-code"),
        "the client, nothing listens": (away, hook.__file__, "claude-code"),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(requests):
        path.with_name("away.sock.starting").touch()
        for name, (environ, *command) in commands.items():
            found[name].append(run_client(environ, *command))
    print("\n| process | wall | 95 % | CPU |\n|---|---|---|---|")
    for name, costs in found.items():
        walls = sorted(wall for wall, _ in costs)
        used = statistics.median(cpu for _, cpu in costs)
        print(f"| {name} | {statistics.median(walls):.1f} | {walls[int(0.95 * len(walls))]:.1f} | {used:.1f} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=200, help="requests of each kind, and starts of the client")
    requests = parser.parse_args().requests
    print("| request | by | store | wall | 95 % | service's CPU |\n|---|---|---|---|---|---|")
    with serving("memory") as (path, running):
        print_requests(path, running, "memory", requests)
    with serving("") as (path, running):
        print_requests(path, running, "SQLite", requests)
        print_clients(path, requests)


if __name__ == "__main__":
    main()
