"""
What the library costs beside what the SDK itself costs, and beside what a user would pick instead.

Each figure is a ratio of variants that took turns in one process, by processor time of their thread, or counts of
instructions. Run `make bench`, or see `--help`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import subprocess
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchmarks.cost.measure import Row

TOPICS: Final = (
    "imports",
    "spans",
    "calls",
    "ledger",
    "metrics",
    "observation",
    "window",
    "hostile",
    "memory",
    "peers",
)
"""The modules beside this one, each with a function `measure`."""


def main() -> int:
    """Run what was asked for, print a table for each topic, and fail if a goal is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"what to measure: {', '.join(TOPICS)}; all if none")
    parser.add_argument("--rounds", type=int, default=100, help="rounds in which the variants take turns (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows as JSON to this file")
    asked = parser.parse_args()
    if unknown := set(asked.topics) - set(TOPICS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(TOPICS)}")
    print(f"Commit {commit()}, Python {platform.python_version()}, opentelemetry-sdk {version('opentelemetry-sdk')}\n")
    rows: list[Row] = []
    for topic in asked.topics or TOPICS:
        print(f"{topic} ...", file=sys.stderr, flush=True)
        found: list[Row] = importlib.import_module(f"benchmarks.cost.{topic}").measure(asked.rounds)
        print(f"{topic}\n\n{table(found)}\n", flush=True)
        rows += found
    if asked.json:
        asked.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.holds is not False for row in rows) else 1


def commit() -> str:
    """Return the commit that is measured, marked where files have changed since."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def table(rows: list[Row]) -> str:
    """Return rows as a Markdown table."""
    lines = ["| what | new | seen | unit | goal | reached |", "|---|---:|---:|---|---:|---|"]
    for row in rows:
        goal = "" if row.goal is None else f"<= {row.goal:g}"
        reached = {None: "", True: "yes", False: "**no**"}[row.holds]
        seen = "" if row.seen is None else f"{row.seen:.3g}"
        lines.append(f"| {row.name} | {row.value:.3g} | {seen} | {row.unit} | {goal} | {reached} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
