"""
Compare the lines and the offenders of each room with what `budget.toml` allows.

`python -m tests.packaging.budget` prints both. `--lower` gives back what is free; `--write` allows what is there today,
and belongs into one commit with a decision record: `docs/decisions/0017-a-budget-of-lines.md`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, NamedTuple

from tests.core import list_modules
from tests.packaging.language import offenders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]
TABLE = "tests/packaging/budget.toml"
RECORD = re.compile(r"docs/decisions/\d{4}-[^/]+\.md")
HEADER = """\
# What each room may have: lines of Python in the library and in the tests, and what breaks a rule of language
# (tests/packaging/language.py). A room that is not named has none. `python -m tests.packaging.budget` writes them; what
# stands below `ceilings` other tests count. A number rises only in a commit that also adds or changes a decision
# record: docs/decisions/0017-a-budget-of-lines.md.
"""

Numbers = dict[str, dict[str, int]]


class Change(NamedTuple):
    """What a commit, or the working tree, makes of the table."""

    name: str
    before: Numbers
    after: Numbers
    has_record: bool


@cache
def count() -> Numbers:
    """Count what the rooms have today, by the sections of the table; what other tests count is left out."""
    tests = {path.relative_to(ROOT / "tests").as_posix(): path for path in (ROOT / "tests").rglob("*.py")}
    beside = {path.relative_to(ROOT / "packages").as_posix(): path for path in ROOT.glob("packages/*/tests/**/*.py")}
    lines = {"otel_errcompact": count_lines(list_modules()), "tests": count_lines([*tests.items(), *beside.items()])}
    return lines | {rule: {room: len(places) for room, places in rooms.items()} for rule, rooms in offenders().items()}


def count_lines(files: Iterable[tuple[str, Path]]) -> dict[str, int]:
    """Count the lines of Python in each room, which stands first in the name of a file."""
    modules: dict[str, int] = {}
    for name, path in files:
        room = name.partition("/")[0]
        modules[room] = modules.get(room, 0) + path.read_bytes().count(b"\n")
    return modules


def read_table() -> Numbers:
    """Read what is allowed."""
    return _parse((ROOT / TABLE).read_text(encoding="utf-8"))


@cache
def _parse(text: str) -> Numbers:
    return tomllib.loads(text)


def write_table(numbers: Numbers) -> str:
    """Return the text of the table, with sections and rooms in order."""
    sections = [
        f"\n[{section}]\n" + "".join(f"{_quote(room)} = {rooms[room]}\n" for room in sorted(rooms))
        for section, rooms in numbers.items()
    ]
    return HEADER + "".join(sections)


def _quote(room: str) -> str:
    return room if room.isidentifier() else f'"{room}"'


def lower(table: Numbers, today: Numbers) -> Numbers:
    """Return the table without what is free, and without rooms that are gone."""
    return table | {
        section: {room: min(number, rooms[room]) for room, number in table[section].items() if room in rooms}
        for section, rooms in today.items()
    }


def list_raises(before: Numbers, after: Numbers) -> list[str]:
    """Return the numbers that rise. A new room has moved where its section, as a whole, has no more than before."""
    raises = []
    for section, rooms in after.items():
        old = before.get(section, {})
        has_grown = sum(rooms.values()) > sum(old.values())
        raises += [
            f"{section}/{room} from {old.get(room, 0)} to {number}"
            for room, number in rooms.items()
            if number > old.get(room, 0) and (room in old or has_grown)
        ]
    return raises


def list_unrecorded(root: Path) -> list[str]:
    """Return the raises that came without a decision record, in the working tree and in its history."""
    return [
        f"{change.name}: {each}"
        for change in _list_changes(root)
        if not change.has_record
        for each in list_raises(change.before, change.after)
    ]


def find_obstacle(root: Path) -> str:
    """Return why the history of the table cannot be read; empty where it can."""
    if which("git") is None:
        return "there is no git"
    asked = _ask_git(root, "rev-parse", "--show-toplevel", "--is-shallow-repository", check=False).split("\n")
    if Path(asked[0]) != root.resolve():
        return "this is no clone"
    return "the clone is shallow: its checkout needs `fetch-depth: 0`" if asked[1] == "true" else ""


def _list_changes(root: Path) -> Iterator[Change]:
    # Of a merge, `-c` shows the files that differ from all of its parents.
    log = _ask_git(
        root, *("log", "-c", "--full-diff", "--no-renames", "--name-status", "--format=%x00%H %P%n%h %s", "--", TABLE)
    )
    commits = [entry.split("\n") for entry in log.split("\0")[1:]]
    tables = _read_tables(root, ["HEAD", "MERGE_HEAD", *{each for lines in commits for each in lines[0].split()}])
    after = _parse((root / TABLE).read_text(encoding="utf-8"))
    status = _ask_git(root, "status", "--porcelain", "--untracked-files=all", "--", "docs/decisions")
    changed = [line[:2] + "\t" + line[3:] for line in status.splitlines()]
    yield Change("the working tree", _join([tables["HEAD"], tables["MERGE_HEAD"]]), after, _has_record(changed))
    for ids, name, *files in commits:
        commit, *parents = ids.split()
        yield Change(name, _join([tables[parent] for parent in parents]), tables[commit], _has_record(files))


def _has_record(files: list[str]) -> bool:
    changes = (line.partition("\t") for line in files)
    return any(RECORD.fullmatch(path) and "D" not in status for status, _, path in changes)


def _join(tables: list[Numbers]) -> Numbers:
    """Return the highest numbers of some tables: what one parent of a merge allows has its record there."""
    highest: Numbers = {}
    for table in tables:
        for section, rooms in table.items():
            old = highest.get(section, {})
            highest[section] = old | {room: max(number, old.get(room, 0)) for room, number in rooms.items()}
    return highest


def _read_tables(root: Path, commits: list[str]) -> dict[str, Numbers]:
    """Return the table of each commit, by one call of git; an empty one where a commit has none."""
    asked = "".join(f"{commit}:{TABLE}\n" for commit in commits)
    answer = _ask_git(root, "cat-file", "--batch", given=asked).encode()
    tables: dict[str, Numbers] = {}
    for commit in commits:
        head, _, answer = answer.partition(b"\n")
        size = 0 if head.endswith(b" missing") else int(head.rpartition(b" ")[2]) + 1
        tables[commit], answer = _parse(answer[:size].decode()), answer[size:]
    return tables


def _ask_git(root: Path, *words: str, given: str = "", check: bool = True) -> str:
    done = subprocess.run(["git", *words], cwd=root, input=given, capture_output=True, encoding="utf-8", check=check)
    return done.stdout


def main() -> None:
    """Print the table with what is free, or write it."""
    parser = argparse.ArgumentParser(prog="python -m tests.packaging.budget", description=__doc__)
    options = parser.add_mutually_exclusive_group()
    options.add_argument("--lower", action="store_true", help="write the numbers that have fallen")
    options.add_argument("--write", action="store_true", help="write all numbers of today, also those that have risen")
    asked, table, today = parser.parse_args(), read_table(), count()
    if asked.lower or asked.write:
        table = table | today if asked.write else lower(table, today)
        (ROOT / TABLE).write_text(write_table(table), encoding="utf-8")
    lines = [f"{'room':44}{'today':>8}{'budget':>8}{'free':>8}"]
    for section in today:
        rooms = today[section] | table[section]
        rows = [(room, today[section].get(room, 0), table[section].get(room, 0)) for room in sorted(rooms)]
        rows.append(("", sum(row[1] for row in rows), sum(row[2] for row in rows)))
        lines += [f"{f'{section}/{room}':44}{has:8}{may:8}{may - has:8}" for room, has, may in rows]
    print("\n".join(lines))  # noqa: T201 - a program


if __name__ == "__main__":
    main()
