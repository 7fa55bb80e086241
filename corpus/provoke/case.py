"""One way to make a tool fail, and how its output is recorded without a trace of the machine it ran on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from otel_errcompact.dedup.masking import mask
from otel_errcompact.engine.events import Observation
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import Location, RawError

CORPUS = Path(__file__).parents[1]
CHECKOUT = CORPUS.parent
SCRATCH = Path(tempfile.gettempdir()) / "errcompact-corpus"
TOOLS = SCRATCH / "tools"
"""Where the areas install the tools that the machine lacks; kept from one run to the next."""

HOME = "/home/dev"
OF_OUR_ENVIRONMENT = frozenset({"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP"})
"""Variables that would let a case reach into the environment of this project."""

_INTERPRETER = re.compile(re.escape(sys.base_prefix))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One failure that a real tool is brought to.
    """

    name: str
    """The name of the record: `<name>.txt` in the folder of its format."""

    format: str
    """The format that must recognise it; also the folder."""

    command: str
    """A line of bash; standard output and standard error are recorded together, as an agent sees them."""

    files: dict[str, str] = field(default_factory=dict)
    """The project, by path."""

    setup: str = ""
    """A line of bash that runs first, unrecorded."""

    needs: tuple[str, ...] = ()
    """Programs without which the case is left out."""

    environment: dict[str, str] = field(default_factory=dict)
    project: str = "shop"
    """The name of the project's folder."""

    timeout: int = 300
    """Seconds."""

    @property
    def label(self) -> str:
        """Name the case among all."""
        return f"{self.format}/{self.name}"

    @property
    def target(self) -> Path:
        """Return where its record lies."""
        return CORPUS / self.format / f"{self.name}.txt"

    def missing(self) -> tuple[str, ...]:
        """Return the programs that are needed and not there."""
        return tuple(program for program in self.needs if shutil.which(program, path=_path()) is None)

    def record(self) -> str:
        """
        Bring the tool to fail, write down what it said unless nothing but noise is new, and tell which.

        Raises:
            RuntimeError: There is no failure to record, or another one than the record's.
        """
        said = self._provoke()
        if not self.target.exists():
            self.target.parent.mkdir(exist_ok=True)
            self.target.write_text(said, encoding="utf-8")
            return "new"
        before, now = _observe(self.target.read_text(encoding="utf-8")), _observe(said)
        if _without_noise(before) == _without_noise(now):
            return "unchanged"
        if _kind(before) != _kind(now):
            raise RuntimeError(
                f"fails in another way than recorded: {' '.join(_kind(now))}, {now.found.facts.cause!r}. "
                "Is a tool missing? If it is meant, delete the record first"
            )
        self.target.write_text(said, encoding="utf-8")
        return "changed"

    def _provoke(self) -> str:
        folder = SCRATCH / "runs" / f"{self.format}-{self.name}" / self.project
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True)
        for path, content in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8")
        if self.setup:
            self._run(self.setup, folder)
        done = self._run(self.command, folder)
        said = neutral(done.stdout.decode("utf-8", "replace"), folder)
        if not said.strip():
            raise RuntimeError(f"exit {done.returncode} without a word; mend its command")
        return said

    def _run(self, command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
        inherited = {name: value for name, value in os.environ.items() if name not in OF_OUR_ENVIRONMENT}
        ours = {"PATH": _path(), "TERM": "dumb", "TOOLS": str(TOOLS), "NO_COLOR": "1"}
        return subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**inherited, **ours, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=self.timeout,
            check=False,
        )


def neutral(text: str, folder: Path) -> str:
    """
    Return `text` with the folders of this machine replaced by those of a developer who could be anybody.
    """
    folders = {
        folder.parent: f"{HOME}/src",
        TOOLS: f"{HOME}/tools",
        SCRATCH: "/tmp/build",
        Path.home(): HOME,
        CHECKOUT / ".venv": f"{HOME}/.venv",
        CHECKOUT: f"{HOME}/errcompact",
    }
    for real, anybody_s in folders.items():
        text = text.replace(str(real), anybody_s)
    return _INTERPRETER.sub("/usr", text)


def _observe(text: str) -> Observation:
    return Ledger().observe("run", RawError(text=text, tool="bash"))


def _without_noise(seen: Observation) -> tuple[str, Location, str]:
    return seen.found.key, seen.found.facts.location, mask(seen.text)


def _kind(seen: Observation) -> tuple[str, str]:
    return seen.found.facts.format, seen.found.facts.type


def _path() -> str:
    """
    Return the search path: tools of the corpus first, then those of the machine, and none of this environment.
    """
    own = Path(sys.executable).parent
    machine = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join((str(TOOLS / "bin"), *(folder for folder in machine if folder and Path(folder) != own)))
