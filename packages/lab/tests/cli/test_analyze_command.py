"""`errcompact analyze`: recorded runs in, what errors weigh in them out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from otel_errcompact_lab.cli import analyze, column_fit, progress
from otel_errcompact_lab.cli.app import ANALYZE_EPILOG
from packages.lab.tests.cli.transcripts import REFUSED, conversation, write_lines

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.cli.conftest import Errcompact

RUN_KEYS = [
    "run_id",
    "agent",
    "source",
    "outcome",
    "succeeded",
    "calls",
    "failures",
    "silent",
    "unflagged",
    "ignored",
    "classes",
    "error_tokens",
    "silent_tokens",
    "unflagged_tokens",
    "result_tokens",
    "context_tokens",
    "digest_tokens",
    "class_repeats",
    "saved_tokens",
    "error_share_of_results",
    "error_share_of_context",
    "silent_share_of_context",
    "unflagged_share_of_context",
    "saved_share_of_context",
    "class_repeat_share",
    "longest_streak",
    "longest_row",
    "silent_signs",
    "unflagged_signs",
    "members",
    "stops",
    "refusals",
    "verdict",
]


def lost(run_id: str, *results: str) -> dict[str, object]:
    """Make a conversation that did not reach its goal."""
    return {**conversation(run_id, *results), "reward": 0.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files with four runs: a loop that failed, and a clean one, a recovery and a silent failure that succeeded."""
    write_lines(tmp_path / "a.jsonl", lost("a1", *[REFUSED] * 4), conversation("a2", "3 rows"))
    silent = '{"success": false, "error": "no such table: orders"}'
    write_lines(tmp_path / "b.jsonl", conversation("b1", REFUSED, "3 rows"), conversation("b2", silent))
    return tmp_path


def plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_json_is_one_object_with_a_line_for_each_run(errcompact: Errcompact, folder: Path) -> None:
    """Under stable names; a run is written as soon as it was read, and none is kept."""
    outcome = errcompact("analyze", folder, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert list(found) == ["runs", "total", "left_out"]
    assert [list(run) for run in found["runs"]] == [RUN_KEYS] * 4
    lines = outcome.out.splitlines()
    assert (lines[0], [json.loads(line.rstrip(","))["run_id"] for line in lines[1:5]]) == (
        '{"runs": [',
        ["a1", "a2", "b1", "b2"],
    )
    looping, clean, recovered, silent = found["runs"]
    assert (looping["failures"], looping["longest_streak"], looping["succeeded"]) == (4, 4, False)
    assert [(stop["threshold"], stop["call"], stop["calls_after"]) for stop in looping["stops"]] == [
        ("same", 3, 1),
        ("loop", 4, 0),
    ]
    assert (clean["failures"], recovered["failures"], recovered["stops"]) == (0, 1, [])
    assert silent["unflagged_signs"] == [{"sign": "an error object", "failures": 1}]
    total = found["total"]
    assert (total["runs"], total["failures"], total["unflagged"], total["error_tokens"]) == (4, 6, 1, 5 * 7 + 13)
    assert total["thresholds"] == {"same": 3, "rejected": 5, "loop": 4, "consecutive": 6, "total": 30}
    assert total["verdict"]["advice"] == "must"
    assert found["left_out"] == {"traces": 0}


def test_the_tables_name_the_heaviest_run_first(errcompact: Errcompact, folder: Path) -> None:
    """Then a sentence for each question, what thresholds would have stopped, and the verdict."""
    lines = plain(errcompact("analyze", folder).out)
    assert lines[0].split() == [
        "run",
        "calls",
        "errors",
        "unsaid",
        "streak",
        "result",
        "context",
        "again",
        "stop",
        "verdict",
    ]
    assert [line.split()[:5] for line in lines[1:5]] == [
        ["a1", "4", "4", "0", "4"],
        ["b2", "1", "1", "1", "1"],
        ["b1", "2", "1", "0", "1"],
        ["all", "4", "8", "6", "1"],
    ]
    assert lines[1].split()[-2:] == ["@3", "must"]
    text = " ".join(lines)
    for sentence in (
        "Errors: 6 in 3 of 4 runs, 75.0% of the results; 0 more only look like errors",
        "Unflagged: of 1 (27% of the tokens) the record does not say whether they failed; stated by: an error object",
        "in 2 of 3 erring runs no class failed twice without a success between, in 1 one did 3 times or more, at most",
        "same 3 1 1 12%",
        "same 3 at call 3 of a1 (a bad run): [Error] no such host found",
        "Verdict on digests: use them: a must.",
        "Verdict on loops: a stop would have saved nothing: no run repeated a failing call 6 times with nothing",
        "confidence medium (only 4 runs).",
        "By run: 3 over 25%, 0 over 10%, 0 from 5%, 1 below.",
    ):
        assert sentence in re.sub(" +", " ", text)
    assert "\x1b" not in text


def test_healthy_runs_are_one_sentence_and_a_verdict(errcompact: Errcompact, tmp_path: Path) -> None:
    """There is nothing to tabulate."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a1", "3 rows"))
    lines = plain(errcompact("analyze", file).out)
    assert lines[0] == "No failures (runs: 1, calls: 1)."
    assert lines[2].startswith("Verdict on digests: leave them")


def test_runs_without_tool_results_get_no_verdict(errcompact: Errcompact, tmp_path: Path) -> None:
    """Not a confident one that says to leave it."""
    file = write_lines(tmp_path / "a.jsonl", *[conversation(f"a{number}") for number in range(40)])
    assert plain(errcompact("analyze", file).out) == [
        "No tool results (runs: 40): whether anything failed cannot be told.",
        "",
        "Verdict: none (no tool results in 40 runs: nothing to judge).",
    ]


def test_where_most_runs_hold_no_tool_results_there_are_no_rates(errcompact: Errcompact, tmp_path: Path) -> None:
    """The others are listed, and no sample of all; half are enough."""
    empty = [conversation(f"a{number}") for number in range(2)]
    file = write_lines(tmp_path / "a.jsonl", *empty, conversation("b1", REFUSED, REFUSED))
    table, *lines = errcompact("analyze", file, "--calibrate").out.split("\n\n")
    assert [line.split()[:3] for line in table.splitlines()[1:2]] == [["b1", "2", "2"]]
    assert "all 3" not in table
    assert lines[0].endswith("runs: how often anything failed cannot be told (calls in the others: 2, failures: 2).")
    assert lines[1:] == ["Verdict: none (no tool results in 2 of 3 runs: nothing to judge).\n"]
    file = write_lines(tmp_path / "a.jsonl", *empty, conversation("b1", REFUSED), conversation("b2", REFUSED))
    assert "Verdict on digests: use them" in errcompact("analyze", file).out


def test_a_failure_that_the_record_calls_a_success_is_silent(errcompact: Errcompact, tmp_path: Path) -> None:
    """Other than one of a record without flags."""
    said = "Traceback (most recent call last):\nKeyError: 'a'"
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "python a.py; true"}}
    messages = [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": False, "content": said}]},
    ]
    text = errcompact("analyze", write_lines(tmp_path / "a.jsonl", {"messages": messages})).out
    assert "Silent: the record calls 1 of them successes (100% of their tokens); a tool states the failure" in (
        re.sub(r"\s+", " ", text)
    )
    assert "Unflagged" not in text


def test_thresholds_can_be_given(errcompact: Errcompact, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the command line, or as for an application."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_THRESHOLDS_CONSECUTIVE", "4")
    total = json.loads(errcompact("analyze", folder, "--json", "--same", "2", "--total", "5").out)["total"]
    assert total["thresholds"] == {"same": 2, "rejected": 5, "loop": 4, "consecutive": 4, "total": 5}
    assert {rule: stopped["runs"] for rule, stopped in total["stopped"].items()} == {
        "same": 1,
        "rejected": 0,
        "loop": 1,
        "consecutive": 1,
        "total": 0,
        "any": 1,
    }


def test_the_table_has_a_bound(errcompact: Errcompact, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out is counted."""
    monkeypatch.setattr(analyze, "MAX_RUNS", 1)
    lines = plain(errcompact("analyze", folder).out)
    assert [line.split()[0] for line in lines[1:4]] == ["a1", "...", "all"]
    assert "... 2 more" in lines


def test_calibrate_tells_what_each_value_stops(errcompact: Errcompact, folder: Path) -> None:
    """Of good runs and of bad ones, and which values spare the good ones."""
    lines = plain(errcompact("analyze", folder, "--calibrate").out)
    at = next(number for number, line in enumerate(lines) if line.startswith("Stops"))
    assert lines[at].split() == [
        *["Stops", "good", "(3)", "bad", "(1)", "O/E", "knows", "calls", "lost", "calls", "saved"]
    ]
    rows = [line.split() for line in lines[at + 1 : at + 6]]
    assert rows[0] == [
        *["same", "1", "2", "67%", "(21-94)", "1", "100%", "(21-100)"],
        *["2", "of", "2.2", "few", "stops", "1", "3", "3", "24"],
    ]
    assert rows[2] == [
        *["same", "3", "<", "0", "0%", "(0-56)", "1", "100%", "(21-100)"],
        *["0", "of", "0.0", "few", "stops", "0", "0", "1", "8"],
    ]
    assert rows[4][:4] == ["same", "5", "0", "0%"]
    assert any(line.startswith("total 30 <") for line in lines)
    assert any(line.startswith("any of them <") for line in lines)
    text = re.sub(" +", " ", " ".join(lines))
    assert "Values that stop at most 5.0% of the 3 good runs: same from 2, rejected from 1, loop from 2," in text
    assert "As set: too few stops to tell: same 3, rejected 5, loop 4, loop 6, consecutive 6, total 30, any" in text
    assert "Refusals: of 4 calls made again after they had failed, with nothing succeeding between, 2 would" in text


def test_calibrate_in_json_has_every_value(errcompact: Errcompact, folder: Path) -> None:
    """And the lowest that spares good runs, for the tolerance that was asked for."""
    found = json.loads(errcompact("analyze", folder, "--calibrate", "--json", "--tolerance", "70").out)["calibration"]
    assert (found["tolerance"], found["good"], found["bad"]) == (0.7, 3, 1)
    assert [row["limit"] for row in found["rows"] if row["threshold"] == "same"] == [1, 2, 3, 4, 5]
    assert found["lowest"]["same"] == {"observed": 1, "with_95_percent": 2}


def test_calibrating_without_outcomes_says_what_is_missing(errcompact: Errcompact, tmp_path: Path) -> None:
    """In one line; the rest is printed."""
    messages = conversation("a", REFUSED)["traj"]
    file = write_lines(tmp_path / "a.jsonl", {"messages": messages})
    outcome = errcompact("analyze", file, "--calibrate")
    assert outcome.code == 1
    assert outcome.err == (
        "errcompact: --calibrate: no run tells how it ended; name results with a reward, an exit status or a check "
        "of the result\n"
    )
    assert "Verdict on digests: " in outcome.out


def test_labels_take_the_place_of_what_records_say(errcompact: Errcompact, folder: Path, tmp_path: Path) -> None:
    """A reward may be a proxy; runs without a label are neither good nor bad."""
    labels = tmp_path / "outcomes.csv"
    labels.write_text("run,succeeded\na1,true\nb:b1,false\n", encoding="utf-8")
    outcome = errcompact("analyze", folder, "--outcomes", labels, "--json")
    found = json.loads(outcome.out)["calibration"]
    assert (outcome.code, outcome.err) == (0, "")
    assert (found["good"], found["bad"], found["without_outcome"]) == (1, 1, 2)


def test_labels_that_name_no_run_are_a_problem(errcompact: Errcompact, folder: Path, tmp_path: Path) -> None:
    """Said in one line; the rest is printed."""
    labels = tmp_path / "outcomes.json"
    labels.write_text('{"a1": false, "zz": true}', encoding="utf-8")
    outcome = errcompact("analyze", folder, "--outcomes", labels)
    assert outcome.code == 1
    assert outcome.err == (
        f"errcompact: {labels}: 1 of 2 labels name no run: zz; a label is a run's id, or the end of its file's path, "
        "or path:run\n"
    )
    assert "Verdict on digests" in outcome.out


def test_calibrating_without_good_runs_says_so(errcompact: Errcompact, tmp_path: Path) -> None:
    """There is nothing to spare."""
    file = write_lines(tmp_path / "a.jsonl", lost("a1", REFUSED))
    assert "No good run tells which values would leave good runs alone." in (
        errcompact("analyze", file, "--calibrate").out
    )


def test_traces_are_left_out_and_counted(errcompact: Errcompact, folder: Path, tmp_path: Path) -> None:
    """Spans do not record what the agent read."""
    trajectory = tmp_path / "trace.jsonl"
    assert errcompact("replay", folder / "a.jsonl", "--trajectory", trajectory).code == 0
    outcome = errcompact("analyze", folder, "--json")
    assert (outcome.code, json.loads(outcome.out)["left_out"]) == (0, {"traces": 1})
    assert outcome.err.startswith("errcompact: 1 trace is left out: spans do not record what the agent read")
    alone = errcompact("analyze", trajectory)
    assert (alone.code, alone.out) == (1, "")
    assert alone.err.splitlines()[1] == "errcompact: analyze: no run was found; name transcripts, or a folder of them"


def test_a_malformed_line_is_named_and_the_rest_is_analyzed(errcompact: Errcompact, tmp_path: Path) -> None:
    """The exit code says that something was wrong."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a1", REFUSED), "{broken", conversation("a2", REFUSED))
    outcome = errcompact("analyze", file, "--json")
    assert outcome.code == 1
    assert outcome.err.startswith(f"errcompact: {file}:2: is not valid JSON")
    assert [run["run_id"] for run in json.loads(outcome.out)["runs"]] == ["a1", "a2"]


@pytest.mark.parametrize("as_json", [False, True])
def test_nothing_to_read_is_one_line(errcompact: Errcompact, tmp_path: Path, as_json: bool) -> None:
    """And JSON stays JSON."""
    outcome = errcompact("analyze", tmp_path, *(["--json"] if as_json else []))
    assert outcome.code == 1
    assert outcome.err.startswith(f"errcompact: {tmp_path}: holds no transcript")
    assert len(outcome.err.splitlines()) == 1
    assert json.loads(outcome.out)["runs"] == [] if as_json else outcome.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="no-path"),
        pytest.param(["x", "--same", "0"], id="no-threshold"),
        pytest.param(["x", "--tolerance", "101"], id="more-than-all"),
    ],
)
def test_wrong_usage_is_told_apart_from_wrong_input(errcompact: Errcompact, arguments: list[str]) -> None:
    """Its exit code is 2."""
    outcome = errcompact("analyze", *arguments)
    assert outcome.code == 2
    assert "Usage: " in outcome.err


def test_no_transcript_does_anything_to_the_terminal(errcompact: Errcompact, tmp_path: Path) -> None:
    """Neither control characters nor markup in names and errors have an effect."""
    run = lost("[red]r\x1b[31m", *["Error: [bold]x[/bold]\x07 gone"] * 3)
    outcome = errcompact("analyze", write_lines(tmp_path / "a.jsonl", run), "--calibrate")
    assert "[red]r [31m" in outcome.out
    assert "[bold]x[/bold]" in outcome.out
    assert "\x1b" not in outcome.out
    assert "\x07" not in outcome.out


@pytest.mark.parametrize("width", [60, 80])
def test_everything_fits_a_narrow_terminal(
    errcompact: Errcompact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """Long names are cut, numbers never, however large: columns without room are named in their place."""
    results = [*[REFUSED] * 12, *["3 rows"] * 120, "x" * 4_400_000, *[f"Error: no {number}" for number in range(30)]]
    file = write_lines(tmp_path / "a.jsonl", lost("r" * 90, *results), conversation("s" * 90, *results))
    terminal = {"force_terminal": True, "color_system": None, "width": width}
    monkeypatch.setattr(column_fit, "Console", lambda **options: Console(**options | terminal))
    lines = plain(errcompact("analyze", file, "--calibrate").out)
    assert max(map(len, lines)) <= width
    numbers = [line for line in lines if re.match(r"(run|r|s|all|Stops|same|consecutive|total|any)[ r\u2026]", line)]
    cut = [line for line in numbers if "\u2026" in line.partition(" ")[2] and " at call " not in line]
    assert cut == []
    assert any("1.1M" in line for line in lines)
    assert ("No room here for: unsaid" in "\n".join(lines)) == (width < 80)


def test_long_work_has_a_progress_bar_on_a_terminal(
    errcompact: Errcompact, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard error, so that the result can be piped all the same."""
    monkeypatch.setattr(progress, "QUIET_BYTES", 0)
    monkeypatch.setattr(progress, "Console", lambda **options: Console(**options, force_terminal=True, width=80))
    outcome = errcompact("analyze", folder, "--json")
    assert "analyzing" in outcome.err
    assert json.loads(outcome.out)["total"]["runs"] == 4


def test_the_help_shows_examples_and_the_form_of_json(errcompact: Errcompact) -> None:
    """As that of the other commands, in lines that fit."""
    outcome = errcompact("analyze", "--help")
    assert outcome.code == 0
    assert "errcompact analyze results/ --calibrate --tolerance 2" in outcome.out
    assert max(map(len, ANALYZE_EPILOG.splitlines())) <= 71
