"""No room grows without a decision, in the working tree and in each commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.budget import (
    ROOT,
    TABLE,
    count,
    find_obstacle,
    list_raises,
    list_unrecorded,
    lower,
    read_table,
    write_table,
)
from tests.packaging.language import RULES

pytestmark = pytest.mark.meta

HELP = (
    "Delete something. What has to stay needs a decision: `python -m tests.packaging.budget --write`, and a record in "
    "docs/decisions/ in the same commit (docs/decisions/0017-a-budget-of-lines.md)."
)
LINES = ("otel_errcompact", "tests")
RECORD = "docs/decisions/0018-more.md"


@pytest.mark.parametrize("section", LINES)
def test_no_room_is_beyond_its_lines(section: str) -> None:
    """A room that the table does not name has none."""
    today, allowed = count()[section], read_table()[section]
    assert {room: lines for room, lines in today.items() if lines > allowed.get(room, 0)} == {}, HELP


@pytest.mark.parametrize("section", [*LINES, *RULES])
def test_each_room_of_the_table_exists(section: str) -> None:
    """A room that is gone gives back what it had: `python -m tests.packaging.budget --lower`."""
    rooms = count()[section if section in LINES else "otel_errcompact"]
    assert [room for room in read_table()[section] if room not in rooms] == []


def test_the_table_is_as_the_program_writes_it() -> None:
    """With its explanation, in order, so that two changes of it can be merged."""
    assert (ROOT / TABLE).read_text(encoding="utf-8") == write_table(read_table())


def test_each_raise_has_its_decision() -> None:
    """In every commit since the table exists, and in what is not committed yet."""
    obstacle = find_obstacle(ROOT)
    if obstacle:
        (pytest.fail if "CI" in os.environ and (ROOT / ".git").exists() else pytest.skip)(obstacle)
    assert list_unrecorded(ROOT) == [], HELP


def test_numbers_are_only_lowered() -> None:
    """What has grown keeps its number, a room that is gone loses its row, and what is not counted here stays."""
    table = {"tests": {"audit": 10, "otel": 10, "gone": 10}, "private": {"otel": 2}, "ceilings": {"blocks": 4}}
    today = {"tests": {"audit": 8, "otel": 12, "new": 3}, "private": {}}
    assert lower(table, today) == {"tests": {"audit": 8, "otel": 10}, "private": {}, "ceilings": {"blocks": 4}}


@pytest.mark.parametrize(
    ("after", "raises"),
    [
        pytest.param({"audit": 9, "otel": 5}, [], id="lowered"),
        pytest.param({"audit": 11, "otel": 1}, ["tests/audit from 10 to 11"], id="raised, though another fell"),
        pytest.param({"audit": 10, "engine": 5}, [], id="renamed"),
        pytest.param({"audit": 6, "engine": 4, "otel": 5}, [], id="divided"),
        pytest.param({"audit": 10, "engine": 1, "otel": 5}, ["tests/engine from 0 to 1"], id="new"),
        pytest.param({"audit": 10}, [], id="gone"),
    ],
)
def test_a_raise_is_told_from_a_move(after: dict[str, int], raises: list[str]) -> None:
    """A new room may have what its section has lost in the same commit; one that was there may not."""
    assert list_raises({"tests": {"audit": 10, "otel": 5}}, {"tests": after}) == raises


class Repository:
    """A history of tables, each with one number and perhaps a record."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch", "main")
        self.commit("Start", audit=10, otel=10, record=RECORD)

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)

    def write(self, record: str = "", **numbers: int) -> None:
        for path in filter(None, (TABLE, record)):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / TABLE).write_text(write_table({"tests": numbers}), encoding="utf-8")
        if record:
            (self.folder / record).write_text(f"{numbers}\n", encoding="utf-8")

    def commit(self, subject: str, record: str = "", **numbers: int) -> None:
        self.write(record, **numbers)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)

    def unrecorded(self) -> list[str]:
        """The raises without a record, without the ids of their commits."""
        assert find_obstacle(self.folder) == ""
        return [each.partition(" ")[2] for each in list_unrecorded(self.folder)]


@pytest.fixture(name="repository")
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    return Repository(tmp_path)


RAISED: dict[str, Any] = {"audit": 11, "otel": 10}


