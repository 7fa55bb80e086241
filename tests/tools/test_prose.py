"""The last resort."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.errors import NOWHERE, Facts, Location, RawError
from tests.extract.reading import extract, facts, facts_alone


def test_the_first_line_that_tells_of_a_failure_is_the_cause():
    """What stands from there to the last such line names the class, and the line behind it what it is about."""
    text = "starting\nCommand failed: npm run build\nchunk 1\nCould not resolve './Chart'\nin src/Page.jsx\nbye"
    cause = "Command failed: npm run build"
    key = f"{cause} | chunk <num> | Could not resolve './Chart' | in src/Page.jsx"
    assert facts(text) == Facts(type="error", cause=cause, format="prose", key_cause=key)


def test_repeats_are_no_part_of_the_key():
    """How often a program tries is no part of what failed, and what counts is bounded."""
    once = facts("cannot reach depot 1\nno answer\nunknown host a")
    assert facts("cannot reach depot 1\nno answer\ncannot reach depot 2\nunknown host a").key_cause == once.key_cause
    many = [f"the host {chr(97 + number)} is not known" for number in range(26)]
    assert facts("\n".join(many)).key_cause == facts("\n".join(many[:25])).key_cause


def test_echoed_code_is_not_the_last_telling_line():
    """Indented lines are mostly quotations."""
    found = facts("String to replace not found in file.\nString:\n    raise Failed('no such row')")
    assert found.key_cause == ""


def test_nothing_telling():
    """Without a telling line the first one is the cause."""
    assert facts("all is well\nreally").cause == "all is well"


@pytest.mark.parametrize(
    ("known", "kind", "details"),
    [
        pytest.param({}, "error", (), id="nothing known"),
        pytest.param({"exit_code": 3}, "error", ("exit code 3",), id="exit status"),
        pytest.param({"type": "tool_error"}, "tool_error", (), id="type"),
        pytest.param({"type": "tool_error", "exit_code": 3}, "tool_error", ("exit code 3",), id="both"),
    ],
)
def test_type_of_prose(known, kind, details):
    """The type is what the source says; the exit status is none, since harnesses report it or not."""
    found = facts("step 7 failed", **known)
    assert (found.type, found.details) == (kind, details)


def test_no_output():
    """A failure that said nothing is told by its exit status."""
    assert facts("", exit_code=2) == Facts(type="exit code 2", cause="no output", format="prose")
    assert facts("").cause == "no output"
    assert facts("Exit code 2", message="killed\nby signal").cause == "killed by signal"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a.conf:14: unknown key 'x'", Location(file="a.conf", line=14)),
        ("unknown key 'x' at line 3 of conf/a.toml", Location(file="conf/a.toml", line=3)),
        ("unknown key 'x' in a.toml(7)", Location(file="a.toml", line=7)),
        ("unknown key\n  --> a.rs, line 9", Location(file="a.rs", line=9)),
        ("cannot reach db.internal:5432, refused", NOWHERE),
        ("cannot reach https://a.b/c.d:443, refused", NOWHERE),
        ("/tmp/tmpab12cd.py:3: unknown name", NOWHERE),
    ],
)
def test_the_place_stands_with_the_cause(text: str, place: Location) -> None:
    """Ports of hosts are no lines, and files written for one call are no places."""
    assert facts_alone("prose")(text).location == place


@given(
    st.builds(
        RawError,
        text=st.text() | st.text("{}[]'\"\\:, \n\r\x1b<>/|+-errormsgTcbakTFile0123()", max_size=400),
        type=st.text(max_size=20),
        message=st.text(max_size=20),
        exit_code=st.none() | st.integers(-9, 255),
    )
)
def test_any_text_has_facts(raw):
    """Whatever the text, there are facts, each of one line and within bounds."""
    found = extract(raw)
    assert found.cause
    assert found.type
    for line in (found.type, found.cause, found.key_cause, *found.details):
        assert "\n" not in line
    assert len(found.cause) <= 520
    assert all(0 < len(line) <= 200 for line in found.details)
    assert len(found.details) <= 8


FRAGMENTS = st.sampled_from(
    [
        "Traceback (most recent call last):\n",
        '  File "a.py", line 1, in f\n',
        "    f()\n",
        "    ^^^\n",
        "KeyError: 'x'\n",
        "\n",
        "The above exception was the direct cause of the following exception:\n",
        "  [Previous line repeated 9 more times]\n",
        "  + Exception Group Traceback (most recent call last):\n",
        "  | ExceptionGroup: x (1 sub-exception)\n",
        "  +-+---------------- 1 ----------------\n",
        "    | ",
        "    +---------------- 2 ----------------\n",
        "    +------------------------------------\n",
        "RecursionError: x\n",
        "1 validation error for X\n",
        "a\n  b [type=c]\n",
        '{"error": {"message": "',
        '"}}',
        "{'error': '",
        "<html><title>",
        "</title>",
        "HTTP/1.1 500 X\n",
        "bash: x: command not found\n",
        "Exit code 1\n",
        "error:\n",
        "[exit code: 2]",
        "KeyError          Traceback (most recent call last)\n",
        "Cell In[1], line 2\n",
        "----> 2 f()\n",
        "Command '['a']' returned non-zero exit status 1.",
        "\x1b[31m",
        "\r\n",
        "SyntaxError: x\n",
        "\x00",
        "\x000",
    ]
)


@given(st.lists(FRAGMENTS, max_size=30).map("".join))
def test_any_mixture_of_forms_has_facts(text):
    """Forms cut, mixed and repeated at random lead to facts too."""
    found = facts(text)
    assert found.cause
    assert found.type
