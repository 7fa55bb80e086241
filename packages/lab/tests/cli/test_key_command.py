"""`errcompact key`: raw errors in, facts and dedup keys out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.cli.conftest import Errcompact, Outcome

CURE = "check the path and its permissions"
BROKEN = "is not valid JSON"
MEND = "mend or remove it"
CUT = "it was cut off; record it again or remove it"
NO_TEXT = "text must be a text; the line is skipped"
TRACEBACK = """\
Traceback (most recent call last):
  File "/srv/app.py", line 3, in load
    raise KeyError("id")
KeyError: 'id'
"""


def rows(outcome: Outcome) -> list[dict[str, object]]:
    return [json.loads(line) for line in outcome.out.splitlines()]


def test_a_file_is_one_raw_error(errcompact: Errcompact, tmp_path: Path) -> None:
    """Its facts come out as one line of JSON, all of them, under stable names."""
    file = tmp_path / "error.txt"
    file.write_text(TRACEBACK, encoding="utf-8")
    outcome = errcompact("key", file)
    (row,) = rows(outcome)
    assert outcome.code == 0
    assert outcome.err == ""
    assert row.pop("key") == classify(RawError(text=TRACEBACK)).key
    details = row.pop("details")
    assert isinstance(details, list)
    assert row == {
        "type": "KeyError",
        "location": "load (/srv/app.py:3)",
        "cause": "'id'",
        "template": "'id'",
        "format": "python",
        "members": 1,
    }


def test_standard_input_is_one_raw_error(errcompact: Errcompact) -> None:
    """Without a file, or by the name `-`."""
    bare = errcompact("key", stdin=TRACEBACK)
    named = errcompact("key", "-", stdin=TRACEBACK)
    assert bare == named
    assert rows(bare)[0]["type"] == "KeyError"


def test_files_come_out_in_their_order(errcompact: Errcompact, tmp_path: Path) -> None:
    """A line each."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"ValueError: bad column {name}", encoding="utf-8")
    outcome = errcompact("key", tmp_path / "b", tmp_path / "a")
    assert [row["cause"] for row in rows(outcome)] == ["bad column b", "bad column a"]


def test_a_field_of_each_line_is_a_raw_error(errcompact: Errcompact, tmp_path: Path) -> None:
    """Blank lines and other fields are passed over; the same failure has the same key."""
    file = tmp_path / "errors.jsonl"
    texts = ["ValueError: bad port", "KeyError: 'a'", "ValueError: bad port"]
    file.write_text("\n\n".join(json.dumps({"id": 1, "text": text}) for text in texts), encoding="utf-8")
    keys = [row["key"] for row in rows(errcompact("key", "--jsonl", "text", file))]
    assert keys[0] == keys[2] != keys[1]


def test_a_byte_order_mark_is_no_part_of_the_error(errcompact: Errcompact) -> None:
    """Some editors write one."""
    assert rows(errcompact("key", stdin=b"\xef\xbb\xbfKeyError: 'id'"))[0]["type"] == "KeyError"
    line = b'\xef\xbb\xbf{"text": "KeyError: 1"}'
    assert rows(errcompact("key", "--jsonl", "text", stdin=line))[0]["type"] == "KeyError"


def test_the_exit_status_is_a_fact(errcompact: Errcompact) -> None:
    """Where a command printed nothing it is all there is."""
    (row,) = rows(errcompact("key", "--exit-code", "2", "--tool", "make", stdin=""))
    assert "exit code 2" in f"{row['type']} {row['cause']}"


def test_an_empty_raw_error_in_a_record_is_one(errcompact: Errcompact) -> None:
    """The record says that something failed; as many lines come out as went in."""
    assert len(rows(errcompact("key", "--jsonl", "text", stdin='{"text": ""}\n{"text": "x"}\n'))) == 2


