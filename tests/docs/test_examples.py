"""Every example runs as it stands, as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.programs

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("with_"))
"""Those with a framework run where the framework is: by the tests of its integration."""

QUICKSTART = FOLDER / "quickstart.py"


class Ran(NamedTuple):
    folder: Path
    done: subprocess.CompletedProcess[str]


def run_example(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONWARNINGS": "error", "XDG_STATE_HOME": str(folder)}
    return subprocess.run(
        [sys.executable, path], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Ran]:
    """Runs an example, once: the folder it ran in, and what it printed."""

    @cache
    def run(path: Path) -> Ran:
        folder = tmp_path_factory.mktemp(path.stem)
        return Ran(folder, run_example(path, folder))

    return run


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_ends_well_and_shows_no_raw_traceback(path: Path, ran: Callable[[Path], Ran]) -> None:
    """An example needs no argument, exits with 0, and prints no raw traceback."""
    done = ran(path).done

    assert done.returncode == 0, done.stderr
    assert "Traceback (most recent call last)" not in done.stdout + done.stderr


def test_the_quickstart_shows_a_recovery_and_a_halt(ran: Callable[[Path], Ran]) -> None:
    """Its first agent reads the digest and mends its query; its second one is refused, and stopped in the end."""
    lines = ran(QUICKSTART).done.stdout.splitlines()

    assert "no such column: amount" in lines[0]
    assert lines[1] == "[(None,)]"
    assert [line.split()[-1] for line in lines if line.startswith("# Run")] == ["recovered", "halted"]
    assert sum("again (x2, 2 in a row; " in line for line in lines) == 1
    assert sum(line.startswith("NOT EXECUTED: this exact call has failed 2 times") for line in lines) == 4
    assert sum(line.endswith("; the run is stopped.") for line in lines) == 1
    assert not any("(x3" in line for line in lines)


def test_the_quickstart_keeps_the_raw_errors(ran: Callable[[Path], Ran]) -> None:
    """Without an exporter the raw errors go to a file in the user's state folder, and no warning says so."""
    folder, done = ran(QUICKSTART)
    (trajectory,) = (folder / "otel-errcompact" / "trajectories").glob("*-quickstart.jsonl")

    assert "trajectory" not in done.stderr
    assert trajectory.read_text().count("Traceback (most recent call last)") == 3
