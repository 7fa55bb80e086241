"""A process in which nothing fails pays for nothing that only failures, or options, need."""

from __future__ import annotations

import ast
import gc
import json
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages

import pytest

import otel_errcompact

PACKAGE = Path(otel_errcompact.__file__).parent
FORMATS = "otel_errcompact.tools."

HEAVY = frozenset(
    {
        *("annotated_types", "asyncio", "asyncio.events", "concurrent.futures.process", "email", "google.protobuf"),
        *("google", "grpc", "html", "http", "importlib.metadata", "jinja2", "multiprocessing", "opentelemetry.proto"),
        *("opentelemetry.exporter", "pydantic", "pydantic_core", "requests", "rich", "shutil", "socket", "ssl"),
        *("subprocess", "tempfile", "tiktoken", "trio", "typer", "urllib.request", "zipfile"),
        *("otel_errcompact_context", "otel_errcompact.integrations", "otel_errcompact_lab"),
        *("otel_errcompact.otel.export.metric_reader", "otel_errcompact.otel.export.resending"),
    }
)
"""Modules that take long to import, or that only some programs need."""

READERS = (
    FORMATS,
    *(f"otel_errcompact.{room}" for room in ("compactor", "dedup", "extract", "redaction")),
    *(f"otel_errcompact.detector.{name}" for name in ("kinds", "operation", "outcomes", "results", "roles")),
    *(f"otel_errcompact.digest.{name}" for name in ("block", "inline", "news")),
    *(f"otel_errcompact.audit.{name}" for name in ("life", "otlp_json", "raw_span")),
)
"""What reads a failure and writes of it."""

BEGIN = """
import json, sys
import opentelemetry.sdk._logs, opentelemetry.sdk.metrics, opentelemetry.sdk.resources, opentelemetry.sdk.trace
before = set(sys.modules)
"""
INSTALL = """
import otel_errcompact
otel_errcompact.install()
"""
HEALTHY = """
with otel_errcompact.run("r") as run:
    with run.tool("query") as call:
        call.result = "fine"
"""
FAILURE = """
def fail(): raise KeyError("orders")
with otel_errcompact.run("r") as run:
    for _ in range(2):
        with run.tool("query") as call:
            fail()
    assert call.failed and "orders" in call.text, call.text
"""
TEXT = """
with otel_errcompact.run("r") as run:
    with run.tool("bash") as call:
        call.fail("a.ts(1,2): error TS2322: Type 'a' is not assignable to type 'b'.")
"""
END = "print(json.dumps(sorted(set(sys.modules) - before)))"


def loaded_by(folder: Path, *steps: str) -> frozenset[str]:
    """The modules that a new process loads in these steps, on top of the SDK."""
    code = "\n".join((BEGIN, *steps, END))
    environ = {"PATH": "", "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return frozenset(json.loads(done.stdout))


@pytest.mark.programs
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((INSTALL,), id="install"),
        pytest.param((INSTALL, HEALTHY), id="a call that succeeds"),
        pytest.param((INSTALL, FAILURE), id="an exception"),
        pytest.param((INSTALL, TEXT), id="a text"),
    ],
)
def test_nothing_heavy_is_loaded(tmp_path: Path, steps: tuple[str, ...]) -> None:
    """With the default configuration: not by installing, not by a call, not by a failure."""
    loaded = loaded_by(tmp_path, *steps)
    assert "otel_errcompact.installation.install" in loaded
    assert sorted(loaded & HEAVY) == []


@pytest.mark.programs
def test_no_format_is_loaded_before_a_text_fails(tmp_path: Path) -> None:
    """A live exception is read from its objects; a text loads the formats whose markers it holds."""
    by_exception = loaded_by(tmp_path, INSTALL, HEALTHY, FAILURE)
    by_text = loaded_by(tmp_path, INSTALL, TEXT)
    assert [name for name in by_exception if name.startswith(FORMATS)] == []
    assert f"{FORMATS}compilers" in by_text
    assert f"{FORMATS}pytest" not in by_text


@pytest.mark.programs
def test_nothing_that_reads_a_failure_is_loaded_by_installing(tmp_path: Path) -> None:
    """Recognition, masks, redaction, the rendering of digests and the encoder of lines wait for the first failure."""
    assert sorted(name for name in loaded_by(tmp_path, INSTALL) if name.startswith(READERS)) == []
    assert [name for name in READERS if find_spec(name.removesuffix(".")) is None] == []


@pytest.mark.programs
def test_the_package_alone_loads_nothing(tmp_path: Path) -> None:
    """Each name is loaded at its first use."""
    own = [name for name in loaded_by(tmp_path, "import otel_errcompact") if name.startswith("otel_errcompact.")]
    assert own == []


@pytest.mark.programs
def test_an_option_is_checked_by_pydantic(tmp_path: Path) -> None:
    """So the names that are looked for are those that would be loaded."""
    given = "otel_errcompact.install(options=otel_errcompact.Options(mode='advise'))"
    assert {"pydantic", "pydantic_core", "annotated_types"} <= loaded_by(tmp_path, "import otel_errcompact", given)


def test_no_pattern_is_compiled_where_it_is_imported() -> None:
    """`lazy_pattern` compiles at the first use; whole modules are checked, functions are not."""
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in compiled_at_import(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def compiled_at_import(tree: ast.AST) -> list[int]:
    """The lines of a module that compile a pattern outside every function."""
    lines: list[int] = []
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"re.compile", "compile"}:
            lines.append(node.lineno)
        waiting += ast.iter_child_nodes(node)
    return sorted(lines)


def test_a_compiled_pattern_would_be_found() -> None:
    """Also in a class and in a table, and not in a function."""
    source = "import re\nA = re.compile('a')\nclass B:\n    c = (1, re.compile('b'))\ndef d():\n    re.compile('e')\n"
    assert compiled_at_import(ast.parse(source)) == [2, 4]


def test_every_pattern_compiles() -> None:
    """What is compiled late is known to be right."""
    beside = filter(find_spec, ("otel_errcompact_context", "otel_errcompact_hosts", "otel_errcompact_lab"))
    packages = [import_module(name) for name in ("otel_errcompact", *beside)]
    for module in (each for package in packages for each in walk_packages(package.__path__, f"{package.__name__}.")):
        if ".integrations." in module.name or module.name.endswith("__main__"):
            continue
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:  # of an extra that is not installed
            if (error.name or "").startswith("otel_errcompact"):
                raise
    gc.unfreeze()  # what is frozen since the tests were collected is not among the objects
    patterns = [found for found in gc.get_objects() if type(found).__name__ in {"_LazyPattern", "_UsedPattern"}]
    assert len(patterns) > 900
    for pattern in patterns:
        assert pattern.search("\0") is None or pattern.search("\0") is not None
