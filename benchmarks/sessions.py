"""
What a real coding agent costs with us in it: `python -m benchmarks.sessions [--runs N] [--calls N]`.

Claude Code plays a script of trivial commands against a stand-in for its model, in turn bare and with each way of
installation. Processor time is user and system time of the host and of all that it starts, and what the service has
used meanwhile, which runs before. The median of all runs in milliseconds; on a busy machine compare rows.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hosts_rig.hosts import HOSTS
from hosts_rig.install import find
from hosts_rig.model import StandInModel
from hosts_rig.place import end_programs, make
from hosts_rig.script import CLOSING, do
from hosts_rig.service import Service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hosts_rig.hosts.host import Host
    from hosts_rig.place import Place

TICK_MS = 1_000 / os.sysconf("SC_CLK_TCK")
ADOPTING = """
import ctypes, os, resource, subprocess, sys
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
status = subprocess.run(sys.argv[1:], stderr=sys.stdout).returncode
try:
    while True:
        os.wait()
except ChildProcessError:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
print((used.ru_utime + used.ru_stime) * 1_000, file=sys.stderr)
sys.exit(status)
"""
"""Runs a program, and waits for what it leaves behind, so that all its time is counted."""

NOTHING = {"type": "command", "command": "/bin/true", "args": []}
WAYS: dict[str, Sequence[str] | None] = {
    "bare": None,
    "two that do nothing": None,
    "hooks and prefix": (),
    "hooks over HTTP": ("--http", "47787"),
}
"""What `errcompact hooks install` is given, by the words of the table; the second is the least of any two hooks."""


def measure(command: list[str], place: Place, environ: dict[str, str]) -> float:
    """Run a program to the end of all that it starts: processor time in milliseconds."""
    with (place.base / "output").open("wb") as output:
        done = subprocess.run(
            [sys.executable, "-c", ADOPTING, *command],
            cwd=place.work,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            check=False,
        )
    if done.returncode:
        sys.exit((place.base / "output").read_text(errors="replace"))
    return float(done.stderr.split()[-1])


def used_by(pid: int) -> float:
    """The processor time of a process so far, in milliseconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_MS


def play(host: Host, way: str, calls: int) -> tuple[float, float]:
    """One session: processor time of the host's tree, and of the service."""
    with tempfile.TemporaryDirectory(prefix="rig") as base:
        options = WAYS[way]
        place = make(Path(base).resolve() / "r")
        model = StandInModel([*(do(host.shell("true")) for _ in range(calls)), CLOSING])
        service = Service(place)
        try:
            host.prepare(place, model.url)
            pid = 0
            (place.home / ".claude/settings.json").chmod(0o600)
            if way == "two that do nothing":
                hooks = {event: [{"hooks": [NOTHING]}] for event in ("PreToolUse", "PostToolBatch")}
                place.write(".claude/settings.json", {"model": "claude-sonnet-4-5", "hooks": hooks})
            if options is not None:
                errcompact = [sys.executable, "-m", "otel_errcompact", "hooks", "install", host.name, "--yes"]
                subprocess.run([*errcompact, *options], env=place.environ, stdout=subprocess.DEVNULL, check=True)
                pid = start(service)
            before = used_by(pid) if pid else 0.0
            tree = measure([str(find(host)), *host.command("Do it.")], place, place.environ | host.environ(model.url))
            used = used_by(pid) - before if pid else 0.0
            check(model, calls)
        finally:
            model.close()
            if service.health():
                service.stop()
            end_programs(place)
    return tree, used


def start(service: Service) -> int:
    """Start the service, warm, and return its process."""
    service.start()
    return int(service.health()["pid"])


def check(model: StandInModel, calls: int) -> None:
    """End where not all calls were made."""
    if len(model.results()) != calls:
        sys.exit(f"{len(model.results())} of {calls} calls were made: {json.dumps(model.requests[-1])[-2_000:]}")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument("--calls", type=int, default=20, metavar="N")
    parser.add_argument("--only", nargs="*", default=list(WAYS), choices=list(WAYS), metavar="WAY")
    given = parser.parse_args()
    host = HOSTS["claude-code"]
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in given.only}
    for _ in range(given.runs):
        for way in given.only:
            taken[way].append(play(host, way, given.calls))
            print(way, taken[way][-1], file=sys.stderr)
    print(f"Claude Code {host.version}, {given.calls} calls, median of {given.runs}\n")
    print(f"| {'installed':20} |  tree | service |   sum | to bare |\n|{'-' * 22}|------:|--------:|------:|--------:|")
    base = 0.0
    for way, found in taken.items():
        tree, service = (statistics.median(values) for values in zip(*found, strict=True))
        whole = statistics.median(map(sum, found))
        base = base or whole
        print(f"| {way:20} | {tree:5.0f} | {service:7.0f} | {whole:5.0f} | {whole / base:7.2f} |")


if __name__ == "__main__":
    main()