def test_what_comes_out_changes_no_terminal(errcompact: Errcompact) -> None:
    """Control and bidirectional characters of a raw error never reach the screen, in whatever field."""
    hostile = "ValueError: \x1b[31mred\x1b[0m \x07\x9b \u202egnp.exe \x7f"
    outcome = errcompact("key", stdin=hostile)
    assert all(char == "\n" or " " <= char <= "~" for char in outcome.out)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param(b"not json", f"{BROKEN} (Expecting value: column 1) and is skipped: {MEND}", id="no-json"),
        pytest.param(b'{"text": "x"', f"{BROKEN} (Expecting ',' delimiter: column 13) and is skipped: {CUT}", id="cut"),
        pytest.param(b"[1]", "must be an object, not a list; it is ignored", id="list"),
        pytest.param(b"5", "must be an object, not 5; it is ignored", id="number"),
        pytest.param(b'"' + b"x" * 60 + b'"', f'must be an object, not "{"x" * 39}...; it is ignored', id="long"),
        pytest.param(b"{}", NO_TEXT, id="missing"),
        pytest.param(b'{"text": 5}', NO_TEXT, id="no-text"),
        pytest.param(b'{"text": {}}', NO_TEXT, id="object"),
        pytest.param(b'{"text": null}', NO_TEXT, id="null"),
        pytest.param(b"[" * 200_000, "nests too deeply and is skipped", id="deep"),
        pytest.param(
            b'{"text": ' + b"9" * 5_000 + b"}",
            "holds a number of thousands of digits and is skipped",
            id="digits",
            marks=pytest.mark.skipif(
                not hasattr(__import__("sys"), "get_int_max_str_digits"), reason="this Python reads any number"
            ),
        ),
    ],
)
def test_a_malformed_line_is_named_and_the_rest_is_processed(
    errcompact: Errcompact, tmp_path: Path, line: bytes, problem: str
) -> None:
    """One message with file and line; the exit code says that something was wrong."""
    file = tmp_path / "errors.jsonl"
    file.write_bytes(b'{"text": "KeyError: 1"}\n' + line + b'\n{"text": "KeyError: 2"}\n')
    outcome = errcompact("key", "--jsonl", "text", file)
    assert outcome.code == 1
    assert outcome.err == f"errcompact: {file}:2: {problem}\n"
    assert len(rows(outcome)) == 2


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_processed(errcompact: Errcompact, tmp_path: Path) -> None:
    """So is a folder."""
    (tmp_path / "good").write_text("KeyError: 1", encoding="utf-8")
    outcome = errcompact("key", tmp_path / "missing", tmp_path, tmp_path / "good")
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        f"errcompact: {tmp_path / 'missing'}: cannot be read (No such file or directory); {CURE}",
        f"errcompact: {tmp_path}: cannot be read (Is a directory); {CURE}",
    ]
    assert len(rows(outcome)) == 1


def test_an_empty_file_is_no_raw_error(errcompact: Errcompact) -> None:
    """Most likely the command before the pipe wrote its errors somewhere else."""
    outcome = errcompact("key", stdin=" \n")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        "errcompact: standard input: is empty; a raw error is expected, or an exit code with --exit-code\n"
    )


def test_bytes_that_are_no_text_are_read_all_the_same(errcompact: Errcompact) -> None:
    """What a tool prints is not always UTF-8."""
    assert rows(errcompact("key", stdin=b"KeyError: \xff"))[0]["type"] == "KeyError"


def test_bytes_that_are_no_text_in_a_line_are_told_of(errcompact: Errcompact) -> None:
    """The line is read all the same."""
    outcome = errcompact("key", "--jsonl", "text", stdin=b'{"text": "KeyError: \xff"}\n')
    assert (outcome.code, rows(outcome)[0]["type"]) == (1, "KeyError")
    assert outcome.err.startswith("errcompact: standard input:1: is not valid UTF-8 (byte 21)")


def test_half_a_surrogate_pair_does_no_harm(errcompact: Errcompact) -> None:
    """JSON can hold what UTF-8 cannot."""
    outcome = errcompact("key", "--jsonl", "text", stdin='{"text": "KeyError: \\ud83d"}')
    assert (outcome.code, rows(outcome)[0]["type"]) == (0, "KeyError")
