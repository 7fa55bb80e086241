"""`errcompact replay`: recorded runs in, what would have become of their errors out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_lab.cli import progress
from otel_errcompact_lab.transcripts import read
from packages.lab.tests.cli.transcripts import REFUSED, conversation, write_lines

if TYPE_CHECKING:
    from packages.lab.tests.cli.conftest import Errcompact

RUN_KEYS = [
    "run_id",
    "agent",
    "source",
    "outcome",
    "result",
    "tool_calls",
    "failures",
    "stated",
    "ignored",
    "handled",
    "refused",
    "classes",
    "class_keys",
    "longest_streak",
    "escalations",
    "raw_error_tokens",
    "digest_tokens",
    "result_tokens",
    "context_tokens",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files with three runs, one of which loops."""
    write_lines(tmp_path / "a.jsonl", conversation("a1", *[REFUSED] * 4), conversation("a2", "3 rows"))
    write_lines(tmp_path / "b.jsonl", conversation("b1", REFUSED, "3 rows"))
    return tmp_path


def test_json_has_every_run_and_the_total(errcompact: Errcompact, folder: Path) -> None:
    """Under stable names."""
    outcome = errcompact("replay", folder, "--json")
    replay = json.loads(outcome.out)
    assert (outcome.code, outcome.err) == (0, "")
    assert list(replay) == ["runs", "total"]
    assert [list(run) for run in replay["runs"]] == [RUN_KEYS] * 3
    looping, clean, recovered = replay["runs"]
    assert (looping["run_id"], looping["source"], looping["agent"]) == ("a1", str(folder / "a.jsonl"), "tau-bench")
    assert (looping["tool_calls"], looping["failures"], looping["classes"], looping["longest_streak"]) == (4, 4, 1, 4)
    (key,) = looping["class_keys"]
    assert looping["escalations"] == [
        {"threshold": "same", "limit": 3, "halts": False, "key": key, "call": 3, "refused": 0},
        {"threshold": "loop", "limit": 4, "halts": False, "key": key, "call": 4, "refused": 0},
    ]
    assert [run["result"] for run in replay["runs"]] == ["unresolved", "clean", "recovered"]
    assert (clean["failures"], recovered["failures"]) == (0, 1)
    total = replay["total"]
    assert (total["runs"], total["failures"], total["classes"], total["escalations"]) == (3, 5, 1, 2)
    assert total["raw_error_tokens"] == 5 * 7


def test_thresholds_can_be_set(errcompact: Errcompact, folder: Path) -> None:
    """Each option is one threshold."""
    by_threshold = [
        json.loads(errcompact("replay", folder, "--json", option, "2").out)["total"]["escalations_by_threshold"]
        for option in ("--same", "--loop", "--consecutive", "--total")
    ]
    reached = [{name: count for name, count in counts.items() if count} for counts in by_threshold]
    assert reached == [
        {"same": 1, "loop": 1},
        {"same": 1, "loop": 1},
        {"same": 1, "loop": 1, "consecutive": 1},
        {"same": 1, "loop": 1, "total": 1},
    ]
    calls = [
        [(found["threshold"], found["call"]) for found in json.loads(out)["runs"][0]["escalations"]]
        for out in (errcompact("replay", folder, "--json", option, "2").out for option in ("--same", "--loop"))
    ]
    assert calls == [[("same", 2), ("loop", 4)], [("loop", 2), ("same", 3)]]


def test_rejected_input_has_a_threshold_of_its_own(errcompact: Errcompact, tmp_path: Path) -> None:
    """Nothing was executed: such failures count against `--rejected` and not against `--same`."""
    unknown = "Error: Unknown tool 'mke'"
    file = write_lines(tmp_path / "a.jsonl", conversation("a1", *[unknown] * 3))
    out = errcompact("replay", file, "--json", "--same", "2", "--rejected", "3").out
    (run,) = json.loads(out)["runs"]
    assert [(found["threshold"], found["call"]) for found in run["escalations"]] == [("rejected", 3)]


