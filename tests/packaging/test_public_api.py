from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import otel_errcompact


def test_everything_listed_exists() -> None:
    """Each public name can be imported."""
    assert [name for name in otel_errcompact.__all__ if getattr(otel_errcompact, name, None) is None] == []


def test_everything_that_exists_is_listed() -> None:
    """Nothing is public by accident, and the list is sorted."""
    assert sorted(otel_errcompact.__all__) == otel_errcompact.__all__
    assert sorted(otel_errcompact._HOMES) == sorted(otel_errcompact.__all__)
    assert dir(otel_errcompact) == otel_errcompact.__all__


def test_no_public_name_is_hidden_by_a_module() -> None:
    """A function named like a module would turn into that module once somebody imports it."""
    for name in otel_errcompact.__all__:
        with pytest.raises(ModuleNotFoundError):
            import_module(f"otel_errcompact.{name}")


def test_an_unknown_name_is_refused_as_everywhere() -> None:
    """The message is Python's own."""
    with pytest.raises(AttributeError, match="module 'otel_errcompact' has no attribute 'nothing'"):
        otel_errcompact.nothing  # noqa: B018


@pytest.mark.parametrize(
    "module",
    [
        "errors",
        "masking",
        "redaction",
        "dedup",
        "extract",
        "classify",
        "history",
        "escalation",
        "digest",
        "model",
        "ledger",
    ],
)
def test_the_core_imports_without_opentelemetry(module: str) -> None:
    """Importing a core module never drags OpenTelemetry in, nor anything of the command line."""
    script = (
        "import sys\n"
        "for name in ('opentelemetry', 'google', 'typer', 'rich'): sys.modules[name] = None\n"
        f"import otel_errcompact.{module}\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
