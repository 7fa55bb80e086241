"""Ruff, formatters that only check, and linters that print like them."""

# The samples are self-written in the forms that the tools document and print.

from __future__ import annotations

import pytest

from tests.extract.reading import facts_alone, key, said

facts = facts_alone("ruff")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "F401 [*] `os` imported but unused\n --> app.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\n"
            "help: Remove unused import: `os`\n\nFound 1 error.\n[*] 1 fixable with the `--fix` option.",
            ("F401", "app.py:1", "`os` imported but unused"),
            id="full",
        ),
        pytest.param(
            "app.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.",
            ("F401", "app.py:1", "`os` imported but unused"),
            id="concise",
        ),
        pytest.param(
            "shop/app.py:\n   1:8  F401 [*] `os` imported but unused\n\nFound 1 error.",
            ("F401", "shop/app.py:1", "`os` imported but unused"),
            id="grouped",
        ),
        pytest.param(
            "invalid-syntax: Expected `)`, found newline\n --> a.py:1:18\n",
            ("invalid-syntax", "a.py:1", "Expected `)`, found newline"),
            id="syntax",
        ),
        pytest.param(
            "unformatted: File would be reformatted\n --> a.py:1:6\n",
            ("not formatted", "a.py", "run ruff format"),
            id="format",
        ),
        pytest.param(
            "Would reformat: a.py\n1 file would be reformatted",
            ("not formatted", "a.py", "run the formatter"),
            id="ruff of old",
        ),
        pytest.param("would reformat a.py\n\nOh no!", ("not formatted", "a.py", "run the formatter"), id="black"),
        pytest.param(
            "error: cannot format a.py: Cannot parse: 1:4: def f(:\nFound nothing",
            ("SyntaxError", "a.py:1", "Cannot parse: 1:4: def f(:"),
            id="black of old, syntax",
        ),
        pytest.param(
            "error: cannot format a.py: INTERNAL ERROR\n1 file",
            ("SyntaxError", "a.py", "INTERNAL ERROR"),
            id="black's own",
        ),
        pytest.param(
            "error: cannot parse: /src/a.py:1:11\n    def broken(:\n",
            ("SyntaxError", "/src/a.py:1", "cannot parse"),
            id="black",
        ),
        pytest.param(
            "ERROR: /src/a.py Imports are incorrectly sorted and/or formatted.",
            ("not formatted", "/src/a.py", "imports are incorrectly sorted, run isort"),
            id="isort",
        ),
        pytest.param(
            "app/cart.rb:3:5: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings.\n1 file, 1 offense",
            ("Style/StringLiterals", "app/cart.rb:3", "Prefer single-quoted strings."),
            id="rubocop",
        ),
    ],
)
def test_forms(text, expected):
    """The rule, the place and the message, whichever way they are printed."""
    assert said(facts(text)) == expected


def test_what_one_option_mends():
    """That the tool can mend some itself is told."""
    found = facts("a.py:1:8: F401 [*] `os` unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.")
    assert found.details == ("1 fixable with the `--fix` option",)


def test_hook():
    """What other linters say in the same text is added, errors that break the program first."""
    found = facts(
        "would reformat a.py\n\n[ruff]\na.py:1:1: I001 [*] Import block is un-sorted\n"
        "a.py:3:1: F821 Undefined name `b`\n"
        'Found 2 errors.\n[mypy]\na.py:3: error: Name "b" is not defined  [name-defined]\nFound 1 error in 1 file\n'
    )
    assert (found.type, found.tally) == ("F821", "1 of 4 findings")
    assert found.details == (
        "not formatted at a.py: run the formatter",
        "I001 at a.py:1: Import block is un-sorted",
        'name-defined at a.py:3: Name "b" is not defined',
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Found 3 errors.\nsee the log", id="a count alone"),
        pytest.param("x --> y\n --> a.py:1:8\nshopping list:\n  1:2 eggs", id="arrows and lists"),
    ],
)
def test_not_taken(text):
    """A count, an arrow or a list belongs to others."""
    assert facts(text) is None


def test_keys():
    """The three ways of printing are one class; another name is another."""
    concise = "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error."
    assert key(concise) == key("F401 [*] `os` imported but unused\n --> a.py:7:8\n\nFound 1 error.")
    assert key(concise) != key(concise.replace("`os`", "`sys`"))
