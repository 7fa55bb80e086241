"""What runs without the library of the command line is what runs with it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.lab.cli.direct import run_directly
from tests.lab.cli.test_main import started

if TYPE_CHECKING:
    from pathlib import Path

    from tests.lab.cli.conftest import Errcompact

LIBRARY = ("typer", "click", "rich", "pydantic", "jinja2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a").write_text("KeyError: 'id'", encoding="utf-8")
    (tmp_path / "b").write_text('{"text": "ValueError: 7"}\n{"other": 1}\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--version"], id="version"),
        pytest.param(["key", "a"], id="one file"),
        pytest.param(["key", "a", "missing", "b"], id="several, one missing"),
        pytest.param(["key", "--jsonl", "text", "b"], id="a field"),
        pytest.param(["key", "a", "--tool", "pytest", "--exit-code", "2"], id="options behind"),
        pytest.param(["key", "--exit-code", "007", "a"], id="zeros"),
        pytest.param(["key", "--tool", "key", "a"], id="the name of the command"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_both_ways_print_the_same(
    errcompact: Errcompact, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """The library's way is the specification."""
    status = run_directly(arguments)
    printed = capsys.readouterr()
    outcome = errcompact(*arguments)
    assert (status, printed.out, printed.err) == (outcome.code, outcome.out, outcome.err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["mcp", "--url", "example.com", "--header", "A: b", "--header", "C: d"],
        ["mcp", "--url", "http://a", "--transport", "ws"],
        ["mcp", "--url", "http://a", "--", "x"],
        ["mcp", "--", "no-such-server", "--help"],
    ],
    ids=" ".join,
)
def test_both_ways_refuse_the_same(errcompact: Errcompact, arguments: list[str]) -> None:
    """In the same words."""
    with pytest.raises(ConfigurationError) as direct:
        run_directly(arguments)
    with pytest.raises(ConfigurationError) as library:
        errcompact(*arguments)
    assert str(direct.value) == str(library.value)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["--version", "key"],
        ["digest", "a"],
        ["key", "--help"],
        ["key", "--tool=pytest", "a"],
        ["key", "a", "--tool"],
        ["key", "--tool", "", "a"],
        ["key", "--tool", "-x", "a"],
        ["key", "--tool", "x", "--tool", "y", "a"],
        ["key", "--exit-code", "two", "a"],
        ["key", "--exit-code", "-9", "a"],
        ["key", "--exit-code", "9" * 5_000, "a"],
        ["key", "--unknown", "a"],
        ["key", "--", "a"],
        ["mcp"],
        ["mcp", "--"],
        ["mcp", "--help"],
        ["mcp", "wrap", "--", "a"],
        ["mcp", "--url"],
        ["mcp", "--url", "http://a", "--url", "http://b"],
        ["mcp", "--header", "A: b"],
        ["mcp", "--url=http://a"],
    ],
    ids=lambda arguments: " ".join(arguments)[:30],
)
def test_what_is_not_plain_is_left_to_the_library(arguments: list[str]) -> None:
    """So help and messages stay as they are."""
    assert run_directly(arguments) is None


@pytest.mark.programs
@pytest.mark.parametrize("arguments", [["--version"], ["key"]], ids=" ".join)
def test_neither_the_library_nor_what_else_is_slow_is_loaded(arguments: list[str]) -> None:
    """A start of the program is a tenth of a second then."""
    loaded = f"print(sorted(set(sys.modules) & {set(LIBRARY)!r}), file=sys.stderr)"
    done = started(*arguments, stdin="KeyError: 'id'", code=f"import atexit, sys\natexit.register(lambda: {loaded})")
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert sys.modules.keys() & {"typer"}  # which are the names that are looked for
