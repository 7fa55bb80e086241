"""What holds for all integrations, also where no framework is installed."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.exceptions import MissingExtraError, UnsupportedVersionError
from otel_errcompact.integrations import requirement
from otel_errcompact.integrations.requirement import required
from tests.core import PACKAGES

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
SOURCES = {
    f"{package.name}.integrations.{path.stem}": path
    for package in (PACKAGES[""], PACKAGES["context/"])
    for path in sorted((package / "integrations").glob("*.py"))
    if path.stem not in {"__init__", "requirement"}
}
"""The modules, with their files: what compacts errors, and what keeps context windows."""

MAX_LINES = 130
"""Thin: about 120 lines of code; what explains it, and imports, are not counted."""


def test_what_is_there_is_imported() -> None:
    """Nothing is said where nothing is missing."""
    with required("pytest", "8.0", extra="langchain"):
        import pluggy
    assert pluggy.__name__ == "pluggy"


def test_a_missing_framework_says_what_to_install() -> None:
    """One line, with the command."""
    with pytest.raises(MissingExtraError) as caught, required("no-such", "1.0", extra="langchain"):
        import no_such_framework  # noqa: F401
    assert str(caught.value) == (
        "otel_errcompact.integrations.langchain needs an optional dependency: pip install 'otel-errcompact[langchain]'"
    )


def test_a_version_without_the_hook_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """So is the version that has it."""
    monkeypatch.setattr(requirement, "version", lambda package: "0.3.1")
    with pytest.raises(UnsupportedVersionError) as caught, required("pytest", "9.9", extra="langchain"):
        from pytest import no_such_hook  # type: ignore[attr-defined] # noqa: F401, PT013
    assert str(caught.value) == (
        "pytest 0.3.1 lacks what otel_errcompact.integrations.langchain hooks into, which came with 9.9: "
        "pip install --upgrade 'otel-errcompact[langchain]'"
    )
    assert (caught.value.package, caught.value.installed, caught.value.at_least) == ("pytest", "0.3.1", "9.9")


def _import(module: str) -> ModuleType:
    return importlib.import_module(module)


@pytest.mark.parametrize("name", SOURCES)
def test_each_integration_names_its_own_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its framework the import fails, with the command that brings it."""

    def nothing_is_installed(package: str) -> str:
        raise PackageNotFoundError(package)

    source = SOURCES[name].read_text(encoding="utf-8")
    extra = name.rpartition(".")[2]
    package = re.search(r'with required\("([\w.-]+)", "[\w.]+", extra="' + extra + '"', source)
    assert package is not None
    monkeypatch.setattr(requirement, "version", nothing_is_installed)
    imported = re.findall(r"^    (?:from|import) (\w+)", source, re.MULTILINE)
    monkeypatch.setitem(sys.modules, imported[0], None)
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(MissingExtraError, match=rf"pip install 'otel-errcompact\[{extra}\]'"):
        _import(name)


@pytest.mark.parametrize("name", SOURCES)
def test_the_version_that_is_asked_for_is_the_extra_s_and_the_oldest_tested(name: str) -> None:
    """One number in three places: the module, the extra, and the environment it is tested in."""
    source = SOURCES[name].read_text(encoding="utf-8")
    found = re.search(r'required\("([\w.-]+)", "([\w.]+)"', source)
    assert found is not None
    package, version = found.groups()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    environments = tomllib.loads((ROOT / "tests" / "integrations" / "environments.toml").read_text())
    extra = name.rpartition(".")[2]
    assert f"{package}>={version}" in extras[extra][0]
    assert f"{package}=={version}" in environments[extra]["oldest"]


def code_lines(source: str) -> int:
    """Count the lines that are neither blank, nor comment, docstring or import."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(source.splitlines(), 1)
    return sum(1 for number, line in lines if line.strip(" \n")[:1] not in {"", "#"} and number not in left_out)


@pytest.mark.parametrize("name", SOURCES)
def test_each_integration_is_thin(name: str) -> None:
    """What grows beyond this belongs into the boundary, where all share it."""
    assert code_lines(SOURCES[name].read_text(encoding="utf-8")) <= MAX_LINES
