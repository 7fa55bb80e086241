"""Entry points are found as `importlib.metadata` finds them."""

from __future__ import annotations

import sys
import zipfile
from importlib import metadata
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.runtime.entry_points import entry_points

if TYPE_CHECKING:
    from pathlib import Path

GROUP = "tests.of.errcompact"
TEXT = f"[{GROUP}]\none = a:b\n"


def put(folder: Path, name: str, text: str = TEXT) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "entry_points.txt").write_text(text, encoding="utf-8")
    (folder / name / "PKG-INFO").write_text("Name: p\nVersion: 1\n", encoding="utf-8")
    (folder / name / "METADATA").write_text("Name: p\nVersion: 1\n", encoding="utf-8")


@pytest.mark.parametrize("name", ["p-1.dist-info", "p.egg-info", "p-1.egg/EGG-INFO"])
@pytest.mark.parametrize("text", [TEXT, "[other]\na = b:c\n"], ids=["of the group", "of others"])
def test_those_of_packages_in_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """Installed by whichever tool."""
    put(tmp_path, name, text)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path), str(tmp_path / "p-1.egg")])
    assert entry_points(GROUP) == list(metadata.entry_points(group=GROUP))


def test_those_in_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may be one file."""
    archive = tmp_path / "program.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("p-1.dist-info/entry_points.txt", TEXT)
        file.writestr("p-1.dist-info/METADATA", "Name: p\nVersion: 1\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(archive)])
    assert [point.name for point in entry_points(GROUP)] == ["one"]


def test_those_of_a_finder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Some tools keep packages elsewhere."""
    put(tmp_path, "p-1.dist-info")

    class Finder(metadata.DistributionFinder):
        def find_spec(self, *_: object) -> None:
            """Find no module."""

        def find_distributions(self, context: object = None) -> list[metadata.Distribution]:
            return [metadata.PathDistribution(tmp_path / "p-1.dist-info")]

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert [point.name for point in entry_points(GROUP)] == ["one"]


def test_a_folder_that_does_not_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It holds nothing, and an empty name is the working directory."""
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "missing"), *sys.path])
    monkeypatch.chdir(tmp_path)
    assert entry_points(GROUP) == []
    put(tmp_path, "p-1.dist-info")
    assert [point.name for point in entry_points(GROUP)] == ["one"]
