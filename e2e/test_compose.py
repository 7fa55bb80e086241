"""docker-compose.yml, read by the library that Docker Compose reads it with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.build import go_is_missing
from tests.stack.compose import ROOT, compose

LOADER = Path(__file__).parent / "loader"


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that loads the file as Docker Compose does."""
    if reason := go_is_missing():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    program = tmp_path_factory.mktemp("loader") / "loader"
    subprocess.run(["go", "build", "-o", program, "."], cwd=LOADER, check=True)
    return program


@pytest.mark.parametrize(
    "chosen", [pytest.param({}, id="as shipped"), pytest.param({"GRAFANA_ADMIN_PASSWORD": "geheim"}, id="a password")]
)
def test_docker_compose_reads_what_these_tests_read(loader: Path, tmp_path: Path, chosen: dict[str, str]) -> None:
    """Its own library knows every key, and fills in the same values."""
    shutil.copy(ROOT / "docker-compose.yml", tmp_path)
    lines = (ROOT / ".env").read_text(encoding="utf-8").splitlines()
    names = {name: f"{name}={value}" for name, value in chosen.items()}
    (tmp_path / ".env").write_text("\n".join(names.get(line.partition("=")[0], line) for line in lines))
    done = subprocess.run([loader, tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    loaded, ours = json.loads(done.stdout)["services"], compose(**chosen)["services"]
    for key in ("image", "user", "command", "environment", "read_only", "cap_drop", "profiles"):
        assert {name: service.get(key) for name, service in loaded.items()} == {
            name: service.get(key) for name, service in ours.items()
        }, key
