"""What a service has counted is what its trajectory reports, whatever store its runs are in."""

from __future__ import annotations

import re
import subprocess
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


@pytest.mark.parametrize("keeps", ["true", "false"])
def test_a_cut_names_a_way_back_that_works_and_else_nothing_is_cut(place: Place, keeps: str) -> None:
    """The command stands as the agent can run it: with its path where `PATH` does not lead to it."""
    lines = [f"row {number} of the archive" for number in range(3_000)]
    place.start(OTEL_ERRCOMPACT_TRAJECTORY_ENABLED=keeps, PATH="/usr/bin:/bin")
    said = place.ask("POST", "/v1/failures", {"run": "r", "tool": "load", "text": "\n".join(lines)})[1]["digest"]
    if keeps == "false":
        assert said.split("\n")[:-1] == lines
        return
    found = re.search(r"\.\.\. [0-9,]+ lines left out: (.+ raw '#[0-9a-f]{4}')\n", said)
    assert found is not None, said
    done = subprocess.run(found[1], shell=True, capture_output=True, text=True, check=False, env=place.environ)
    assert (done.stdout.split("\n")[:-1], done.stderr, done.returncode) == (lines, "", 0)
