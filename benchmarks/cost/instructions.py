"""
Count instructions of a path with valgrind: the same number on a busy machine as on an idle one.

A path (`benchmarks.cost.paths`) is walked twice, with few and with many turns; the difference is free of all that is
done once.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

FEW: Final = 20
MANY: Final = 60
ROOT: Final = Path(__file__).resolve().parents[2]
_TOTAL: Final = re.compile(r"^summary: (\d+)", re.MULTILINE)


def count_instructions(path: str, *, few: int = FEW, many: int = MANY) -> float:
    """
    Return the instructions of one turn of a path.

    Args:
        path: Its name.
        few: Turns of the one walk.
        many: Turns of the other.

    Raises:
        RuntimeError: The path failed, or valgrind is missing.
    """

    def walk(turns: int) -> int:
        return count_program(["-m", "benchmarks.cost.paths", path, str(turns)])

    return (walk(many) - walk(few)) / (many - few)


def count_program(arguments: list[str]) -> int:
    """
    Return the instructions of a whole process of Python.

    Args:
        arguments: What follows the interpreter.

    Raises:
        RuntimeError: It failed, or valgrind is missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={out}"]
        command += [sys.executable, *arguments]
        # Without these, sets and dictionaries of names lie otherwise in each process.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise RuntimeError("valgrind is missing; install it, as `apt-get install valgrind` does") from error
        if done.returncode or not out.is_file():
            raise RuntimeError(f"{arguments} failed under valgrind:\n{done.stderr[-2_000:]}")
        found = _TOTAL.search(out.read_text(encoding="utf-8"))
        if found is None:
            raise RuntimeError(f"valgrind has written no total for {arguments}")
        return int(found[1])
