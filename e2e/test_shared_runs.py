"""A run of five processes, on SQLite and on Redis: it asks once, and the dashboards' numbers are those of the run."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from e2e.backends import eventually
from e2e.counters import arrived
from e2e.driving import environ
from e2e.recipes import ROOT
from tests.servers import RedisServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from e2e.stack import Stack

HALTED: Final = ("errcompact_action", "halt")
RESULT: Final = ("errcompact_result", "halted")

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(params=["sqlite", "redis"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of an empty store."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/runs.db"
        return
    server = RedisServer()
    yield server.new_address()
    server.close()


def test_a_run_of_five_processes_asks_once(bare_stack: Stack, address: str) -> None:
    """Failures, escalations and runs add up over the processes to what the run has counted itself."""
    service = f"e2e-shared-{address.partition(':')[0]}"
    printed = subprocess.run(
        (sys.executable, "-m", "e2e.shared_agent", "order-7"),
        cwd=ROOT,
        env={**environ(bare_stack, service, "grpc"), "OTEL_ERRCOMPACT_STORE": address},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=200,
    ).stdout.splitlines()
    asked, counted, *halted = sorted(printed)
    assert (asked.split()[0], counted.split()[0], halted) == ("asked", "failures", ["halted"] * 4)
    failures = float(counted.split()[1])
    expected = {"errors": failures, "halts": 1, "escalations": 1, "runs halted": 1, "runs": 1}

    def add_up() -> dict[str, float]:
        found = dict.fromkeys(expected, 0.0)
        for (metric, labels), value in arrived(bare_stack.backends.prometheus, service).items():
            found["errors"] += value * (metric == "errcompact_errors_total")
            found["escalations"] += value * (metric == "errcompact_escalations_total")
            found["halts"] += value * (metric == "errcompact_escalations_total" and HALTED in labels)
            found["runs"] += value * (metric == "errcompact_runs_total")
            found["runs halted"] += value * (metric == "errcompact_runs_total" and RESULT in labels)
        return found

    try:
        eventually(lambda: add_up() == expected, seconds=60, what=f"the numbers of {service}")
    except AssertionError:
        assert add_up() == expected
        raise
