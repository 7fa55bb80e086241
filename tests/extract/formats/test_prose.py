"""The last resort."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.errors import Facts, RawError
from otel_errcompact.extract.extraction import extract
from tests.extract.reading import facts


def test_the_reason_is_the_cause():
    """The cause is a line that says why something failed, not the first that says that it failed."""
    found = facts(
        "starting\nCommand failed: npm run build\nchunk 1\nchunk 2\nCould not resolve './Chart' from src/Page.jsx\nbye"
    )
    cause = "Could not resolve './Chart' from src/Page.jsx"
    key = f"{cause} | Command failed: npm run build | chunk <num>"
    assert found == Facts(type="error", cause=cause, format="prose", key_cause=key)


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
