"""Lines that state an error by themselves."""

from __future__ import annotations

import pytest

from otel_errcompact.errors import Location
from otel_errcompact.extract.statements import (
    is_heading,
    is_telling,
    last_statement,
    statement_of,
)
from tests.extract.reading import facts_alone

facts = facts_alone("plain")


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        ("KeyError: 'user_id'", "KeyError", "'user_id'"),
        ("httpx.ReadTimeout: timed out after 12.07s", "httpx.ReadTimeout", "timed out after 12.07s"),
        ("Uncaught (in promise) TypeError: t.reduce is not a function", "TypeError", "t.reduce is not a function"),
        ("TypeError [ERR_INVALID_ARG]: bad argument", "TypeError", "bad argument"),
        ("AssertionError", "AssertionError", "no message"),
        ("Error: flight HAT030 not available", "Error", "flight HAT030 not available"),
        (
            "Error: AttributeError: 'Ledger' object has no attribute 'page'",
            "AttributeError",
            "'Ledger' object has no attribute 'page'",
        ),
        ("error: ValueError: bad row", "ValueError", "bad row"),
        (
            "error: pathspec 'nightly' did not match any file(s)",
            "error",
            "pathspec 'nightly' did not match any file(s)",
        ),
        ("fatal: not a git repository", "fatal", "not a git repository"),
        ("[ERROR] no route", "error", "no route"),
        ("\u2718 [ERROR] Could not resolve './x'", "error", "Could not resolve './x'"),
        ("error[E0382]: borrow of moved value: `basket`", "E0382", "borrow of moved value: `basket`"),
        ("error TS2345: Argument of type 'string'", "TS2345", "Argument of type 'string'"),
        (
            "- E999 IndentationError: unindent does not match any outer indentation level",
            "IndentationError",
            "unindent does not match any outer indentation level",
        ),
        ("[11:57:57] ERROR: no table", "error", "no table"),
        ("ERRORS:\n- E999 SyntaxError: unmatched '}'", "SyntaxError", "unmatched '}'"),
    ],
)
def test_statements(text, kind, cause):
    """Type and cause of one-line errors, with log prefixes, bullets and severities taken off."""
    found = facts(text)
    assert (found.type, found.cause, found.format) == (kind, cause, "plain")


@pytest.mark.parametrize(
    ("text", "kind", "location"),
    [
        ("src/ring.c:18:27: error: 'limit' undeclared", "error", Location(file="src/ring.c", line=18)),
        ("C:\\proj\\app.py:12: error: boom", "error", Location(file="C:\\proj\\app.py", line=12)),
        ("src/view.ts(5,51): error TS2339: no property 'nmae'", "TS2339", Location(file="src/view.ts", line=5)),
        ("main.c:3:1: fatal error: x.h: no such file", "error", Location(file="main.c", line=3)),
        ("main.swift:3: error[no-x]: boom", "no-x", Location(file="main.swift", line=3)),
    ],
)
def test_located_statements(text, kind, location):
    """A place in front of the error is its location; a tool's own code is the type."""
    found = facts(text)
    assert (found.type, found.location) == (kind, location)


@pytest.mark.parametrize(
    "line",
    [
        *("all good", "note: see below", "ERRORS", "Errors found so far", "JavaScript: the good parts", "a.b: c"),
        "",
        "warning: unused x",
        "0 errors",
    ],
)
def test_lines_that_state_nothing(line):
    """Prose, notes and warnings are no strict statement."""
    assert statement_of(line) is None


def test_lines_behind_belong_to_the_message():
    """Further statements lead the details, the lines of the message follow; progress before it is none."""
    found = facts("building\nerror: no rule for a\n  in Makefile\nerror: no rule for b\n[exit code: 2]")
    assert found.cause == "no rule for a"
    assert found.key_cause == "no rule for a | error: no rule for b"
    assert found.details == ("error: no rule for b", "exit code 2", "in Makefile")


def test_statement_said_twice():
    """A line that says the cause again is no further statement."""
    found = facts("[ERROR] Could not resolve './x'\n1 error\nerror: Could not resolve './x'")
    assert found.key_cause == ""
    assert found.details == ("error: Could not resolve './x'",)


def test_reported_type():
    """The source's own type counts where the text says no more than that there was an error, or says less of it."""
    assert facts("error: no table", kind="db.QueryError").type == "db.QueryError"
    assert facts("ReadTimeout: no answer", kind="httpx.ReadTimeout").type == "httpx.ReadTimeout"
    assert facts("KeyError: 'x'", kind="ToolException").type == "KeyError"


def test_type_and_message_without_text():
    """A span that carries only a type and a status description has facts all the same."""
    found = facts("", kind="db.QueryError", message="no table 'users'")
    assert (found.type, found.cause, found.format) == ("db.QueryError", "no table 'users'", "plain")


def test_validation_error_in_plain_text():
    """A validation error is read field by field wherever its text turns up."""
    found = facts(
        "Error: 1 validation error for Order\nname\n  Field required [type=missing, input_value={}, input_type=dict]"
    )
    assert found.cause == "1 validation error for Order: name: Field required"
    assert found.key_cause == "ValidationError: name [required]"


def test_heading_and_what_it_announces():
    """The last statement of several lines is taken with the line that it announces."""
    assert last_statement(["ok", "error during build:", "no such file", "bye"]) == "error during build: no such file"
    assert last_statement(["KeyError: 'x'", "bye"]) == "KeyError: 'x'"
    assert last_statement(["ok", "bye"]) == ""
    assert not is_heading("errors: 3")


@pytest.mark.parametrize(
    "line", ["Could not resolve './Chart'", "the tool timed out", "flight not available", "access denied"]
)
def test_telling_words(line):
    """Lines of prose that tell of failures are known by their words."""
    assert is_telling(line)


def test_lines_without_telling_words():
    """Progress is not telling."""
    assert not is_telling("rendering chunk 3 of 7")
