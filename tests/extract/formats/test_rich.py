"""Tracebacks and usage errors in boxes; the samples are written after the boxes that Rich draws."""

from __future__ import annotations

import pytest

from otel_errcompact.errors import Location
from tests.extract.reading import facts_as, format_of

facts = facts_as("rich")

BOX = """\
╭──────────────── Traceback (most recent call last) ─────────────────╮
│ /app/main.py:9 in <module>                                         │
│                                                                    │
│    8 def main():                                                   │
│ ❱  9 │   load("a")                                                 │
│                                                                    │
│ ╭─ locals ─╮                                                       │
│ │ x = 1    │                                                       │
│ ╰──────────╯                                                       │
│ /app/a/very/long/path/which/goes/on/in/the/next/lin                │
│ e/store.py:42 in load                                              │
│                                                                    │
│ ❱ 42 │   │   return rows[name]                                     │
│                                                                    │
│ /app/.venv/lib/python3.12/site-packages/db.py:7 in get             │
╰────────────────────────────────────────────────────────────────────╯
KeyError: 'a'
"""
LINK = "\nThe above exception was the direct cause of the following exception:\n\n"


def test_box():
    """The innermost own frame is the place, the marked line its source; long paths are put together again."""
    found = facts(BOX)
    assert (found.type, found.cause) == ("KeyError", "'a'")
    file = "/app/a/very/long/path/which/goes/on/in/the/next/line/store.py"
    assert found.location == Location(function="load", file=file, line=42)
    assert found.details == ("> return rows[name]", "raised in get (db.py:7)")


def test_box_in_ascii():
    """Terminals without such characters get the same box of dashes."""
    text = BOX.translate(str.maketrans({"╭": "+", "╮": "+", "╰": "+", "╯": "+", "─": "-", "│": "|", "❱": ">"}))
    assert facts(text) == facts(BOX)


def test_chain():
    """The first box is the root cause of the last one."""
    found = facts(f"{BOX}{LINK}{BOX.replace('KeyError', 'ConfigError')}more of the message\n\nbye\n")
    assert (found.type, found.wrappers) == ("KeyError", ("ConfigError",))


def test_boxes_that_have_nothing_to_do_with_each_other():
    """Without the words that link them, the last one counts."""
    found = facts(f"{BOX}\n{BOX.replace('KeyError', 'ValueError')}")
    assert (found.type, found.wrappers) == ("ValueError", ())


def test_usage_error():
    """The box that refuses a command line is joined to one line."""
    text = "Usage: shop [OPTIONS]\n╭─ Error ────────────────╮\n│ No such option: --fast │\n│ Did you mean --last?   │\n"
    found = facts(f"{text}╰────────────────────────╯\n")
    assert (found.type, found.cause) == ("UsageError", "No such option: --fast Did you mean --last?")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(BOX.rpartition("╰")[0], id="cut off"),
        pytest.param("╭─ Error ─╮\n╰─────────╯", id="empty box"),
        pytest.param("see ╭─ Error ─╮ in the manual", id="mentioned"),
        pytest.param("╭─ Error ─ what ╮", id="another box"),
    ],
)
def test_no_failure(text):
    """A box without its exception, or one that is only mentioned, is of no known form."""
    assert format_of(text) != "rich"
