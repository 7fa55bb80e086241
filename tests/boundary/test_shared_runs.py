"""An agent of five processes whose run asks once: the real thing, on SQLite and on Redis."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.programs, pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")]

ROOT = Path(__file__).parents[2]


@pytest.fixture
def play(address: str, tmp_path: Path) -> Any:
    def play(how: str) -> list[dict[str, Any]]:
        environment = {
            **os.environ,
            "OTEL_ERRCOMPACT_STORE": address,
            "OTEL_ERRCOMPACT_TRAJECTORY_PATH": str(tmp_path / "trajectory.jsonl"),
        }
        command = (sys.executable, "-m", "tests.boundary.shared_agent", how, str(tmp_path / "flag"))
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=False, stdout=subprocess.PIPE, text=True, timeout=120
        )
        assert done.returncode == 0
        return [json.loads(line) for line in done.stdout.splitlines()]

    return play


def pick(events: list[dict[str, Any]], what: str) -> list[dict[str, Any]]:
    return [event for event in events if event["what"] == what]


@pytest.mark.parametrize("how", ["halt", "asynchronous"])
def test_one_process_asks_and_its_answer_holds_for_all(play: Any, how: str) -> None:
    """The others wait for it at their gates, and are halted by it with its reason."""
    events = play(how)
    assert len(pick(events, "asked")) == 1
    assert [each["reason"] for each in pick(events, "halted")] == ["a human said no"] * 4
    assert [(each["standing"], each["result"]) for each in pick(events, "ended")] == [("halt", "halted")]


def test_the_answer_of_a_human_reaches_the_agents_of_all_processes(play: Any) -> None:
    """Who has let the run continue has said how."""
    events = play("continue")
    assert len(pick(events, "asked")) == 1
    assert [each["text"].count("use b.csv") for each in pick(events, "done")] == [1] * 4
    assert [each["occurrences"] for each in pick(events, "ended")] == [2]


def test_where_the_process_that_asks_is_killed_another_one_asks(play: Any) -> None:
    """No run waits for an answer that cannot come."""
    events = play("killed")
    assert len(pick(events, "asked")) == 2
    assert [each["reason"] for each in pick(events, "halted")] == ["a human said no"] * 3


def test_a_process_without_a_handler_leaves_the_question_to_one_that_has_one(play: Any) -> None:
    """It waits at its gate, and the parent asks at its own."""
    events = play("parent")
    asked = pick(events, "asked")
    assert len(asked) == 1
    assert asked[0]["process"] == pick(events, "ended")[0]["process"]
    assert [each["reason"] for each in pick(events, "halted")] == ["a human said no"] * 4
