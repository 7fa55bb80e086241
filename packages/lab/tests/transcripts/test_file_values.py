"""How files are taken apart into JSON values, and what is said of malformed ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from otel_errcompact_lab.transcripts.file_values import read_values

GOOD = b'{"a": 1}\n'


def values(path, **options):
    """Read a file; return the values and what was said without the path."""
    problems = []
    found = [value for value, _ in read_values(path, on_problem=problems.append, **options)]
    return found, [str(problem).removeprefix(str(path)) for problem in problems]


@pytest.fixture
def write(tmp_path):
    """Writes a file of the given bytes."""

    def write_bytes(content):
        path = tmp_path / "run.jsonl"
        path.write_bytes(content)
        return path

    return write_bytes


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(GOOD * 3, [{"a": 1}] * 3, id="lines"),
        pytest.param(b'{"a": 1}\r\n{"a": 1}\r\n', [{"a": 1}] * 2, id="crlf"),
        pytest.param(b'\n\n{"a": 1}\n \n{"a": 1}', [{"a": 1}] * 2, id="blank-lines"),
        pytest.param(b"[1, 2]\n", [[1, 2]], id="document-in-one-line"),
        pytest.param(b'{\n "a": [\n  {"b": 2}\n ]\n}\n', [{"a": [{"b": 2}]}], id="document"),
        pytest.param(b'[\n{"b": 1},\n{"b": 2}\n]\n', [[{"b": 1}, {"b": 2}]], id="list-with-an-object-a-line"),
        pytest.param(b'{"a": {}\n, "b": 1}', [{"a": {}, "b": 1}], id="first-line-that-looks-whole"),
        pytest.param(b"\xef\xbb\xbf" + GOOD, [{"a": 1}], id="byte-order-mark"),
        pytest.param(GOOD + b"\xef\xbb\xbf" + GOOD, [{"a": 1}] * 2, id="byte-order-mark-between"),
        pytest.param('{"a": "x\u2028y\x85z"}\n'.encode(), [{"a": "x\u2028y\x85z"}], id="other-line-ends"),
    ],
)
def test_well_formed_files(write, content, expected):
    """JSON lines give a value a line, a document one; blank lines, CRLF and byte order marks do not matter."""
    assert values(write(content)) == (expected, [])


@pytest.mark.parametrize(
    ("content", "expected", "problems"),
    [
        pytest.param(b"", 0, [": is empty; nothing was recorded"], id="empty"),
        pytest.param(b" \n\n", 0, [": is empty; nothing was recorded"], id="blank"),
        pytest.param(
            GOOD + b'{"a": {"b": "cut\n' + GOOD,
            2,
            [
                (
                    ":2: is not valid JSON (Unterminated string starting at: column 13) and is skipped: "
                    "it was cut off; record it again or remove it"
                ),
            ],
            id="line-cut-off-in-the-middle",
        ),
        pytest.param(
            b'{"a": {"b": "cut\n' + GOOD,
            1,
            [
                (
                    ":1: is not valid JSON (Unterminated string starting at: column 13) and is skipped: "
                    "it was cut off; record it again or remove it"
                ),
            ],
            id="first-line-cut-off",
        ),
        pytest.param(
            GOOD + b'{"a": 1, 2}\n' + GOOD,
            2,
            [
                (
                    ":2: is not valid JSON (Expecting property name enclosed in double quotes: column 10) "
                    "and is skipped: mend or remove it"
                ),
            ],
            id="broken-line",
        ),
        pytest.param(
            b'\n{\n "a": [1,\n',
            0,
            [
                (
                    ":3: is not valid JSON (Expecting value: column 10) and is skipped: "
                    "it was cut off; record it again or remove it"
                ),
            ],
            id="document-cut-off",
        ),
        pytest.param(
            b'{\n "a": 1\n "b": 2\n}\n',
            0,
            [":3: is not valid JSON (Expecting ',' delimiter: column 2) and is skipped: mend or remove it"],
            id="broken-document",
        ),
        pytest.param(
            GOOD + b'{"a": "abc\xe9"}\n' + GOOD,
            3,
            [":2: is not valid UTF-8 (byte 11); the invalid bytes read as U+FFFD"],
            id="invalid-utf-8",
        ),
        pytest.param(
            b"\x89PNG\r\n\x1a\n\x00\x00",
            0,
            [": is no transcript: JSON in UTF-8 is expected, an object a line or one document"],
            id="binary",
        ),
        pytest.param(
            "{}\n".encode("utf-16"),
            0,
            [": is no transcript: JSON in UTF-8 is expected, an object a line or one document"],
            id="utf-16",
        ),
        pytest.param(
            b"# Notes\n\nProse.\n",
            0,
            [": is no transcript: JSON in UTF-8 is expected, an object a line or one document"],
            id="prose",
        ),
        pytest.param(
            GOOD + b'{"a": ' + b"[" * 200_000 + b"\n" + GOOD,
            2,
            [":2: nests too deeply and is skipped"],
            id="nested-too-deeply",
        ),
        pytest.param(
            GOOD + b'{"a": ' + b"9" * 10_000 + b"}\n" + GOOD,
            2,
            [":2: holds a number of thousands of digits and is skipped"],
            id="number-too-long",
        ),
    ],
)
def test_malformed_files(write, content, expected, problems):
    """What is malformed gives one message with file and line; the rest is read."""
    found, messages = values(write(content))
    assert (len(found), messages) == (expected, problems)


@pytest.mark.parametrize(
    ("content", "expected", "problems"),
    [
        pytest.param(
            GOOD + b'{"a": "' + b"x" * 3_000_000 + b'"}\n' + GOOD,
            2,
            [":2: is longer than 1,000 bytes and is skipped; split it into JSON lines"],
            id="line",
        ),
        pytest.param(
            b"x" * 5_000,
            0,
            [":1: is longer than 1,000 bytes and is skipped; split it into JSON lines"],
            id="only-line",
        ),
        pytest.param(
            b"{\n" + b'"a": 1,\n' * 500,
            0,
            [": is longer than 1,000 bytes and is skipped; split it into JSON lines"],
            id="document",
        ),
    ],
)
def test_values_beyond_the_limit(write, content, expected, problems):
    """A line or document that is too long is skipped, told of, and the bytes are counted all the same."""
    path = write(content)
    progress = []
    found, messages = values(path, limit=1_000, on_bytes=progress.append)
    assert (len(found), messages) == (expected, problems)
    assert sum(progress) <= len(content)


def test_halves_of_characters_are_replaced(write):
    """Programs that cut text between two surrogates leave halves; no text that cannot be encoded is handed on."""
    found, messages = values(write(b'{"a": "cut \\ud83d", "b": "\\uD83D\\uDE00", "c": "\\\\ud83d"}\n'))
    assert (found, messages) == ([{"a": "cut \ufffd", "b": "\U0001f600", "c": "\\ud83d"}], [])


def test_a_missing_file_is_a_problem(tmp_path):
    """It is reported, not raised."""
    found, (message,) = values(tmp_path / "none.jsonl")
    assert (found, message) == ([], ": cannot be read (No such file or directory); check the path and its permissions")


def test_a_folder_is_a_problem(tmp_path):
    """A folder has no values."""
    found, (message,) = values(tmp_path)
    assert (found, message) == ([], ": cannot be read (Is a directory); check the path and its permissions")


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="the platform has no /dev/fd")
def test_a_pipe_is_read_once_from_its_beginning():
    """Nothing is read twice, so that the output of another program can be read."""
    read_end, write_end = os.pipe()
    os.write(write_end, b'{\n"a": 1}\n')
    os.close(write_end)
    try:
        assert values(Path(f"/dev/fd/{read_end}")) == ([{"a": 1}], [])
    finally:
        os.close(read_end)


def test_progress_is_the_size_of_the_file(write):
    """The numbers add up to the file, and come line by line."""
    progress = []
    values(write(GOOD * 3), on_bytes=progress.append)
    assert progress == [9, 9, 9]


def test_lines_are_read_one_at_a_time(write):
    """The second line is not read before the first was taken."""
    progress = []
    stream = read_values(write(GOOD * 1_000), on_problem=pytest.fail, on_bytes=progress.append)
    next(stream)
    assert progress == [9]


def test_a_broken_beginning_longer_than_the_look_ahead(write):
    """A first line that is broken and a file in which no whole line follows soon is taken as one broken document."""
    found, messages = values(write(b'{"a": \n' * 40 + GOOD))
    assert (found, len(messages)) == ([], 1)


def test_a_long_first_line_is_taken_by_its_ends(write):
    """A first line beyond 64 KiB is not parsed twice; if it is broken, that is reported like for any line."""
    found, messages = values(write(b'{"a": ' + b"1" * 100_000 + b" 2}\n" + GOOD))
    assert found == [json.loads(GOOD)]
    assert [message.partition(":")[2].partition(":")[0] for message in messages] == ["1"]


def test_objects_on_one_line_are_values_each(tmp_path):
    """None is lost where a program left out a line end."""
    path = tmp_path / "two.jsonl"
    path.write_text('{"a": 1}{"a": 2}\n{"a": 3} {"a": 4}\n')
    assert [value["a"] for value, _ in read_values(path, on_problem=pytest.fail)] == [1, 2, 3, 4]


def test_a_broken_object_beside_a_whole_one_is_a_problem(tmp_path):
    """The line is skipped, and said to be."""
    path = tmp_path / "two.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}{"a": \n')
    problems = []
    assert [value["a"] for value, _ in read_values(path, on_problem=problems.append)] == [1]
    assert "line 2" in str(problems[0]) or ":2" in str(problems[0])
