"""
Run every attack and print what stood: `python -m benchmarks.attacks [NAME...]`.

The attacks are tests, where they are kept true; this is their table. Each row says what is promised, how many trials
were made and how many of them broke it. Trials within one test are counted where the test says how many it makes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Attack:
    """
    Tests that try to break one promise.

    Attributes:
        name: What is attacked.
        promise: What must hold.
        tests: The tests, as pytest takes them.
        each: What one test tries, where it is more than one thing.
    """

    name: str
    promise: str
    tests: tuple[str, ...]
    each: int = 1


ATTACKS: Final = (
    Attack(
        "gate",
        "10,000 tasks, 200 threads, trio, cancelled askers, odd handlers: each escalation is asked once, all go on",
        ("packages/hosts/tests/test_gate.py", "tests/boundary/test_gate.py", "tests/boundary/test_stress.py"),
    ),
    Attack(
        "interrupts",
        "10,000 interrupts that raise: no lock held, no failure lost, counted, kept and measured",
        ("packages/hosts/tests/test_interrupts.py::test_interrupts_leave_nothing_held_and_nothing_lost",),
        each=5_000,
    ),
    Attack(
        "signals",
        "handlers that fail, log and ask, finalisers, an end of the process in the middle of a line",
        ("packages/hosts/tests/test_interrupts.py", "tests/otel/metrics/test_instruments.py::TestHandOver"),
    ),
    Attack(
        "forks",
        "prefork servers and runs that are open in a fork count on their own",
        ("packages/hosts/tests/test_forks.py",),
    ),
    Attack(
        "exceptions",
        "odd and huge exceptions, calls of wrong types: counted, digested, in bounded time",
        ("packages/hosts/tests/test_odd_exceptions.py", "packages/hosts/tests/test_malformed.py"),
    ),
    Attack(
        "contexts",
        "generators, streams and requests that end elsewhere lose no failure and break no host",
        ("packages/hosts/tests/test_contexts.py", "packages/hosts/tests/test_fastapi.py"),
    ),
    Attack(
        "files",
        "links, FIFOs, devices, open modes, full disks, rotation: refused, private, counted",
        ("tests/audit/test_trajectory.py", "packages/context/tests/memory/test_archive.py"),
    ),
    Attack(
        "secrets",
        "a secret in any syntax is redacted, and stands nowhere",
        ("tests/redaction", "tests/scenarios/test_secrets_stay.py", "tests/test_secrets_benchmark.py"),
    ),
    Attack(
        "forgery",
        "no text of others begins a line like ours: 12 places x 8 lines x 23 ways of writing",
        ("tests/scenarios/test_forged_words.py",),
        each=23,
    ),
    Attack(
        "ports",
        "strangers on ports: rebinding, forgery, bombs, slow and many senders, floods, an agent that resumes itself",
        ("packages/hosts/tests/ports",),
    ),
    Attack("honest text", "text in any script stays, invisible characters go", ("tests/digest/test_untrusted.py",)),
    Attack("hostile text", "no text takes more than linear time", ("tests/test_hostile.py",)),
)


def main() -> int:
    """Run the attacks that are asked for; return 1 if one broke its promise."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__)
    names = [attack.name for attack in ATTACKS]
    parser.add_argument("name", nargs="*", metavar="NAME", help=f"attacks to run: {', '.join(names)}; all if none")
    asked = parser.parse_args().name
    unknown = [name for name in asked if name not in names]
    if unknown:
        parser.error(f"no attack is named {', '.join(unknown)}; there are {', '.join(names)}")
    print("| attack | promise | trials | broken |\n|---|---|---:|---:|", flush=True)
    broken = 0
    for attack in ATTACKS:
        if not asked or attack.name in asked:
            trials, failed = run(attack)
            broken += failed
            print(f"| {attack.name} | {attack.promise} | {trials:,} | {failed} |", flush=True)
    return int(broken > 0)


def run(attack: Attack) -> tuple[int, int]:
    """Return how many trials were made, and how many broke the promise."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", f"--junitxml={report}"]
        ended = subprocess.run([*command, *attack.tests], cwd=ROOT, capture_output=True, text=True, check=False)
        if not report.exists():
            print(ended.stdout[-2_000:], ended.stderr[-2_000:], file=sys.stderr)
            return 0, 1
        suites = ET.parse(report).getroot().iter("testsuite")
        counts = [[int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")] for suite in suites]
    tests, failures, errors, skipped = (sum(column) for column in zip(*counts, strict=True))
    return (tests - skipped) * attack.each, failures + errors


if __name__ == "__main__":
    sys.exit(main())