def test_a_raise_without_a_record_is_refused_and_named(repository: Repository) -> None:
    """Also where the next commit brings a record, or lowers the number again."""
    repository.commit("Grow", **RAISED)
    assert repository.unrecorded() == ["Grow: tests/audit from 10 to 11"]
    repository.commit("Explain", record=RECORD, audit=10, otel=10)
    assert repository.unrecorded() == ["Grow: tests/audit from 10 to 11"]


@pytest.mark.parametrize("record", [RECORD, "docs/decisions/0019-another.md"])
def test_a_raise_with_a_record_passes(repository: Repository, record: str) -> None:
    """A new record, or a changed one."""
    repository.commit("Grow", record=record, **RAISED)
    assert repository.unrecorded() == []


@pytest.mark.parametrize("path", ["docs/decisions/README.md", "docs/0018-more.md"])
def test_a_page_that_is_no_record_does_not_count(repository: Repository, path: str) -> None:
    """A record has its number and stands beside the others."""
    repository.commit("Grow", record=path, **RAISED)
    assert repository.unrecorded() == ["Grow: tests/audit from 10 to 11"]


def test_a_record_that_is_deleted_does_not_count(repository: Repository) -> None:
    """It has decided nothing."""
    (repository.folder / RECORD).unlink()
    repository.commit("Grow", **RAISED)
    assert repository.unrecorded() == ["Grow: tests/audit from 10 to 11"]


def test_what_falls_or_moves_needs_no_record(repository: Repository) -> None:
    """Nor does what changes nothing."""
    repository.commit("Shrink", audit=9, otel=10)
    repository.commit("Move", audit=9, engine=10)
    repository.commit("Rest", audit=9, engine=10)
    assert repository.unrecorded() == []


def test_the_table_itself_begins_with_a_record(repository: Repository) -> None:
    """A table that is new allows what nothing allowed before, also where it was only moved away."""
    repository.git("rm", "--quiet", TABLE)
    repository.git("commit", "--quiet", "--message", "Remove")
    repository.commit("Begin", audit=1)
    assert repository.unrecorded() == ["Begin: tests/audit from 0 to 1"]


@pytest.mark.parametrize(
    ("audit", "otel", "record", "found"),
    [
        pytest.param(11, 12, "", [], id="takes both"),
        pytest.param(13, 12, "", ["Merge: tests/audit from 11 to 13"], id="raises by itself"),
        pytest.param(13, 12, "docs/decisions/0021-merged.md", [], id="with a record of its own"),
    ],
)
def test_a_merge_may_have_what_one_parent_has(
    repository: Repository, audit: int, otel: int, record: str, found: list[str]
) -> None:
    """What it has beyond needs a record that it brings itself, before and after it is committed."""
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("Grow", record="docs/decisions/0019-side.md", audit=11, otel=10)
    repository.git("checkout", "--quiet", "main")
    repository.commit("Grow", record="docs/decisions/0020-main.md", audit=9, otel=12)
    repository.git("merge", "--quiet", "--no-commit", "--strategy", "ours", "side")
    repository.git("checkout", "side", "--", "docs/decisions/0019-side.md")
    repository.commit("Merge", record=record, audit=audit, otel=otel)
    assert repository.unrecorded() == found


def test_the_working_tree_is_compared_with_the_newest_commit(repository: Repository) -> None:
    """It needs a record too, which git does not have to know yet."""
    repository.write(**RAISED)
    assert repository.unrecorded() == ["working tree: tests/audit from 10 to 11"]
    repository.write(record="docs/decisions/0019-new.md", **RAISED)
    assert repository.unrecorded() == []


def test_a_merge_that_is_not_committed_may_have_what_one_parent_has(repository: Repository) -> None:
    """As after it."""
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("Grow", record="docs/decisions/0019-side.md", **RAISED)
    repository.git("checkout", "--quiet", "main")
    repository.commit("Shrink", audit=10, otel=9)
    repository.git("merge", "--quiet", "--no-commit", "--strategy", "ours", "side")
    repository.write(audit=11, otel=9)
    assert repository.unrecorded() == []


def test_where_there_is_no_history_it_is_said(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy, also inside another's clone, and a clone of the newest commits alone."""
    assert find_obstacle(tmp_path / "tests") == "this is no clone"
    repository.commit("Rest", audit=10, otel=10)
    repository.git("clone", "--quiet", "--depth", "1", tmp_path.as_uri(), "shallow")
    assert find_obstacle(tmp_path / "shallow") == "the clone is shallow: its checkout needs `fetch-depth: 0`"
    monkeypatch.setenv("PATH", "")
    assert find_obstacle(tmp_path) == "there is no git"
