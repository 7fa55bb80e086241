"""Runs commands with and without us, as an agent's host does."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[4]
EXEC = (sys.executable, "-m", "otel_errcompact", "exec")
TIMEOUT_S = 120
"""Far more than any of these commands needs on a busy machine."""


def _describe(process: int) -> str:
    """What the system knows of a process that does not end."""
    known = Path(f"/proc/{process}")
    try:
        state = {name: (known / name).read_text() for name in ("status", "wchan", "syscall")}
        state["files"] = str([str(path.readlink()) for path in (known / "fd").iterdir()])
        state["children"] = (known / f"task/{process}/children").read_text()
    except OSError as error:
        return str(error)
    return "\n".join(f"{name}: {text}" for name, text in state.items())


@dataclass(frozen=True)
class Ended:
    """How a command has ended, and what its host has read."""

    status: int
    output: bytes
    error: bytes


TRACEBACK = """\
Traceback (most recent call last):
  File "/app/load.py", line 3, in <module>
    main()
  File "/app/load.py", line 2, in main
    open("rows.csv")
FileNotFoundError: [Errno 2] No such file or directory: 'rows.csv'
"""


@dataclass
class Host:
    """A host whose agent's files lie in a folder of their own."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("work", "state", "tmp"):
            (self.folder / name).mkdir()
        self.write("fails.sh", f"seq 3000; cat <<'END' >&2\n{TRACEBACK}END\nexit 3\n")
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL") if name in os.environ}
        measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
        self.environ = {
            **kept,
            **measured,
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "TMPDIR": str(self.folder / "tmp"),
            "ENDED_IN": str(self.work / "ended-in"),
            "OTEL_ERRCOMPACT_SERVICE": str(self.folder / "no.sock"),
            "FAILING": str(self.folder / "fails.sh"),
        }

    def write(self, name: str, script: str) -> Path:
        """Write a script beside the folder in which commands run."""
        (self.folder / name).write_text(script)
        return self.folder / name

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def kept(self) -> list[Path]:
        """The outputs of failures, oldest first."""
        return sorted((self.folder / "state" / "otel-errcompact" / "exec").glob("*"))

    def wrap(self, *command: str, options: tuple[str, ...] = ()) -> list[str]:
        return [*EXEC, *options, "--", *command]

    def start(self, *command: str, **how: object) -> subprocess.Popen[bytes]:
        settings = {"cwd": self.work, "env": self.environ, "stdin": subprocess.DEVNULL, **how}
        return subprocess.Popen(command, **settings)

    def run(self, *command: str, given: bytes = b"", merged: bool = False, **changes: str) -> Ended:
        """Run a program as it is."""
        running = subprocess.Popen(
            command,
            cwd=self.work,
            env={**self.environ, **changes},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        )
        with running:
            try:
                output, error = running.communicate(given, timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                state = _describe(running.pid)
                running.kill()
                raise AssertionError(f"{command} does not end: {state}") from None
        return Ended(running.returncode, output, error or b"")

    def shell(self, script: str, **how: object) -> Ended:
        """Run a script without us."""
        return self.run("bash", "-c", script, **how)

    def wrapped(self, script: str, *, options: tuple[str, ...] = (), **how: object) -> Ended:
        """Run a script behind `errcompact exec`."""
        return self.run(*self.wrap("bash", "-c", script, options=options), **how)
