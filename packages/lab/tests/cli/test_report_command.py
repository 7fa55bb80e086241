"""`errcompact report`: a trajectory file in, the account of each run out."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

import otel_errcompact
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import Options, TrajectoryOptions, runs_path
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_lab.cli.report import find_newest
from packages.lab.tests.cli.transcripts import REFUSED, conversation, write_lines

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.cli.conftest import Errcompact

TRACEBACK = """\
Traceback (most recent call last):
  File "app.py", line 3, in load
    raise KeyError("id")
KeyError: 'id'
"""


@pytest.fixture
def trajectory(tmp_path: Path) -> Path:
    """What a run of our own boundaries has left behind: one class four times, another once."""
    path = tmp_path / "trajectory.jsonl"
    ledger = Ledger(Options())
    file = TrajectoryFile(TrajectoryOptions(path=path))
    ledger.listeners.add(file)
    ignore = otel_errcompact.Continue()
    with otel_errcompact.run("run-1", agent="shop", ledger=ledger, on_escalation=lambda _: ignore) as run:
        for port in (1, 2, 3, 4):
            run.fail(f"ConnectionError: no such host found at 10.0.0.1:{port}", tool="db.query")
        run.fail("KeyError: 'id'", tool="load")
        with run.tool("load") as call:
            call.result = "3 rows"
    file.close()
    return path


def test_a_trajectory_is_read_back(errcompact: Errcompact, trajectory: Path) -> None:
    """Every class with its tool and its count, as Markdown."""
    outcome = errcompact("report", trajectory)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("# Run run-1: unresolved\n\n5 failures in 2 classes")
    assert "| ESCALATED | db.query | [ConnectionError]" in outcome.out
    assert "| RECOVERED | load | [KeyError]: 'id' | 1 |" in outcome.out


def test_a_stack_text_without_type_and_message_is_read_back(errcompact: Errcompact, tmp_path: Path) -> None:
    """As a tool's answer that is a traceback leaves it: the text is all there is."""
    path = tmp_path / "trajectory.jsonl"
    file = TrajectoryFile(TrajectoryOptions(path=path))
    ledger = Ledger(Options())
    ledger.listeners.add(file)
    with otel_errcompact.run("run-1", ledger=ledger) as run:
        run.fail(TRACEBACK, tool="bash")
    file.close()
    assert "| ACTIVE | bash | [KeyError] at load (app.py:3): 'id' | 1 |" in errcompact("report", path).out


def test_json_has_the_reports(errcompact: Errcompact, trajectory: Path) -> None:
    """As `run.report()` gives them."""
    (report,) = json.loads(errcompact("report", trajectory, "--json").out)
    assert (report["run_id"], report["agent"], report["occurrences"]) == ("run-1", "shop", 5)
    assert [(found["tool"], found["count"]) for found in report["classes"]] == [("db.query", 4), ("load", 1)]


def test_an_escalation_is_read_back_with_its_answer(errcompact: Errcompact, trajectory: Path) -> None:
    """As it was answered then."""
    (report,) = json.loads(errcompact("report", trajectory, "--json").out)
    assert [(one["escalation"]["threshold"], one["action"]) for one in report["escalations"]] == [("same", "continue")]


def test_nothing_is_claimed_of_raw_errors_alone(errcompact: Errcompact, trajectory: Path) -> None:
    """A file of an earlier release does not hold what succeeded between the failures."""
    runs_path(trajectory).unlink()
    (report,) = json.loads(errcompact("report", trajectory, "--json").out)
    assert report["result"] == "unknown"
    assert {report[name] for name in ("escalations", "handled", "sent_tokens", "digest_tokens")} == {None}
    assert {(found["status"], found["streak"]) for found in report["classes"]} == {("UNKNOWN", None)}
    out = errcompact("report", trajectory).out
    assert out.startswith("# Run run-1: unknown\n\nOf this run only raw errors are recorded: recoveries, ")
    assert "5 failures in 2 classes. Raw errors " in out
    assert "digests 0" not in out


def test_a_run_without_an_end_says_so(errcompact: Errcompact, trajectory: Path) -> None:
    """As a process leaves it that was killed."""
    runs = runs_path(trajectory)
    runs.write_text("".join(runs.read_text().splitlines(keepends=True)[:-1]))
    assert "\n\nOf this run no end was recorded.\n\n" in errcompact("report", trajectory).out
    (report,) = json.loads(errcompact("report", trajectory, "--json").out)
    assert report["record_lacks"] == "no end was recorded"


def test_other_transcripts_have_reports_too(errcompact: Errcompact, tmp_path: Path) -> None:
    """These tell what recovered. Reports are a line apart."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a", REFUSED, "3 rows"), conversation("b", "3 rows"))
    out = errcompact("report", file).out
    assert "| RECOVERED | db.query | [Error]: no such host found | 1 |" in out
    assert "\n\n# Run b: clean\n" in out


def test_a_malformed_line_is_named_and_the_rest_is_read(errcompact: Errcompact, trajectory: Path) -> None:
    """As a disk that was full may have left it."""
    lines = len(trajectory.read_text().splitlines()) + 1
    with trajectory.open("a", encoding="utf-8") as stream:
        stream.write('{"resourceSpans": [{"scope\n')
    outcome = errcompact("report", trajectory)
    assert outcome.code == 1
    assert outcome.err.startswith(f"errcompact: {trajectory}:{lines}: is not valid JSON")
    assert "5 failures" in outcome.out


def test_what_comes_out_changes_no_terminal(errcompact: Errcompact, tmp_path: Path) -> None:
    """Raw errors are untrusted text."""
    file = write_lines(tmp_path / "a.jsonl", conversation("r\x1b]0;x\x07", "Error: \u202egnp \x9b31m"))
    out = errcompact("report", file).out
    assert all(char == "\n" or char.isprintable() for char in out)


def test_without_a_file_the_newest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a line says which, and how many others there are."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = tmp_path / "otel-errcompact" / "trajectories"
    folder.mkdir(parents=True)
    for seconds, name in enumerate(("old", "new")):
        (folder / f"{name}.jsonl").write_text("")
        os.utime(folder / f"{name}.jsonl", (seconds + 1, seconds + 1))
    assert find_newest() == [folder / "new.jsonl"]
    assert capsys.readouterr().err == f"errcompact: report: {folder}/new.jsonl; 1 other file in {folder}\n"
