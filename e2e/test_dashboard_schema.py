"""The generated dashboards, checked by a compiler against Grafana's own types."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Board = dict[str, Any]
    Check = Callable[[Board], str]

ROOT: Final = Path(__file__).parent.parent
SCHEMA: Final = ROOT / "e2e" / "schema"
GENERATED: Final = sorted((ROOT / "dashboards" / "generated").glob("*.json"))
CACHE: Final = Path(os.environ.get("ERRCOMPACT_E2E_CACHE", "~/.cache/otel-errcompact")).expanduser()


@pytest.fixture(scope="module")
def compiler() -> Path:
    """A folder with Grafana's types and their compiler, installed once for each lock file."""
    if shutil.which("npm") is None:
        if os.environ.get("CI"):
            pytest.fail("npm is missing; in CI the dashboards' types must be checked")
        pytest.skip("npm is missing: install Node.js to check the dashboards against Grafana's types")
    folder = CACHE / "schema"
    folder.mkdir(parents=True, exist_ok=True)
    lock = (SCHEMA / "package-lock.json").read_bytes()
    done = folder / "installed"
    if not done.is_file() or done.read_bytes() != lock:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SCHEMA / name, folder)
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=300)
        done.write_bytes(lock)
    return folder


@pytest.fixture
def check(compiler, tmp_path) -> Check:
    """Say what the compiler has against a dashboard."""
    for name in ("dashboard.ts", "tsconfig.json"):
        shutil.copy(SCHEMA / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(compiler / "node_modules")

    def compile_types(board: Board) -> str:
        literal = json.dumps(board, indent=2, ensure_ascii=False)
        source = f"import type {{ Dashboard }} from './dashboard';\nexport const board: Dashboard = {literal};\n"
        (tmp_path / "board.ts").write_text(source, encoding="utf-8")
        tsc = ["node", str(compiler / "node_modules" / "typescript" / "bin" / "tsc"), "--project", str(tmp_path)]
        ran = subprocess.run(tsc, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=120)
        assert (ran.returncode == 0) == (ran.stdout == ""), ran.stderr
        return ran.stdout

    return compile_types


def test_the_dashboards_are_there():
    """There are seven dashboards to check; without any, the next test would pass unseen."""
    assert [path.stem for path in GENERATED] == [
        "errcompact-context",
        "errcompact-detail",
        "errcompact-escalations",
        "errcompact-health",
        "errcompact-inbox",
        "errcompact-recurrence",
        "errcompact-tokens",
    ]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in GENERATED])
def test_a_dashboard_is_of_grafanas_types(check, path):
    """Grafana's types accept each dashboard whole: every field, and the options of every kind of panel."""
    assert check(json.loads(path.read_text(encoding="utf-8"))) == ""


def _panel(**changes: Any) -> Board:
    panel = {
        "id": 1,
        "type": "timeseries",
        "title": "Errors",
        "gridPos": {"h": 8, "w": 12, "x": 0, "y": 0},
        "options": {
            "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "single", "sort": "none"},
        },
        "targets": [{"refId": "A", "datasource": {"type": "prometheus", "uid": "${datasource}"}, "expr": "up"}],
    }
    return {"schemaVersion": 42, "title": "Board", "panels": [{**panel, **changes}]}


def test_a_small_dashboard_is_accepted(check):
    """The dashboard that the following tests break is itself right."""
    assert check(_panel()) == ""


@pytest.mark.parametrize(
    ("board", "complaint"),
    [
        pytest.param(
            {**_panel(), "schemaVersion": "42"},
            "'string' is not assignable to type 'number'",
            id="text where a number belongs",
        ),
        pytest.param({**_panel(), "graphTooltip": 7}, "Type '7'", id="number beyond an enumeration"),
        pytest.param({**_panel(), "nonsense": 1}, "nonsense", id="field that no dashboard has"),
        pytest.param(_panel(type="timeserie"), "timeserie", id="kind of panel that we do not use"),
        pytest.param(_panel(gridPos={"h": 8, "w": 12, "x": 0}), "'y'", id="position without a row"),
        pytest.param(_panel(targets=[{"expr": "up"}]), "refId", id="query without a name and a data source"),
        pytest.param(
            _panel(fieldConfig={"defaults": {"color": {"mode": "rainbow"}}, "overrides": []}),
            "rainbow",
            id="text beyond an enumeration",
        ),
        pytest.param(
            _panel(fieldConfig={"defaults": {"custom": {"lineWidths": 2}}, "overrides": []}),
            "lineWidths",
            id="setting that this kind of panel has not",
        ),
        pytest.param(
            _panel(options={"legend": {}, "tooltip": {}}),
            "missing the following properties",
            id="options that lack what they need",
        ),
    ],
)
def test_a_wrong_dashboard_is_refused(check, board, complaint):
    """What is wrong in a dashboard is refused, by the name of what is wrong."""
    assert complaint in check(board)
