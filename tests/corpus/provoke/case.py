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

CORPUS = Path(__file__).parents[1]
SCRATCH = Path(tempfile.gettempdir()) / "errcompact-corpus"
TOOLS = SCRATCH / "tools"
"""Where the families install the tools that the machine lacks; kept from one run to the next."""

HOME = "/home/dev"
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

    def missing(self) -> tuple[str, ...]:
        """Return the programs that are needed and not there."""
        return tuple(program for program in self.needs if shutil.which(program, path=_path()) is None)

    def record(self) -> Path:
        """
        Bring the tool to fail, write down what it said, and return the file.

        Raises:
            RuntimeError: The command succeeded or said nothing, so there is no failure to record.
        """
        folder = SCRATCH / "runs" / f"{self.format}-{self.name}" / self.project
        shutil.rmtree(folder.parent, ignore_errors=True)
        for path, content in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8")
        folder.mkdir(parents=True, exist_ok=True)
        if self.setup:
            self._run(self.setup, folder)
        done = self._run(self.command, folder)
        said = neutral(done.stdout.decode("utf-8", "replace"), folder)
        if not said.strip():
            raise RuntimeError(f"{self.format}/{self.name}: exit {done.returncode} without a word; mend its command")
        target = CORPUS / self.format / f"{self.name}.txt"
        target.parent.mkdir(exist_ok=True)
        target.write_text(said, encoding="utf-8")
        return target

    def _run(self, command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={
                **os.environ,
                "PATH": _path(),
                "TERM": "dumb",
                "TOOLS": str(TOOLS),
                "NO_COLOR": "1",
                **self.environment,
            },
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
    text = text.replace(str(folder.parent), f"{HOME}/src").replace(str(TOOLS), f"{HOME}/tools")
    text = text.replace(str(SCRATCH), "/tmp/build").replace(str(Path.home()), HOME)
    text = text.replace(str(CORPUS.parents[1] / ".venv"), f"{HOME}/.venv").replace(
        str(CORPUS.parents[1]), f"{HOME}/errcompact"
    )
    return _INTERPRETER.sub("/usr", text)


def _path() -> str:
    """
    Return the search path: tools of the corpus first, then those of this environment, then the machine's.
    """
    return os.pathsep.join((str(TOOLS / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
