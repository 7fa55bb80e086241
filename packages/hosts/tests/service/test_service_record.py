"""What a service has counted is what its trajectory reports, whatever store its runs are in."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact_lab.cli import replay, thresholds
from otel_errcompact_lab.cli.output import Problems
from packages.hosts.tests.service.services import Place

if TYPE_CHECKING:
    from pathlib import Path

    from otel_errcompact_lab.replay import ReplayedRun

pytestmark = pytest.mark.programs


def read_back(path: Path) -> dict[str, ReplayedRun]:
    """What `errcompact report` makes of a file."""
    problems = Problems()
    played = list(replay.replay_files([path], thresholds.read_options(), problems))
    assert problems.exit_code == 0
    assert len({run.run_id for run in played}) == len(played)
    return {run.run_id: run for run in played}


def failure(run: str, number: int) -> dict[str, Any]:
    return {
        "run": run,
        "tool": "sql",
        "arguments": {"table": f"orders_{number}"},
        "text": "no such table: orders",
        "exit_status": 1,
    }


@pytest.mark.parametrize("store", ["memory", "sqlite:///runs.db"])
def test_the_record_of_a_service_equals_its_account(place: Place, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight requests are eight failures of one run, also while it lasts, and also where they come side by side."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_TRAJECTORY_ENABLED", "false")
    path = place.folder / "kept.jsonl"
    place.start("--store", store, OTEL_ERRCOMPACT_TRAJECTORY_PATH=str(path))
    run, other = uuid.uuid4().hex, uuid.uuid4().hex
    for number in range(5):
        assert place.ask("POST", "/v1/failures", failure(run, number))[0] == 200
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda number: place.ask("POST", "/v1/failures", failure(run, number)), range(5, 8)))
    place.ask("POST", "/v1/failures", failure(other, 1))
    place.ask("POST", "/v1/successes", {"run": other, "tool": "sql", "arguments": {"table": "orders_1"}})
    open_ = read_back(path)
    assert (open_[run].failures, open_[run].lacks) == (8, "no end was recorded")
    accounts = {each: place.ask("DELETE", f"/v1/runs/{each}")[1]["report"] for each in (run, other)}
    for each, played in read_back(path).items():
        assert played.lacks == ""
        assert played.report.model_dump(mode="json") == accounts[each]
    assert accounts[other]["result"] == "recovered"
