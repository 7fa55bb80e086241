"""Make the corpus anew: bring real tools to fail and write down what they say. `--help` tells more."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.provoke.case import TOOLS
from corpus.provoke.tools import DEBIAN

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from corpus.provoke.case import Case

HERE = Path(__file__).parent
FAILED, LEFT_OUT = "failed", "left out"
HELP = """\
Each case is a small program of ours and a command that fails on it. What the tool says goes to
corpus/<format>/<case>.txt. A record is kept as it is while its class, its location and the words of its digest
stay the same, so that temporary names and durations make no difference to commit. A case that fails in another way
than its record is named and the record kept. To record anew whatever has changed, delete the record first.
"""
MORE = f"""\
examples:
  python -m corpus.provoke --list           what there is
  python -m corpus.provoke pytest           all cases of a format
  python -m corpus.provoke pytest/fixtures  one case

Python, npm and Maven packages are installed below {TOOLS} and nowhere else; of the system's
packages nothing is installed: cases that lack a program are left out and named. The exit code is 1 if a case or
a whole area failed.
"""


def main() -> int:
    """Record all cases, or those that are asked for, and return the exit code."""
    arguments = _parser().parse_args()
    areas, outcomes = _areas()
    known = {name for module in areas.values() for case in module.CASES for name in (case.format, case.label)}
    unknown = [name for name in arguments.cases if name not in known]
    if unknown:
        print(f"no such format or case: {', '.join(unknown)}; --list shows what there is", file=sys.stderr)
        return 2
    chosen = {name: _asked_for(module, arguments.cases) for name, module in areas.items()}
    if arguments.list:
        print(*(case.label for cases in chosen.values() for case in cases), sep="\n")
        return 1 if outcomes else 0
    for name, cases in chosen.items():
        if cases:
            outcomes += _record_area(name, areas[name], cases)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))
    _tell_what_is_missing(case for cases in chosen.values() for case in cases)
    return 1 if outcomes[FAILED] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m corpus.provoke",
        description=HELP,
        epilog=MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cases", nargs="*", help="formats or cases; default: all")
    parser.add_argument("--list", action="store_true", help="list the cases and record nothing")
    return parser


def _areas() -> tuple[dict[str, ModuleType], Counter[str]]:
    """
    Return the modules beside this one that hold cases, by name, and count those that cannot be imported.
    """
    found: dict[str, ModuleType] = {}
    outcomes: Counter[str] = Counter()
    for name in sorted(module.name for module in pkgutil.iter_modules([str(HERE)]) if module.name != "__main__"):
        try:
            module = importlib.import_module(f"{__package__}.{name}")
        except Exception as error:
            outcomes[FAILED] += 1
            print(f"{name}: cannot be imported: {error!r}", file=sys.stderr)
        else:
            if hasattr(module, "CASES"):
                found[name] = module
    return found, outcomes


def _asked_for(module: ModuleType, asked: list[str]) -> list[Case]:
    return [case for case in module.CASES if not asked or {case.format, case.label} & set(asked)]


def _record_area(name: str, module: ModuleType, cases: list[Case]) -> Counter[str]:
    """
    Prepare an area, record its cases, and count what became of them.
    """
    print(f"{name}: preparing", flush=True)
    TOOLS.mkdir(parents=True, exist_ok=True)
    try:
        getattr(module, "prepare", lambda _: None)(TOOLS)
        return Counter(_record(f"{name} {number}/{len(cases)}", case) for number, case in enumerate(cases, 1))
    except Exception as error:
        print(f"{name}: cannot be prepared, its cases are skipped: {error!r}", file=sys.stderr)
        return Counter({FAILED: 1})
    finally:
        if hasattr(module, "finish"):
            module.finish(TOOLS)


def _record(progress: str, case: Case) -> str:
    outcome, said = LEFT_OUT, ", ".join(case.missing())
    if not said:
        try:
            outcome = case.record()
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            outcome, said = FAILED, str(error)
    print(f"{progress} {case.label}: {outcome}{said and f': {said}'}", flush=True)
    return outcome


def _tell_what_is_missing(cases: Iterable[Case]) -> None:
    missing = sorted({program for case in cases for program in case.missing()})
    if missing:
        packages = " ".join(sorted({DEBIAN.get(program, program) for program in missing}))
        print(f"left out for want of {', '.join(missing)}; maybe: apt-get install {packages}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
