"""From a message to its cause."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.dedup.masking import mask
from otel_errcompact.extract.messages.message import command_key, read_message
from otel_errcompact.extract.reading import Reading


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("no such row", Reading("no such row"), id="plain"),
        pytest.param("  no such row\n", Reading("no such row"), id="spaces around"),
        pytest.param("", Reading("no message"), id="empty"),
        pytest.param(" \n \n", Reading("no message"), id="blank"),
        pytest.param(
            "name 'jsn' is not defined. Did you mean: 'json'?",
            Reading("name 'jsn' is not defined", "", ("Did you mean: 'json'?",)),
            id="suggestion",
        ),
        pytest.param(
            "name 'io' is not defined. Did you forget to import 'io'?",
            Reading("name 'io' is not defined", "", ("Did you forget to import 'io'?",)),
            id="forgotten import",
        ),
        pytest.param("what now?", Reading("what now?"), id="question"),
        pytest.param("maximum recursion depth exceeded", Reading("maximum recursion depth exceeded"), id="recursion"),
        pytest.param(
            "maximum recursion depth exceeded in comparison",
            Reading("maximum recursion depth exceeded in comparison", "maximum recursion depth exceeded"),
            id="recursion in a built-in",
        ),
        pytest.param(
            '(psycopg2.errors.UndefinedTable) relation "orders" does not exist\nLINE 1: select * from orders\n'
            "                      ^\n\n[SQL: select *\nfrom orders\nwhere id = %(id)s]\n[parameters: {'id': 4711}]\n"
            "(Background on this error at: https://sqlalche.me/e/20/f405)",
            Reading(
                '(psycopg2.errors.UndefinedTable) relation "orders" does not exist',
                "",
                (
                    "LINE 1: select * from orders",
                    "> select * from orders where id = %(id)s",
                    "parameters: {'id': 4711}",
                ),
            ),
            id="statement of SQLAlchemy",
        ),
        pytest.param(
            "(sqlite3.OperationalError) no such table: orders\n[SQL: select * from orders]\n"
            "(Background on this error at: x)",
            Reading("(sqlite3.OperationalError) no such table: orders", "", ("> select * from orders",)),
            id="statement of SQLAlchemy without parameters",
        ),
        pytest.param(
            "(sqlite3.OperationalError) no such table: orders\n[SQL: select * fr",
            Reading("(sqlite3.OperationalError) no such table: orders", "", ("> select * fr",)),
            id="statement of SQLAlchemy, cut off",
        ),
        pytest.param(
            "Build failed:\n  no rule for x\nsee log",
            Reading("Build failed: no rule for x", "", ("see log",)),
            id="first line is a heading",
        ),
        pytest.param("error:\nno rule for x", Reading("no rule for x"), id="first line says nothing"),
        pytest.param("Build failed:", Reading("Build failed:"), id="heading alone"),
        pytest.param(
            "it broke\nstep 1\nValueError: bad x\nbye",
            Reading(
                "it broke", "it broke | ValueError: bad x", ("ValueError: bad x", "step 1", "ValueError: bad x", "bye")
            ),
            id="a later line states an error",
        ),
        pytest.param("it broke\n2026-11-20 11:57:57 INFO next job", Reading("it broke"), id="log record behind"),
        pytest.param('"""\nboom\n"""', Reading("boom"), id="quotes of a remote traceback"),
        pytest.param('"""\n"""', Reading("no message"), id="quotes alone"),
        pytest.param(
            "HTTP 502: <html><title>Bad gateway</title><p>upstream reset before headers, failed</p></html>",
            Reading("HTTP 502: Bad gateway: upstream reset before headers, failed"),
            id="page",
        ),
        pytest.param(
            "expected </div> but got </p>", Reading("expected </div> but got </p>"), id="tags that make no page"
        ),
        pytest.param(
            "bad {placeholder} in template", Reading("bad {placeholder} in template"), id="braces that make no body"
        ),
        pytest.param(
            'HTTP 500: {"error": {"message": "boom", "type": "server_error"}} while paying',
            Reading("HTTP 500: server_error: boom while paying"),
            id="body",
        ),
        pytest.param(
            '{"detail": [{"loc": ["qty"], "msg": "too low", "type": "ge"}]}',
            Reading("qty: too low", "ValidationError: qty [min]", (), "ValidationError"),
            id="body with a key of its own",
        ),
        pytest.param(
            "Command 'make test' returned non-zero exit status 2.",
            Reading(
                "Command 'make test' returned non-zero exit status 2.",
                "Command 'make test' returned non-zero exit status 2",
            ),
            id="command line",
        ),
        pytest.param(
            "Command '['git', 'push', 'origin']' died with <Signals.SIGKILL: 9>.",
            Reading(
                "Command '['git', 'push', 'origin']' died with <Signals.SIGKILL: 9>.",
                "Command 'git push' died with <Signals.SIGKILL: 9>",
            ),
            id="killed",
        ),
        pytest.param(
            "Command '['sleep', '9']' timed out after 2.5 seconds",
            Reading("Command '['sleep', '9']' timed out after 2.5 seconds", "Command 'sleep' timed out"),
            id="timed out",
        ),
        pytest.param("Command x is unknown", Reading("Command x is unknown"), id="another command"),
        pytest.param(
            "Command 'sh -c x' returned non-zero exit status 2.\nboom",
            Reading(
                "Command 'sh -c x' returned non-zero exit status 2.",
                "Command 'x' returned non-zero exit status 2",
                ("boom",),
            ),
            id="command and its output",
        ),
    ],
)
def test_reading(message, expected):
    """The cause in one line, the key where it differs, and the lines beyond."""
    assert read_message(message) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["pytest", "-x", "tests/test_a.py"], "pytest -x"),
        (["/usr/bin/python3", "-m", "build"], "python3 -m"),
        (["git", "clone", "https://x.io/y.git", "--depth=1"], "git clone --depth"),
        (["bash", "-lc", "nosuchprog --x wkdtrp"], "nosuchprog --x"),
        (["C:\\Windows\\System32\\cmd.exe", "/c", "dir"], "dir"),
        ("make test", "make test"),
        ("sh -c 'make test'", "make test"),
        (["bash", "-l"], "bash -l"),
        ("bash", "bash"),
        ([], ""),
    ],
)
def test_what_counts_of_a_command(command, expected):
    """Program, sub-command and the names of options; values are left out."""
    assert command_key(command) == expected


def test_long_message_is_cut_visibly():
    """A cause fits one line of bounded length and keeps its end."""
    reading = read_message("x" * 10_000 + " caused by: boom")
    assert len(reading.cause) == 500
    assert " ... " in reading.cause
    assert reading.cause.endswith("caused by: boom")


def test_message_without_end():
    """Of very many lines the first and the last are looked at."""
    reading = read_message("it broke\n" + "step\n" * 100_000 + "error: no rule for x")
    assert reading.key == "it broke | error: no rule for x"
    assert len(reading.details) <= 500


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.text("{}[]'\"\\:, \nerormsag", max_size=200))
def test_any_message_has_a_cause_in_one_line(message):
    """No message is without cause, and no cause has two lines."""
    cause = read_message(message).cause
    assert cause
    assert "\n" not in cause


def test_a_failure_below_the_first_line_counts_for_the_key():
    """Parsers print a place first and what is wrong with it below."""
    text = "Template render error: (mail.njk) [Line 3]\n  see below\n  unknown block tag: {}"
    one, other = read_message(text.format("fr")), read_message(text.format("iff"))
    assert one.cause == other.cause
    assert one.key.endswith(" | unknown block tag: fr")
    assert one.key != other.key
    assert read_message("Parsed 3 rows\nthat is all").key == ""


def test_a_long_line_is_cut_for_the_reader_alone():
    """Where it is cut depends on the length of its values."""
    words = "of the memory 1.2 GiB is in use " * 40
    assert template_of(words) == template_of(words.replace("1.2 GiB", "812.25 MiB"))


def template_of(message: str) -> str:
    reading = read_message(f"{message}\nas seen")
    return mask(reading.key or reading.cause)
