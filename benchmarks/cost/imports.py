"""
What a process pays before anything fails, and for its first failure.

Each figure is the processor time of new processes, and of the runs the tenth percentile. The bare span is measured in
the same processes, and the times are scaled by it. One figure is counted in instructions.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.cost.instructions import count_program
from benchmarks.cost.measure import Row, scaled, tenth_percentile

ROOT: Final = Path(__file__).resolve().parents[2]
RUNS: Final = 15

_SDK: Final = """
import opentelemetry.sdk._logs, opentelemetry.sdk.metrics, opentelemetry.sdk.resources, opentelemetry.sdk.trace
"""
_PROGRAM: Final = (
    f"import json, sys, time{_SDK}"
    """
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4_096 / 2**20

def fail():
    raise ConnectionError("no route to host 'db-1'")

times, memory = [time.process_time()], resident()
import otel_errcompact
times.append(time.process_time())
otel_errcompact.install()
times.append(time.process_time())
memory = resident() - memory
with otel_errcompact.run("r") as run:
    with run.tool("query") as call:
        if sys.argv[1] == "exception":
            fail()
        else:
            call.fail("src/app.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.")
    call.text
times.append(time.process_time())
from benchmarks.cost.measure import make_span, take_turns
span = take_turns({"span": make_span()}, rounds=60)["span"]
alone, install, failure = ((after - before) * 1e3 for before, after in zip(times, times[1:]))
print(json.dumps(dict(alone=alone, install=alone + install, failure=failure, memory=memory, span=span)))
"""
)
_ERROR: Final = "src/app.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.\n"
_START: Final = "from otel_errcompact_lab.cli.main import main; main()"
_COMMANDS: Final = {"pass": ["-c", "pass"], "version": ["-c", _START, "--version"], "key": ["-c", _START, "key"]}


def measure(rounds: int = RUNS) -> list[Row]:
    """
    Measure new processes.

    Args:
        rounds: How many processes of each kind; 15 at most.
    """
    runs = min(rounds, RUNS)
    samples: dict[str, list[dict[str, float]]] = {"exception": [], "text": []}
    commands: dict[str, list[float]] = {name: [] for name in _COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs + 1):
            taken = {kind: json.loads(_run(["-c", _PROGRAM, kind], folder)) for kind in samples}
            spent = {name: _time(arguments, folder) for name, arguments in _COMMANDS.items()}
            if not number:  # the first processes write what is compiled
                continue
            for kind, sample in taken.items():
                samples[kind].append(sample)
            for name, time in spent.items():
                commands[name].append(time)
    both = samples["exception"] + samples["text"]
    span = tenth_percentile([sample["span"] for sample in both])

    def low(name: str, of: list[dict[str, float]] = both) -> float:
        return tenth_percentile([sample[name] for sample in of])

    def ms(name: str, value: float, goal: float) -> list[Row]:
        return [
            Row(name=name, value=scaled(value, span), unit="ms", goal=goal),
            Row(name=f"{name}, on this machine", value=value, unit="ms"),
        ]

    bare = tenth_percentile(commands["pass"])
    return [
        Row(name="import and install, instructions", value=count_install(), unit="of the SDK's import", goal=0.35),
        *ms("import otel_errcompact alone", low("alone"), 15),
        *ms("import and install over the SDK", low("install"), 80),
        Row(name="memory of import and install over the SDK", value=low("memory"), unit="MB", goal=15),
        *ms("first failure, an exception at hand", low("failure", samples["exception"]), 15),
        *ms("first failure, a text", low("failure", samples["text"]), 30),
        *ms("errcompact --version, over python -c pass", tenth_percentile(commands["version"]) - bare, 60),
        *ms("errcompact key of one error, over python -c pass", tenth_percentile(commands["key"]) - bare, 120),
    ]


def count_install() -> float:
    """Return the instructions of import and install by those of the SDK's import."""
    sdk = count_program(["-c", _SDK])
    return count_program(["-c", f"{_SDK}import otel_errcompact\notel_errcompact.install()"]) / sdk - 1


def _time(arguments: list[str], folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(arguments, folder, _ERROR)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def _run(arguments: list[str], folder: str, text: str = "") -> str:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environ, input=text, capture_output=True, text=True, check=True
    )
    return done.stdout
