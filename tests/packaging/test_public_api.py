from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import otel_errcompact
import otel_errcompact_context as context

ROOT = Path(__file__).parents[2]
FACES = [pytest.param(face, id=face.__name__) for face in (otel_errcompact, context)]


@pytest.mark.parametrize("face", FACES)
def test_everything_listed_exists(face: Any) -> None:
    """Each public name can be imported."""
    assert [name for name in face.__all__ if getattr(face, name, None) is None] == []


@pytest.mark.parametrize("face", FACES)
def test_everything_that_exists_is_listed(face: Any) -> None:
    """Nothing is public by accident, and the list is sorted."""
    assert sorted(face.__all__) == face.__all__
    assert sorted(name for names in face._MODULES.values() for name in names) == sorted(face.__all__)
    assert dir(face) == face.__all__


def test_the_root_exports_the_names_of_a_first_page() -> None:
    """At most eighteen names; all else is imported from its module."""
    assert len(otel_errcompact.__all__) <= 18


@pytest.mark.parametrize("face", FACES)
def test_no_public_name_is_hidden_by_a_module(face: Any) -> None:
    """A function named like a module would turn into that module once somebody imports it."""
    for name in face.__all__:
        with pytest.raises(ModuleNotFoundError):
            import_module(f"{face.__name__}.{name}")


@pytest.mark.parametrize("face", FACES)
def test_an_unknown_name_is_refused_as_everywhere(face: Any) -> None:
    """The message is Python's own."""
    with pytest.raises(AttributeError, match=f"module '{face.__name__}' has no attribute 'nothing'"):
        face.nothing  # noqa: B018


@pytest.mark.programs
def test_the_core_imports_without_opentelemetry() -> None:
    """Importing a core module, as the first of them, never drags OpenTelemetry in, nor anything of the command line."""
    rooms = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    core = next(contract["source_modules"] for contract in rooms if contract["id"] == "core")
    script = (
        "import sys\n"
        "for name in ('opentelemetry', 'google', 'typer', 'rich'): sys.modules[name] = None\n"
        f"for module in {core}:\n"
        "    for name in [name for name in sys.modules if name.partition('.')[0] == 'otel_errcompact']:\n"
        "        del sys.modules[name]\n"
        "    __import__(module)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.programs
def test_the_version_is_read_at_its_first_use() -> None:
    """`import otel_errcompact` alone loads no `importlib.metadata`."""
    script = (
        "import sys, otel_errcompact\n"
        "before = 'importlib.metadata' in sys.modules\n"
        "print(before, otel_errcompact.__version__)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", version("otel-errcompact")]


@pytest.mark.programs
def test_the_version_of_a_copied_source_is_unknown(tmp_path: Path) -> None:
    """Code that is no installed distribution has no metadata; asking for the version raises nothing."""
    shutil.copytree(ROOT / "otel_errcompact", tmp_path / "otel_errcompact", ignore=shutil.ignore_patterns("_stack"))
    script = "import otel_errcompact; print(otel_errcompact.__version__)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "unknown\n"


@pytest.mark.programs
@pytest.mark.parametrize("program", [["-m", "otel_errcompact"], ["-m", "otel_errcompact_lab.cli.main"]])
def test_the_package_itself_is_the_command_line(program: list[str]) -> None:
    """`python -m otel_errcompact` is `errcompact`, where no script is on the path."""
    done = subprocess.run([sys.executable, *program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"errcompact {version('otel-errcompact')}\n"
