from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.meta

ROOT = Path(__file__).parents[2]


def test_the_map_names_every_module_and_nothing_else() -> None:
    """A newcomer finds the room for a change from the map alone."""
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## ")[1]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {
        name.removeprefix("otel_errcompact/").strip("/")
        for cell in first_cells
        for name in re.findall("`([^`]+)`", cell)
    }
    package = {
        path.name
        for path in (ROOT / "otel_errcompact").iterdir()
        if (path.suffix == ".py" or path.is_dir()) and not path.name.startswith("__")
    }
    rooms = {
        path.name
        for path in ROOT.iterdir()
        if path.is_dir()
        and not path.name.startswith((".", "_"))
        and path.name not in {"otel_errcompact", "build", "dist"}
    }
    assert named == package | rooms
