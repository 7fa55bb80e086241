"""CONTRIBUTING.md names what is there, and all rooms."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.commands import faults

pytestmark = pytest.mark.meta

ROOT = Path(__file__).parents[2]
SOURCES = ("otel_errcompact", "tests", "benchmarks", "dashboards", "hosts_rig")

ENDS = re.compile(r"\s\|\s|(?<=[.;])\s|\n(?=\d+\. |- |\n)")
"""What ends a sentence, a cell or an item."""

FILE = re.compile(r"[\w.*-]*/[\w./*-]*|[\w.*-]+\.(?:json|lock|md|py|toml|ya?ml)")
COMMAND = re.compile(r"[A-Z_]+=.*|(?:\.venv/bin/)?(?:bash|errcompact|make|python) .*|--.*")
NAME = re.compile(r"@?(?:with )?(?:[a-z]\w*\.)*((?:[A-Z]\w*\.)?\w+)(?:\(.*\))?")
DEFINED = re.compile(r"^( *)(?:(?:async )?def (\w+)|class (\w+)|(\w+)(?:: \S| = )|\"(\w+)[(:])", re.MULTILINE)
"""A function, a class, a variable or field, and a marker."""

BEFORE_ITS_FILE = frozenset({" (", "s (", ", ", " of ", " in "})
OF_OTHERS = frozenset(
    {"KeyError: 'orders'", 'query("orders")', 'with run.tool("query") as call:', "exception", "git commit", "grep"}
    | {"opentelemetry-instrument", "redis-server", "--hypothesis-seed", "../shared/data"}
    | {".venv/", ".environments/", "build/site"}
)
"""What an example, another program or a target makes."""


def list_rotten(page: str) -> list[str]:
    """
    Return what a page quotes and what is not there: files, names of the code, commands, options and variables.

    A name has to be in the file that its sentence names behind it, else before it; where there is none, anywhere.
    """
    rotten, command = [], ""
    for sentence in ENDS.split(page):
        file, parts = "", [*" ".join(sentence.split()).split("`"), ""]
        quotes = [re.sub(r"<\w+>", "*", each) for each in parts[1:-1:2]]
        for quote, before, behind, following in zip(quotes, parts[::2], parts[2::2], [*quotes[1:], ""], strict=False):
            # `python -m benchmarks.service`, `.wrapping`
            text = command.rpartition(".")[0] + quote if re.fullmatch(r"\.[a-z]+", quote) else quote
            command = text if COMMAND.fullmatch(text) else command
            # A file in brackets belongs to the name before them alone.
            file = text if FILE.fullmatch(text) and not before.endswith("(") else file
            is_before = behind in BEFORE_ITS_FILE and FILE.fullmatch(following)
            if text not in OF_OTHERS and not is_there(text, following if is_before else file):
                rotten.append(quote)
    return rotten


def is_there(quote: str, file: str) -> bool:
    """Tell whether what is quoted exists, in a file where it is a name of the code."""
    if COMMAND.fullmatch(quote):
        words = re.findall(r"(?:^|(?<= ))--[\w-]+|\b[A-Z_]+(?==)", quote)
        paths = [word for word in quote.split() if "/" in word and not word.startswith(".venv/bin/")]
        is_known = all(word in read_sources() for word in words) and all(map(find_files, paths))
        return is_known and (quote.startswith("--") or faults(quote) == [])
    if FILE.fullmatch(quote):
        return find_files(quote) != []
    if quote.startswith("..."):
        return any(name.endswith(quote[3:]) for name in list_names(""))
    name = NAME.fullmatch(quote)
    return name is not None and name[1] in list_names(file)


def find_files(name: str) -> list[Path]:
    """Find what a path names, from the root of the repository or of the package."""
    return [path for root in (ROOT, ROOT / "otel_errcompact") for path in root.glob(name.strip("/"))]


@cache
def list_names(file: str) -> set[str]:
    """List the names that a file, or all sources, define; in a file that is no Python, all words."""
    if file and not file.endswith((".py", "/")):
        return {word for path in find_files(file) for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    names: set[str] = set()
    for path in find_files(f"{file}**/*.py" if file.endswith("/") else file) if file else []:
        names |= read_names(path.read_text(encoding="utf-8"))
    return names if file else read_names(read_sources())


def read_names(text: str) -> set[str]:
    """Read the names that a module defines, those of a class also behind its name."""
    names, inside = set[str](), ""
    for indent, function, kind, field, marker in DEFINED.findall(text):
        inside = kind if not indent else inside
        name = function or kind or field or marker
        names |= {name, f"{inside}.{name}"}
    return names


@cache
def read_sources() -> str:
    """Read all that is Python, and the Makefile."""
    paths = {path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")} - {Path(__file__)}
    return "\n".join(path.read_text(encoding="utf-8") for path in [*paths, ROOT / "Makefile"])


def test_every_name_that_the_page_quotes_exists() -> None:
    """A recipe whose names have moved sends its reader astray."""
    assert list_rotten((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("page", "rotten"),
    [
        ("`engine/ledger.py` has `Ledger.observe`; `engine/gone.py` nothing.", ["engine/gone.py"]),
        ("A file `otel_errcompact/tools/<name>.py`, a folder `gone/<name>/`.", ["gone/*/"]),
        ("`_vanish` is nowhere, `decide` and `@compacted` somewhere.", ["_vanish"]),
        ("`Ledger.observe` (`engine/ledger.py`), `Ledger.vanish` (`engine/ledger.py`).", ["Ledger.vanish"]),
        ("`History` in\n`engine/ledger.py`, not `History` in `history/history.py`.", ["History"]),
        ("1. `history/history.py`: what `Ledger` is.\n2. `Ledger` is anywhere.", ["Ledger"]),
        ("`run.tool(..., gated=False)` is there, `run.vanish(...)` and `...Vanished` are not.",
         ["run.vanish(...)", "...Vanished"]),
        ("`make lint types`, `make vanish`, `make test VANISH=1`.", ["make vanish", "make test VANISH=1"]),
        ("`python -m benchmarks.service`, `.wrapping`, `.vanish`.", [".vanish"]),
        ("`python -m tests.core`, `.venv/bin/python -m tests.vanish`.", [".venv/bin/python -m tests.vanish"]),
        ("`python -m benchmarks.endurance --outage 10`, `--data`, `--vanish`.", ["--vanish"]),
        ("`HYPOTHESIS_PROFILE=thorough`, `VANISH=1`.", ["VANISH=1"]),
        ("`errcompact serve --openapi > docs/gone.json`.", ["errcompact serve --openapi > docs/gone.json"]),
        ("| `make vanish` | `a sentence` |", ["make vanish", "a sentence"]),
    ],
)  # fmt: skip
def test_a_name_that_is_gone_is_found(page: str, rotten: list[str]) -> None:
    """Of each kind, and in the file that stands beside it although another file has it."""
    assert list_rotten(page) == rotten


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
        and path.name not in {"otel_errcompact", "packages", "build", "dist"}
    }
    beside = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("packages/*/pyproject.toml")}
    assert named == package | beside | rooms
