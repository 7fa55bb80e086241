"""Where a trajectory file is when none is named."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.resources import Resource

from otel_errcompact.audit.files import list_trajectories
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import TrajectoryOptions


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of trajectories; the working directory is another one."""
    (tmp_path / "my shop").mkdir()
    monkeypatch.chdir(tmp_path / "my shop")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "otel-errcompact" / "trajectories"


@pytest.mark.skipif(sys.platform != "linux", reason="the folder of another platform")
@pytest.mark.parametrize(
    ("service", "program", "name"),
    [
        pytest.param("unknown_service", "/srv/main.py", "my-shop-main", id="a program of this folder"),
        pytest.param("unknown_service:python", "/x/uvicorn/__main__.py", "my-shop-uvicorn", id="a package"),
        pytest.param("unknown_service", "-c", "my-shop-python", id="no program"),
        pytest.param("", "", "my-shop-python", id="a shell of Python"),
        pytest.param("shop", "/srv/main.py", "shop", id="a service"),
        pytest.param("../a/b", "/srv/main.py", "a-b", id="a service that names no place"),
    ],
)
def test_each_service_or_program_has_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, service: str, program: str, name: str
) -> None:
    """It is in the user's folder, and nothing is made before there is something to keep."""
    monkeypatch.setattr(sys, "argv", [program])
    file = TrajectoryFile(TrajectoryOptions(), resource=Resource({"service.name": service}))
    assert file.path == folder / f"{name}.jsonl"
    assert not folder.exists()


def test_the_file_written_last_is_the_first(folder: Path) -> None:
    """By the newer of its two parts; one that a variable names is the only one."""
    folder.mkdir(parents=True)
    for seconds, name in enumerate(("b.jsonl", "a.jsonl", "c.jsonl", "b.runs.jsonl", "a.jsonl.1")):
        (folder / name).write_text("")
        os.utime(folder / name, (seconds + 1, seconds + 1))
    assert list_trajectories() == [folder / "b.jsonl", folder / "c.jsonl", folder / "a.jsonl"]
    named = {"OTEL_ERRCOMPACT_TRAJECTORY_PATH": str(folder / "c.jsonl")}
    assert list_trajectories(named) == [folder / "c.jsonl"]
    assert list_trajectories({"XDG_STATE_HOME": "/nowhere"}) == []
