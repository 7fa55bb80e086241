"""The output of a program that another one repeats."""

from __future__ import annotations

from otel_errcompact.errors import Facts
from otel_errcompact.extract.formats import plain, shell
from otel_errcompact.extract.inner import facts_of_output


def test_first_reader_that_recognises_it():
    """The output is read without its indentation, by the first reader that recognises it."""
    found = facts_of_output(
        ["", "    cat: a: No such file or directory", "      (see log)", ""], (plain.extract, shell.extract)
    )
    assert isinstance(found, Facts)
    assert (found.format, found.type) == ("shell", "ENOENT")


def test_nothing_to_read():
    """An empty output, and one that no reader recognises, have no facts."""
    assert facts_of_output(["", "  "], (shell.extract,)) is None
    assert facts_of_output(["all is well"], (shell.extract,)) is None
