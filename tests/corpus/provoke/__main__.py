"""Make the corpus anew: bring real tools to fail and write down what they say. `--help` tells more."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.corpus.provoke.case import TOOLS

if TYPE_CHECKING:
    from types import ModuleType

    from tests.corpus.provoke.case import Case


def main() -> int:
    """Record all cases, or those that are asked for; return 1 if one could not be recorded."""
    arguments = _parser().parse_args()
    failed = 0
    for module in _areas():
        cases = [case for case in module.CASES if _is_asked_for(case, arguments.cases)]
        if arguments.list:
            print(*(f"{case.format}/{case.name}" for case in cases), sep="\n")
        elif cases:
            failed += _record(module, cases)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.corpus.provoke",
        description="Bring real tools to fail and record what they say in tests/corpus/<format>/<case>.txt. "
        "Tools that are missing are named and their cases left out.",
    )
    parser.add_argument(
        "cases", nargs="*", help="a format (`pytest`) or a case (`pytest/missing_fixture`); default: all"
    )
    parser.add_argument("--list", action="store_true", help="only list the cases")
    return parser


def _areas() -> list[ModuleType]:
    """
    Return the modules beside this one that hold cases.
    """
    names = [found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = [importlib.import_module(f"tests.corpus.provoke.{name}") for name in names if not name.startswith("_")]
    return [module for module in modules if hasattr(module, "CASES")]


def _is_asked_for(case: Case, asked: list[str]) -> bool:
    return not asked or case.format in asked or f"{case.format}/{case.name}" in asked


def _record(module: ModuleType, cases: list[Case]) -> int:
    """
    Record the cases of one area and return how many could not be recorded.
    """
    TOOLS.mkdir(parents=True, exist_ok=True)
    prepare = getattr(module, "prepare", None)
    if prepare is not None:
        prepare(TOOLS)
    failed = 0
    for case in cases:
        label = f"{case.format}/{case.name}"
        missing = case.missing()
        if missing:
            print(f"{label}: left out, {', '.join(missing)} not installed")
            continue
        try:
            written = case.record()
        except (RuntimeError, OSError, TimeoutError) as error:
            failed += 1
            print(f"{label}: {error}", file=sys.stderr)
        else:
            print(f"{label}: {written.stat().st_size} bytes")
    return failed


if __name__ == "__main__":
    sys.exit(main())