@pytest.mark.parametrize(
    ("threshold", "limit", "reached"),
    [
        pytest.param("same", 2, [("same", 2), ("loop", 4)], id="same"),
        pytest.param("loop", 2, [("loop", 2), ("same", 3)], id="loop"),
        pytest.param("consecutive", 2, [("consecutive", 2), ("same", 3), ("loop", 4)], id="consecutive"),
        pytest.param("total", 2, [("total", 2), ("same", 3), ("loop", 4)], id="total"),
        pytest.param("same", 5, [("loop", 4)], id="never"),
    ],
)
def test_thresholds_come_from_the_environment_otherwise(
    errcompact: Errcompact,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    threshold: str,
    limit: int,
    reached: list[tuple[str, int]],
) -> None:
    """As for an application."""
    monkeypatch.setenv(f"OTEL_ERRCOMPACT_THRESHOLDS_{threshold.upper()}", str(limit))
    run, *_ = json.loads(errcompact("replay", folder, "--json").out)["runs"]
    assert [(found["threshold"], found["call"]) for found in run["escalations"]] == reached


def test_the_summary_shows_failures_the_bill_and_the_escalations(errcompact: Errcompact, folder: Path) -> None:
    """A pipe gets plain text."""
    outcome = errcompact("replay", folder)
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    assert lines[0] == (
        "Runs with failures: 2 of 3. Failures: 5 (calls: 7, classes: 1), of which the record does not flag 0. Calls "
        "that were declined or found nothing: 0."
    )
    assert lines[1].startswith("Raw errors are 35 tokens: ")
    assert lines[2:] == [
        "Escalations that would have fired: 2",
        "  same at call 3 of a1: [Error] no such host found",
        "  loop at call 4 of a1: [Error] no such host found",
    ]
    assert "\x1b" not in outcome.out


def test_the_summary_of_healthy_runs_is_one_sentence(errcompact: Errcompact, tmp_path: Path) -> None:
    """There is nothing to tabulate."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a1", "3 rows"))
    assert errcompact("replay", file).out == "No failures (runs: 1, calls: 1).\n"


def test_a_failure_without_a_word_has_no_bill(errcompact: Errcompact, tmp_path: Path) -> None:
    """A span that says nothing but that it failed has no text to be measured against."""
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "name": "GET", "status": {"code": 2}, "endTimeUnixNano": "2"}
    file = write_lines(tmp_path / "t.jsonl", {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    out = errcompact("replay", file).out
    assert "Runs with failures: 1 of 1." in out
    assert "Raw errors are" not in out


def test_the_summary_is_bounded(errcompact: Errcompact, tmp_path: Path) -> None:
    """What is left out is counted."""
    runs = [conversation(f"run{n}", *[REFUSED] * 3) for n in range(30)]
    outcome = errcompact("replay", write_lines(tmp_path / "a.jsonl", *runs))
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    assert "  ... 20 more; --json has all" in lines


def test_the_summary_does_as_it_is_told_by_no_transcript(errcompact: Errcompact, tmp_path: Path) -> None:
    """Neither control characters nor markup in names and errors have an effect."""
    file = write_lines(tmp_path / "a.jsonl", conversation("[red]r\x1b[31m", *["Error: [bold]x[/bold]\x07 gone"] * 3))
    outcome = errcompact("replay", file)
    assert outcome.code == 0
    assert "[red]r [31m" in outcome.out
    assert "[bold]x[/bold]" in outcome.out
    assert "\x1b" not in outcome.out
    assert "\x07" not in outcome.out


def test_a_forgotten_class_is_named_by_its_key(
    errcompact: Errcompact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run may have had more classes than are kept."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_MEMORY_CLASSES_PER_RUN", "1")
    monkeypatch.setenv("OTEL_ERRCOMPACT_THRESHOLDS_SAME", "1")
    file = write_lines(tmp_path / "a.jsonl", conversation("a1", REFUSED, "Error: no such table"))
    keys = json.loads(errcompact("replay", file, "--json").out)["runs"][0]["class_keys"]
    assert f"same at call 1 of a1: {keys[0]}" in errcompact("replay", file).out


def test_a_malformed_line_is_named_and_the_rest_is_played(errcompact: Errcompact, tmp_path: Path) -> None:
    """The exit code says that something was wrong."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a1", REFUSED), "{broken", conversation("a2", REFUSED))
    outcome = errcompact("replay", file, "--json")
    assert outcome.code == 1
    assert outcome.err.startswith(f"errcompact: {file}:2: is not valid JSON")
    assert len(outcome.err.splitlines()) == 1
    assert [run["run_id"] for run in json.loads(outcome.out)["runs"]] == ["a1", "a2"]


