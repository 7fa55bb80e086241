"""Chains: from the inside out, both ends named, no cause said twice."""

from __future__ import annotations

from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame

PARSE, LOAD, MAIN = Frame("/app/c.py", 3, "parse"), Frame("/app/c.py", 7, "load"), Frame("/srv/main.py", 9, "main")
ROOT = Failure("KeyError", "'pool'", PARSE, PARSE)


def lines(*chain: Failure) -> tuple[str, ...]:
    """Return the lines of a chain that is told from the inside out."""
    return facts_of(chain[::-1]).details


def test_from_the_inside_out():
    """Each wrapper with its place and what it says, the outermost last."""
    assert lines(ROOT, Failure("ConfigError", "bad settings", LOAD), Failure("StartError", "no worker", MAIN)) == (
        "raised as ConfigError at load (c.py:7): bad settings",
        "raised as StartError at main (/srv/main.py:9): no worker",
    )


def test_wrappers_that_repeat_the_cause():
    """They are named by type only, in the line of the next one that says more."""
    silent = Failure("RetryError", "", LOAD)
    said = Failure("StartError", "no worker", MAIN)
    assert lines(ROOT, silent, silent, Failure("ToolError", "failed: 'pool'"), said) == (
        "raised as RetryError (x 2), then as ToolError: failed: 'pool'",
        "raised as StartError at main (/srv/main.py:9): no worker",
    )
    assert lines(ROOT, silent, Failure("Outer")) == ("raised as RetryError, then as Outer",)
    assert lines(ROOT, Failure("Outer", "", PARSE)) == ("raised as Outer",)


def test_error_while_handling():
    """What failed in the handler hides neither the first error nor itself."""
    closing = Failure("OSError", "cannot close", MAIN, follows=True)
    assert lines(ROOT, Failure("RetryError", "", LOAD), closing) == (
        "raised as RetryError at load (c.py:7)",
        "while handling that, raised OSError at main (/srv/main.py:9): cannot close",
    )


def test_both_ends_of_a_long_chain():
    """The innermost and the outermost wrappers stay; how many went is counted."""
    found = lines(ROOT, *[Failure(f"E{number}", f"step {number} failed") for number in range(30)])
    assert found[0] == "raised as E0: step 0 failed"
    assert found[4] == "... 22 more wrappers"
    assert found[-1] == "raised as E29: step 29 failed"


def test_statement_of_a_wrapper_stays():
    """Of the further lines of a wrapper a statement of a database is kept."""
    wrapper = Failure("QueryError", "no rows\n[SQL: SELECT 1]")
    assert lines(ROOT, wrapper) == ("raised as QueryError: no rows", "> SELECT 1")


def test_wrapper_that_adds_a_statement():
    """What a database layer puts below the cause that it quotes stays; the quote and its brackets go."""
    root = Failure("sqlite3.IntegrityError", "CHECK constraint failed: ck_total", PARSE, PARSE)
    said = (
        "(sqlite3.IntegrityError) CHECK constraint failed: ck_total\n"
        "[SQL: INSERT INTO orders (id, total) VALUES (?, ?)]\n[parameters: (2, 0)]\n(Background on this error)"
    )
    assert lines(root, Failure("sqlalchemy.exc.IntegrityError", said, LOAD)) == (
        "raised as sqlalchemy.exc.IntegrityError at load (c.py:7)",
        "> INSERT INTO orders (id, total) VALUES (?, ?)",
        "parameters: (2, 0)",
    )
