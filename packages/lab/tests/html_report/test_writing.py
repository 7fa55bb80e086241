"""The page's file: whole or not at all, and never over something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_lab.html_report import check_output, write_page
from otel_errcompact_lab.html_report import writing as module

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.html_report.conftest import Gather


def test_an_older_page_is_replaced_and_keeps_its_mode(gather: Gather, tmp_path: Path) -> None:
    """A new one is for its owner alone."""
    path = tmp_path / "report.html"
    size = write_page(gather(one=["Error: refused"]), path)
    assert (path.stat().st_size, path.stat().st_mode & 0o777) == (size, 0o600)
    path.chmod(0o644)
    check_output(path)
    write_page(gather(one=["3 rows"]), path)
    assert path.stat().st_mode & 0o777 == 0o644
    assert "0 failures" in path.read_text(encoding="utf-8")


def test_any_other_file_is_left_alone(tmp_path: Path) -> None:
    """It may be the trajectory."""
    path = tmp_path / "trajectory.jsonl"
    path.write_text("{}\n")
    with pytest.raises(ConfigurationError, match="exists and is no errcompact page; remove it or name another"):
        check_output(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A folder, a device."""
    with pytest.raises(ConfigurationError, match="is no regular file; name another one"):
        check_output(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Before any work is done."""
    with pytest.raises(ConfigurationError, match=r"cannot be written \(No such file or directory\); name another file"):
        check_output(tmp_path / "missing" / "report.html")


def test_a_full_disk_leaves_what_was_there(gather: Gather, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no half of a page beside it."""
    path = tmp_path / "report.html"
    page = gather(one=["Error: refused"])
    write_page(page, path)
    before = path.read_bytes()

    def full(*_: object) -> list[str]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "html_of", full)
    with pytest.raises(ConfigurationError, match="No space left on device"):
        write_page(page, path)
    monkeypatch.setattr(module, "html_of", lambda *_: _until_full())
    with pytest.raises(ConfigurationError, match="No space left on device"):
        write_page(page, path)
    assert path.read_bytes() == before
    assert sorted(found.name for found in tmp_path.iterdir()) == ["report.html", "runs.jsonl"]


def _until_full():
    yield "<!doctype html>"
    raise OSError(28, "No space left on device")
