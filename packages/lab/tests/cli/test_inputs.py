"""Raw errors are read one at a time, within bounds."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from otel_errcompact_lab.cli.inputs import Input
from otel_errcompact_lab.cli.output import Problems

if TYPE_CHECKING:
    from pathlib import Path


def test_a_line_that_is_too_long_is_skipped_without_being_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named, and the next one is read."""
    file = tmp_path / "errors.jsonl"
    file.write_text(f'{{"text": "{"x" * 100}"}}\n{{"text": "b"}}\n', encoding="utf-8")
    problems = Problems()
    source = Input(files=(file,), field="text", tool="make", max_bytes=50)
    assert [(raw.text, raw.tool) for raw in source.raw_errors(problems)] == [("b", "make")]
    assert problems.exit_code == 1
    assert (
        capsys.readouterr().err
        == f"errcompact: {file}:1: is longer than 50 bytes and is skipped; split it into JSON lines\n"
    )


def test_a_file_that_is_too_long_is_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what to do."""
    file = tmp_path / "huge.log"
    file.write_text("x" * 51, encoding="utf-8")
    assert list(Input(files=(file,), max_bytes=50).raw_errors(Problems())) == []
    assert capsys.readouterr().err == (
        f"errcompact: {file}: is longer than 50 bytes and is skipped; cut it with tail -c\n"
    )


def test_a_person_at_the_keyboard_is_told_what_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else the program seems to hang."""

    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO(b"KeyError: 1")))
    assert [raw.text for raw in Input(files=()).raw_errors(Problems())] == ["KeyError: 1"]
    assert capsys.readouterr().err == "errcompact: reading from the terminal; end with Ctrl-D\n"
