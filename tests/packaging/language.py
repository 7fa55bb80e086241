"""The language of the library, as far as a program can check it."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.core import list_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

HELP = "lab/cli/app.py"
"""Its docstrings are what the command line prints."""

MAX_WORDS = 12
PARTICIPLES = frozenset(
    {"told", "said", "kept", "held", "made", "taken", "given", "shown", "found", "known", "written", "left", "sent",
     "seen", "begun", "got", "built", "meant", "gone", "done", "spoken", "drawn", "won", "lost", "hit", "cut"}
)  # fmt: skip
VERBS = frozenset({"locked", "feed", "need", "embed", "seed", "shed", "exceed", "proceed", "succeed", "speed"})
"""Names that only look like participles, and one that `threading` gives locks."""

RULES = ("participles", "summaries", "private")


def definitions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for child in ast.walk(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child


def is_participle(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    name = node.name.strip("_")
    is_value = any("property" in ast.unparse(each) or ast.unparse(each) == "lazy" for each in node.decorator_list)
    ends = name in PARTICIPLES or (name.endswith("ed") and name not in VERBS)
    return "_" not in name and ends and not node.name.startswith("__") and not is_value


def is_long(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    summary = (ast.get_docstring(node) or "").partition("\n\n")[0]
    return len(summary.split()) > MAX_WORDS


def is_private_with_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    is_private = node.name.startswith("_") and not node.name.startswith("__")
    return is_private and ast.get_docstring(node) is not None


def offenders() -> dict[str, dict[str, list[str]]]:
    """By rule and room, the offenders with their places."""
    found: dict[str, dict[str, list[str]]] = {rule: defaultdict(list) for rule in RULES}
    for name, path in list_modules():
        room, tree = name.partition("/")[0], ast.parse(path.read_text(encoding="utf-8"))
        if is_long(tree):
            found["summaries"][room].append(f"{name}:1")
        for node in definitions(tree):
            place = f"{name}:{node.lineno} {node.name}"
            if is_long(node) and name != HELP:
                found["summaries"][room].append(place)
            if isinstance(node, ast.ClassDef):
                continue
            if is_participle(node):
                found["participles"][room].append(place)
            if is_private_with_docstring(node):
                found["private"][room].append(place)
    return found
