"""A user's own labels of how runs ended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_lab.analysis import Outcomes, read_outcomes
from packages.lab.tests.analysis.records import run

if TYPE_CHECKING:
    from pathlib import Path

    from otel_errcompact_lab.transcripts import RecordedRun


def recorded(run_id: str, source: str) -> RecordedRun:
    return replace(run(run_id=run_id), source=source)


@pytest.mark.parametrize(
    "label",
    [
        "task-7",
        "run1/task-7",
        "run1/task-7.traj",
        "results/run1/task-7",
        "/srv/results/run1/task-7.traj",
    ],
)
def test_a_label_is_an_id_or_the_end_of_a_path(label: str) -> None:
    """With suffix or without."""
    outcomes = Outcomes({label: True}, "o.json")
    assert outcomes.of(recorded("task-7", "/srv/results/run1/task-7.traj")) is True
    assert outcomes.describe_unused() == ""


def test_the_longest_name_counts() -> None:
    """One label for all, and others for some."""
    outcomes = Outcomes({"run1/task-7": True, "run2/task-7": False, "task-7": True}, "o.json")
    assert outcomes.of(recorded("task-7", "results/run2/task-7.traj")) is False
    assert outcomes.of(recorded("task-7", "results/run1/task-7.traj")) is True
    assert outcomes.of(recorded("task-7", "task-7.traj")) is True


def test_runs_of_one_file_are_named_by_their_ids() -> None:
    """Alone, or with the file where another one has the same id."""
    outcomes = Outcomes({"0-1": True, "b.json:0-2": False}, "o.json")
    assert outcomes.of(recorded("0-1", "runs/a.json")) is True
    assert outcomes.of(recorded("0-2", "runs/b.json")) is False
    assert outcomes.of(recorded("0-2", "runs/a.json")) is None


def test_a_part_of_a_name_is_none() -> None:
    """Or task-1 would name task-11."""
    outcomes = Outcomes({"ask-7": True, "task": True}, "o.json")
    assert outcomes.of(recorded("task-7", "results/task-7.traj")) is None


def test_a_label_of_two_runs_is_an_error_that_names_both() -> None:
    """Figures from a wrong label would look as good as those from a right one."""
    outcomes = Outcomes({"task-7": True}, "o.json")
    outcomes.of(recorded("task-7", "run1/task-7.traj"))
    with pytest.raises(ConfigurationError) as raised:
        outcomes.of(recorded("task-7", "run2/task-7.traj"))
    assert str(raised.value) == (
        "o.json: the label 'task-7' names two runs, task-7 in run1/task-7.traj and task-7 in run2/task-7.traj; name "
        "each by more of its path, or as path:run"
    )


def test_labels_that_name_no_run_are_counted_and_named() -> None:
    """The first of them."""
    outcomes = Outcomes({f"task-{number}": True for number in range(6)}, "o.json")
    outcomes.of(recorded("task-0", "task-0.traj"))
    assert outcomes.describe_unused() == (
        "5 of 6 labels name no run: task-1, task-2, task-3, ...; a label is a run's id, or the end of its file's path, "
        "or path:run"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": true, "b": false}', id="an object"),
        pytest.param('[{"run": "a", "succeeded": true}, {"run": "b", "succeeded": false}]', id="a list"),
        pytest.param("run,succeeded\na,true\nb,false\n", id="CSV"),
        pytest.param("\ufeffrun, succeeded, cost\r\na, yes, 1\r\n./b, no, 2\r\n", id="CSV of a spreadsheet"),
    ],
)
def test_labels_are_read_from_json_and_csv(text: str, tmp_path: Path) -> None:
    """With words as spreadsheets have them."""
    file = tmp_path / "outcomes"
    file.write_text(text, encoding="utf-8")
    outcomes = read_outcomes(file)
    assert [outcomes.of(recorded(name, f"{name}.traj")) for name in "abc"] == [True, False, None]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param('{"a": "perhaps"}', "'a': succeeded must be true or false, and is 'perhaps'", id="no label"),
        pytest.param("run,succeeded\na,\n", "line 2: succeeded must be true or false, and is ''", id="an empty cell"),
        pytest.param("task,good\na,1\n", "line 2: names no run; it needs the field run", id="no column"),
        pytest.param(
            '[{"run": "a", "succeeded": 1}, {"run": "a", "succeeded": 0}]', "label 2: 'a' is labelled", id="two"
        ),
        pytest.param('{"a": tru', "is no JSON: ", id="no JSON"),
        pytest.param("", "holds no labels; write ", id="nothing"),
    ],
)
def test_a_bad_file_is_an_error_that_says_where(text: str, problem: str, tmp_path: Path) -> None:
    """The file, the place, and what to do."""
    file = tmp_path / "outcomes"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        read_outcomes(file)
    assert str(raised.value).startswith(f"{file}: {problem}")
