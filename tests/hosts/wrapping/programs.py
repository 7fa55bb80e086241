"""Runs commands with and without us, as an agent's host does."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[3]
EXEC = (sys.executable, "-m", "otel_errcompact", "exec")
TIMEOUT_S = 120
"""Far more than any of these commands needs on a busy machine."""


@dataclass(frozen=True)
class Ended:
    """How a command has ended, and what its host has read."""

    status: int
    output: bytes
    error: bytes


@dataclass
class Host:
    """A host whose agent's files lie in a folder of their own."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("work", "state", "tmp"):
            (self.folder / name).mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL") if name in os.environ}
        measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
        self.environ = {
            **kept,
            **measured,
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "TMPDIR": str(self.folder / "tmp"),
            "OTEL_ERRCOMPACT_SERVICE": str(self.folder / "no.sock"),
        }

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
        made = subprocess.run(
            command,
            cwd=self.work,
            env={**self.environ, **changes},
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Ended(made.returncode, made.stdout, made.stderr or b"")

    def shell(self, script: str, **how: object) -> Ended:
        """Run a script without us."""
        return self.run("bash", "-c", script, **how)

    def wrapped(self, script: str, *, options: tuple[str, ...] = (), **how: object) -> Ended:
        """Run a script behind `errcompact exec`."""
        return self.run(*self.wrap("bash", "-c", script, options=options), **how)
