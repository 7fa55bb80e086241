"""docker-compose.yml, alone and with what is laid over it, read by the library that Docker Compose reads them with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.build import go_environ, go_is_missing
from tests.stack.compose import FILE, JAEGER, ROOT, compose

LOADER = Path(__file__).parent / "loader"


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that loads files as Docker Compose does."""
    if reason := go_is_missing():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    program = tmp_path_factory.mktemp("loader") / "loader"
    subprocess.run(["go", "build", "-o", program, "."], cwd=LOADER, env=go_environ(), check=True)
    return program


@pytest.mark.parametrize("overlays", [pytest.param((), id="alone"), pytest.param((JAEGER,), id="with Jaeger")])
@pytest.mark.parametrize(
    "chosen", [pytest.param({}, id="as shipped"), pytest.param({"GRAFANA_ADMIN_PASSWORD": "geheim"}, id="a password")]
)
def test_docker_compose_reads_what_these_tests_read(
    loader: Path, tmp_path: Path, chosen: dict[str, str], overlays: tuple[str, ...]
) -> None:
    """Its own library knows every key, and fills in the same values."""
    files = [shutil.copy(ROOT / name, tmp_path) for name in (FILE, *overlays)]
    lines = (ROOT / ".env").read_text(encoding="utf-8").splitlines()
    names = {name: f"{name}={value}" for name, value in chosen.items()}
    (tmp_path / ".env").write_text("\n".join(names.get(line.partition("=")[0], line) for line in lines))
    done = subprocess.run([loader, tmp_path, *files], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    loaded, ours = json.loads(done.stdout)["services"], compose(*overlays, **chosen)["services"]
    for key in ("image", "user", "command", "environment", "read_only", "cap_drop", "profiles"):
        assert {name: service.get(key) for name, service in loaded.items()} == {
            name: service.get(key) for name, service in ours.items()
        }, key
    places = {name: {mount["target"] for mount in service.get("volumes", ())} for name, service in loaded.items()}
    assert places == {
        name: {mount.split(":")[1] for mount in service.get("volumes", ())} for name, service in ours.items()
    }
