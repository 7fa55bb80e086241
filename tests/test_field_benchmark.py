"""The table of what agents read, on a folder small enough to be counted by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.field.__main__ import NO_DATA, tell
from benchmarks.field.labelled import measure_cases, measure_long
from benchmarks.field.reading import read_recordings
from benchmarks.field.recorded import Rows, edited_file
from benchmarks.field.texts import is_in_order, is_whole, places_in, shared_lines
from benchmarks.quality.score import Score
from otel_errcompact_lab.transcripts import RecordedCall

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.meta

RAW = "Exit code 2\nsrc/app.c:7: error: 'total_sum' undeclared\nmake: *** [app.o] Error 1\n"
CALLS = [
    ("Bash", {"command": "make"}, RAW, True),
    ("Edit", {"file_path": "/home/u/src/app.c", "old_string": "total_sum", "new_string": "sum"}, "Updated.", False),
    ("Bash", {"command": "cat notes"}, "nothing is left to do", False),
]


def write_session(folder: Path) -> None:
    """Write the calls as Claude Code does."""
    rows: list[dict[str, Any]] = []
    for number, (tool, arguments, result, failed) in enumerate(CALLS):
        asked = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}
        answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result, "is_error": failed}
        for kind, content in (("assistant", asked), ("user", answer)):
            said = {"role": kind, "content": [content], "id": f"m{number}"}
            time = f"2026-01-01T00:00:0{number}Z"
            rows.append({"type": kind, "sessionId": "s", "uuid": f"{kind}{number}", "timestamp": time, "message": said})
    folder.mkdir()
    (folder / "s.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_a_recorded_run_is_counted(tmp_path: Path) -> None:
    """A failure that names what is edited next, and two successes."""
    write_session(tmp_path / "small")
    rows = Rows()
    for recording in read_recordings([tmp_path, tmp_path / "missing"]):
        rows.take(recording)
    found = {score.name: (score.right, score.all) for row in rows.rows(Score(name="corpus")) for score in row.measured}
    assert found["text byte for byte"] == found["- where nothing in the call may hide a status"] == (2, 2)
    assert (found["small, declared failures of results"], found["small, stated failures of results"]) == (
        (1, 3),
        (0, 3),
    )
    assert found["digest does where the raw text does, declared"] == found["recordings, declared"] == (1, 1)
    assert found["strings in the digest, declared"] == found["whole, declared"] == (1, 1)


def test_needed_strings_are_counted(tmp_path: Path) -> None:
    """Of two strings a short text holds one."""
    case = {"id": "01", "tool": "sqlite", "cmd": "sqlite3 a.db", "rc": 1, "reach": "shell output, exit 1"}
    (tmp_path / "field" / "cases").mkdir(parents=True)
    (tmp_path / "field" / "cases" / "01.txt").write_text("Error: no such table: orders\n", encoding="utf-8")
    line = json.dumps(case | {"needed": ["no such table: orders", "CREATE TABLE"]})
    (tmp_path / "field" / "cases.jsonl").write_text(line, encoding="utf-8")
    kept, whole, _ = measure_cases(tmp_path).scores
    assert (kept.right, kept.all, whole.right, whole.all) == (1, 2, 0, 1)
    assert kept.wrong == ["01: CREATE TABLE"]


def test_what_is_not_there_is_not_measured(tmp_path: Path) -> None:
    """Nothing fails, and each row says so."""
    rows = [measure_cases(tmp_path), measure_long(tmp_path), *Rows().rows(Score(name="corpus"))]
    assert tell(rows).count(NO_DATA) == len(rows)


def test_lines_places_and_edits_are_read() -> None:
    """In whatever spelling; a digest that is backwards is not in order."""
    raw = "first of the lines\n\x1b[31msecond of the lines\x1b[0m\n"
    backwards = shared_lines(raw, "[x] head\n  | second of the lines\n  | first of the lines\n  | short")
    assert backwards == ["second of the lines", "first of the lines"]
    assert (is_in_order(backwards, raw), is_in_order(backwards[::-1], raw)) == (False, True)
    assert is_whole(raw, "first of the lines  \nsecond of the lines\n#1234")
    places = places_in('File "/a/b.py", line 3\nsrc/c.rs:4:9 at 10.0.0.1:80\nd.cs(5,1): error')
    assert places == {("b.py", "3"), ("c.rs", "4"), ("d.cs", "5")}
    patch = RecordedCall(tool="shell", arguments="*** Update File: a/x.py\n", result="", start_ns=0, end_ns=0, line=1)
    assert edited_file(patch) == "x.py"
