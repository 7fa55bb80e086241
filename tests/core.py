"""
The rooms of the library, in whichever package they are, and those of them that know no OpenTelemetry.

The latter are in the contract of the floors; `python -m tests.core` prints their files.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = {"": ROOT / "otel_errcompact"} | {
    f"{path.parent.name}/": path for path in sorted(ROOT.glob("packages/*/otel_errcompact_*"))
}
"""Folders of modules; a package beside the plugin is a room."""


def list_modules(suffix: str = ".py") -> Iterator[tuple[str, Path]]:
    """All files of the library with a suffix, each with the name of its room before its own."""
    for room, package in PACKAGES.items():
        for path in sorted(package.rglob(f"*{suffix}")):
            yield room + path.relative_to(package).as_posix(), path


def contracts() -> dict[str, dict[str, list[str]]]:
    """The contracts of import-linter, by their ids."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in project["tool"]["importlinter"]["contracts"]}


def rooms() -> list[str]:
    """All rooms below `otel`."""
    floors = [floor.split(" | ") for floor in contracts()["rooms"]["layers"]]
    return [room for floor in floors[floors.index(["otel"]) + 1 :] for room in floor]


def files() -> list[str]:
    """Patterns of their files, as coverage reads them."""
    package = ROOT / "otel_errcompact"
    return [f"otel_errcompact/{room}{'/*' if (package / room).is_dir() else '.py'}" for room in rooms()]


if __name__ == "__main__":
    print(",".join(files()))  # noqa: T201 - for the Makefile
