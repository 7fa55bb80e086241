"""The rooms that know no OpenTelemetry, from the contract of the floors; `python -m tests.core` prints their files."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.servers import SERVER

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
    """Patterns of their files, as coverage reads them; without what needs a server that is not there."""
    package = ROOT / "otel_errcompact"
    patterns: list[str] = []
    for room in rooms():
        if not (package / room).is_dir():
            patterns.append(f"otel_errcompact/{room}.py")
        elif SERVER is None and room == "history":
            found = (path.relative_to(ROOT).as_posix() for path in sorted((package / room).rglob("*.py")))
            patterns += [path for path in found if not path.endswith("/redis.py")]
        else:
            patterns.append(f"otel_errcompact/{room}/*")
    return patterns


if __name__ == "__main__":
    print(",".join(files()))  # noqa: T201 - for the Makefile
