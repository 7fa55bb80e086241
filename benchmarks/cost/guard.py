"""
Compare the instructions of the hot paths with the committed baseline: `python -m benchmarks.cost.guard [--write]`.

A path that takes a tenth more than before fails, with the functions that are called more often. So does one that takes
a tenth less, until the baseline has it: what was gained is not to be lost unseen. Counts are compared in bare spans of
the same run, so that another build of Python or of the SDK moves both.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import platform
import pstats
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks.cost.instructions import ROOT, count_instructions
from benchmarks.cost.measure import SPAN
from benchmarks.cost.paths import GUARDED, make_path
from e2e.debian import install
from tests.core import PACKAGES

BASELINE: Final = Path(__file__).with_name("baseline.json")
TOLERANCE: Final = 0.1
TURNS: Final = 20
MAX_GROWN: Final = 12
CURE: Final = "benchmarks.cost.guard: install valgrind (Debian: apt-get install valgrind) and put it on the PATH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What one turn of a path takes."""

    spans: float
    """Instructions, in those of a bare span."""

    calls: dict[str, float]
    """Calls of each Python function; the names have no line numbers, which any edit moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What the paths took when it was written, and where."""

    python: str
    sdk: str
    paths: dict[str, Count]


def main() -> int:
    """Count, and compare or write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost.guard", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the baseline instead of comparing with it")
    asked = parser.parse_args()
    if not shutil.which("valgrind") and (status := install("valgrind", cure=CURE)):
        return status
    found = count_all()
    if asked.write:
        BASELINE.write_text(json.dumps(asdict(found), indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return 0
    known = read_baseline()
    if (known.python, known.sdk) != (found.python, found.sdk):
        print(f"note: the baseline is of Python {known.python}, SDK {known.sdk}; these are {found.python}, {found.sdk}")
    faults = [line for name in GUARDED for line in compare(name, known.paths.get(name), found.paths[name])]
    print("\n".join(faults or [f"all {len(GUARDED)} paths are within {TOLERANCE:.0%} of the baseline"]))
    return 1 if faults else 0


def count_all() -> Baseline:
    """Return what every guarded path takes now, two of them at a time."""
    # First, since it leaves the bytecode of all modules behind: compiled under valgrind they would be counted.
    calls = {name: count_calls(name) for name in GUARDED}
    turns = {SPAN: 800, **GUARDED}
    with ThreadPoolExecutor(2) as pool:
        counted = dict(zip(turns, pool.map(_count, turns.items()), strict=True))
    paths = {name: Count(spans=round(counted[name] / counted[SPAN], 3), calls=calls[name]) for name in GUARDED}
    for name, count in paths.items():
        print(f"{name:32s} {count.spans:8.3f} spans {counted[name]:12,.0f} instructions")
    return Baseline(python=platform.python_version(), sdk=version("opentelemetry-sdk"), paths=paths)


def _count(turns: tuple[str, int]) -> float:
    path, many = turns
    return count_instructions(path, few=max(many // 10, 1), many=many)


def count_calls(path: str) -> dict[str, float]:
    """Return how often one turn of a path calls each function of Python code."""
    turn = make_path(path)
    turn()
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    for _ in range(TURNS):
        turn()
    profile.disable()
    calls: dict[str, float] = {}
    for (file, _, function), (_, number, *_) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        name = f"{_shorten(file)}:{function}"
        calls[name] = calls.get(name, 0.0) + number / TURNS
    return {name: round(number, 2) for name, number in calls.items() if "benchmarks/" not in name}


def _shorten(file: str) -> str:
    path = Path(file)
    if any(map(path.is_relative_to, PACKAGES.values())):
        return str(path.relative_to(ROOT))
    return "/".join(path.parts[-2:])


def read_baseline() -> Baseline:
    """Return the committed baseline."""
    read = json.loads(BASELINE.read_text(encoding="utf-8"))
    paths = {name: Count(**count) for name, count in read.pop("paths").items()}
    return Baseline(**read, paths=paths)


def compare(name: str, known: Count | None, found: Count) -> list[str]:
    """Return what is wrong with a path, line by line; nothing within the tolerance."""
    if known is None:
        return [f"{name}: not in the baseline; write it with --write"]
    change = found.spans / known.spans - 1
    if abs(change) <= TOLERANCE:
        return []
    if change < 0:
        return [f"{name}: {-change:.0%} less, {found.spans:.2f} spans for {known.spans:.2f}; keep it with --write"]
    grown = {function: number - known.calls.get(function, 0.0) for function, number in found.calls.items()}
    more = sorted((function for function, number in grown.items() if number > 0), key=lambda one: -grown[one])
    lines = [f"    {grown[function]:+.1f} calls of {function}" for function in more[:MAX_GROWN]]
    return [
        f"{name}: {change:.0%} more, {found.spans:.2f} spans for {known.spans:.2f}; more calls in a turn:",
        *(lines or ["    none: a function or a pattern takes more by itself"]),
    ]


if __name__ == "__main__":
    sys.exit(main())
