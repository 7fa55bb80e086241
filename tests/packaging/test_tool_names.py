"""A proper name of a foreign program stands in one module: the object of its tool (docs/decisions/0024)."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from docs.index_of_formats import load
from otel_errcompact.extract.format import split_names
from otel_errcompact.tools import ORDER, WITHOUT_FORMAT
from tests.core import list_modules
from tests.packaging.budget import read_table
from tests.packaging.test_house_rules import parse_all

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.meta

OF_SYSTEMS = ("posix", "powershell", "shell")
"""Tools whose names mean the same everywhere: the parser of command lines knows what a shell means."""

WORDS = {
    *("R", "bundle", "coverage", "http", "https", "invoke", "make", "next", "node", "parcel", "r", "service", "stack"),
    *("standard", "task", "cc", "dart", "elixir", "erl", "java", "julia", "kotlin", "lua", "perl", "php", "python"),
    *("ruby", "scala", "swift", "tsx"),
}
"""Words of English, and languages with the endings of their files: no proper names of programs."""

BOTH = re.compile(r"\A(go)\b|\b(go): ")
"""How the one name looks that is an English verb as well, and that no other word replaces."""

ELSEWHERE = (
    "extract/index.py",
    "extract/stacks/",
    "hosts/",
    "integrations/",
    "context/integrations/",
    "lab/cli/",
    "tools/__init__.py",
)
"""What is made from the objects or orders them, the objects of languages and of hosts, and our own help texts."""

ROWS = ("Command", "Checker")
"""What holds rows of the table: each name stands in one of them, behind others as a subcommand or as a format."""

EXCEPTIONS = {
    "detector/roles.py": ("ipython", "as agents call a tool that runs code"),
    "exceptions.py": ("pip", "how to install us"),
    "extract/cleaning/prefixes.py": ("tsc", "as projects call a task"),
    "extract/evidence/forms.py": ("ld ninja tex", "closing lines of builds, in one pattern for speed"),
    "extract/messages/http_answers.py": ("curl wget", "shared by two formats, which may not import each other"),
    "history/stores/redis.py": ("pip", "how to install us"),
    "installation/install.py": ("pip", "how to install us"),
    "redaction/places.py": (
        "az docker helm mariadb mysql npm podman redis-cli sqlcmd sqlplus",
        "how passwords are given: redaction lies below the table of tools, and knows none of them",
    ),
    "tools/maven.py": ("kotlinc", "the compiler of which it tells what failed"),
    "tools/npm.py": ("git", "a heading of npm's about what it fetches"),
    "tools/pip.py": ("apt", "what pip advises to install"),
    "tools/git.py": ("husky", "one that runs git's hooks, and comes from npm"),
}
"""Names that stand outside their object, and why. Which may only fall: `budget.toml` has their number."""


def objects() -> dict[str, set[str]]:
    """Return the modules of each name: that of its row, those whose format it prints, those that print its format."""
    rows = [(tool, row) for tool in (*ORDER, *WITHOUT_FORMAT) for row in load(tool).commands]
    printing = {
        tool: {form for own, row in rows if own == tool for form in (row.prints or "").split()} for tool, _ in rows
    }
    owners: dict[str, set[str]] = {}
    for tool, row in rows:
        for name in (each.partition(" ")[0] for each in split_names(row.names)):
            told = {tool, name, *(row.prints or "").split(), *(other for other in printing if tool in printing[other])}
            owners.setdefault(name, set()).update(f"tools/{each}.py" for each in told)
    of_systems = {name for tool, row in rows if tool in OF_SYSTEMS for name in split_names(row.names)}
    return {name: modules for name, modules in owners.items() if name not in WORDS | of_systems}


def strings(node: ast.AST) -> Iterator[str]:
    """Yield the texts in code, without those that explain it and without rows of the table."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Constant):
            yield from [child.value] if isinstance(child.value, str) and not isinstance(node, ast.Expr) else []
        elif not (isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in ROWS):
            yield from strings(child)


def names_in(text: str, names: re.Pattern[str]) -> set[str]:
    """Return the proper names in a text, as whole words; behind a dot stands the ending of a file."""
    return set(names.findall(text)) | {name for found in BOTH.findall(text) for name in found if name}


def test_each_name_stands_in_one_module() -> None:
    """Or in the table of exceptions, each of which is there."""
    owners = objects()
    own = "|".join(map(re.escape, sorted(owners.keys() - {"go"}, key=len, reverse=True)))
    names = re.compile(rf"(?<![\w\].-])(?:{own})(?![\w@-])")
    found: dict[str, set[str]] = {}
    for module, tree in parse_all(list_modules()):
        named = {name for text in strings(tree) for name in names_in(text, names) if module not in owners[name]}
        if named and not module.startswith(ELSEWHERE):
            found[module] = named
    assert found == {module: set(named.split()) for module, (named, _) in EXCEPTIONS.items()}
    assert sum(map(len, found.values())) <= read_table()["ceilings"]["names_elsewhere"]


def test_what_a_name_is() -> None:
    """A whole word in code: no ending of a file, no part of another name, and no English."""
    names = re.compile(r"(?<![\w\].-])(?:git|npm)(?![\w@-])")
    tree = ast.parse(
        '"""Of git."""\nx = "git: no", f"{x} npm"\n"As git."\nrun(Command("npm ci"), ".git git-lfs", "go: no")'
    )
    assert [names_in(text, names) for text in strings(tree)] == [{"git"}, {"npm"}, set(), {"go"}]
    assert names_in("they go there", names) == names_in("main.go:3: x", names) == set()
