"""
What each integration adds to a tool call: `python -m benchmarks.integrations [NAME...]`.

Each framework is measured in the environment that `python -m tests.integrations` makes for it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.integrations.__main__ import ROOT, environment, settings_of_all

HEALTHY_US, FAILING_US = 100, 1_000
HEAD = (
    "framework", "its own call", "hooks", "healthy: ours", "all added", "holds", "failing: ours", "all added", "holds"
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """
    One framework's medians, in microseconds of CPU time for one tool call.
    """

    title: str
    of: dict[str, float]

    def row(self) -> str:
        """Return a row of the table."""
        of = self.of
        cells = [self.title, f"{of['healthy without']:,.0f}", f"{of['healthy hooks']:,.0f}"]
        for kind, unit, bound in (("healthy", "span", HEALTHY_US), ("failing", "record_exception", FAILING_US)):
            ours, added = of[f"{kind} ours"], of[f"{kind} added"]
            cells += [f"{ours:,.0f} ({ours / of[unit]:.1f}x)", f"{added:,.0f}", _held(of, kind, bound)]
        return f"| {' | '.join(cells)} |"


def main() -> int:
    """Measure what is asked for, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.integrations", description=__doc__)
    settings = settings_of_all()
    titles = {name: str(value["title"]) for name, value in settings.items() if isinstance(value, dict)}
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"frameworks; all by default: {', '.join(titles)}")
    parser.add_argument("--rounds", type=int, default=40, help="rounds in which the variants take turns")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(titles):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(titles)}")
    found: list[Figures] = []
    for name in asked.names or titles:
        python, problem = environment(name, "newest", settings)
        of, said = ({}, problem.stdout) if problem else _measured(python, name, asked.rounds)
        if of:
            found.append(Figures(title=titles[name], of=of))
        print(f"{name}: {json.dumps(of) if of else said}", file=sys.stderr, flush=True)
    print(f"| {' | '.join(HEAD)} |\n|---|{'---:|' * (len(HEAD) - 1)}")
    print(*(figures.row() for figures in found), sep="\n")
    units = {unit: sorted(figures.of[unit] for figures in found) for unit in ("span", "record_exception") if found}
    print(*(f"{unit}: {of[0]:.0f} to {of[-1]:.0f} us" for unit, of in units.items()), sep=", ")
    return 0 if len(found) == len(asked.names or titles) else 1


def _measured(python: Path, name: str, rounds: int) -> tuple[dict[str, float], str]:
    """Return the figures of a framework, and what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        done = subprocess.run(
            [python, "-m", "benchmarks.integrations.measure", name, file, "--rounds", str(rounds)],
            cwd=ROOT, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return (json.loads(file.read_text()), "") if file.exists() else ({}, done.stdout)


def _held(of: dict[str, float], kind: str, bound: float) -> str:
    """Tell whether a bound holds; where the parts are far from their sum, the noise is too loud for a yes."""
    hooks, ours, added = of[f"{kind} hooks"], of[f"{kind} ours"], of[f"{kind} added"]
    if min(added, ours) >= bound:
        return "**no**"
    if ours < 0 or abs(hooks + ours - added) >= bound / 2:
        return "too noisy"
    return "yes" if added < bound else "ours alone"


if __name__ == "__main__":
    sys.exit(main())
