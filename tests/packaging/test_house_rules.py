from __future__ import annotations

import ast
import re
import subprocess
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

import pytest

from tests.core import PACKAGES, ROOT, list_modules
from tests.packaging.test_wheel import TESTS

pytestmark = pytest.mark.meta

OURS = ("errcompact.", "gen_ai.", "exception.")
CHECKOUT = ("benchmarks", "docs", "examples")
FOLDERS = (*PACKAGES.values(), ROOT, *ROOT.glob("packages/*"))
ROOMS = "|".join(path.stem for path in PACKAGES[""].iterdir() if not path.name.startswith("_"))
OUR_PATH = re.compile(rf"(?<!/)\botel_errcompact(?:_\w+)?(?:[./]\w+)+|(?<![\w/.-])(?:{ROOMS})(?:/\w+)+\.\w+")
IN_PATTERN = re.compile(r"\botel_errcompact(?:\(\?:_\\w\+\)\?)?/(?:\(\?[:!=])+([^()]+)\)")
GROUP = "otel_errcompact.formats"
"""A group of entry points, whose name is no module."""


def functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a module and of its classes, wherever pytest looks for tests: not those inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        elif isinstance(child, ast.stmt):
            yield from functions(child)


def parse_all(files: Iterable[tuple[str, Path]], *words: str) -> Iterator[tuple[str, ast.Module]]:
    """The files whose text has one of the words, parsed, each with its name; without words all of them."""
    for name, path in files:
        text = path.read_text(encoding="utf-8")
        if not words or any(word in text for word in words):
            yield name, ast.parse(text)


def list_tests(*folders: str) -> list[tuple[str, Path]]:
    """Their files, with names from the root."""
    paths = [path for folder in folders for path in sorted(ROOT.glob(f"{folder}/**/*.py"))]
    return [(path.relative_to(ROOT).as_posix(), path) for path in paths]


def test_every_test_says_its_rule() -> None:
    """A test without a sentence is no specification."""
    silent = [
        f"{name}::{node.name}"
        for name, tree in parse_all(list_tests("tests", "packages/*/tests"))
        if name.rpartition("/")[2].startswith("test_")
        for node in functions(tree)
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert silent == []


def test_only_the_options_read_the_environment() -> None:
    """
    `config.py` reads our variables, `otlp.py` the standard ones, `autoload.py` the off switches before either.

    `errcompact exec` hands the environment on, before the options could be loaded.
    """
    readers = {
        name
        for name, path in list_modules()
        if "os.environ" in (text := path.read_text(encoding="utf-8")) or "getenv(" in text
    }
    assert readers == {
        *("installation/autoload.py", "config.py", "otel/export/otlp.py", "lab/cli/demo/tools.py"),
        "hosts/wrapping/processes.py",
        *("lab/cli/hook_settings.py", "lab/cli/hook_doctor.py"),
        "hosts/mcp_proxy/serving.py",
    }


def test_only_semconv_spells_our_telemetry_names() -> None:
    """A name written twice drifts."""
    spelt = [
        f"{name}:{node.lineno} {node.value}"
        for name, tree in parse_all(list_modules(), *(quote + each for quote in "'\"" for each in OURS))
        if name != "otel/semconv.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.startswith(OURS)
        and " " not in node.value
    ]
    assert spelt == []


def test_what_the_wheel_is_tested_by_needs_no_checkout() -> None:
    """These folders are copied beside the wheel, without the benchmarks, the documentation or the examples."""
    imported = [
        f"{name}:{node.lineno} {node.module}"
        for name, tree in parse_all(list_tests(*TESTS), *(f"from {each}" for each in CHECKOUT))
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in CHECKOUT
    ]
    assert imported == []


def test_generated_files_are_not_tracked() -> None:
    """No trajectory, coverage or cache file is ever committed."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    unwanted = (".coverage", "errcompact-trajectory", "__pycache__", ".egg-info")
    assert [name for name in tracked.splitlines() if any(part in name for part in unwanted)] == []


def private_reads(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The private names that a module reads of other objects than `self`, or imports from OpenTelemetry."""
    for node in ast.walk(tree):
        names: list[object] = []
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in {"self", "cls"}:
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("opentelemetry"):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"getattr", "hasattr", "setattr", "attrgetter"}:
            names = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        private = (name for name in names if isinstance(name, str) and name.startswith("_") and name[:2] != "__")
        # The API's package of log records, and a method of named tuples.
        yield from ((node.lineno, name) for name in private if name not in {"_logs", "_replace"})


def test_only_the_adapter_reads_what_the_sdk_keeps_private() -> None:
    """A release of OpenTelemetry that moves something private is met in one module."""
    reads = [
        f"{name}:{line} {read}"
        for name, tree in parse_all(list_modules(), "opentelemetry")
        if name != "otel/sdk.py"
        for line, read in private_reads(tree)
    ]
    assert reads == []


def is_there(name: str) -> bool:
    """Tell whether a path or a dotted name of ours exists."""
    folder = name.replace(".", "/")
    if any((root / path).exists() for root in FOLDERS for path in (name, folder, f"{folder}.py")):
        return True
    try:
        return resolve_name(name) is not None
    except (ImportError, AttributeError, ValueError):
        return False


def list_gone(text: str) -> list[str]:
    """Return the paths and modules of ours that a file names, in its patterns and elsewhere, and that do not exist."""
    plain = text.replace(r"[/\\]", "/").replace(r"\.", ".")
    named = set(OUR_PATH.findall(plain)) | {each for found in IN_PATTERN.findall(plain) for each in found.split("|")}
    return sorted(name for name in named - {GROUP} if not is_there(name))


def test_every_path_of_our_own_that_the_package_names_exists() -> None:
    """A pattern or a text that names a room of ours moves with it."""
    suffixes = {".py", ".js", ".jinja", ".css"}
    files = [file for suffix in suffixes for file in list_modules(suffix)]
    gone = {name: list_gone(path.read_text(encoding="utf-8")) for name, path in files}
    assert {name: places for name, places in gone.items() if places} == {}


def test_a_path_of_our_own_that_is_gone_is_found() -> None:
    """In a path, a module, a name of a module, and a pattern."""
    text = r"""
        "otel_errcompact/config.py" "otel_errcompact/gone/" "otel_errcompact.engine.ledger.Ledger" "otel_errcompact.run"
        otel_errcompact.engine.gone otel_errcompact.engine.ledger.Gone engine/ledger.py engine/gone.py /engine/other.py
        [/\\]otel_errcompact(?:_\w+)?[/\\](?!(?:lost|cli|tests)[/\\]) otel_errcompact[/\\](?:engine|none)\.py
    """
    assert list_gone(text) == [
        *("engine/gone.py", "lost", "none", "otel_errcompact.engine.gone", "otel_errcompact.engine.ledger.Gone"),
        "otel_errcompact/gone",
    ]
