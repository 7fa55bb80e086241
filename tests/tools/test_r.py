"""Errors of R, as Rscript and R CMD of 4.2 print them."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts_as, format_of, key, said

read = facts_as("r")

NO_FILE = """\
Error in file(file, "rt") : cannot open the connection
Calls: f -> read.csv -> read.table -> file
In addition: Warning message:
In file(file, "rt") :
  cannot open file 'none.csv': No such file or directory
Execution halted"""


@pytest.mark.parametrize(
    ("text", "location", "cause", "details"),
    [
        pytest.param(
            "Error in log(x) : non-numeric argument to mathematical function\nCalls: f -> g\nExecution halted",
            "",
            "non-numeric argument to mathematical function",
            ("> log(x)", "Calls: f -> g"),
            id="calls",
        ),
        pytest.param(
            NO_FILE,
            "",
            "cannot open the connection",
            (
                '> file(file, "rt")',
                "Calls: f -> read.csv -> read.table -> file",
                "In addition: Warning message:",
                'In file(file, "rt") :',
                "cannot open file 'none.csv': No such file or directory",
            ),
            id="warning that says why",
        ),
        pytest.param(
            "Warning message:\nodd \nError: my own message\nsecond line\nExecution halted",
            "",
            "my own message second line",
            (),
            id="no call",
        ),
        pytest.param(
            'Error in f(a = "b") : \n  a message that has a line of its own\nExecution halted',
            "",
            "a message that has a line of its own",
            ('> f(a = "b")',),
            id="long call",
        ),
        pytest.param(
            'Error: unexpected symbol in:\n"x <- c(1,2\ny"\nExecution halted',
            "",
            'unexpected symbol in: "x <- c(1,2 y"',
            (),
            id="syntax without a place",
        ),
        pytest.param(
            'Error in source("c.R") : c.R:2:1: unexpected symbol\n1: x <- c(1,2\n2: y\n   ^\nExecution halted',
            "c.R:2",
            "unexpected symbol",
            ('> source("c.R")', "1: x <- c(1,2", "2: y"),
            id="syntax",
        ),
        pytest.param(
            "Error in `f()`:\n! Bad thing.\n\u2139 hint\n\u2716 no\nBacktrace:\n    \u2586\n"
            " 1. \u2514\u2500global f()\n"
            ' 2.   \u2514\u2500rlang::abort(c("Bad thing.", i = "hint", x = "no"))\nExecution halted',
            "",
            "Bad thing.",
            ("> `f()`", "\u2139 hint", "\u2716 no"),
            id="rlang",
        ),
        pytest.param(
            "* installing *source* package \u2018pk\u2019 ...\n** using staged installation\n** R\n"
            "Error in parse(outFile) : /srv/pk/R/f.R:1:17: unexpected symbol\n1: f <- function(x x\n"
            "                    ^\nERROR: unable to collate and parse R files for package \u2018pk\u2019\n"
            "* removing \u2018/srv/lib/pk\u2019",
            "/srv/pk/R/f.R:1",
            "unexpected symbol",
            ("> parse(outFile)", "1: f <- function(x x"),
            id="installation",
        ),
        pytest.param(
            "Error in try(stop('caught')) : caught\nError: the last one\nExecution halted",
            "",
            "the last one",
            (),
            id="the last of two",
        ),
    ],
)
def test_forms(text, location, cause, details):
    """What R says behind the call is the cause; the call and what it adds stand behind."""
    found = read(text)
    assert said(found) == ("Error", location, cause)
    assert found.details == details


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Error in f() : caught\n[1] 4", id="caught"),
        pytest.param("Error in f : a page on the words Execution halted", id="prose"),
        pytest.param("Execution halted", id="end alone"),
        pytest.param(
            "ERROR: dependency \u2018x\u2019 is not available for package \u2018pk\u2019", id="says all itself"
        ),
    ],
)
def test_not_taken(text):
    """Only an error that ended R is one."""
    assert format_of(text) != "r"


def test_keys():
    """Calls do not matter; the message does."""
    assert key(NO_FILE) == key(NO_FILE.replace("Calls: f ->", "Calls: main -> f ->"))
    assert key(NO_FILE) != key(NO_FILE.replace("the connection", "the file"))
