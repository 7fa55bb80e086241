"""
What a command costs that is wrapped: `python -m benchmarks.wrapping [--runs N]`.

Each command is started as a host starts it, with a pipe for both streams, in turn with the others. Wall time is what
the host waits; processor time is that of all processes that it starts. Both are in milliseconds, the median of all
runs. On a busy machine compare rows.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from otel_errcompact_hosts.wrapping.launcher import write_launcher

ROOT = Path(__file__).parents[1]
SCRIPT = "source /dev/null 2>/dev/null || true && eval 'true' < /dev/null && pwd -P >| /dev/null"
FAILS = "seq 20000; python3 -c 'open(1.5)'"


def list_commands(folder: Path) -> dict[str, list[str]]:
    """The commands by the words of the table."""
    program = Path(sys.executable).with_name("errcompact")
    wrap = [str(program)] if program.exists() else [sys.executable, "-m", "otel_errcompact"]
    prefix = str(write_launcher(folder))
    return {
        "true": ["true"],
        "python -c pass": [sys.executable, "-c", "pass"],
        "errcompact exec -- true": [*wrap, "exec", "--", "true"],
        "bash -c, the script of Claude Code": ["bash", "-c", SCRIPT],
        "python -I -S -c pass": [sys.executable, "-I", "-S", "-c", "pass"],
        "the prefix before that script": [prefix, SCRIPT],
        "a failure of 110 kB": ["bash", "-c", FAILS],
        "errcompact exec before it, no service": [*wrap, "exec", "--", "bash", "-c", FAILS],
    }


def measure(command: list[str], environ: dict[str, str]) -> tuple[float, float]:
    """Run a command once: wall time and processor time, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begins = time.perf_counter()
    subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environ, check=False)
    wall = time.perf_counter() - begins
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1_000, used * 1_000


def main() -> None:
    """
    Measure and print the table.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40, metavar="N")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as base:
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "OTEL_ERRCOMPACT_SERVICE": f"{base}/none"}
        environ["XDG_STATE_HOME"] = base
        # The compiled modules are read, as after an installation.
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        commands = list_commands(Path(base) / "programs")
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for number in range(runs + 1):
            for name, command in commands.items():
                found = measure(command, environ)
                if number:
                    taken[name].append(found)
    print(f"| {'command':37} |  wall |   CPU |\n|{'-' * 39}|------:|------:|")
    for name, found in taken.items():
        wall, used = (statistics.median(values) for values in zip(*found, strict=True))
        print(f"| {name:37} | {wall:5.1f} | {used:5.1f} |")


if __name__ == "__main__":
    main()
