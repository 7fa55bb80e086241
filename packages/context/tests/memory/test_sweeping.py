"""A folder of kept texts stays within its bounds, and says where it is."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from otel_errcompact import config
from otel_errcompact.config import ContextOptions, state_folder
from otel_errcompact_context.memory import sweeping
from otel_errcompact_context.memory.archive import FolderArchive
from otel_errcompact_context.window.tools import ContextTools
from otel_errcompact_context.window.window import ContextWindow

DAY = 86_400
NOW = 1_800_000_000.0

if TYPE_CHECKING:
    from collections.abc import Iterator


class Clock:
    """Goes when it is told to."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The time of the test."""
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where an archive will be."""
    return tmp_path / "kept"


def names(folder: Path) -> set[str]:
    return {str(file) for file in folder.iterdir()}


def keep_by_others(folder: Path, clock: Clock, *texts: str) -> list[str]:
    """Keep texts by another process, each a second after the one before."""
    other = FolderArchive(folder, max_days=10_000, clock=clock)
    places: list[str] = []
    for text in texts:
        places.append(other.keep(text))
        clock.now += 1
    return places


def test_a_text_that_was_not_used_for_so_many_days_is_removed(folder: Path, clock: Clock) -> None:
    """What was kept again or read in the meantime stays."""
    idle, again, read = keep_by_others(folder, clock, "idle", "again", "read")
    clock.now += 20 * DAY
    archive = FolderArchive(folder, max_days=30, clock=clock)
    archive.keep("again")
    archive.read(read)
    clock.now += 20 * DAY
    new = archive.keep("new")
    assert names(folder) == {again, read, new}
    with pytest.raises(FileNotFoundError):
        archive.read(idle)


def test_age_counts_for_what_this_process_has_kept_as_well(folder: Path, clock: Clock) -> None:
    """What is to be deleted after so many days is deleted."""
    archive = FolderArchive(folder, max_days=2, clock=clock)
    archive.keep("old")
    clock.now += 3 * DAY
    new = archive.keep("new")
    assert names(folder) == {new}


def test_a_file_is_given_the_time_of_its_use_once_a_minute(folder: Path, clock: Clock) -> None:
    """A conversation uses hundreds at each turn; none is removed the earlier for that."""
    archive = FolderArchive(folder, max_days=1, clock=clock)
    place = archive.keep("text")
    clock.now += 59
    archive.read(place)
    assert os.stat(place).st_mtime == NOW  # noqa: PTH116 - of a text
    clock.now += DAY
    archive.keep("new")
    assert archive.read(place) == "text"
    assert os.stat(place).st_mtime == clock.now  # noqa: PTH116 - of a text


def test_beyond_its_size_the_texts_used_longest_ago_are_removed(folder: Path, clock: Clock) -> None:
    """Down to 15 parts in 16, so that not each text costs a look at all of them."""
    places = keep_by_others(folder, clock, *(f"{number:0100}" for number in range(20)))
    clock.now += 2 * DAY
    archive = FolderArchive(folder, max_bytes=1_600, clock=clock)
    archive.read(places[0])
    new = archive.keep("x" * 100)
    # 15 of 100 bytes are 15 parts in 16: the newest of the others, the one that was read, and the new one.
    assert names(folder) == {places[0], new, *places[7:]}


def test_what_any_process_used_within_a_day_is_not_removed_for_the_size(folder: Path, clock: Clock) -> None:
    """A conversation of another process may name it; rather the folder is larger for a while."""
    places = keep_by_others(folder, clock, "a" * 100, "b" * 100)
    clock.now += DAY - 10
    new = FolderArchive(folder, max_bytes=50, clock=clock).keep("c" * 100)
    assert names(folder) == {*places, new}


def test_what_this_process_used_last_is_not_removed_for_the_size(
    folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long ago: its contexts may name it."""
    monkeypatch.setattr(sweeping, "SPARED", 2)
    archive = FolderArchive(folder, max_bytes=50, clock=clock)
    first, second = archive.keep("a" * 100), archive.keep("b" * 100)
    archive.read(first)
    clock.now += 2 * DAY
    third = archive.keep("c" * 100)
    # Three are more than two: the second was used before the first was read.
    assert names(folder) == {first, third}
    assert second not in names(folder)


def test_the_folder_is_looked_through_once_in_a_while(folder: Path, clock: Clock) -> None:
    """After an hour, or when a part in 16 of its size was written."""
    archive = FolderArchive(folder, max_bytes=16_000, max_days=1, clock=clock)
    archive.keep("first")
    (idle,) = keep_by_others(folder, clock, "idle")
    os.utime(idle, (NOW - 2 * DAY, NOW - 2 * DAY))
    archive.keep("x" * 900)
    archive.keep("x" * 900)
    assert idle in names(folder)
    archive.keep("y" * 100)
    assert idle not in names(folder)
    (idle,) = keep_by_others(folder, clock, "idle")
    os.utime(idle, (NOW - 2 * DAY, NOW - 2 * DAY))
    clock.now += 3_500
    archive.keep("z")
    assert idle in names(folder)
    clock.now += 101
    archive.keep("z")
    assert idle not in names(folder)


def test_files_of_others_stay(folder: Path, clock: Clock) -> None:
    """But for what a process that was killed has left behind."""
    folder.mkdir()
    for name in ("notes.txt", ".hidden", ".killed.part", ".written.part"):
        (folder / name).write_text("x")
        os.utime(folder / name, (NOW - 40 * DAY, NOW - 40 * DAY))
    os.utime(folder / ".written.part", (NOW - 60, NOW - 60))
    place = FolderArchive(folder, max_bytes=1, max_days=30, clock=clock).keep("text")
    assert names(folder) == {place, *(str(folder / name) for name in ("notes.txt", ".hidden", ".written.part"))}


