"""Calls at the end of a child process of `multiprocessing`, which ends without `atexit`."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.programs

METHODS = [method for method in multiprocessing.get_all_start_methods() if method != "spawn"]
"""A spawned child ends by `atexit`."""

NOTES = """
import os
import sys
from pathlib import Path


class Note:
    def __init__(self, text):
        self.text = text

    def write(self):
        with open(sys.argv[1], "a", encoding="utf-8") as file:
            file.write(self.text + "\\n")

    def fail(self):
        raise ValueError(self.text)
"""

EARLY = """
import sys
from notes import Note
from otel_errcompact.runtime.exits import call_at_child_exit

first, second, bad, gone = Note("first"), Note("second"), Note("bad"), Note("gone")
for method in (first.write, second.write, bad.fail, gone.write):
    call_at_child_exit(method)
del gone, method


def work():
    Note("work").write()


if __name__ == "__main__":
    # Only now: what is not loaded cannot be joined before.
    import multiprocessing

    process = multiprocessing.get_context(sys.argv[2]).Process(target=work)
    process.start()
    process.join()
    sys.exit(process.exitcode)
"""

LATE = """
import multiprocessing
import sys
from notes import Note

note = Note("late")


def work():
    from otel_errcompact.runtime.exits import call_at_child_exit

    call_at_child_exit(note.write)
    Note("work").write()


if __name__ == "__main__":
    process = multiprocessing.get_context(sys.argv[2]).Process(target=work)
    process.start()
    process.join()
    sys.exit(process.exitcode)
"""


def written(folder: Path, program: str, method: str) -> list[str]:
    """What a program with one child of a start method has written, after a run without an error."""
    (folder / "notes.py").write_text(NOTES, encoding="utf-8")
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, str(folder / "program.py"), str(folder / "written.txt"), method]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return (folder / "written.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("method", METHODS)
def test_a_child_makes_the_calls_at_its_end(tmp_path, method):
    """The last one first, whatever one of them raises, and none of an object that is gone; the parent makes none."""
    assert written(tmp_path, EARLY, method) == ["work", "second", "first"]


@pytest.mark.parametrize("method", METHODS)
def test_a_child_may_register_while_it_works(tmp_path, method):
    """As where `install` stands in the function that a worker is given."""
    assert written(tmp_path, LATE, method) == ["work", "late"]
