"""What all extractors look at: text without colours, harness noise and common indentation, within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.extract.cleaning.characters import MAX_LINES, WINDOW, clean
from otel_errcompact.extract.format import MAX_LINE
from otel_errcompact.extract.text import read_text


def body(text: str) -> str:
    return read_text(text).body


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("\x1b[31mKeyError\x1b[0m: 'id'", "KeyError: 'id'", id="colour"),
        pytest.param("\x1b]0;title\x07boom", "boom", id="window title"),
        pytest.param("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", id="hyperlink"),
        pytest.param("boom\x1b", "boom", id="lone escape"),
        pytest.param("one\r\ntwo\r\n", "one\ntwo", id="CRLF"),
        pytest.param("10%\r20%\rfailed", "10%\n20%\nfailed", id="carriage returns of a progress bar"),
        pytest.param("bo\x00om\x08", "boom", id="control characters"),
        pytest.param("\ufeffb\u00f6om\x9b", "b\u00f6om", id="byte order mark and C1 controls"),
        pytest.param("  a\n    b\n", "a\n  b", id="common indentation"),
        pytest.param("a  \n\t\nb", "a\n\nb", id="trailing spaces"),
        pytest.param("\n\n  \nboom\n\n", "boom", id="blank lines at the ends"),
    ],
)
def test_cleaning(text, expected):
    """What a terminal or an indenting caller adds is taken off."""
    assert body(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "exit_code"),
    [
        pytest.param("Exit code 2\nboom", "boom", 2, id="first line"),
        pytest.param("Error: Exit code 2\nboom", "boom", 2, id="prefixed first line"),
        pytest.param("boom\n[exit code: 3]", "boom", 3, id="last line in brackets"),
        pytest.param("boom\nexit code: 127", "boom", 127, id="last line"),
        pytest.param("exitcode: 1 (execution failed)\nCode output: \nboom", "boom", 1, id="code executor"),
        pytest.param("boom\n[The command completed with exit code 4.]", "boom", 4, id="completed"),
        pytest.param("boom\nCommand exited with code -9", "boom", -9, id="signal"),
        pytest.param("boom\n[exit code: 0]", "boom", None, id="success says nothing"),
        pytest.param("boom", "boom", None, id="none"),
        pytest.param(
            "Chunk ID: 5f0a\nWall time: 0.2 s\nProcess exited with code 1\nOriginal token count: 9\nOutput:\nboom",
            "boom",
            1,
            id="header of a harness",
        ),
        pytest.param(
            "boom\n[Current working directory: /x]\n[Python interpreter: /y]\n[Command finished with exit code 5]",
            "boom",
            5,
            id="footer of a harness",
        ),
        pytest.param("boom\n[Output truncated: showing 30 of 62 lines]", "boom", None, id="mark of a cut"),
        pytest.param("<tool_use_error>boom</tool_use_error>", "boom", None, id="tags"),
        pytest.param("Exit code 1", "", 1, id="nothing else"),
        pytest.param(
            "unit 7 ended with code 12 of " + "x" * 400,
            "unit 7 ended with code 12 of " + "x" * 400,
            None,
            id="long line",
        ),
    ],
)
def test_harness_noise(text, expected, exit_code):
    """What a harness puts around a command's output goes; the exit status stays as a number."""
    found = read_text(text)
    assert (found.body, found.exit_code) == (expected, exit_code)


def test_reported_exit_code_comes_first():
    """The source's own exit status counts more than one written in the text."""
    assert read_text("Exit code 1\nboom", exit_code=2).exit_code == 2


def test_message_stands_in_for_text():
    """Where only a message is known, it is the text."""
    assert read_text("", message="boom").body == "boom"


def test_reported_type_is_one_short_name():
    """A reported type loses the main module's name, line feeds and excessive length."""
    assert read_text("", kind="__main__.Tool\nError").type == "Tool Error"
    assert len(read_text("", kind="x" * 10_000).type) == 200


def test_very_long_text_is_looked_at_from_both_ends():
    """Head and tail stay, whole lines, and the cut says how much is missing."""
    found = body("\n".join(f"{number:0>99}" for number in range(10_000)))
    head, mark, tail = found.partition("\n    ... 934601 characters not looked at\n")
    assert mark
    assert head.split("\n") == [f"{number:0>99}" for number in range(327)]
    assert tail.split("\n") == [f"{number:0>99}" for number in range(9_673, 10_000)]
    assert len(found) < 2 * WINDOW


def test_very_long_line_is_looked_at_from_both_ends():
    """One line without end is cut like any text."""
    found = body("a" * 500_000 + "b" * 500_000)
    assert found.startswith("a" * WINDOW)
    assert found.endswith("b" * WINDOW)


def test_very_many_lines_are_looked_at_from_both_ends():
    """The number of lines is bounded too."""
    found = body("\n".join("ab"[number % 2] for number in range(10_000)))
    assert found.count("\n") == 2 * MAX_LINES - 2
    assert found.startswith("a\nb\n")
    assert "\n    ... 16005 characters not looked at\n" in found
    assert found.endswith("a\nb")


def test_long_lines_are_cut_visibly():
    """A line keeps its ends."""
    line = next(iter(read_text("a" * 5_000 + "b").lines))
    assert len(line) == MAX_LINE
    assert line.startswith("aaa")
    assert " ... " in line
    assert line.endswith("ab")


@given(st.text())
def test_cleaning_is_idempotent(text):
    """Cleaning a cleaned text changes nothing."""
    assert clean(clean(text)) == clean(text)


def test_blank_lines_between_noise():
    """What harnesses put before an output ends with a blank line."""
    assert body("Wall time: 1.2 seconds\n\nboom") == "boom"