def test_without_bounds_nothing_is_removed(folder: Path, clock: Clock) -> None:
    """Of an archive of one's own nothing is, unless it is asked for."""
    archive = FolderArchive(folder, clock=clock)
    old = archive.keep("old")
    before = os.stat(old).st_mtime  # noqa: PTH116 - of a text
    clock.now += 10_000 * DAY
    assert archive.read(old) == "old"
    new = archive.keep("new")
    assert names(folder) == {old, new}
    assert os.stat(old).st_mtime == before  # noqa: PTH116 - of a text
    with pytest.raises(FileNotFoundError, match=r"nothing is kept at .*/0{32}\.txt$"):
        archive.read(str(folder / f"{'0' * 32}.txt"))


def test_what_another_process_does_meanwhile_costs_nothing(
    folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may remove a text first, use it, or remove the folder."""
    used, gone = keep_by_others(folder, clock, "used", "gone")
    clock.now += 40 * DAY
    archive = FolderArchive(folder, max_days=30, clock=clock)
    listed = sweeping.Sweeper._list_files

    def act(sweeper: sweeping.Sweeper, now: float) -> list[sweeping._Kept]:
        found = listed(sweeper, now)
        os.utime(used, (now, now))
        Path(gone).unlink()
        return found

    monkeypatch.setattr(sweeping.Sweeper, "_list_files", act)
    place = archive.keep("new")
    assert names(folder) == {used, place}

    def fail(*_: object) -> list[sweeping._Kept]:
        raise FileNotFoundError

    monkeypatch.setattr(sweeping.Sweeper, "_list_files", fail)
    clock.now += DAY
    assert archive.read(archive.keep("more")) == "more"


def test_a_text_that_is_gone_is_recalled_as_such(folder: Path, clock: Clock) -> None:
    """The model is told what may have become of it, and no more than is known."""
    window = ContextWindow(observers=(), archive=FolderArchive(folder, max_bytes=1_000_000, max_days=30, clock=clock))
    place = window.archive.keep("the whole")
    clock.now += 31 * DAY
    window.archive.keep("new")
    assert ContextTools(window).recall(place) == (
        f"recall: nothing is kept at {place}: it never was, or it was removed, as what was not used for 30 days and "
        "the oldest beyond 1,000,000 bytes is. A place is what a marker names behind `whole:`; pass it letter by "
        "letter."
    )


def test_the_options_bound_the_folder(folder: Path) -> None:
    """With their defaults: a gigabyte, and thirty days."""
    window = ContextWindow(ContextOptions(folder=folder), observers=())
    with pytest.raises(FileNotFoundError, match="not used for 30 days and the oldest beyond 1,000,000,000 bytes is"):
        window.archive.read(str(folder / f"{'0' * 32}.txt"))
    unbounded = ContextWindow(ContextOptions(folder=folder, folder_max_bytes=0, folder_max_days=0), observers=())
    with pytest.raises(FileNotFoundError, match=r"\.txt$"):
        unbounded.archive.read(str(folder / f"{'0' * 32}.txt"))


def test_the_log_names_the_folder_once(folder: Path, own_log: pytest.LogCaptureFixture) -> None:
    """As a warning where it was not there before."""
    own_log.set_level(logging.INFO)
    archive = FolderArchive(folder, max_days=30)
    assert own_log.messages == []
    archive.keep("one")
    archive.keep("two")
    FolderArchive(folder).keep("three")
    said = f"what is cut from message lists is kept in {folder}"
    assert [(record.levelname, record.getMessage()) for record in own_log.records] == [
        ("WARNING", f"{said}; what was not used for 30 days is removed"),
        ("INFO", said),
    ]


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        pytest.param("linux", {"XDG_STATE_HOME": "{tmp}/state"}, "{tmp}/state", id="XDG"),
        pytest.param("linux", {"XDG_STATE_HOME": "state"}, "{tmp}/home/.local/state", id="a relative path is ignored"),
        pytest.param("linux", {}, "{tmp}/home/.local/state", id="the home"),
        pytest.param("darwin", {"XDG_STATE_HOME": "{tmp}/x"}, "{tmp}/home/Library/Application Support", id="macOS"),
        pytest.param("win32", {"LOCALAPPDATA": "{tmp}/local"}, "{tmp}/local", id="Windows"),
        pytest.param("win32", {}, "{tmp}/home/AppData/Local", id="Windows without a variable"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="paths of another form")
def test_the_folder_of_the_user_is_where_the_platform_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, environ: dict[str, str], folder: str
) -> None:
    """Nothing is made before it is needed."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    given = {name: value.format(tmp=tmp_path) for name, value in environ.items()}
    assert state_folder(given, platform) == Path(folder.format(tmp=tmp_path)) / "otel-errcompact" / "context"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders are made."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    config._make_temporary_folder.cache_clear()
    yield tmp_path / "tmp"
    config._make_temporary_folder.cache_clear()


def test_a_home_that_cannot_be_written_to_is_none(tmp_path: Path, temporary: Path) -> None:
    """Nothing could be cut then; a folder of the process will do."""
    (tmp_path / "file").write_text("no folder")
    folder = state_folder({"XDG_STATE_HOME": str(tmp_path / "file" / "state")}, "linux")
    assert folder.parent == temporary
    assert folder.stat().st_mode & 0o777 == 0o700
    assert state_folder({"XDG_STATE_HOME": str(tmp_path / "file" / "state")}, "linux") == folder


def test_a_user_without_a_home_has_the_root_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some containers have users that no table knows."""

    def fail() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", fail)
    assert config.find_state_home({}, "linux") == Path("/.local/state/otel-errcompact")
