"""What cases need beyond the machine's own programs: installed once below `$TOOLS`, and nowhere else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DEBIAN = {
    "clang": "clang",
    "dialyzer": "erlang-dialyzer",
    "dnf": "dnf",
    "g++": "g++",
    "gcc": "gcc",
    "mariadb": "mariadb-server",
    "mix": "elixir",
    "ninja": "ninja-build",
    "psql": "postgresql",
    "redis-cli": "redis-server",
    "scons": "scons",
    "sqlite3": "sqlite3",
}
"""The packages of programs that are named otherwise or easily missing; nothing of the system is ever installed."""


def python_packages(folder: Path, *packages: str) -> None:
    """Make a virtual environment that holds `packages`."""
    pip = str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "-U", "--disable-pip-version-check"
    if not _holds(folder, packages) and succeeds(sys.executable, "-m", "venv", str(folder)):
        _note(folder, packages, done=succeeds(*pip, *packages))


def npm_packages(folder: Path, *packages: str) -> None:
    """Make a folder whose `node_modules` hold `packages`."""
    if not _holds(folder, packages):
        folder.mkdir(parents=True, exist_ok=True)
        npm = "npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error"
        _note(folder, packages, done=succeeds(*npm, *packages))


def link(tools: Path, folder: Path, *programs: str) -> None:
    """Put programs onto the search path of the cases."""
    (tools / "bin").mkdir(parents=True, exist_ok=True)
    for name in programs:
        if (folder / name).exists() and not (tools / "bin" / name).exists():
            (tools / "bin" / name).symlink_to(folder / name)


def is_there(program: str) -> bool:
    """Tell whether the machine has a program, maybe where only its administrator looks."""
    return shutil.which(program) is not None or shutil.which(program, path="/usr/sbin") is not None


def succeeds(*command: str) -> bool:
    """Run a command without a word and tell whether it did what it should."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=900, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _holds(folder: Path, packages: tuple[str, ...]) -> bool:
    noted = folder / "packages.txt"
    return noted.is_file() and noted.read_text(encoding="utf-8").split() == list(packages)


def _note(folder: Path, packages: tuple[str, ...], *, done: bool) -> None:
    if done:
        (folder / "packages.txt").write_text("\n".join(packages), encoding="utf-8")
    else:
        print(f"not all installed: {' '.join(packages)}", file=sys.stderr)
