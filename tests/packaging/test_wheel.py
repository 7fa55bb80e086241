"""The wheel as users get it: bare, with the oldest and the newest OpenTelemetry, and with all extras."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from otel_errcompact_lab.cli import stack
from tests.core import PACKAGES

ROOT = Path(__file__).parents[2]
THEIRS = re.compile(r"^ *(?:from|import) (?:opentelemetry|pydantic)\b", re.MULTILINE)
ROOMS = {
    path.relative_to(ROOT / "otel_errcompact").parts[0]
    for path in (ROOT / "otel_errcompact").rglob("*.py")
    if THEIRS.search(path.read_text(encoding="utf-8"))
}
TESTS = sorted(f"tests/{room}" for room in ROOMS - {"integrations"} if (ROOT / "tests" / room).is_dir())
"""What a release of OpenTelemetry or pydantic could change."""

TOOLS = ("pytest", "pytest-asyncio", "pytest-timeout", "hypothesis")

pytestmark = [pytest.mark.wheel, pytest.mark.timeout(1_500)]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4_000:]}\n{done.stderr[-4_000:]}"
    return done.stdout


def uv(*arguments: str | Path) -> str:
    return run(sys.executable, "-m", "uv", *arguments)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of each package."""
    folder = tmp_path_factory.mktemp("dist")
    for package in PACKAGES.values():
        uv("build", "--quiet", "--wheel", "--out-dir", folder, package.parent)
    return folder


@pytest.fixture(scope="session")
def wheel(wheels: Path) -> Path:
    """The plugin alone."""
    return next(wheels.glob("otel_errcompact-*.whl"))


def interpreters() -> list[str]:
    """The Pythons that are there of those that are supported, oldest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [kind.rpartition(" ")[2] for kind in project["classifiers"] if " :: 3." in kind]
    folders = sorted((Path.home() / ".pyenv" / "versions").glob("3.*/bin"))
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    found = filter(None, (shutil.which(f"python{version}", path=path) for version in versions))
    # A shim of pyenv is there for versions that are not chosen, and fails.
    return [name for name in found if subprocess.run([name, "-V"], capture_output=True, check=False).returncode == 0]


PYTHONS = interpreters() or [sys.executable]


def environment(folder: Path, *packages: str | Path, interpreter: str = sys.executable) -> Path:
    """Make a virtual environment outside the checkout and return its interpreter."""
    uv("venv", "--quiet", "--python", interpreter, folder / "venv")
    python = folder / "venv" / "bin" / "python"
    uv("pip", "install", "--quiet", "--python", python, *packages)
    return python


def run_tests(python: Path, folder: Path) -> str:
    """Run the tests of the library against what is installed; the checkout's package is out of sight."""
    shutil.copytree(ROOT / "tests", folder / "checkout" / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder / "checkout")
    # Short, for the end of it is all that is shown.
    options = ("-q", "-p", "no:cacheprovider", "-m", "behaviour", "--tb=short", "--show-capture=no")
    return run(python, "-m", "pytest", *options, *TESTS, cwd=folder / "checkout")


def test_a_bare_wheel_works_without_any_extra(wheel: Path, tmp_path: Path) -> None:
    """Star import, a run with a failing tool, and a command line that says what it lacks."""
    python = environment(tmp_path, wheel)
    script = """
        from otel_errcompact import *
        import otel_errcompact as errcompact
        with errcompact.run("r") as run:
            with run.tool("parse") as call:
                int("seven")
        print(call.text.splitlines()[0].partition(" at ")[0], run.report().result)
    """
    assert run(python, "-c", textwrap.dedent(script), cwd=tmp_path) == "[ValueError] unresolved\n"
    command = [python, "-m", "otel_errcompact", "demo"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = "errcompact: the command line needs an optional dependency: pip install 'otel-errcompact[cli]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_a_bare_wheel_brings_no_server_and_no_page(wheel: Path, tmp_path: Path) -> None:
    """OpenTelemetry, pydantic and what these need; of our own, the plugin."""
    python = environment(tmp_path, wheel)
    installed = {line.partition("==")[0] for line in uv("pip", "freeze", "--python", python).splitlines()}
    names = {name.partition(" ")[0] for name in installed}
    assert {name for name in names if "errcompact" in name} == {"otel-errcompact"}
    assert names >= {"opentelemetry-sdk", "pydantic"}
    assert names.isdisjoint(
        {"fastapi", "httpx", "jinja2", "playwright", "redis", "rich", "starlette", "typer", "uvicorn"}
    )


def test_the_core_needs_no_opentelemetry(wheel: Path, tmp_path: Path) -> None:
    """With OpenTelemetry blocked, the core imports and works."""
    python = environment(tmp_path, wheel)
    script = """
        import sys
        sys.modules["opentelemetry"] = None
        from otel_errcompact import Options, Thresholds
        from otel_errcompact.engine.ledger import Ledger
        from otel_errcompact.errors import RawError
        ledger = Ledger()
        print(ledger.observe("r", RawError(text="KeyError: 'sku'", tool="parse")).found.facts.type)
    """
    assert run(python, "-c", textwrap.dedent(script), cwd=tmp_path) == "KeyError\n"


@pytest.mark.parametrize(
    ("interpreter", "packages"),
    [
        pytest.param(
            PYTHONS[0],
            (
                "opentelemetry-api==1.38.0",
                "opentelemetry-sdk==1.38.0",
                "opentelemetry-exporter-otlp-proto-common==1.38.0",
                "opentelemetry-exporter-otlp==1.38.0",
                "pydantic==2.7.0",
            ),
            id="oldest",
        ),
        pytest.param(PYTHONS[-1], ("opentelemetry-sdk", "opentelemetry-exporter-otlp", "pydantic"), id="newest"),
    ],
)
def test_the_wheel_passes_the_library_s_tests(
    wheel: Path, tmp_path: Path, interpreter: str, packages: tuple[str, ...]
) -> None:
    """The oldest and the newest Python and OpenTelemetry, the checkout out of sight."""
    python = environment(tmp_path, wheel, *packages, *TOOLS, interpreter=interpreter)
    assert " passed" in run_tests(python, tmp_path)


def test_the_command_line_comes_with_its_extra(wheels: Path, tmp_path: Path) -> None:
    """`pip install 'otel-errcompact[cli]'` is all that the demo needs."""
    python = environment(tmp_path, "--find-links", wheels, "otel-errcompact[cli]")
    assert run(tmp_path / "venv" / "bin" / "errcompact", "--version").startswith("errcompact 0.1.0")
    key = run(tmp_path / "venv" / "bin" / "errcompact", "key", ROOT / "LICENSE")
    assert '"key"' in key
    assert run(python, "-c", "import otel_errcompact, pathlib; print(pathlib.Path(otel_errcompact.__file__).parent)")
    assert "trajectory" in run(tmp_path / "venv" / "bin" / "errcompact", "demo", cwd=tmp_path)


def test_the_wheel_carries_the_operator_s_side(wheels: Path, tmp_path: Path) -> None:
    """What it exports, far from the checkout, is what the checkout exports, byte for byte."""
    environment(tmp_path, "--find-links", wheels, "otel-errcompact[cli]")
    out = run(tmp_path / "venv" / "bin" / "errcompact", "stack", "export", "exported", cwd=tmp_path)
    assert "docker compose up -d" in out
    folder = tmp_path / "exported"
    exported = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert exported == dict(stack.contents())
    assert "docker-compose.yml" in exported
