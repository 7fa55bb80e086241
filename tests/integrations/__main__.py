"""
Test each integration in an environment of its own: `python -m tests.integrations [NAME...] [--oldest] [--write]`.

The table in `docs/frameworks/index.md` is made from what these tests say; without `--write` it is compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.core import PACKAGES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".environments"
PAGE = ROOT / "docs" / "frameworks" / "index.md"
DUTIES = {
    "render": "agent reads digest",
    "success": "success ends streak",
    "gate": "stops the run",
    "ask": "asks a human",
    "span": "no double count",
    "window": "context window",
}
"""The duties that tests prove, each with its column on the page."""

BEGIN, END = "<!-- matrix -->\n", "<!-- /matrix -->\n"
LEAST_COVERAGE = 95


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """
    What came of one framework in one environment.
    """

    name: str
    age: str
    passed: bool
    line: str
    """The last line that the tests printed."""

    output: str
    duties: dict[str, str]
    seconds: float


def main() -> int:
    """Run what is asked for, and compare or write the matrix."""
    parser = argparse.ArgumentParser(prog="python -m tests.integrations", description=__doc__)
    settings = settings_of_all()
    names = [name for name, value in settings.items() if isinstance(value, dict)]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"frameworks; all by default: {', '.join(names)}")
    parser.add_argument("--oldest", action="store_true", help="with the oldest releases that are supported, too")
    parser.add_argument("--write", action="store_true", help="write the matrix into its page instead of comparing")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(names)}")
    chosen = asked.names or names
    jobs = [(name, "newest") for name in chosen]
    jobs += [(name, "oldest") for name in chosen if asked.oldest and settings[name]["oldest"]]
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda job: _shown(_tested(*job, settings)), jobs))
    failed = [outcome for outcome in outcomes if not outcome.passed]
    for outcome in failed:
        print(f"\n===== {outcome.name} ({outcome.age})\n{outcome.output}")
    return 1 if failed or not _matrix(outcomes, settings, write=asked.write) else 0


def settings_of_all() -> dict[str, dict[str, list[str]]]:
    """Return what is said of all environments, and of each."""
    return tomllib.loads((Path(__file__).parent / "environments.toml").read_text())


def _shown(outcome: Outcome) -> Outcome:
    mark = "ok    " if outcome.passed else "FAILED"
    print(f"{mark} {outcome.name:16} {outcome.age:7} {outcome.seconds:5.1f} s  {outcome.line}", flush=True)
    return outcome


def _tested(name: str, age: str, settings: dict[str, dict[str, list[str]]]) -> Outcome:
    started = time.monotonic()
    python, problem = environment(name, age, settings)
    matrix = FOLDER / f"{name}-{age}.json"
    matrix.unlink(missing_ok=True)
    modules, tests = modules_of(name) if age == "newest" else [], tests_of(name)
    data = f"--data-file={FOLDER}/{name}.coverage"
    measured = [
        *["-m", "coverage", "run", "--rcfile=/dev/null", "--branch"],
        data,
        f"--include={','.join(map(str, modules))}",
    ]
    done = problem or _run(
        python, "-W", "default", *(measured if modules else ()), "-m", "pytest", "-q", "-W", "default",
        "-p", "no:cacheprovider", *tests, ERRCOMPACT_MATRIX=str(matrix), ERRCOMPACT_FRAMEWORK=name,
    )  # fmt: skip
    output, passed = done.stdout, done.returncode == 0
    lines = [line for line in output.splitlines() if " passed" in line or " failed" in line] or output.splitlines()
    if passed and modules:
        report = _run(
            python, "-m", "coverage", "report", "--rcfile=/dev/null", "--show-missing", data,
            f"--fail-under={LEAST_COVERAGE}",
        )  # fmt: skip
        passed, output = report.returncode == 0, f"{output}\n{report.stdout}"
    if passed and modules:
        # In the project's own environment all that a framework declares would be unknown.
        types = _run(
            sys.executable, "-m", "mypy", "--follow-imports=silent", f"--cache-dir={FOLDER}/{name}-types",
            "--python-executable", python, *modules,
        )  # fmt: skip
        passed, output = types.returncode == 0, f"{output}\n{types.stdout}"
    duties = json.loads(matrix.read_text()) if matrix.exists() else {}
    return Outcome(
        name=name, age=age, passed=passed, line=lines[-1] if lines else "", output=output, duties=duties,
        seconds=time.monotonic() - started,
    )  # fmt: skip


def modules_of(name: str) -> list[Path]:
    """Return the modules of one framework: what compacts its errors, keeps its context window, or links hosts by it."""
    folder = ROOT / "otel_errcompact" / "integrations"
    windows = ROOT / "packages" / "context" / "otel_errcompact_context" / "integrations"
    paths = (folder / f"{name}.py", windows / f"{name}.py", *sorted((folder / "links").glob(f"{name}*.py")))
    return [path for path in paths if path.exists()]


def tests_of(name: str) -> list[Path]:
    """Return their tests, and the one that all have in common."""
    folder = ROOT / "tests" / "integrations"
    paths = (folder / f"test_{name}.py", folder / "windows" / f"test_{name}_window.py")
    paths = (*paths, folder / "test_one_line.py")
    return [*(path for path in paths if path.exists()), *sorted((folder / "links").glob(f"test_{name}_*.py"))]


def environment(
    name: str, age: str, settings: dict[str, dict[str, list[str]]]
) -> tuple[Path, subprocess.CompletedProcess[str] | None]:
    """Return the interpreter of an environment, and what went wrong while it was made."""
    folder = FOLDER / f"{name}-{age}"
    python = folder / "bin" / "python"
    wanted = [*settings["tools"], *settings[name][age], *(settings[name]["spans"] if age == "newest" else ())]
    stamp = folder / "packages.json"
    projects = [(package.parent / "pyproject.toml").read_text() for package in PACKAGES.values()]
    asked = json.dumps([settings["exclude-newer"], wanted, *projects])
    if stamp.exists() and stamp.read_text() == asked:
        return python, None
    made = _run(sys.executable, "-m", "uv", "venv", "--quiet", "--clear", "--python", sys.executable, folder)
    if made.returncode == 0:
        made = _run(
            sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python,
            "--exclude-newer", str(settings["exclude-newer"]),
            *(f"--editable={package.parent}" for package in PACKAGES.values()), *wanted,
        )  # fmt: skip
    if made.returncode:
        return python, made
    stamp.write_text(asked)
    return python, None


def _run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, env={**os.environ, **environment}, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def _matrix(outcomes: list[Outcome], settings: dict[str, dict[str, list[str]]], *, write: bool) -> bool:
    """Write the rows of what was tested into the page, or tell whether they stand there."""
    text = PAGE.read_text(encoding="utf-8")
    if BEGIN not in text:
        return True
    head, _, rest = text.partition(BEGIN)
    table, _, tail = rest.partition(END)
    known = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("|")}
    rows = {str(settings[outcome.name]["title"]): outcome for outcome in outcomes if outcome.age == "newest"}
    made = dict(known)
    for title, outcome in rows.items():
        versions = ", ".join(spec.replace("==", " ") for spec in settings[outcome.name]["newest"])
        oldest = ", ".join(spec.partition("==")[2] for spec in settings[outcome.name]["oldest"][:1])
        versions += f" (from {oldest})" if oldest else ""
        cells = (title, versions, *(outcome.duties.get(duty, "-") for duty in DUTIES))
        made[title] = f"| {' | '.join(cells)} |"
    if made == known:
        return True
    if not write:
        stale = [line for title, line in made.items() if known.get(title) != line]
        print("the matrix on its page says otherwise; `--write` writes it:", *stale, sep="\n")
        return False
    titles = ["framework", "---", *(str(value["title"]) for value in settings.values() if isinstance(value, dict))]
    made.setdefault("framework", f"| framework | tested with | {' | '.join(DUTIES.values())} |")
    made.setdefault("---", f"|{'---|' * (len(DUTIES) + 2)}")
    lines = [made[title] for title in titles if title in made]
    PAGE.write_text(head + BEGIN + "\n".join(lines) + "\n" + END + tail, encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main())