def test_a_path_that_is_not_there_is_named(errcompact: Errcompact, folder: Path) -> None:
    """The others are played."""
    outcome = errcompact("replay", folder / "missing.jsonl", folder / "b.jsonl", "--json")
    assert (outcome.code, len(json.loads(outcome.out)["runs"])) == (1, 1)
    assert outcome.err.startswith(f"errcompact: {folder / 'missing.jsonl'}: cannot be read")


def test_a_folder_without_transcripts_is_named(errcompact: Errcompact, tmp_path: Path) -> None:
    """Nothing was played, and that is not fine."""
    outcome = errcompact("replay", tmp_path)
    assert outcome.code == 1
    assert outcome.err == f"errcompact: {tmp_path}: holds no transcript; name a file, or another folder\n"
    assert outcome.out == "No run was read.\n"


def test_raw_errors_are_kept_if_asked(errcompact: Errcompact, folder: Path, tmp_path: Path) -> None:
    """In a trajectory file, and only then."""
    file = tmp_path / "kept" / ".." / "trajectory.out"
    (tmp_path / "kept").mkdir()
    assert errcompact("replay", folder / "b.jsonl", "--trajectory", file).code == 0
    (record,) = read(file, on_problem=pytest.fail)
    assert record.raws[0].events[0].attributes["exception.stacktrace"] == REFUSED


def test_a_trajectory_that_cannot_be_written_is_refused(errcompact: Errcompact, folder: Path) -> None:
    """Before anything is played."""
    with pytest.raises(ConfigurationError, match=r"--trajectory .*: Is a directory; name another file"):
        errcompact("replay", folder, "--trajectory", folder)


@pytest.mark.parametrize("arguments", [["replay"], ["replay", "x", "--same", "0"], ["replay", "x", "--total", "many"]])
def test_wrong_usage_is_told_apart_from_wrong_input(errcompact: Errcompact, arguments: list[str]) -> None:
    """Its exit code is 2."""
    outcome = errcompact(*arguments)
    assert outcome.code == 2
    assert "Usage: " in outcome.err


def test_long_work_has_a_progress_bar_on_a_terminal(
    errcompact: Errcompact, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error, so that the result can be piped all the same."""
    monkeypatch.setattr(progress, "QUIET_BYTES", 0)
    monkeypatch.setattr(progress, "Console", lambda **options: Console(**options, force_terminal=True, width=80))
    outcome = errcompact("replay", folder, "--json")
    assert "replaying" in outcome.err
    assert json.loads(outcome.out)["total"]["runs"] == 3


def test_short_work_has_none(errcompact: Errcompact, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be gone before it could be read."""
    monkeypatch.setattr(progress, "Console", lambda **options: Console(**options, force_terminal=True, width=80))
    assert "replaying" not in errcompact("replay", folder, "--json").err


def test_runs_without_tool_results_tell_nothing_of_failures(errcompact: Errcompact, tmp_path: Path) -> None:
    """No call is no success."""
    file = tmp_path / "chat.json"
    file.write_text('[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]')
    assert errcompact("replay", file).out == "No tool results (runs: 1): whether anything failed cannot be told.\n"


def test_where_most_runs_hold_no_tool_results_there_are_no_rates(errcompact: Errcompact, tmp_path: Path) -> None:
    """The failures of the others are listed."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a1"), conversation("a2"), conversation("b1", REFUSED))
    said = errcompact("replay", file).out.splitlines()[-1]
    assert said.startswith("No tool results in 2 of 3 runs: how often anything failed cannot be told (calls in the")


def test_files_that_are_left_out_and_calls_of_forks_are_told(errcompact: Errcompact, tmp_path: Path) -> None:
    """Each of them on a line of its own, and neither is a problem."""
    sample = Path(__file__).parents[1] / "transcripts" / "samples" / "gemini_cli.jsonl"
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(sample.read_bytes())
    for number in range(7):
        (tmp_path / f"x{number}.json").write_text("{}")
    for command in ("replay", "analyze"):
        done = errcompact(command, tmp_path)
        assert done.code == 0
        assert "7 other files are no transcripts of a known format and left out: x0.json, x1.json" in done.err
        assert "x4.json and 2 more" in done.err
        assert "3 calls stand in an earlier session too" in done.err
