"""What runs without the library of the command line is what runs with it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_lab.cli.direct import run_directly
from packages.lab.tests.cli.test_main import started

if TYPE_CHECKING:
    from packages.lab.tests.cli.conftest import Errcompact

LIBRARY = ("typer", "click", "rich", "pydantic", "jinja2")


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
        ["key", "a"],
        ["raw", "8809"],
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
@pytest.mark.parametrize("arguments", [["--version"], ["mcp", "--", "true"]], ids=" ".join)
def test_neither_the_library_nor_what_else_is_slow_is_loaded(arguments: list[str]) -> None:
    """A start of the program is a tenth of a second then."""
    loaded = f"print(sorted(set(sys.modules) & {set(LIBRARY)!r}), file=sys.stderr)"
    done = started(*arguments, stdin="", code=f"import atexit, sys\natexit.register(lambda: {loaded})")
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert sys.modules.keys() & {"typer"}  # which are the names that are looked for
