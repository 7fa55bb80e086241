"""
Run the tests of behaviour over and over beside busy loops, and name each that was not always green.

    python -m tests.stress [--runs 10] [--loops 8] [PYTEST'S ARGUMENTS ...]

Exit code 1 where one was red, or where a run had no verdict.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from xml.etree import ElementTree as ET

BUSY = "while True: pass"
PYTEST = ("-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "-m", "behaviour", "--no-header", "--tb=short")


def main() -> int:
    """Run what is asked for, say after each run what was red, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__.strip().splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="how often the tests run (default: 10)")
    parser.add_argument("--loops", type=int, default=8, help="busy loops beside them (default: 8)")
    asked, arguments = parser.parse_known_args()
    red: Counter[str] = Counter()
    with ExitStack() as beside:
        for _ in range(asked.loops):
            loop = beside.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
            beside.callback(loop.kill)
        for number in range(1, asked.runs + 1):
            begun = time.monotonic()
            passed, failed = run(arguments)
            red.update(failed)
            told = ", ".join(failed) or "none"
            print(
                f"run {number} of {asked.runs}: {passed} green in {time.monotonic() - begun:.0f} s, red: {told}",
                flush=True,
            )
    for test, times in red.most_common():
        print(f"red in {times} of {asked.runs} runs: {test}")
    return 1 if red else 0


def run(arguments: list[str]) -> tuple[int, list[str]]:
    """Run the tests once, and return how many were green, and which were red."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        done = subprocess.run(
            [sys.executable, *PYTEST, f"--junit-xml={report}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        cases = list(ET.parse(report).iter("testcase")) if report.exists() else []
    failed = [
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    if failed or done.returncode or not cases:
        print(done.stdout[-8_000:])
    return len(cases) - len(failed), failed or ["no verdict"] * (done.returncode != 0 or not cases)


if __name__ == "__main__":
    sys.exit(main())
