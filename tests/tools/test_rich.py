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


def boxed(title: str, *lines: str) -> str:
    """Return lines in a box of 60 columns."""
    sides = "".join(f"│ {line:<56} │\n" for line in lines)
    return f"╭{title:─^58}╮\n{sides}╰{'─' * 58}╯\n"


def test_group():
    """The exceptions of a group stand in boxes of their own, those of an inner group inside these."""
    title = " Traceback (most recent call last) "
    frame = ("/app/a.py:4 in fetch", "❱ 4 │   raise Oops()")
    inner = f"╭{' Sub-exception #1 ':─^34}╮\n│ {'':<32} │\n╰{'─' * 34}╯"
    text = (
        boxed(title, "/app/a.py:9 in main", "❱ 9 │   gather()")
        + "ExceptionGroup: sync (3 sub-exceptions)\n\n"
        + boxed(" Sub-exception #1 ", *frame_box(frame), "Oops: no r1")
        + "\n"
        + boxed(" Sub-exception #2 ", *frame_box(frame), "KeyError: 'sku'")
        + "\n"
        + boxed(" Sub-exception #3 ", *inner.split("\n"))
    )
    found = facts(text)
    assert (found.type, found.cause) == ("ExceptionGroup", "sync: Oops: no r1; and 1 other (KeyError)")
    assert found.details == ("Oops at fetch (a.py:4): no r1", "KeyError at fetch (a.py:4): 'sku'")


def frame_box(lines: tuple[str, ...]) -> list[str]:
    """Return the lines of a traceback's box inside a box."""
    title = " Traceback (most recent call last) "
    return [f"╭{title:─^44}╮", *(f"│ {line:<42} │" for line in lines), f"╰{'─' * 44}╯"]


def test_recursion():
    """The cycle stands once; where frames are hidden there is no count."""
    calls = ["/app/a.py:9 in main", "❱ 9 │ walk(t)", *["/app/a.py:4 in walk", "❱ 4 │   walk(n)"] * 5]
    title, end = " Traceback (most recent call last) ", "RecursionError: maximum recursion depth exceeded\n"
    assert facts(boxed(title, *calls) + end).details[1] == "cycle: walk (a.py:4) -> walk, 5 times"
    hidden = [*calls, "... 899 frames hidden ..."]
    assert facts(boxed(title, *hidden) + end).details[1] == "cycle: walk (a.py:4) -> walk, and so on"
    assert facts(boxed(title, "") + end).details == ()
