"""The program that measures how well refusals are told from what only sounds like it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import refusals

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.meta

TOO_LONG = {"id": "a", "status": 400, "body": "prompt is too long: 12 tokens > 10 maximum", "limit_tokens": 10}
ANOTHER = {"id": "b", "status": 400, "body": {"error": {"message": "no such model"}}}


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the program."""
    monkeypatch.setattr(sys, "argv", ["refusals", str(folder)])
    return refusals.main()


def write(folder: Path, told: list[object], others: list[object]) -> None:
    """Write what the program reads."""
    for name, lines in (("refusals", told), ("lookalikes", others)):
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")


def test_recall_false_alarms_and_limits_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the bodies came, as text, and as an SDK writes them."""
    write(tmp_path, [TOO_LONG, {**TOO_LONG, "limit_tokens": 11}], [ANOTHER])
    assert run(tmp_path, monkeypatch) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| as it came | 2 of 2 (100%) | 0 of 1 (0%) | 1 of 2 (50%) |",
        "| as text | 2 of 2 (100%) | 0 of 1 (0%) | 1 of 2 (50%) |",
        "| as an SDK's error | 2 of 2 (100%) | 0 of 1 (0%) | 1 of 2 (50%) |",
    ]


def test_what_is_missed_or_taken_wrongly_is_named_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Below the goal the program ends with 1."""
    write(tmp_path, [ANOTHER], [{**TOO_LONG, "id": name} for name in "cd"])
    assert run(tmp_path, monkeypatch) == 1
    told = capsys.readouterr().err.splitlines()
    assert told[:3] == ["missed: b", "false alarm: c", "false alarm: d"]


def test_a_folder_without_the_data_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Instead of a table of nothing."""
    assert run(tmp_path, monkeypatch) == 2
    assert f"no refusals.jsonl at {tmp_path}" in capsys.readouterr().err


def test_too_large_for_a_minute_counts_as_a_refusal_whatever_its_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No wait makes it pass; the program says which labels it reads so."""
    larger = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389."
    write(tmp_path, [TOO_LONG], [ANOTHER, {"id": "e", "status": 429, "body": larger}])
    assert run(tmp_path, monkeypatch) == 0
    printed = capsys.readouterr()
    assert printed.err == "a look-alike by its label, counted as a refusal: e\n"
    assert printed.out.splitlines()[2] == "| as it came | 2 of 2 (100%) | 0 of 1 (0%) | 1 of 1 (100%) |"


@pytest.mark.skipif(not (refusals.DATA / "refusals.jsonl").is_file(), reason="the folder of real refusals is missing")
def test_the_goal_is_met_on_real_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least 95 % of the refusals, and at most one in 60 look-alikes."""
    assert run(refusals.DATA, monkeypatch) == 0
