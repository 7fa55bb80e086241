"""Programs of their own: what signals and forks do to a host is not to be done to the test runner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

_HEAD = """
import json, os, random, signal, sys, threading, time
import otel_errcompact as errcompact
from otel_errcompact import Options, Thresholds, current_run
from otel_errcompact.config import TrajectoryOptions
NEVER = Thresholds(**dict.fromkeys(Thresholds.model_fields.keys() - {"halts"}, 10**6))

def kept():
    # Other lines tell of the run.
    with open("state/otel-errcompact/trajectories/program.jsonl") as lines:
        return [json.loads(line) for line in lines if '"exception.stacktrace"' in line]
"""


def played(folder: Path, program: str, *, seconds: float = 900) -> dict[str, Any]:
    """Run a program in a folder and return the JSON object that it prints last; `seconds` only ends what hangs."""
    script = folder / "program.py"
    script.write_text(_HEAD + textwrap.dedent(program))
    # What measures coverage holds a lock of its own, which a fork or an interrupt in the middle leaves held for ever.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", script],
        cwd=folder,
        env={**environ, "XDG_STATE_HOME": str(folder / "state"), "OTEL_SERVICE_NAME": "program"},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2_000:]
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found
