"""What a user would pick instead, measured beside ours in one process, in an environment that the first run makes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

from benchmarks.cost.measure import Row

REQUIREMENTS: Final = (
    "openinference-instrumentation==0.1.72",
    "traceloop-sdk==0.62.4",
    "logfire==5.4.0",
    "sentry-sdk==2.75.0",
    "drain3==0.9.11",
    "bugdna==1.2.0",
    "headroom-ai==0.42.0",
    "leantokens==0.2.0",
)
ROOT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otel-errcompact" / "cost-peers"
PATIENCE_S: Final = 1_800
STARTS: Final = 7

_STARTS: Final = {
    "otel-errcompact, install()": "import otel_errcompact; otel_errcompact.install()",
    "openinference": "from openinference.instrumentation import TracerProvider; TracerProvider()",
    "openllmetry (traceloop)": "from traceloop.sdk import Traceloop; from traceloop.sdk.decorators import tool",
    "logfire": "import logfire; logfire.configure(send_to_logfire=False, console=False)",
    "sentry_sdk": "import sentry_sdk; sentry_sdk.init(dsn='http://key@127.0.0.1:9/1')",
    "drain3": "import drain3; drain3.TemplateMiner()",
    "headroom": "from headroom.compress import compress",
    "leantokens": "import leantokens",
}
"""What a program does to have each of them, on top of the SDK."""

_CHILD: Final = """
import resource, time
import opentelemetry.sdk._logs, opentelemetry.sdk.metrics, opentelemetry.sdk.resources, opentelemetry.sdk.trace
def used(): return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
held, started = used(), time.process_time()
{start}
print((time.process_time() - started) * 1e3, used() - held)
"""


def measure(rounds: int, environment: Path = CACHE) -> list[Row]:
    """
    Return the rows of all groups, ours and the peers'.

    Raises:
        OSError: The environment cannot be made.
        subprocess.SubprocessError: The environment cannot be made, or the runner failed.
    """
    python = environment / "bin" / "python"
    _make(environment, python)
    done = subprocess.run(
        [python, "-W", "ignore", "-m", "benchmarks.cost.peer_runner", str(rounds)],
        cwd=ROOT,
        env={**os.environ, "HEADROOM_TELEMETRY": "off", "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    found = json.loads(done.stdout)
    print("Peers: " + ", ".join(f"{name} {number}" for name, number in found["versions"].items()))
    return [*(Row(**row) for row in found["rows"]), *_measure_starts(python)]


def _measure_starts(python: Path) -> list[Row]:
    rows: list[Row] = []
    for name, start in _STARTS.items():
        runs = [_start(python, start) for _ in range(STARTS)]
        if None in runs:
            continue
        taken, held = (min(figures) for figures in zip(*(run for run in runs if run), strict=True))
        rows += [Row(name=f"start on top of the SDK: {name}", value=taken, unit="ms CPU")]
        rows += [Row(name=f"start on top of the SDK: {name}", value=held, unit="MB")]
    return rows


def _start(python: Path, start: str) -> tuple[float, float] | None:
    command = [python, "-W", "ignore", "-c", _CHILD.format(start=start)]
    # Without bytecode each start would compile all that it imports.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{start!r} failed: {done.stderr[-500:]}", file=sys.stderr)
        return None
    taken, held = done.stdout.splitlines()[-1].split()
    return float(taken), float(held)


def _make(environment: Path, python: Path) -> None:
    """Make the environment unless it holds just these versions, and this checkout, already."""
    made = environment / "requirements.txt"
    wanted = "\n".join((*REQUIREMENTS, str(ROOT)))
    if made.is_file() and made.read_text(encoding="utf-8") == wanted:
        return
    print(f"Installing {', '.join(REQUIREMENTS)} into {environment} ...", file=sys.stderr)
    venv.create(environment, clear=True)
    install = [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--python", python]
    ours = ["--editable", ROOT, "--editable", ROOT / "packages" / "context"]
    subprocess.run([*install, *ours, *REQUIREMENTS], timeout=PATIENCE_S, check=True)
    made.write_text(wanted, encoding="utf-8")
