"""The rooms that know no OpenTelemetry, from the contract of the floors; `python -m tests.core` prints their files."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


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
